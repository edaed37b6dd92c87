//! What arrived at a sink.

use super::Answer;
use crate::case::LateText;
use crate::check::ledger::Breach;
use crate::check::run::Run;
use crate::evidence::SinkDelivery;

/// A delivery with the text arrived, or none at all.
pub(super) fn check(run: &Run<'_>, sink: &str, receives: Option<&LateText>) -> Answer {
    let deliveries: Vec<&SinkDelivery> =
        run.evidence.sinks.iter().filter(|delivery| delivery.sink == sink).collect();
    let Some(wanted) = receives else {
        let expected = format!("nothing at sink `{sink}`");
        let breaches = deliveries
            .into_iter()
            .map(|delivery| Breach::seen(expected.clone(), describe(run, delivery)))
            .collect();
        return Answer::broken(breaches);
    };
    let text = run.resolve(wanted);
    if deliveries.iter().any(|delivery| delivery.text.contains(&text)) {
        return Answer::default();
    }
    let seen = if deliveries.is_empty() {
        "nothing arrived".to_owned()
    } else {
        deliveries.iter().map(|delivery| describe(run, delivery)).collect::<Vec<_>>().join("; ")
    };
    let expected = format!("`{}` at sink `{sink}`", wanted.display());
    Answer::broken(vec![Breach::missing(expected, seen)])
}

/// A delivery in words.
pub(super) fn describe(run: &Run<'_>, delivery: &SinkDelivery) -> String {
    let SinkDelivery { sink, method, body, secrets, .. } = delivery;
    let body = match body.as_str() {
        "" => String::new(),
        body => format!(": `{}`", run.excerpt(body)),
    };
    let carried = match &secrets[..] {
        [] => String::new(),
        secrets => format!(" (with the secret `{}`)", secrets.join("`, `")),
    };
    format!("{method} to sink `{sink}`{body}{carried}")
}
