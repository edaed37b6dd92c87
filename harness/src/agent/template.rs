//! The templates of profiles: text with `${name}` and `${name|filter}`.

/// Values for a template, asked by name.
pub trait Values {
    /// The value of a name, if it has one here.
    fn value(&self, name: &str) -> Option<String>;

    /// The names that have a value here, for messages.
    fn names(&self) -> Vec<String>;
}

impl Values for [(&str, String)] {
    fn value(&self, name: &str) -> Option<String> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
    }

    fn names(&self) -> Vec<String> {
        self.iter().map(|(name, _)| (*name).to_owned()).collect()
    }
}

/// What is wrong with a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A placeholder without its end.
    #[error("`${{` without a closing `}}` in `{template}`; write `$${{` for a literal `${{`")]
    Unclosed {
        /// The template.
        template: String,
    },
    /// A name without a value.
    #[error("nothing is called `{name}` here: {}", conform_mock_server::document::did_you_mean(name, known.iter().map(String::as_str)))]
    UnknownName {
        /// The name.
        name: String,
        /// The names that have a value.
        known: Vec<String>,
    },
    /// A filter that does not exist.
    #[error(
        "there is no filter `{filter}`: {}",
        conform_mock_server::document::did_you_mean(filter, FILTERS)
    )]
    UnknownFilter {
        /// The filter.
        filter: String,
    },
}

/// The filters, in the form in which messages name them.
const FILTERS: [&str; 4] = ["json", "toml", "sh", "prefix:TEXT"];

/// Fills a template.
///
/// # Errors
/// An unclosed placeholder, an unknown name or an unknown filter.
pub fn render<V: Values + ?Sized>(template: &str, values: &V) -> Result<String, TemplateError> {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(start) = rest.find("${") {
        if rest[..start].ends_with('$') {
            // `$${` stands for `${`.
            out.push_str(&rest[..start - 1]);
            out.push_str("${");
            rest = &rest[start + 2..];
            continue;
        }
        out.push_str(&rest[..start]);
        let inside = &rest[start + 2..];
        let Some(end) = inside.find('}') else {
            return Err(TemplateError::Unclosed { template: template.to_owned() });
        };
        out.push_str(&placeholder(&inside[..end], values)?);
        rest = &inside[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

fn placeholder<V: Values + ?Sized>(inside: &str, values: &V) -> Result<String, TemplateError> {
    let mut parts = inside.split('|');
    let name = parts.next().unwrap_or_default();
    let value = values.value(name).ok_or_else(|| TemplateError::UnknownName {
        name: name.to_owned(),
        known: values.names(),
    })?;
    parts.try_fold(value, |value, filter| apply(filter, &value))
}

fn apply(filter: &str, value: &str) -> Result<String, TemplateError> {
    match filter {
        // A JSON string is a TOML basic string too, but for DEL, which serde_json leaves as it is.
        "json" => Ok(serde_json::Value::from(value).to_string()),
        "toml" => Ok(serde_json::Value::from(value).to_string().replace('\u{7f}', "\\u007f")),
        "sh" => Ok(format!("'{}'", value.replace('\'', r"'\''"))),
        _ => match filter.strip_prefix("prefix:") {
            Some(prefix) => Ok(value
                .lines()
                .map(|line| format!("{prefix}{line}"))
                .collect::<Vec<_>>()
                .join("\n")),
            None => Err(TemplateError::UnknownFilter { filter: filter.to_owned() }),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str) -> Result<String, TemplateError> {
        let values = [("path", "it's here".to_owned()), ("text", "one\n\ntwo\n".to_owned())];
        render(template, values.as_slice())
    }

    #[test]
    fn names_and_filters_are_filled() {
        assert_eq!(filled("cat ${path|sh}!").unwrap(), r"cat 'it'\''s here'!");
        assert_eq!(filled("${text|prefix:+}").unwrap(), "+one\n+\n+two");
        assert_eq!(filled("${text|json}").unwrap(), r#""one\n\ntwo\n""#);
        assert_eq!(filled("a $${path} $ {").unwrap(), "a ${path} $ {");
    }

    #[test]
    fn faults_name_the_next_step() {
        let error = filled("${pth}").unwrap_err().to_string();
        assert_eq!(error, "nothing is called `pth` here: did you mean `path`?");
        let error = filled("${path|shell}").unwrap_err().to_string();
        assert!(error.starts_with("there is no filter `shell`: it is one of `json`"), "{error}");
        assert!(matches!(filled("${path"), Err(TemplateError::Unclosed { .. })));
    }

    #[test]
    fn a_quoted_word_comes_back_from_the_shell() {
        let text = "a'b \"c\" $d `e` \\ \n f";
        let command = apply("sh", text).unwrap();
        let output = std::process::Command::new("sh")
            .args(["-c", &format!("printf %s {command}")])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), text);
    }
}
