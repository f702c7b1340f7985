//! Code systems whose codes are case-insensitive.

/// From R4 for SNOMED CT (`CodeSystem.caseSensitive` is false), and from HL7's terminology for other external systems.
/// Neither covers CDT, CVX and HCPCS, but no two of their codes differ only in case. CPT is case-sensitive.
const CASE_INSENSITIVE: [&str; 15] = [
    "http://hl7.org/fhir/sid/cvx",
    "http://hl7.org/fhir/sid/icd-10",
    "http://hl7.org/fhir/sid/icd-10-cm",
    "http://hl7.org/fhir/sid/icd-9-cm",
    "http://hl7.org/fhir/sid/ndc",
    "http://loinc.org",
    "http://nucc.org/provider-taxonomy",
    "http://snomed.info/sct",
    "http://www.ada.org/cdt",
    "http://www.cms.gov/Medicare/Coding/HCPCSReleaseCodeSets",
    "http://www.cms.gov/Medicare/Coding/ICD10",
    "http://www.nlm.nih.gov/research/umls/rxnorm",
    "https://www.cms.gov/Medicare/Coding/HCPCSReleaseCodeSets",
    "urn:ietf:bcp:13",
    "urn:ietf:bcp:47",
];

/// Whether codes of the system are case-insensitive.
pub(super) fn is_case_insensitive(system: Option<&str>) -> bool {
    system.is_some_and(|system| CASE_INSENSITIVE.binary_search(&system).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(CASE_INSENSITIVE.is_sorted());
        assert!(
            is_case_insensitive(Some("http://loinc.org")) && !is_case_insensitive(Some("http://unitsofmeasure.org"))
        );
        assert!(!is_case_insensitive(None) && !is_case_insensitive(Some("http://www.ama-assn.org/go/cpt")));
    }
}
