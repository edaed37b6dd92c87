//! Whether a case can be asked of an agent, known before it runs.

use crate::agent::profile::{Launch, Profile, network_arguments};
use crate::case::{Case, Variant};
use crate::scenario::{Capability, Network, Policy};

/// Why a case is skipped for an agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkipReason {
    /// The agent does not declare what the case needs.
    #[error("the agent declares no {}", names(.missing))]
    Capability {
        /// What is missing, in the scenario's order.
        missing: Vec<Capability>,
    },
    /// The profile does not say how the policy is expressed.
    #[error("the agent has no policy `{}`", .policy.name())]
    Policy {
        /// The policy.
        policy: Policy,
    },
    /// Under this policy, the network cannot be granted to commands.
    #[error("the agent cannot grant the network under policy `{}`", .policy.name())]
    Network {
        /// The policy.
        policy: Policy,
    },
}

/// Whether the case, with its control, can be asked of the agent when it is launched so.
///
/// # Errors
/// The first reason to skip it.
pub fn applicability(case: &Case, profile: &Profile, launch: &Launch) -> Result<(), SkipReason> {
    let missing: Vec<Capability> =
        case.requires.iter().copied().filter(|need| !launch.capabilities.contains(need)).collect();
    if !missing.is_empty() {
        return Err(SkipReason::Capability { missing });
    }
    std::iter::once(&case.main)
        .chain(&case.control)
        .try_for_each(|variant| policy_known(variant, profile))
}

fn policy_known(variant: &Variant, profile: &Profile) -> Result<(), SkipReason> {
    let policy = variant.policy;
    let lowering = profile.policy.get(&policy).ok_or(SkipReason::Policy { policy })?;
    match (variant.network, network_arguments(lowering, variant.network)) {
        (Network::Allowed, None) => Err(SkipReason::Network { policy }),
        _ => Ok(()),
    }
}

fn names(capabilities: &[Capability]) -> String {
    capabilities.iter().map(|capability| capability.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::fixture;

    #[test]
    fn a_case_applies_when_all_is_declared() {
        let mut case = fixture::case();
        case.requires = vec![Capability::Approvals];
        let mut profile = fixture::profile();
        profile.drivers[0].capabilities = vec![Capability::Approvals, Capability::Steer];
        assert_eq!(applicability(&case, &profile, &profile.drivers[0]), Ok(()));
    }

    #[test]
    fn what_is_missing_is_named() {
        let mut case = fixture::case();
        case.requires = vec![Capability::Steer, Capability::Approvals, Capability::Compact];
        let mut profile = fixture::profile();
        profile.drivers[0].capabilities = vec![Capability::Approvals];
        let skip = applicability(&case, &profile, &profile.drivers[0]).expect_err("skipped");
        assert_eq!(skip.to_string(), "the agent declares no steer, compact");
    }

    #[test]
    fn the_policies_of_the_case_and_its_control_must_be_known() {
        let profile = fixture::profile();
        let mut case = fixture::with_control(fixture::case());
        case.control.as_mut().expect("has one").policy = Policy::ReadOnly;
        let skip = applicability(&case, &profile, &profile.drivers[0]).expect_err("skipped");
        assert_eq!(skip, SkipReason::Policy { policy: Policy::ReadOnly });
        case.control = None;
        case.main.policy = Policy::ReadOnly;
        let skip = applicability(&case, &profile, &profile.drivers[0]).expect_err("skipped");
        assert_eq!(skip.to_string(), "the agent has no policy `read-only`");
    }

    #[test]
    fn the_network_must_be_grantable() {
        let mut profile = fixture::profile();
        let mut case = fixture::case();
        case.main.network = Network::Allowed;
        let skip = applicability(&case, &profile, &profile.drivers[0]).expect_err("skipped");
        assert_eq!(skip, SkipReason::Network { policy: case.main.policy });
        let lowering = profile.policy.get_mut(&case.main.policy).expect("known");
        lowering.network = Some(Vec::new());
        assert_eq!(applicability(&case, &profile, &profile.drivers[0]), Ok(()));
    }
}
