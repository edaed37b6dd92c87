//! Segments of a Responses request.

use serde_json::Value;

use super::segment::Capture;
use crate::wire::Wire;

pub(super) fn capture(_body: &Value) -> Capture {
    Capture { wire: Wire::Responses, segments: Vec::new(), tools: Vec::new(), unknown: Vec::new() }
}
