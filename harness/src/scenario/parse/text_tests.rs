use std::sync::Arc;

use conform_mock_server::document::{Source, parse};
use proptest::prelude::*;

use super::*;
use crate::scenario::parse::Parser;

/// The pieces of a text and the messages about it.
fn read(text: &str) -> (Text, Vec<String>) {
    let mut parser = Parser::new(&Source::new("test.yaml", text));
    let text = parser.template_at(text, Span::default());
    let problems = parser.finish::<()>(None).unwrap_err();
    (text, problems.into_iter().map(|problem| problem.message).collect())
}

fn pieces(text: &str) -> Vec<Piece> {
    let (text, problems) = read(text);
    assert_eq!(problems, Vec::<String>::new());
    text.pieces
}

fn literal(text: &str) -> Piece {
    Piece::Literal(text.to_owned())
}

#[test]
fn every_kind_of_placeholder_is_told_apart() {
    let span = Span::default();
    let found: Vec<Piece> = pieces("${a-b}${mark}${mark:outside/x y}${secret:key}${mock}${tmp}")
        .into_iter()
        .map(|piece| match piece {
            Piece::Variable { name, .. } => Piece::Variable { name, span },
            Piece::Mark { origin, .. } => Piece::Mark { origin, span },
            Piece::Secret { name, .. } => Piece::Secret { name, span },
            Piece::Late { variable, .. } => Piece::Late { variable, span },
            literal @ Piece::Literal(_) => literal,
        })
        .collect();
    assert_eq!(
        found,
        [
            Piece::Variable { name: "a-b".to_owned(), span },
            Piece::Mark { origin: None, span },
            Piece::Mark { origin: Some("outside/x y".to_owned()), span },
            Piece::Secret { name: "key".to_owned(), span },
            Piece::Late { variable: LateVariable::Mock, span },
            Piece::Late { variable: LateVariable::Tmp, span },
        ]
    );
}

#[test]
fn a_doubled_dollar_keeps_the_braces_literal() {
    assert_eq!(pieces("$${mark} $x {y} $"), [literal("${mark} $x {y} $")]);
    assert_eq!(pieces("$$${mark}"), [literal("$${mark}")]);
    assert_eq!(pieces("$${"), [literal("${")]);
    assert!(matches!(pieces("$${a}${b}").as_slice(), [Piece::Literal(text), _] if text == "${a}"));
}

#[test]
fn malformed_placeholders_are_reported_and_the_rest_is_read() {
    let (text, problems) = read("a ${ b\n${c} ${} ${secret} ${d e} ${mark: x}");
    assert_eq!(
        problems,
        [
            "this `${` is never closed",
            "`${}` is no placeholder",
            "this names no secret",
            "`${d e}` is no placeholder",
            "`${mark: x}` is no placeholder",
        ]
    );
    assert!(
        text.pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Variable { name, .. } if name == "c"))
    );
}

/// The places of a scalar's placeholders, as line, column and the source found there.
fn places(yaml: &str) -> Vec<(usize, usize, String)> {
    let source = Source::new("test.yaml", yaml);
    let node = parse(&source).unwrap();
    let mut parser = Parser::new(&source);
    parser.scope.vars = Some(Vec::new());
    let mut fields =
        conform_mock_server::document::Fields::of(&node, "x", &mut parser.problems).unwrap();
    let text = fields.optional("text").unwrap();
    parser.template(text, "a text").unwrap();
    parser
        .finish::<()>(None)
        .unwrap_err()
        .into_iter()
        .map(|problem| {
            let span = problem.place.span;
            (span.line, span.column, yaml[span.start..span.start + span.len].to_owned())
        })
        .collect()
}

fn place(line: usize, column: usize, text: &str) -> (usize, usize, String) {
    (line, column, text.to_owned())
}

#[test]
fn placeholders_are_found_in_every_style_of_scalar() {
    assert_eq!(places("text: é ${a} ${b}"), [place(1, 9, "${a}"), place(1, 14, "${b}")]);
    assert_eq!(places("text: 'it''s ${a}'"), [place(1, 14, "${a}")]);
    assert_eq!(places("text: \"\\t${a}\\n${a}\""), [place(1, 10, "${a}"), place(1, 16, "${a}")]);
    assert_eq!(
        places("text: |\n  one\n  é ${a}\n\n  ${b}\n"),
        [place(3, 5, "${a}"), place(5, 3, "${b}")]
    );
    assert_eq!(
        places("text: >-\n  one ${a}\n  two ${b}\nmore: ${c}\n"),
        [place(2, 7, "${a}"), place(3, 7, "${b}")]
    );
    assert_eq!(places("text: one\n  ${a}\n"), [place(2, 3, "${a}")]);
}

#[test]
fn an_escaped_placeholder_is_not_taken_for_the_real_one() {
    assert_eq!(places("text: $${a} then ${a}"), [place(1, 18, "${a}")]);
}

#[test]
fn a_placeholder_that_yaml_hides_gets_the_place_of_its_text() {
    assert_eq!(places(r#"text: "\u0024{a}""#), [place(1, 7, r#""\u0024{a}""#)]);
}

/// Text in which placeholders, whole and broken, are likely.
fn texts() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("${a}".to_owned()),
        Just("${mark}".to_owned()),
        Just("${mark:x}".to_owned()),
        Just("${secret:k}".to_owned()),
        Just("${home}".to_owned()),
        "[$ {}a:\\n-]{0,4}",
        "\\PC{0,3}",
    ];
    proptest::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn a_text_is_displayed_as_it_was_written(written in texts()) {
        let (text, problems) = read(&written);
        if problems.is_empty() {
            prop_assert_eq!(text.to_string(), written);
        }
    }

    #[test]
    fn what_is_displayed_reads_the_same_again(written in texts()) {
        let (text, _) = read(&written);
        let again = read(&text.to_string());
        prop_assert_eq!(again.1, Vec::<String>::new());
        prop_assert_eq!(again.0.to_string(), text.to_string());
    }

    #[test]
    fn literals_never_touch_and_are_never_empty(written in texts()) {
        let pieces = read(&written).0.pieces;
        prop_assert!(!pieces.contains(&Piece::Literal(String::new())));
        let touching = pieces
            .windows(2)
            .any(|pair| matches!(pair, [Piece::Literal(_), Piece::Literal(_)]));
        prop_assert!(!touching);
    }

    #[test]
    fn a_place_never_leaves_the_source(yaml in "text: [\\PC\n]{0,40}") {
        let source = Source::new("test.yaml", yaml.clone());
        let mut parser = Parser::new(&source);
        parser.scope.vars = Some(Vec::new());
        if let Ok(node) = parse(&source) {
            let mut fields = None;
            if let Some(found) = conform_mock_server::document::Fields::of(&node, "x", &mut parser.problems) {
                fields = Some(found);
            }
            if let Some(text) = fields.and_then(|mut fields| fields.optional("text")) {
                parser.template(text, "a text");
            }
        }
        for problem in parser.finish::<()>(None).unwrap_err() {
            let span = problem.place.span;
            prop_assert!(Arc::clone(&source).text().get(span.start..span.start + span.len).is_some());
        }
    }
}
