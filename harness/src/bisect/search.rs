//! The search itself: it says what to try, and is told what was seen.

/// What a version is, held against the good end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// As the good end.
    Same,
    /// Not as the good end.
    Different,
    /// Nothing can be said about it.
    Skip,
}

/// A binary search between a good end and a bad end that is known to differ from it.
///
/// It takes the versions to change once: up to some version they are as the good end, from there
/// on they are not. Where they change back and forth, it still ends between a version that is as
/// the good end and a later one that is not, but that need not be the first such place.
#[derive(Debug, Clone)]
pub struct Search<V> {
    last_same: V,
    /// Candidates between the two, in their order.
    open: Vec<Candidate<V>>,
    first_different: V,
}

#[derive(Debug, Clone)]
struct Candidate<V> {
    version: V,
    is_skipped: bool,
}

/// What a search asks for next.
#[derive(Debug, Clone)]
pub enum Step<V> {
    /// A version is to be tried.
    Try(Question<V>),
    /// Nothing is left to try.
    Done(Change<V>),
}

/// A version to be tried; the search goes on with the answer.
#[derive(Debug, Clone)]
pub struct Question<V> {
    search: Search<V>,
    index: usize,
    candidate: Candidate<V>,
}

/// Where the change is: in one of the skipped versions, or else in the first that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change<V> {
    /// The last version that is known to be as the good end.
    pub last_same: V,
    /// Those after it of which nothing is known; none: the change is pinned down.
    pub skipped: Vec<V>,
    /// The first after those that is known to differ.
    pub first_different: V,
}

impl<V> Search<V> {
    /// A search among the versions between two ends that are known to differ, in their order.
    pub fn new(good: V, between: Vec<V>, bad: V) -> Self {
        let open = between.into_iter().map(|version| Candidate { version, is_skipped: false });
        Self { last_same: good, open: open.collect(), first_different: bad }
    }

    /// The next question: about the middle one of those that were not tried yet. After a skipped
    /// one that is its neighbour.
    pub fn step(mut self) -> Step<V> {
        let untried: Vec<usize> = (0..self.open.len())
            .filter(|&index| self.open.get(index).is_some_and(|found| !found.is_skipped))
            .collect();
        match untried.get(untried.len() / 2) {
            Some(&index) => {
                let candidate = self.open.remove(index);
                Step::Try(Question { search: self, index, candidate })
            }
            None => Step::Done(self.into()),
        }
    }
}

impl<V> From<Search<V>> for Change<V> {
    /// What is known so far, for a search that is given up: the candidates left count as skipped.
    fn from(search: Search<V>) -> Self {
        Self {
            last_same: search.last_same,
            skipped: search.open.into_iter().map(|candidate| candidate.version).collect(),
            first_different: search.first_different,
        }
    }
}

impl<V> Question<V> {
    /// The version to be tried.
    pub fn version(&self) -> &V {
        &self.candidate.version
    }

    /// Goes on with what was seen.
    pub fn tell(self, answer: Answer) -> Search<V> {
        let Self { mut search, index, mut candidate } = self;
        match answer {
            Answer::Same => {
                search.open.drain(..index);
                search.last_same = candidate.version;
            }
            Answer::Different => {
                search.open.truncate(index);
                search.first_different = candidate.version;
            }
            Answer::Skip => {
                candidate.is_skipped = true;
                search.open.insert(index, candidate);
            }
        }
        search
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// What a search comes to, with the versions it tried, in order.
    fn find(
        good: usize,
        bad: usize,
        mut answer: impl FnMut(usize) -> Answer,
    ) -> (Change<usize>, Vec<usize>) {
        let mut search = Search::new(good, (good + 1..bad).collect(), bad);
        let mut tried = Vec::new();
        loop {
            match search.step() {
                Step::Try(question) => {
                    let version = *question.version();
                    tried.push(version);
                    search = question.tell(answer(version));
                }
                Step::Done(change) => return (change, tried),
            }
        }
    }

    /// Versions that change at `first`.
    fn monotone(first: usize) -> impl Fn(usize) -> Answer {
        move |version| if version < first { Answer::Same } else { Answer::Different }
    }

    #[test]
    fn neighbours_need_no_try() {
        let (change, tried) = find(4, 5, monotone(5));
        assert_eq!(change, Change { last_same: 4, skipped: vec![], first_different: 5 });
        assert!(tried.is_empty());
    }

    #[test]
    fn a_skipped_version_is_made_up_for_by_its_neighbour() {
        let skips = |version| if version == 5 { Answer::Skip } else { monotone(7)(version) };
        let (change, tried) = find(0, 9, skips);
        assert_eq!(tried, [5, 4, 7, 6]);
        assert_eq!(change, Change { last_same: 6, skipped: vec![], first_different: 7 });
    }

    #[test]
    fn where_only_skipped_versions_are_left_the_answer_is_a_range() {
        let skips = |version| {
            if (3..6).contains(&version) { Answer::Skip } else { monotone(5)(version) }
        };
        let (change, _) = find(0, 9, skips);
        assert_eq!(change, Change { last_same: 2, skipped: vec![3, 4, 5], first_different: 6 });
    }

    #[test]
    fn a_search_that_is_given_up_says_what_it_knows() {
        let search = Search::new(0, (1..8).collect(), 8);
        let Step::Try(question) = search.step() else { panic!("there is something to try") };
        assert_eq!(*question.version(), 4);
        let change = Change::from(question.tell(Answer::Same));
        assert_eq!(change, Change { last_same: 4, skipped: vec![5, 6, 7], first_different: 8 });
    }

    proptest! {
        /// Whatever changes once, with whatever skips: the change is in the range, the range holds
        /// nothing but skipped versions, none is tried twice, and the tries are few.
        #[test]
        fn one_change_is_found(skips in vec(any::<bool>(), 0..70), at in any::<prop::sample::Index>()) {
            let bad = skips.len() + 1;
            let first = at.index(bad) + 1;
            let skipped = |version: usize| skips[version - 1];
            let (change, tried) = find(0, bad, |version| {
                if skipped(version) { Answer::Skip } else { monotone(first)(version) }
            });
            prop_assert!(change.last_same < first && first <= change.first_different);
            let between: Vec<_> = (change.last_same + 1..change.first_different).collect();
            prop_assert!(between.iter().all(|&version| skipped(version)));
            prop_assert_eq!(change.skipped, between);
            let mut once = tried.clone();
            once.sort_unstable();
            once.dedup();
            prop_assert_eq!(once.len(), tried.len());
            let told = tried.iter().filter(|&&version| !skipped(version)).count();
            prop_assert!(1_usize << told.saturating_sub(1) <= skips.len().max(1), "{} tries", told);
        }

        /// Whatever the answers, the range ends in one that is the same and one that differs.
        #[test]
        fn the_ends_of_the_range_were_seen(answers in vec(0_usize..3, 0..40)) {
            let answer = |version: usize| {
                [Answer::Same, Answer::Different, Answer::Skip][answers[version - 1]]
            };
            let bad = answers.len() + 1;
            let (change, tried) = find(0, bad, answer);
            let Change { last_same, first_different, .. } = change;
            prop_assert!(last_same == 0 || answer(last_same) == Answer::Same);
            prop_assert!(first_different == bad || answer(first_different) == Answer::Different);
            let was_seen = |end: usize| end == 0 || end == bad || tried.contains(&end);
            prop_assert!(was_seen(last_same) && was_seen(first_different));
        }
    }
}
