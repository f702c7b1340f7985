//! The steps of the wizard in order, and the fields of each.

use app::sandboxes::payer::pages::{Field, Page, PayerConfig, Portal};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WizardStep {
    Patient,
    Provider,
    Service,
    Clinical,
    Documents,
    Review,
}

impl WizardStep {
    pub(super) const ALL: [Self; 6] =
        [Self::Patient, Self::Provider, Self::Service, Self::Clinical, Self::Documents, Self::Review];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Patient => "patient",
            Self::Provider => "provider",
            Self::Service => "service",
            Self::Clinical => "clinical",
            Self::Documents => "documents",
            Self::Review => "review",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.name() == name)
    }

    pub(super) fn title(self, portal: Portal) -> &'static str {
        match (self, portal) {
            (Self::Patient, _) => "Patient",
            (Self::Provider, Portal::Radmd) => "Ordering provider",
            (Self::Provider, Portal::Covermymeds) => "Prescriber",
            (Self::Service, Portal::Radmd) => "Exam",
            (Self::Service, Portal::Covermymeds) => "Medication",
            (Self::Clinical, _) => "Clinical questions",
            (Self::Documents, _) => "Documents",
            (Self::Review, _) => "Review and submit",
        }
    }

    pub(super) fn next(self) -> Self {
        let next = Self::ALL.into_iter().skip_while(|step| *step != self).nth(1);
        next.unwrap_or(Self::Review)
    }

    pub(super) fn template(self) -> &'static str {
        match self {
            Self::Patient => "patient.html",
            Self::Provider => "provider.html",
            Self::Service => "service.html",
            Self::Clinical => "clinical.html",
            Self::Documents => "documents.html",
            Self::Review => "review.html",
        }
    }

    pub(super) fn page(self) -> Page {
        match self {
            Self::Patient => Page::Patient,
            Self::Provider => Page::Provider,
            Self::Service => Page::Service,
            Self::Clinical => Page::Clinical,
            Self::Documents => Page::Documents,
            Self::Review => Page::Review,
        }
    }

    /// The fields of the request on this step.
    pub(super) fn fields(self, portal: Portal) -> &'static [Field] {
        match (self, portal) {
            (Self::Patient, _) => &[Field::Member],
            (Self::Provider, _) => &[Field::Provider],
            (Self::Service, Portal::Radmd) => &[Field::Procedure, Field::Diagnosis, Field::Urgency, Field::ServiceDate],
            (Self::Service, Portal::Covermymeds) => &[Field::Drug, Field::Diagnosis, Field::Urgency],
            (Self::Clinical, _) => &[Field::Notes],
            (Self::Documents | Self::Review, _) => &[],
        }
    }
}

/// The label of a field: the author's, or the portal's default.
pub(super) fn label(field: Field, config: &PayerConfig) -> &str {
    match config.faults.renamed_labels.get(&field) {
        Some(label) => label,
        None => default_label(field, config.portal),
    }
}

fn default_label(field: Field, portal: Portal) -> &'static str {
    match (field, portal) {
        (Field::Member, _) => "Member ID",
        (Field::Provider, Portal::Radmd) => "Ordering provider NPI",
        (Field::Provider, Portal::Covermymeds) => "Prescriber NPI",
        (Field::Procedure, _) => "Procedure code (CPT or HCPCS)",
        (Field::Drug, _) => "Medication",
        (Field::Diagnosis, _) => "Diagnosis code (ICD-10-CM)",
        (Field::Urgency, _) => "Urgency",
        (Field::ServiceDate, _) => "Planned date of service",
        (Field::Notes, _) => "Clinical notes",
        (Field::Documents, _) => "Supporting documents",
    }
}
