//! The checks. Each one is a struct of its parameters in its own file, and is listed in `checks!` below.

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
use crate::content::WantedFiles;
use crate::evidence::{EvaluationContext, EvaluationResult};
use crate::manual::Parameter;
use crate::unmatchable::UnmatchablePart;

/// A kind of assertion, implemented by the struct of its parameters.
pub trait Check: DeserializeOwned {
    const INFO: CheckInfo;
    /// Aliases of required parameters, each with the main name.
    const ALIASES: &[(&str, &str)] = &[];

    /// Reports errors that serde cannot detect: operands of the wrong type, and assertions that assert nothing or can never
    /// fail.
    fn validate(&self, errors: &mut FieldErrors);

    /// Whether an agent that does nothing passes, because the assertion only forbids something.
    fn is_guard(&self) -> bool {
        false
    }

    /// Evaluates the check. All of its templates are filled in.
    fn evaluate(&self, context: &EvaluationContext<'_>) -> EvaluationResult;

    /// The evidence lists for an evaluation that compared nothing: every expected field and phrase as not met.
    fn unmet(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }

    /// The records, events or files that the check found, each with the reason why it does not match. They explain a score
    /// and never change it.
    fn candidates(&self, _case: &EvaluationContext<'_>) -> Result<Vec<Candidate>, String> {
        Ok(Vec::new())
    }

    /// The files whose content the check reads. See [`crate::wanted_files`].
    fn wanted_files(&self, _case: &EvaluationContext<'_>) -> Result<WantedFiles, String> {
        Ok(WantedFiles::new())
    }

    /// The documents that only OCR could read and whose text decides the outcome. See [`crate::undecided_documents`].
    fn undecided_documents(&self, _case: &EvaluationContext<'_>) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    /// The parts of the assertion that can never match. Skips templates that have no value in `bindings`.
    fn unmatchable_parts(&self, _assertion: &Value, _bindings: &Bindings<'_>) -> Vec<UnmatchablePart> {
        Vec::new()
    }

    /// What lint recommends for a criterion with this label: stricter options, a clearer label.
    fn recommendations(&self, _label: &str) -> Vec<&'static str> {
        Vec::new()
    }
}

/// The simulators that a check reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadSimulators {
    /// Sandboxes of one type.
    Type(SimulatorType),
    /// Sandboxes of all types, with data of one that the environment must have.
    AllWith(SimulatorType),
    All,
}

impl ReadSimulators {
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

/// The description of a check in the catalog and the manual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckInfo {
    /// The value of `assert`.
    pub name: &'static str,
    pub summary: &'static str,
    /// A complete assertion, as JSON text.
    pub example: &'static str,
    pub reads: ReadSimulators,
    /// Whether the check only limits what an agent may do, so that its criterion cannot be guessed.
    pub is_limit: bool,
    /// Its parameters, without `assert`.
    pub parameters: &'static [Parameter],
    /// What it reads, and its rules, for the manual.
    pub description: &'static str,
    /// The members of its evidence.
    pub evidence: &'static str,
}

fn read<C: Check>(specification: &Value) -> Result<C, FieldErrors> {
    reading::read(specification, Hints { aliases: C::ALIASES, required: &[] }).judge_parts(C::validate)
}

macro_rules! checks {
    ($($(#[$attribute:meta])* $module:ident::$check:ident,)+) => {
        /// A parsed and validated assertion.
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

            pub(crate) fn unmatchable_parts(&self, assertion: &Value, bindings: &Bindings<'_>) -> Vec<UnmatchablePart> {
                match self {
                    $($(#[$attribute])* Self::$check(check) => check.unmatchable_parts(assertion, bindings),)+
                }
            }

            pub(crate) fn wanted_files(&self, context: &EvaluationContext<'_>) -> Result<WantedFiles, String> {
                match self {
                    $($(#[$attribute])* Self::$check(check) => check.wanted_files(context),)+
                }
            }

            pub(crate) fn undecided_documents(&self, context: &EvaluationContext<'_>) -> Result<Vec<String>, String> {
                match self {
                    $($(#[$attribute])* Self::$check(check) => check.undecided_documents(context),)+
                }
            }

            pub(crate) fn evaluate(&self, context: &EvaluationContext<'_>) -> EvaluationResult {
                match self {
                    $($(#[$attribute])* Self::$check(check) => Ok(candidates::evaluate(check, context)),)+
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

        /// The parameter names that each check deserializes, taken from the error of its deserializer.
        #[cfg(test)]
        pub(crate) fn read_names() -> Vec<(CheckInfo, Vec<String>)> {
            vec![$($(#[$attribute])* ($module::$check::INFO, crate::manual::names_read_by::<$module::$check>()),)+]
        }

        /// Every check, in the order of the manual.
        pub fn catalog() -> &'static [CheckInfo] {
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
