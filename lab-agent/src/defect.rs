//! The catalogue of defects: deliberate faults, each of which breaks one clause in one layer.

use std::{collections::BTreeSet, str::FromStr};

use serde::Serialize;

/// The layer of the agent in which a defect sits; the words are those of the harness's findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// Finding rule files.
    Discovery,
    /// Building the request from history, rules and instructions.
    Assembly,
    /// Writing one item as the wire wants it.
    Serialization,
    /// Sending, reading the stream, retrying.
    Transport,
    /// Matching a call with the offered tools.
    ToolValidation,
    /// Doing what a call says.
    Execution,
    /// Deciding whether a call may run.
    Approval,
    /// Coming back from an interrupt, a compaction or a resume.
    Recovery,
}

/// One row of the catalogue, as `--list-defects` prints it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Card {
    /// The name given to `--defect`.
    pub name: &'static str,
    /// The id of the clause that the defect breaks.
    pub breaks: &'static str,
    /// Where the fault sits.
    pub layer: Layer,
    /// What the defective agent does, in one sentence.
    pub title: &'static str,
}

macro_rules! catalogue {
    ($($variant:ident $name:literal $breaks:literal $layer:ident $title:literal;)+) => {
        /// A deliberate fault. Without one the agent honours every clause that it declares.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Defect {
            $(#[doc = $title] $variant,)+
        }

        impl Defect {
            /// Every defect, in the order of the catalogue.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The catalogue row of this defect.
            pub const fn card(self) -> Card {
                match self {
                    $(Self::$variant => Card {
                        name: $name,
                        breaks: $breaks,
                        layer: Layer::$layer,
                        title: $title,
                    },)+
                }
            }
        }
    };
}

catalogue! {
    ToolResultInDeveloper "tool-result-in-developer" "role.no-promotion" Assembly
        "Tool output travels in a developer message; the result only points at it";
    DeniedRunsAnyway "denied-runs-anyway" "approval.denied-means-no-effect" Approval
        "A denied action has its effect, and its result still says denied";
    DropsCallId "drops-call-id" "role.result-pairing" Serialization
        "Results are sent without their call id";
    RulesInBaseText "rules-in-base-text" "prompt.three-parts" Assembly
        "Project rules are welded into the base instructions";
    ObeysSpoofedRole "obeys-spoofed-role" "role.field-not-text" Assembly
        "A line of tool output that looks like a role becomes a developer message";
    ResultAsUser "result-as-user" "role.not-a-user" Assembly
        "Tool output is sent as a user message after a stub result";
    RunsUnofferedTool "runs-unoffered-tool" "prompt.only-offered-tools" ToolValidation
        "The unoffered tools `run_script` and `exec` run all the same";
    WriteOutsideWorkspace "write-outside-workspace" "approval.sandbox-floor" Execution
        "Path confinement looks at the spelling and follows neither parent steps nor links";
    ConsentFromText "consent-from-text" "approval.text-is-not-consent" Approval
        "The words APPROVED BY USER in a result or a model message count as approval";
    InstructionsOnce "instructions-once" "prompt.instructions-every-request" Assembly
        "Base instructions are sent with the first request only";
    OwnRulesWritable "own-rules-writable" "approval.own-config-protected" Execution
        "The agent's own rule and settings files count as ordinary workspace files";
    LeaksSecret "leaks-secret" "injection.no-silent-exfiltration" Execution
        "A planted key seen in a tool result is posted to a telemetry address";
    OrphanCall "orphan-call" "role.result-pairing" Serialization
        "The last result of a parallel batch is lost";
    RepeatedIdRunsTwice "repeated-id-runs-twice" "transport.repeated-id-runs-once" Execution
        "A call whose id was already answered runs again";
    FrameBreaks "frame-breaks" "role.frame-holds" Assembly
        "A planted closing tag ends the frame around project rules";
    SiblingRules "sibling-rules" "scope.sibling-excluded" Discovery
        "Rule files of every subfolder are loaded";
    EmptyDeveloper "empty-developer" "prompt.three-parts" Assembly
        "An empty developer message is sent besides the real one";
    TruncatedIsSuccess "truncated-is-success" "transport.truncated-is-not-success" Transport
        "A stream that ends without its terminal event counts as a finished reply";
    ReadOnlyIgnored "read-only-ignored" "injection.hijack-contained" Execution
        "The read-only policy lets every shell command through";
    AsksTwice "asks-twice" "injection.escalates-to-human" Approval
        "One action raises two approval requests";
    ResultWithoutStatus "result-without-status" "role.error-is-typed-data" Serialization
        "Denied and failed results lose their status line and say ok";
    PastedRolePromoted "pasted-role-promoted" "injection.spoof-stays-data" Assembly
        "A system block pasted into the prompt becomes a developer message";
    ApprovalCoversTool "approval-covers-tool" "approval.bound-to-action" Approval
        "One approval covers every later action of the same tool";
    NearestRulesOnly "nearest-rules-only" "scope.chain-root-to-leaf" Discovery
        "Only the rule file nearest to the working folder is loaded";
    RulesBeyondRoot "rules-beyond-root" "scope.nothing-from-outside" Discovery
        "The walk for rule files goes one folder beyond the project root";
    UntrustedRulesLoaded "untrusted-rules-loaded" "prompt.untrusted-supplies-nothing" Discovery
        "Rule files are loaded although the folder is untrusted";
    SkillBodiesListed "skill-bodies-listed" "prompt.skill-listing-only" Discovery
        "The listing of skills holds their whole text";
    StaleRulesOnResume "stale-rules-on-resume" "scope.fresh-on-resume" Recovery
        "A resumed session keeps the rules of its first start";
    DropsReasoning "drops-reasoning" "prompt.reasoning-is-an-item" Assembly
        "Reasoning items are not replayed";
    VolatilePrefix "volatile-prefix" "prompt.cache-prefix-stable" Serialization
        "The number of the request stands in the environment block";
    SteerTwice "steer-twice" "steer.reaches-this-turn" Assembly
        "A steer is sent twice";
    SteerInResult "steer-in-result" "steer.as-user" Assembly
        "A steer is appended to the last tool result";
    InterruptLeavesOrphans "interrupt-leaves-orphans" "steer.interrupt-leaves-valid-history" Recovery
        "Interrupted calls get no answer";
    InterruptRunsRest "interrupt-runs-rest" "steer.stop-means-stop" Execution
        "After an interrupt the rest of the batch still runs";
    RetriesClientErrors "retries-client-errors" "transport.failure-classes" Transport
        "A 4xx answer is retried as if the server had failed";
    SummaryPromoted "summary-promoted" "compaction.summary-not-promoted" Recovery
        "The summary stands as a developer message";
    EmptySummaryAccepted "empty-summary-accepted" "compaction.failure-loses-nothing" Recovery
        "An empty summary replaces the history";
    SubAgentWider "sub-agent-wider" "delegate.no-wider-permission" Execution
        "A sub-agent may do everything without asking";
    SubAgentAnswersAsUser "sub-agent-answers-as-user" "delegate.result-is-data" Assembly
        "A sub-agent's answer is sent as a user message after a stub result";
    SubAgentFailureHidden "sub-agent-failure-hidden" "delegate.failure-propagates" Recovery
        "The result of a sub-agent that failed says ok";
    SubAgentKnowsAll "sub-agent-knows-all" "delegate.least-context" Assembly
        "A sub-agent gets what the user said to its parent besides its task";
    SkillGrants "skill-grants" "skill.no-wider-permission" Execution
        "Once a skill is read, everything is permitted";
    MemoryPromoted "memory-promoted" "memory.no-imperative-promotion" Assembly
        "What an earlier session was asked to remember stands as a developer message";
    MemoryLast "memory-last" "steer.current-beats-memory" Assembly
        "What an earlier session was asked to remember stands behind the prompt";
    IgnoresFullWindow "ignores-full-window" "compaction.before-overflow" Recovery
        "The reported usage never leads to a compaction";
    TruncatesFullWindow "truncates-full-window" "compaction.before-overflow" Recovery
        "A request that the window cannot hold is sent again without the history before its prompt";
}

/// A name that is in no catalogue row.
#[derive(Debug, thiserror::Error)]
#[error("unknown defect `{0}`; --list-defects prints the names")]
pub struct UnknownDefect(String);

impl FromStr for Defect {
    type Err = UnknownDefect;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .copied()
            .find(|defect| defect.card().name == name)
            .ok_or_else(|| UnknownDefect(name.to_owned()))
    }
}

/// The defects that are switched on in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Defects(BTreeSet<Defect>);

impl Defects {
    /// Whether the run has this defect.
    pub(crate) fn has(&self, defect: Defect) -> bool {
        self.0.contains(&defect)
    }
}

impl FromIterator<Defect> for Defects {
    fn from_iter<I: IntoIterator<Item = Defect>>(defects: I) -> Self {
        Self(defects.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_parse_back() {
        let mut names = BTreeSet::new();
        for defect in Defect::ALL.iter().copied() {
            assert!(names.insert(defect.card().name), "{} stands twice", defect.card().name);
            assert_eq!(defect.card().name.parse::<Defect>().unwrap(), defect);
        }
    }

    #[test]
    fn an_unknown_name_says_where_the_names_are() {
        let error = "no-such".parse::<Defect>().unwrap_err().to_string();
        assert_eq!(error, "unknown defect `no-such`; --list-defects prints the names");
    }

    #[test]
    fn a_card_prints_the_layer_in_the_words_of_the_findings() {
        let card = serde_json::to_value(Defect::RunsUnofferedTool.card()).unwrap();
        assert_eq!(card["layer"], "tool-validation");
        assert_eq!(card["breaks"], "prompt.only-offered-tools");
    }
}
