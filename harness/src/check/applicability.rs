//! Whether a case can be asked of an agent, known before it runs.

use crate::agent::profile::{Launch, Profile};
use crate::case::{Case, Variant};
use crate::driver::DriverKind;
use crate::scenario::{Capability, Policy};

/// Why a case is skipped for an agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkipReason {
    /// The agent does not declare what the case needs.
    #[error("the agent declares no {}", names(.missing))]
    Capability {
        /// What is missing, in the scenario's order.
        missing: Vec<Capability>,
    },
    /// The profile does not say how the policy is expressed when the agent is driven so.
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
        .try_for_each(|variant| policy_known(variant, profile, launch.driver))
}

fn policy_known(
    variant: &Variant,
    profile: &Profile,
    driver: DriverKind,
) -> Result<(), SkipReason> {
    let policy = variant.policy;
    let lowering = profile.policy.get(&policy).filter(|lowering| lowering.is_for(driver));
    let lowering = lowering.ok_or(SkipReason::Policy { policy })?;
    if lowering.can_set(variant.network, driver) {
        Ok(())
    } else {
        Err(SkipReason::Network { policy })
    }
}

fn names(capabilities: &[Capability]) -> String {
    capabilities.iter().map(|capability| capability.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::profile::{AppServerPolicy, ApprovalPolicy, SandboxMode};
    use crate::check::fixture;
    use crate::scenario::Network;

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

    #[test]
    fn a_policy_may_be_for_some_drivers_only() {
        let mut profile = fixture::profile();
        let case = fixture::case();
        let policy = case.main.policy;
        let mut server = profile.drivers[0].clone();
        server.driver = DriverKind::AppServer;
        let skip = applicability(&case, &profile, &server).expect_err("has no table");
        assert_eq!(skip, SkipReason::Policy { policy });

        let lowering = profile.policy.get_mut(&policy).expect("known");
        lowering.drivers = Some(vec![DriverKind::AppServer]);
        lowering.network = Some(Vec::new());
        lowering.app_server = Some(AppServerPolicy {
            approval_policy: ApprovalPolicy::OnRequest,
            sandbox: SandboxMode::ReadOnly,
            config: serde_json::Map::new(),
            network: None,
        });
        assert_eq!(applicability(&case, &profile, &server), Ok(()));
        let skip = applicability(&case, &profile, &profile.drivers[0]).expect_err("not listed");
        assert_eq!(skip, SkipReason::Policy { policy });

        let mut case = case;
        case.main.network = Network::Allowed;
        let skip = applicability(&case, &profile, &server).expect_err("each grants for itself");
        assert_eq!(skip, SkipReason::Network { policy });
    }
}
