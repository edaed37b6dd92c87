//! Checks: the evidence judged against expectations and invariants.
