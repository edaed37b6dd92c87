//! Asking an agent.

use std::collections::BTreeMap;
use std::sync::Arc;

use conform_mock_server::wire::Wire;
use tokio::sync::watch;

use super::cases::{DoctorError, Question};
use super::examination::{Examination, LaunchExamination};
use crate::agent::profile::{Launch, Profile};
use crate::run::{Baseline, Finished, Options, Subject, run};

/// Asks an agent what the profile says it can do, with each driver over each wire. `progress` is
/// told before each of them. `None`: interrupted.
///
/// # Errors
/// When a worker is lost.
pub async fn examine(
    subject: &Subject,
    options: &Options,
    isolation: &str,
    interrupted: &watch::Receiver<bool>,
    mut progress: impl FnMut(&Launch, Wire),
) -> Result<Option<Examination>, DoctorError> {
    let profile = &subject.profile;
    let questions = Question::about(profile);
    let mut launches = Vec::new();
    for launch in &profile.drivers {
        for wire in &launch.wires {
            progress(launch, *wire);
            let one = Subject {
                // With no other driver to fall back on.
                profile: Profile { drivers: vec![launch.clone()], ..profile.clone() },
                wire: Some(*wire),
                ..subject.clone()
            };
            let Some(found) = ask(one, &questions, options, interrupted).await? else {
                return Ok(None);
            };
            launches.push(found);
        }
    }
    Ok(Some(Examination {
        agent: profile.name.clone(),
        version: subject.version.clone(),
        executable: subject.executable.display().to_string(),
        interpreter: subject.interpreter.as_ref().map(|path| path.display().to_string()),
        isolation: isolation.to_owned(),
        policies: profile.policy.keys().map(|policy| policy.name()).collect(),
        launches,
    }))
}

/// Asks it with its only driver over its only wire.
async fn ask(
    subject: Subject,
    questions: &[Question],
    options: &Options,
    interrupted: &watch::Receiver<bool>,
) -> Result<Option<LaunchExamination>, DoctorError> {
    let mut found = unasked(&subject);
    let case = |question: &Question| question.case(&subject.profile);
    let cases = questions.iter().map(case).collect::<Result<_, _>>()?;
    let subject = Arc::new(subject);
    let mut records = BTreeMap::new();
    let end = run(
        &[Arc::clone(&subject)],
        cases,
        options.clone(),
        &mut [Baseline::default()],
        interrupted.clone(),
        |case: Finished| {
            records.insert(case.record.case.clone(), case.record);
        },
    )
    .await?;
    if end.interrupted {
        return Ok(None);
    }
    for question in questions {
        if let Some(record) = records.get(&question.id()) {
            found.note(*question, record);
        }
    }
    Ok(Some(found))
}

fn unasked(subject: &Subject) -> LaunchExamination {
    let profile = &subject.profile;
    let launch = profile.drivers.first();
    LaunchExamination {
        driver: launch.map_or("none", |launch| launch.driver.name()),
        wire: subject.wire.map_or("none", Wire::name),
        answers: Vec::new(),
        lowered: profile
            .tools
            .iter()
            .map(|(tool, lowering)| (tool.clone(), lowering.native.clone()))
            .collect(),
        offered: Vec::new(),
        rules: None,
        memory: None,
        side_requests: BTreeMap::new(),
        declared: launch
            .into_iter()
            .flat_map(|launch| &launch.capabilities)
            .map(|capability| capability.name())
            .collect(),
    }
}
