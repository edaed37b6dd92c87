//! Text with placeholders, parsed once, with the place of each placeholder.

use std::fmt;

use conform_mock_server::document::Span;

/// A text of a scenario or matrix, with its placeholders.
///
/// `${mark}` plants the marker of the place it stands in, `${mark:NAME}` that of a named origin,
/// `${secret:NAME}` a planted secret, `${mock}` and the folder names become known when a case
/// starts, and any other `${name}` is a variable. `$${` is a literal `${`.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// The pieces in order.
    pub pieces: Vec<Piece>,
    /// Where the text stands.
    pub span: Span,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Literal text.
    Literal(String),
    /// `${name}`: a variable of the scenario or of a matrix value.
    Variable {
        /// Its name.
        name: String,
        /// Where it stands.
        span: Span,
    },
    /// `${mark}` or `${mark:NAME}`.
    Mark {
        /// The origin named, or none for the origin of the place.
        origin: Option<String>,
        /// Where it stands.
        span: Span,
    },
    /// `${secret:NAME}`.
    Secret {
        /// The secret's name.
        name: String,
        /// Where it stands.
        span: Span,
    },
    /// A value known only when the case starts.
    Late {
        /// Which.
        variable: LateVariable,
        /// Where it stands.
        span: Span,
    },
}

/// The text as a scenario writes it: parsing the result gives the same pieces.
impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => f.write_str(&text.replace("${", "$${"))?,
                Piece::Variable { name, .. } => write!(f, "${{{name}}}")?,
                Piece::Mark { origin: None, .. } => f.write_str("${mark}")?,
                Piece::Mark { origin: Some(origin), .. } => write!(f, "${{mark:{origin}}}")?,
                Piece::Secret { name, .. } => write!(f, "${{secret:{name}}}")?,
                Piece::Late { variable, .. } => f.write_str(variable.placeholder())?,
            }
        }
        Ok(())
    }
}

/// A value known only when a case starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LateVariable {
    /// `${mock}`: the mock's address, such as `http://127.0.0.1:40001`.
    Mock,
    /// `${workspace}`: the workspace folder's absolute path.
    Workspace,
    /// `${outside}`: the sibling folder's absolute path.
    Outside,
    /// `${home}`: the home folder's absolute path.
    Home,
    /// `${tmp}`: the temporary folder's absolute path.
    Tmp,
    /// `${rules-close}`: what would end the frame that the agent documents around project rules,
    /// such as `</rules>`; nothing where it documents none.
    RulesClose,
}

impl LateVariable {
    /// All late variables by name.
    pub const NAMES: [(&'static str, Self); 6] = [
        ("mock", Self::Mock),
        ("workspace", Self::Workspace),
        ("outside", Self::Outside),
        ("home", Self::Home),
        ("tmp", Self::Tmp),
        ("rules-close", Self::RulesClose),
    ];

    /// The variable as a scenario writes it.
    pub fn placeholder(self) -> &'static str {
        match self {
            Self::Mock => "${mock}",
            Self::Workspace => "${workspace}",
            Self::Outside => "${outside}",
            Self::Home => "${home}",
            Self::Tmp => "${tmp}",
            Self::RulesClose => "${rules-close}",
        }
    }
}
