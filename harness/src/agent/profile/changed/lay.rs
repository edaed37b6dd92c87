//! Laying the keys of an overlay over those of a profile.

use toml::{Table, Value};

/// Lists of tables that are laid over one by one, and the key that tells their entries apart.
const NAMED: [(&str, &str); 2] = [("drivers", "driver"), ("files", "path")];

/// Lays `over` over `under`. Tables merge; any other value takes the place of what was there.
/// `path` is where they stand in the profile, the empty text being its root.
pub(super) fn lay(path: &str, under: &mut Table, over: &Table) {
    for (key, value) in over {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match (under.get_mut(key), value) {
            (Some(Value::Table(under)), Value::Table(over)) if !is_whole(&path, over) => {
                lay(&path, under, over);
            }
            (Some(Value::Array(under)), Value::Array(over)) => lay_list(&path, under, over),
            _ => {
                under.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Whether a table is one thing that makes no sense in parts: a native call, whose old arguments
/// must not go out with new ones, and what another kind of installation or output needs.
fn is_whole(path: &str, over: &Table) -> bool {
    match path.split_once('.') {
        None => path == "install" && over.contains_key("source"),
        Some(("tools", tool)) => !tool.contains('.'),
        Some(("drivers", "output")) => over.contains_key("format"),
        Some(_) => false,
    }
}

/// An entry that bears the name of one that is there is laid over it; others come after them.
fn lay_list(path: &str, under: &mut Vec<Value>, over: &[Value]) {
    let Some((_, name)) = NAMED.iter().find(|(list, _)| *list == path) else {
        over.clone_into(under);
        return;
    };
    let mut more = Vec::new();
    for entry in over {
        let mut laid = false;
        for there in under.iter_mut() {
            if let (Value::Table(there), Value::Table(entry)) = (there, entry)
                && entry.contains_key(*name)
                && there.get(*name) == entry.get(*name)
            {
                lay(path, there, entry);
                laid = true;
            }
        }
        if !laid {
            more.push(entry.clone());
        }
    }
    under.extend(more);
}
