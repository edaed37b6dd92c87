//! The versions that a search goes through.

use semver::Version;

/// So many versions are named in a message.
const NAMED: usize = 3;

/// Two versions, and those published between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The older end.
    pub good: Version,
    /// Between the ends, the oldest first.
    pub between: Vec<Version>,
    /// The newer end.
    pub bad: Version,
}

/// Two versions that no search goes between.
#[derive(Debug, thiserror::Error)]
pub enum SpanError {
    /// The ends are the same, or the wrong way round.
    #[error(
        "{good} is not older than {bad}; `--good` is the older version and `--bad` the newer one, whichever of them passes"
    )]
    Order {
        /// The good end.
        good: Version,
        /// The bad end.
        bad: Version,
    },
    /// An end was never published.
    #[error("there is no version {version}; {help}")]
    Unknown {
        /// The version asked for.
        version: Version,
        /// The next step.
        help: String,
    },
}

impl Span {
    /// The published versions between two of them, in the order of Semantic Versioning 2.0.0
    /// (section 11). Pre-releases are left out, unless an end is one.
    ///
    /// # Errors
    /// When the ends are not in this order, or one of them was not published.
    pub fn new(published: &[Version], good: Version, bad: Version) -> Result<Self, SpanError> {
        if good >= bad {
            return Err(SpanError::Order { good, bad });
        }
        let mut sorted = published.to_vec();
        sorted.sort();
        sorted.dedup();
        for end in [&good, &bad] {
            if !sorted.contains(end) {
                return Err(SpanError::Unknown { version: end.clone(), help: near(&sorted, end) });
            }
        }
        let with_pre_releases = [&good, &bad].into_iter().any(|end| !end.pre.is_empty());
        let is_between = |version: &Version| {
            good < *version && *version < bad && (with_pre_releases || version.pre.is_empty())
        };
        let between = sorted.into_iter().filter(is_between).collect();
        Ok(Self { good, between, bad })
    }
}

/// The versions next to one that is not there.
fn near(sorted: &[Version], version: &Version) -> String {
    let releases: Vec<&Version> = sorted.iter().filter(|known| known.pre.is_empty()).collect();
    let place = releases.partition_point(|known| *known < version);
    let from = place.saturating_sub(NAMED);
    let near: Vec<String> =
        releases.iter().skip(from).take(place - from + NAMED).map(ToString::to_string).collect();
    if near.is_empty() {
        return "no release was published".to_owned();
    }
    format!("the nearest that were published are {}", near.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn versions(texts: &[&str]) -> Vec<Version> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn span(good: &str, bad: &str) -> Result<Vec<String>, String> {
        let published =
            versions(&["1.0.0", "1.10.0", "1.2.0", "1.9.0-beta.1", "1.9.0", "2.0.0-rc.1", "2.0.0"]);
        Span::new(&published, good.parse().unwrap(), bad.parse().unwrap())
            .map(|span| span.between.iter().map(ToString::to_string).collect())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn versions_are_in_their_own_order_without_pre_releases() {
        assert_eq!(span("1.0.0", "2.0.0").unwrap(), ["1.2.0", "1.9.0", "1.10.0"]);
        assert_eq!(span("1.2.0", "1.9.0").unwrap(), [""; 0]);
    }

    #[test]
    fn a_pre_release_as_an_end_brings_the_others_in() {
        assert_eq!(span("1.2.0", "2.0.0-rc.1").unwrap(), ["1.9.0-beta.1", "1.9.0", "1.10.0"]);
    }

    #[test]
    fn the_ends_must_be_published_and_in_order() {
        assert!(span("2.0.0", "1.0.0").unwrap_err().starts_with("2.0.0 is not older than 1.0.0; "));
        assert!(span("1.0.0", "1.0.0").is_err());
        assert_eq!(
            span("1.0.0", "1.9.1").unwrap_err(),
            "there is no version 1.9.1; the nearest that were published are 1.0.0, 1.2.0, 1.9.0, \
             1.10.0, 2.0.0"
        );
        assert!(span("0.1.0", "1.0.0").unwrap_err().contains("are 1.0.0, 1.2.0, 1.9.0"));
        let none = Span::new(&[], Version::new(1, 0, 0), Version::new(2, 0, 0)).unwrap_err();
        assert!(none.to_string().ends_with("no release was published"));
    }
}
