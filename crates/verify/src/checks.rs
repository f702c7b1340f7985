//! The checks: each a struct of its parameters in a file of its own, all of them in the one list below.

pub mod cds_response;
pub mod fax_document;
pub mod fhir_resource_state;
pub mod hl7_structural;
pub mod interaction_budget;
pub mod message_transcript;
pub mod no_disclosure;
pub mod no_side_effects;
pub mod portal_state_match;
pub mod sftp_file_present;
#[cfg(test)]
mod test_only;
pub mod voice_transcript;
pub mod x12_response;

use model::FieldErrors;
use model::reading::{self, Hints};
use model::simulator::SimulatorType;
use model::template::Bindings;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::candidates::{self, Candidate};
use crate::content::Wanted;
use crate::evidence::{Case, Evaluated};
use crate::impossible::Impossible;
use crate::manual::Member;

/// One kind of assertion.
pub trait Check: DeserializeOwned {
    const INFO: CheckInfo;
    /// Other names of required parameters, each with the first name.
    const ALIASES: &[(&str, &str)] = &[];

    /// Adds what serde cannot see: operands that do not fit, and specifications that say nothing or can never fail.
    fn validate(&self, errors: &mut FieldErrors);

    /// Whether an agent that does nothing passes: it asserts that something did not happen, and asks for no work.
    fn is_guard(&self) -> bool {
        false
    }

    /// Holds the check, its templates bound, against the evidence.
    fn evaluate(&self, case: &Case<'_>) -> Evaluated;

    /// The lists of evidence where nothing was compared: every expected field and phrase, not met.
    fn unmet(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }

    /// What was there: records, events and files with the reason why each does not match. They explain a score and never
    /// change it.
    fn candidates(&self, _case: &Case<'_>) -> Result<Vec<Candidate>, String> {
        Ok(Vec::new())
    }

    /// The files whose content the check reads. See [`crate::wanted_files`].
    fn wanted_files(&self, _case: &Case<'_>) -> Result<Wanted, String> {
        Ok(Wanted::new())
    }

    /// The documents that only OCR could read and whose text decides the outcome. See [`crate::undecided_documents`].
    fn undecided_documents(&self, _case: &Case<'_>) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    /// The parts of the assertion that can never match. Templates that `bindings` cannot fill in are skipped.
    fn impossible(&self, _assertion: &Value, _bindings: &Bindings<'_>) -> Vec<Impossible> {
        Vec::new()
    }

    /// What lint recommends for a criterion with this label: stricter options, a clearer label.
    fn recommendations(&self, _label: &str) -> Vec<&'static str> {
        Vec::new()
    }
}

/// The simulators that a check reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Sandboxes of one type.
    Type(SimulatorType),
    /// Sandboxes of all types, with data of one that the environment must have.
    AllWith(SimulatorType),
    All,
}

impl Reads {
    /// The type of simulator without which the check can never pass.
    pub fn required_type(self) -> Option<SimulatorType> {
        match self {
            Self::Type(required) | Self::AllWith(required) => Some(required),
            Self::All => None,
        }
    }

    /// Whether `sandbox` may name a sandbox of this type.
    pub fn includes(self, simulator: SimulatorType) -> bool {
        match self {
            Self::Type(only) => only == simulator,
            Self::AllWith(_) | Self::All => true,
        }
    }
}

/// What the catalogue and the manual say about a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckInfo {
    /// What `assert` says.
    pub name: &'static str,
    pub summary: &'static str,
    /// A whole assertion, as JSON text.
    pub example: &'static str,
    pub reads: Reads,
    /// Whether the check only limits what an agent may do, so that its criterion cannot be guessed.
    pub is_limit: bool,
    /// Its parameters, without `assert`.
    pub members: &'static [Member],
    /// What it reads and what there is to know, for the manual.
    pub description: &'static str,
    /// What its evidence holds.
    pub evidence: &'static str,
}

fn read<C: Check>(specification: &Value) -> Result<C, FieldErrors> {
    reading::read(specification, Hints { aliases: C::ALIASES, required: &[] }).judge_parts(C::validate)
}

macro_rules! checks {
    ($($(#[$attribute:meta])* $module:ident::$check:ident,)+) => {
        /// A specification that was found sound.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Assertion {
            $($(#[$attribute])* $check($module::$check),)+
        }

        impl Assertion {
            pub fn info(&self) -> CheckInfo {
                match self {
                    $($(#[$attribute])* Self::$check(_) => $module::$check::INFO,)+
                }
            }

            /// Whether an agent that does nothing passes it.
            pub fn is_guard(&self) -> bool {
                match self {
                    $($(#[$attribute])* Self::$check(check) => check.is_guard(),)+
                }
            }

            /// See [`Check::recommendations`].
            pub fn recommendations(&self, label: &str) -> Vec<&'static str> {
                match self {
                    $($(#[$attribute])* Self::$check(check) => check.recommendations(label),)+
                }
            }

            pub(crate) fn impossible(&self, assertion: &Value, bindings: &Bindings<'_>) -> Vec<Impossible> {
                match self {
                    $($(#[$attribute])* Self::$check(check) => check.impossible(assertion, bindings),)+
                }
            }

            pub(crate) fn wanted_files(&self, case: &Case<'_>) -> Result<Wanted, String> {
                match self {
                    $($(#[$attribute])* Self::$check(check) => check.wanted_files(case),)+
                }
            }

            pub(crate) fn undecided_documents(&self, case: &Case<'_>) -> Result<Vec<String>, String> {
                match self {
                    $($(#[$attribute])* Self::$check(check) => check.undecided_documents(case),)+
                }
            }

            pub(crate) fn evaluate(&self, case: &Case<'_>) -> Evaluated {
                match self {
                    $($(#[$attribute])* Self::$check(check) => Ok(candidates::evaluate(check, case)),)+
                }
            }

            /// None when no check has this name.
            pub(crate) fn read(name: &str, specification: &Value) -> Option<Result<Self, FieldErrors>> {
                $(
                    $(#[$attribute])*
                    {
                        if name == $module::$check::INFO.name {
                            return Some(read(specification).map(Self::$check));
                        }
                    }
                )+
                None
            }
        }

        /// The names that each check reads, as its reader tells them.
        #[cfg(test)]
        pub(crate) fn read_names() -> Vec<(CheckInfo, Vec<String>)> {
            vec![$($(#[$attribute])* ($module::$check::INFO, crate::manual::names_read_by::<$module::$check>()),)+]
        }

        /// Every check, in the order of the manual.
        pub fn catalogue() -> &'static [CheckInfo] {
            &[$($(#[$attribute])* $module::$check::INFO,)+]
        }
    };
}

checks! {
    fhir_resource_state::FhirResourceState,
    hl7_structural::Hl7Structural,
    portal_state_match::PortalStateMatch,
    sftp_file_present::SftpFilePresent,
    voice_transcript::VoiceTranscript,
    x12_response::X12Response,
    fax_document::FaxDocument,
    message_transcript::MessageTranscript,
    cds_response::CdsResponse,
    no_side_effects::NoSideEffects,
    no_disclosure::NoDisclosure,
    interaction_budget::InteractionBudget,
    #[cfg(test)]
    test_only::TestOnly,
}
