//! Code systems in which case does not matter.

/// R4 says so of SNOMED CT (`CodeSystem.caseSensitive` is false), and HL7's terminology of some external systems. Of CDT,
/// CVX and HCPCS it says nothing; no two of their codes differ in case only. CPT is case sensitive.
const WITHOUT_CASE: [&str; 15] = [
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

/// Whether codes of the system are the same in any case.
pub(super) fn is_without_case(system: Option<&str>) -> bool {
    system.is_some_and(|system| WITHOUT_CASE.binary_search(&system).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(WITHOUT_CASE.is_sorted());
        assert!(is_without_case(Some("http://loinc.org")) && !is_without_case(Some("http://unitsofmeasure.org")));
        assert!(!is_without_case(None) && !is_without_case(Some("http://www.ama-assn.org/go/cpt")));
    }
}
