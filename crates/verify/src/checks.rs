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
pub mod voice_transcript;
pub mod x12_response;

use model::FieldErrors;
use model::reading::{self, Hints};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::evidence::{Case, Evaluated};
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
}

/// What the catalogue and the manual say about a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckInfo {
    /// What `assert` says.
    pub name: &'static str,
    pub summary: &'static str,
    /// A whole assertion, as JSON text.
    pub example: &'static str,
    /// All that it takes beside `assert`.
    pub members: &'static [Member],
    /// What it reads and what there is to know, for the manual.
    pub told: &'static str,
    /// What its evidence holds.
    pub evidence: &'static str,
}

fn read<C: Check>(specification: &Value) -> Result<C, FieldErrors> {
    reading::read(specification, Hints { aliases: C::ALIASES, required: &[] }).judge_parts(C::validate)
}

macro_rules! checks {
    ($($module:ident::$check:ident,)+) => {
        /// A specification that was found sound.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Assertion {
            $($check($module::$check),)+
        }

        impl Assertion {
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$check(_) => $module::$check::INFO.name,)+
                }
            }

            /// Whether an agent that does nothing passes it.
            pub fn is_guard(&self) -> bool {
                match self {
                    $(Self::$check(check) => check.is_guard(),)+
                }
            }

            pub(crate) fn evaluate(&self, case: &Case<'_>) -> Evaluated {
                match self {
                    $(Self::$check(check) => check.evaluate(case),)+
                }
            }

            /// None when no check has this name.
            pub(crate) fn read(name: &str, specification: &Value) -> Option<Result<Self, FieldErrors>> {
                $(
                    if name == $module::$check::INFO.name {
                        return Some(read(specification).map(Self::$check));
                    }
                )+
                None
            }
        }

        /// The names that each check reads, as its reader tells them.
        #[cfg(test)]
        pub(crate) fn read_names() -> Vec<(CheckInfo, Vec<String>)> {
            vec![$(($module::$check::INFO, crate::manual::names_read_by::<$module::$check>()),)+]
        }

        /// Every check, in the order of the manual.
        pub fn catalogue() -> &'static [CheckInfo] {
            &[$($module::$check::INFO,)+]
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
}
