//! Finding patients' data in what was sent: a dictionary of the playground's own FHIR data, asked by the words of the
//! text instead of read as a whole.

pub(crate) mod clinical;
pub(crate) mod directory;
pub(crate) mod sent;
pub(crate) mod text;

use serde::Deserialize;

/// What kind of data is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
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

impl Kind {
    /// What tells who a person is.
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

/// Something about a patient that stands in a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Match {
    pub(crate) kind: Kind,
    /// The patient's id.
    pub(crate) patient: String,
    /// As the dictionary has it.
    pub(crate) phrase: String,
}
