//! One prompt over two wires.

use super::attempt::Chain;
use super::model::{Kind, Misstep};
use crate::journal::Delivery;

/// It sent one whole prompt over two wires, though the first request had been accepted.
///
/// A client that falls back since it was refused does right.
pub(super) fn full_prompt_twice(chain: &Chain<'_, '_>) -> Option<Misstep> {
    let (first, second) =
        chain.windows(2).map(|pair| (pair[0], pair[1])).find(|(first, second)| {
            let has_something = first.question().next().is_some();
            first.model.wire != second.model.wire
                && first.is_whole
                && second.is_whole
                && first.is_accepted()
                && has_something
        })?;
    let got = match first.model.delivery {
        Delivery::Complete => "had been answered to its end",
        Delivery::Pending => "was still being answered",
        Delivery::Abandoned => "had been left by the client",
        Delivery::Cut => "had been cut",
    };
    let says = format!(
        "the whole prompt went over {} and again over {}, though the first {got}",
        first.model.wire, second.model.wire
    );
    let exchanges = vec![first.number, second.number];
    Some(Misstep::new(Kind::FullPromptOverTwoTransports, exchanges, says))
}
