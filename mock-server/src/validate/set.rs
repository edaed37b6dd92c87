//! Sets of rules, and how a script chooses one.

use serde::{Deserialize, Serialize};

use super::rule::{Level, RuleId};
use super::service::Service;

/// The rules that are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules(u128);

impl Rules {
    /// Only what cannot be turned off.
    pub fn none() -> Self {
        Self::up_to(Level::Always)
    }

    /// What even a tolerant service refuses.
    pub fn lenient() -> Self {
        Self::up_to(Level::Lenient)
    }

    /// What the official services refuse.
    pub fn strict() -> Self {
        Self::up_to(Level::Strict)
    }

    /// Every rule there is, the contrary ways of compatible servers among them.
    pub fn all() -> Self {
        Self::up_to(Level::Named)
    }

    /// Whether a rule is on.
    pub fn contains(self, rule: RuleId) -> bool {
        self.0 & bit(rule) != 0
    }

    /// With a rule turned on.
    #[must_use]
    pub fn with(self, rule: RuleId) -> Self {
        Self(self.0 | bit(rule))
    }

    /// With a rule turned off, unless it is one that cannot be.
    #[must_use]
    pub fn without(self, rule: RuleId) -> Self {
        if rule.rule().level == Level::Always { self } else { Self(self.0 & !bit(rule)) }
    }

    /// The rules that are on, in the order of the table.
    pub fn iter(self) -> impl Iterator<Item = RuleId> {
        RuleId::ALL.iter().copied().filter(move |rule| self.contains(*rule))
    }

    fn up_to(level: Level) -> Self {
        let on = RuleId::ALL.iter().filter(|id| id.rule().level <= level);
        Self(on.fold(0, |bits, id| bits | bit(*id)))
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self::lenient()
    }
}

fn bit(rule: RuleId) -> u128 {
    1 << (rule as u32)
}

/// The set that a choice of rules starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Base {
    /// [`Rules::none`].
    None,
    /// [`Rules::lenient`].
    Lenient,
    /// [`Rules::strict`].
    Strict,
}

impl Base {
    /// The set.
    pub fn rules(self) -> Rules {
        match self {
            Self::None => Rules::none(),
            Self::Lenient => Rules::lenient(),
            Self::Strict => Rules::strict(),
        }
    }
}

/// What a script says of validation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Validation {
    /// The set to start from; the provider's own when absent, and the lenient one without a
    /// provider.
    pub base: Option<Base>,
    /// Rules turned on beside it.
    pub on: Vec<RuleId>,
    /// Rules turned off in it.
    pub off: Vec<RuleId>,
    /// Facts about the service that is played; what is stated here goes before the provider's.
    pub service: Service,
}

impl Validation {
    /// No validation, for a test that judges the requests itself.
    pub fn none() -> Self {
        Self { base: Some(Base::None), ..Self::default() }
    }

    /// All that the official services refuse.
    pub fn strict() -> Self {
        Self { base: Some(Base::Strict), ..Self::default() }
    }

    /// The rules that are on, where `provider` are those of the provider.
    pub fn rules(&self, provider: Option<Rules>) -> Rules {
        let base = match (self.base, provider) {
            // A strict script makes a provider strict; it does not take its own ways from it.
            (Some(Base::Strict), Some(provider)) => Rules(provider.0 | Rules::strict().0),
            (Some(base), _) => base.rules(),
            (None, provider) => provider.unwrap_or_default(),
        };
        let on = self.on.iter().fold(base, |rules, rule| rules.with(*rule));
        self.off.iter().fold(on, |rules, rule| rules.without(*rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_set_holds_the_one_before() {
        let sets = [Rules::none(), Rules::lenient(), Rules::strict(), Rules::all()];
        for pair in sets.windows(2) {
            assert!(pair[0].iter().all(|rule| pair[1].contains(rule)));
            assert!(pair[1].iter().count() > pair[0].iter().count());
        }
        assert_eq!(Rules::all().iter().count(), RuleId::ALL.len());
    }

    #[test]
    fn rules_are_turned_on_and_off_by_their_ids() {
        let rules = Rules::lenient().with(RuleId::C3).without(RuleId::R10);
        assert!(rules.contains(RuleId::C3) && !rules.contains(RuleId::R10));
        assert!(Rules::strict().without(RuleId::R35).contains(RuleId::R35), "always on");
    }

    #[test]
    fn a_script_speaks_after_its_provider() {
        let provider = Rules::none().with(RuleId::C8);
        assert_eq!(Validation::default().rules(Some(provider)), provider);
        assert_eq!(Validation::default().rules(None), Rules::lenient());
        assert_eq!(Validation::none().rules(Some(provider)), Rules::none());
        let strict = Validation::strict().rules(Some(provider));
        assert!(strict.contains(RuleId::C8) && strict.contains(RuleId::C1));
        let off = Validation { off: vec![RuleId::C8], ..Validation::default() };
        assert_eq!(off.rules(Some(provider)), Rules::none());
    }
}
