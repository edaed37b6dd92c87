//! The one clock of a record.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Now, in UTC and whole seconds, as RFC 3339 writes it.
pub fn now() -> String {
    let now = OffsetDateTime::now_utc();
    let whole = now.replace_nanosecond(0).unwrap_or(now);
    // Only years outside 0 to 9999 cannot be written.
    whole.format(&Rfc3339).unwrap_or_else(|_| "1970-01-01T00:00:00Z".to_owned())
}

#[cfg(test)]
mod tests {
    #[test]
    fn now_is_written_in_whole_seconds_of_utc() {
        let now = super::now();
        assert_eq!((now.len(), now.ends_with('Z'), now.contains('.')), (20, true, false), "{now}");
    }
}
