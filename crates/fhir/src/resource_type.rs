//! The closed list of concrete resource types of FHIR R4 (<https://hl7.org/fhir/R4/resourcelist.html>).

use std::fmt;
use std::str::FromStr;

use crate::nearest::nearest;

/// The name of a concrete R4 resource type; the abstract `Resource` and `DomainResource` are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceType(&'static str);

impl ResourceType {
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// The type of this name; `parse` also says which was probably meant, which takes its time.
    pub fn named(name: &str) -> Option<Self> {
        NAMES.binary_search(&name).ok().map(|at| Self(NAMES[at]))
    }

    /// Every resource type, in alphabetical order.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().copied().map(Self)
    }
}

impl FromStr for ResourceType {
    type Err = UnknownResourceType;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::named(name).ok_or_else(|| UnknownResourceType::new(name))
    }
}

impl fmt::Display for ResourceType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0)
    }
}

/// A name that is no resource type, shortened to be shown, with the one that was probably meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownResourceType {
    name: String,
    suggestion: Option<ResourceType>,
}

impl UnknownResourceType {
    const SHOWN_CHARACTERS: usize = 40;

    fn new(name: &str) -> Self {
        let name: String = name.chars().take(Self::SHOWN_CHARACTERS).collect();
        let suggestion = nearest(&name, NAMES.into_iter()).and_then(ResourceType::named);
        Self { name, suggestion }
    }

    pub fn suggestion(&self) -> Option<ResourceType> {
        self.suggestion
    }
}

impl fmt::Display for UnknownResourceType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "unknown resource type {:?}", self.name)?;
        match self.suggestion {
            Some(suggestion) => write!(formatter, ", did you mean {:?}?", suggestion.as_str()),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UnknownResourceType {}

/// Sorted by byte, for the binary search.
const NAMES: [&str; 146] = [
    "Account",
    "ActivityDefinition",
    "AdverseEvent",
    "AllergyIntolerance",
    "Appointment",
    "AppointmentResponse",
    "AuditEvent",
    "Basic",
    "Binary",
    "BiologicallyDerivedProduct",
    "BodyStructure",
    "Bundle",
    "CapabilityStatement",
    "CarePlan",
    "CareTeam",
    "CatalogEntry",
    "ChargeItem",
    "ChargeItemDefinition",
    "Claim",
    "ClaimResponse",
    "ClinicalImpression",
    "CodeSystem",
    "Communication",
    "CommunicationRequest",
    "CompartmentDefinition",
    "Composition",
    "ConceptMap",
    "Condition",
    "Consent",
    "Contract",
    "Coverage",
    "CoverageEligibilityRequest",
    "CoverageEligibilityResponse",
    "DetectedIssue",
    "Device",
    "DeviceDefinition",
    "DeviceMetric",
    "DeviceRequest",
    "DeviceUseStatement",
    "DiagnosticReport",
    "DocumentManifest",
    "DocumentReference",
    "EffectEvidenceSynthesis",
    "Encounter",
    "Endpoint",
    "EnrollmentRequest",
    "EnrollmentResponse",
    "EpisodeOfCare",
    "EventDefinition",
    "Evidence",
    "EvidenceVariable",
    "ExampleScenario",
    "ExplanationOfBenefit",
    "FamilyMemberHistory",
    "Flag",
    "Goal",
    "GraphDefinition",
    "Group",
    "GuidanceResponse",
    "HealthcareService",
    "ImagingStudy",
    "Immunization",
    "ImmunizationEvaluation",
    "ImmunizationRecommendation",
    "ImplementationGuide",
    "InsurancePlan",
    "Invoice",
    "Library",
    "Linkage",
    "List",
    "Location",
    "Measure",
    "MeasureReport",
    "Media",
    "Medication",
    "MedicationAdministration",
    "MedicationDispense",
    "MedicationKnowledge",
    "MedicationRequest",
    "MedicationStatement",
    "MedicinalProduct",
    "MedicinalProductAuthorization",
    "MedicinalProductContraindication",
    "MedicinalProductIndication",
    "MedicinalProductIngredient",
    "MedicinalProductInteraction",
    "MedicinalProductManufactured",
    "MedicinalProductPackaged",
    "MedicinalProductPharmaceutical",
    "MedicinalProductUndesirableEffect",
    "MessageDefinition",
    "MessageHeader",
    "MolecularSequence",
    "NamingSystem",
    "NutritionOrder",
    "Observation",
    "ObservationDefinition",
    "OperationDefinition",
    "OperationOutcome",
    "Organization",
    "OrganizationAffiliation",
    "Parameters",
    "Patient",
    "PaymentNotice",
    "PaymentReconciliation",
    "Person",
    "PlanDefinition",
    "Practitioner",
    "PractitionerRole",
    "Procedure",
    "Provenance",
    "Questionnaire",
    "QuestionnaireResponse",
    "RelatedPerson",
    "RequestGroup",
    "ResearchDefinition",
    "ResearchElementDefinition",
    "ResearchStudy",
    "ResearchSubject",
    "RiskAssessment",
    "RiskEvidenceSynthesis",
    "Schedule",
    "SearchParameter",
    "ServiceRequest",
    "Slot",
    "Specimen",
    "SpecimenDefinition",
    "StructureDefinition",
    "StructureMap",
    "Subscription",
    "Substance",
    "SubstanceNucleicAcid",
    "SubstancePolymer",
    "SubstanceProtein",
    "SubstanceReferenceInformation",
    "SubstanceSourceMaterial",
    "SubstanceSpecification",
    "SupplyDelivery",
    "SupplyRequest",
    "Task",
    "TerminologyCapabilities",
    "TestReport",
    "TestScript",
    "ValueSet",
    "VerificationResult",
    "VisionPrescription",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn suggestion(name: &str) -> Option<&'static str> {
        name.parse::<ResourceType>().unwrap_err().suggestion().map(ResourceType::as_str)
    }

    #[test]
    fn the_table_is_sorted_and_every_name_is_found() {
        assert!(NAMES.is_sorted_by(|left, right| left < right));
        assert!(NAMES.iter().all(|name| name.parse::<ResourceType>().unwrap().as_str() == *name));
    }

    #[test]
    fn abstract_and_foreign_types_are_unknown() {
        for name in ["", "Resource", "DomainResource", "patient", "Patient ", "SubscriptionTopic"] {
            assert!(name.parse::<ResourceType>().is_err(), "{name:?}");
        }
    }

    #[test]
    fn a_slip_of_the_pen_gets_a_suggestion() {
        assert_eq!(suggestion("Pateint"), Some("Patient"));
        assert_eq!(suggestion("observation"), Some("Observation"));
        assert_eq!(suggestion("MedicationRequests"), Some("MedicationRequest"));
        assert_eq!(suggestion("Spaceship"), None);
        assert_eq!(suggestion(""), None);
        assert_eq!(suggestion(&"x".repeat(1_000_000)), None);
    }
}
