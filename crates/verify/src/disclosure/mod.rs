//! Finds patients' data in sent texts. Looks up the words of a text in the playground's own FHIR data, instead of reading all
//! of that data.

pub(crate) mod clinical;
pub(crate) mod directory;
pub(crate) mod sent_texts;
pub(crate) mod text;

use serde::Deserialize;

/// A kind of patient data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DisclosureKind {
    Name,
    BirthDate,
    Identifier,
    Phone,
    Email,
    Address,
    Diagnosis,
    Medication,
    Allergy,
    Result,
}

impl DisclosureKind {
    /// The kinds that identify a person.
    pub(crate) const IDENTIFYING: [Self; 6] =
        [Self::Name, Self::BirthDate, Self::Identifier, Self::Phone, Self::Email, Self::Address];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::BirthDate => "birth_date",
            Self::Identifier => "identifier",
            Self::Phone => "phone",
            Self::Email => "email",
            Self::Address => "address",
            Self::Diagnosis => "diagnosis",
            Self::Medication => "medication",
            Self::Allergy => "allergy",
            Self::Result => "result",
        }
    }
}

/// Data of a patient that was found in a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Disclosure {
    pub(crate) kind: DisclosureKind,
    /// The patient's id.
    pub(crate) patient: String,
    /// The data as it is in the FHIR data.
    pub(crate) phrase: String,
}
