use super::*;
use crate::check::fixture;

#[test]
fn a_policy_is_for_drivers_that_are_there_and_can() {
    let server = AppServerPolicy {
        approval_policy: ApprovalPolicy::Never,
        sandbox: SandboxMode::ReadOnly,
        config: serde_json::Map::new(),
        network: None,
    };
    let lowered = |drivers: &[DriverKind], table: bool, with_server: bool| {
        let mut profile = fixture::profile();
        if with_server {
            let driver = DriverKind::AppServer;
            profile.drivers.push(Launch { driver, ..profile.drivers[0].clone() });
        }
        let lowering = profile.policy.get_mut(&Policy::Ask).expect("known");
        lowering.drivers = Some(drivers.to_vec());
        lowering.app_server = table.then(|| server.clone());
        profile.validate_policies()
    };
    let (exec, app) = (DriverKind::Exec, DriverKind::AppServer);
    lowered(&[exec], false, false).expect("is there");
    lowered(&[app], true, true).expect("has its table");
    for (drivers, table, with_server) in [
        (&[DriverKind::Jsonl][..], false, true),
        (&[app], false, true),
        (&[app], true, false),
        (&[exec], true, true),
    ] {
        let error = lowered(drivers, table, with_server).expect_err("is a slip");
        assert!(error.to_string().starts_with("`policy.ask` is for the driver"), "{error}");
    }
}
