//! Search parameters that are defined by SearchParameter resources of the searched server
//! (<https://hl7.org/fhir/R4/searchparameter.html>), in addition to the standard ones.

use serde_json::Value;

use super::{CompiledExpression, is_same};
use crate::ResourceType;
use crate::definitions::{SearchParameter, SearchType, Targets, lineage};
use crate::excerpt::Excerpt;
use crate::fhirpath::{FhirPath, PathFault};

/// The longest expression.
const MAX_EXPRESSION_BYTES: usize = 4_096;
const MAX_CODE_CHARACTERS: usize = 64;

/// The parts of an active SearchParameter resource that search uses.
#[derive(Debug)]
pub struct StoredParameter {
    id: String,
    url: String,
    code: String,
    search_type: SearchType,
    /// Resource types, `DomainResource` or `Resource`.
    bases: Vec<String>,
    targets: Targets,
    expression: String,
    parsed: Result<FhirPath, PathFault>,
}

/// Why a SearchParameter resource cannot take effect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{element}: {reason}")]
pub struct StoredParameterError {
    /// The path of the element, such as `SearchParameter.expression`.
    pub element: &'static str,
    pub reason: String,
}

impl StoredParameter {
    /// Reads a valid SearchParameter resource. Returns `None` if it is not active.
    pub fn read(resource: &Value) -> Result<Option<Self>, StoredParameterError> {
        let text = |name: &str| resource.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("status") != "active" {
            return Ok(None);
        }
        let search_type = SearchType::named(text("type")).filter(|found| is_supported(*found)).ok_or_else(|| {
            error("type", "composite and special parameters are not supported; store it with status draft")
        })?;
        let expression = text("expression");
        if expression.is_empty() {
            return Err(error("expression", "an active parameter needs an expression"));
        }
        if expression.len() > MAX_EXPRESSION_BYTES {
            return Err(error("expression", format!("is limited to {MAX_EXPRESSION_BYTES} bytes")));
        }
        let words = |name: &str| resource.get(name).and_then(Value::as_array).into_iter().flatten();
        let targets: Option<Box<[ResourceType]>> =
            words("target").map(|name| ResourceType::named(name.as_str()?)).collect();
        Ok(Some(Self {
            id: text("id").to_owned(),
            url: text("url").to_owned(),
            code: text("code").to_owned(),
            search_type,
            bases: words("base").filter_map(Value::as_str).map(str::to_owned).collect(),
            targets: match targets {
                Some(types) if search_type != SearchType::Reference || !types.is_empty() => Targets::Only(types),
                _ => Targets::Any,
            },
            expression: expression.to_owned(),
            parsed: FhirPath::parse(expression),
        }))
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn code(&self) -> &str {
        &self.code
    }

    pub fn search_type(&self) -> SearchType {
        self.search_type
    }

    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// The types that the parameter applies to.
    pub fn types(&self) -> impl Iterator<Item = ResourceType> {
        ResourceType::all().filter(|resource_type| self.is_of(*resource_type))
    }

    fn is_of(&self, resource_type: ResourceType) -> bool {
        lineage(resource_type).any(|base| self.bases.iter().any(|own| own == base))
    }

    /// Compiles the parameter for a type. Returns `None` if it does not apply to the type, or if the type has the same
    /// parameter in the standard; an error if the expression cannot be evaluated or if the code has another meaning in
    /// the standard.
    pub fn of(&self, resource_type: ResourceType) -> Result<Option<SearchParameter>, StoredParameterError> {
        if !self.is_of(resource_type) {
            return Ok(None);
        }
        let Self { search_type, targets, code, expression, parsed, .. } = self;
        if let Some(standard) = SearchParameter::find(resource_type, code) {
            return if self.is_standard(standard, resource_type) {
                Ok(None)
            } else {
                Err(code_taken(standard, resource_type))
            };
        }
        if !is_code(code) {
            let reason = format!(
                "expected a letter followed by letters, digits, - and _ (at most {MAX_CODE_CHARACTERS} characters), got {}",
                Excerpt::of(code)
            );
            return Err(error("code", reason));
        }
        let shown = Excerpt::of(expression);
        let parsed = parsed.as_ref().map_err(|reason| {
            error("expression", format!("{shown} is not a valid FHIRPath expression for R4 ({reason})"))
        })?;
        let compiled = CompiledExpression::compile(resource_type, *search_type, targets, code, parsed);
        let compiled = compiled.ok_or_else(|| error("expression", format!("{shown} {UNSUPPORTED}")))?;
        if compiled.reads_per_resource() == 0 {
            let reason =
                format!("{shown} selects nothing in {resource_type} that a {} can compare", search_type.name());
            return Err(error("expression", reason));
        }
        let names = (self.id.as_str(), self.url.as_str(), code.as_str());
        Ok(Some(SearchParameter::stored(resource_type, names, *search_type, targets.clone(), (expression, compiled))))
    }

    /// Whether it is the standard parameter: it has the same canonical URL, or the same type and expression.
    fn is_standard(&self, standard: &'static SearchParameter, resource_type: ResourceType) -> bool {
        let has_same_expression = || self.parsed.as_ref().is_ok_and(|parsed| is_same(standard, resource_type, parsed));
        self.url == standard.canonical() || (standard.search_type() == self.search_type && has_same_expression())
    }
}

/// What an expression must be for search to evaluate it.
const UNSUPPORTED: &str = "cannot be evaluated by a search: supported are paths, where(), extension(), hasExtension(), \
    exists(), as, ofType(), |, and, or; also [n], =, != and is, where the path selects one array or one value. The \
    expression must not select too many different paths";

fn code_taken(standard: &SearchParameter, resource_type: ResourceType) -> StoredParameterError {
    let (code, canonical) = (standard.code(), standard.canonical());
    let reason = format!(
        "{code} is already a parameter of {resource_type} with another meaning ({canonical}); choose another code"
    );
    error("code", reason)
}

fn is_supported(search_type: SearchType) -> bool {
    !matches!(search_type, SearchType::Composite | SearchType::Special)
}

fn is_code(code: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    code.len() <= MAX_CODE_CHARACTERS
        && code.starts_with(|first: char| first.is_ascii_alphabetic())
        && code.bytes().all(is_allowed)
}

fn error(element: &str, reason: impl Into<String>) -> StoredParameterError {
    let element = match element {
        "type" => "SearchParameter.type",
        "code" => "SearchParameter.code",
        _ => "SearchParameter.expression",
    };
    StoredParameterError { element, reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::search::{IndexedValue, extract};

    fn read(
        code: &str,
        base: &str,
        kind: &str,
        expression: &str,
    ) -> Result<Option<SearchParameter>, StoredParameterError> {
        let resource = json!({"resourceType": "SearchParameter", "id": "s", "url": "urn:s", "status": "active",
            "code": code, "base": [base], "type": kind, "expression": expression});
        StoredParameter::read(&resource)?.unwrap().of("Patient".parse().unwrap())
    }

    #[test]
    fn an_expression_finds_what_it_leads_to() {
        let birthplace = "Patient.extension.where(url = 'urn:birthplace').value.as(Address).city";
        let patient = json!({"resourceType": "Patient", "maritalStatus": {"coding": [{"code": "M"}]}, "extension": [
            {"url": "urn:birthplace", "valueAddress": {"city": "Ulm"}}, {"url": "urn:x", "valueAddress": {"city": "Bonn"}}]});
        let parameter = read("birthplace", "Patient", "string", birthplace).unwrap().unwrap();
        assert_eq!(extract(&parameter, &patient), [IndexedValue::String("Ulm".into())]);
        assert!(extract(&parameter, &json!({"resourceType": "Person"})).is_empty());
        let marital = read("marital-status", "DomainResource", "token", "Patient.maritalStatus").unwrap().unwrap();
        assert_eq!(extract(&marital, &patient).len(), 1);
        assert!((parameter.is_stored(), parameter.canonical()) == (true, "urn:s".to_owned()));
    }

    #[test]
    fn indexes_literals_and_variables_are_evaluated() {
        let patient = json!({"resourceType": "Patient", "name": [
            {"given": ["A", "B"], "use": "usual"}, {"given": ["C"]}],
            "extension": [{"url": "http://x/a%20b", "valueString": "D"}]});
        for (expression, found) in [
            ("Patient.name[0].given[1]", "B"),
            ("Patient.name[1].given", "C"),
            ("Patient.name.where(given[0] = 'C').given", "C"),
            ("%resource.name[1].given", "C"),
            ("Patient.extension.where(url='http://x/a%20b').value", "D"),
        ] {
            let parameter = read("other", "Patient", "string", expression).unwrap().unwrap();
            assert_eq!(extract(&parameter, &patient), [IndexedValue::String(found.into())], "{expression}");
        }
    }

    #[test]
    fn extensions_of_primitives_are_found() {
        let patient = json!({"resourceType": "Patient", "birthDate": "2000-01-01",
            "_birthDate": {"extension": [{"url": "urn:time", "valueString": "noon"}]},
            "name": [{"family": "E", "given": ["A", "B", "C"],
                "_given": [null, {"extension": [{"url": "urn:x", "valueString": "b"}]}, {"id": "c"}]}],
            "deceasedBoolean": true, "_deceasedBoolean": {"extension": [{"url": "urn:x", "valueString": "d"}]}});
        for (expression, found) in [
            ("Patient.birthDate.extension('urn:time')", "noon"),
            ("Patient.birthDate.extension.where(url = 'urn:time').value", "noon"),
            ("Patient.name.given.extension.value", "b"),
            ("Patient.name[0].given[1].extension.value", "b"),
            ("Patient.name[0].given[2].id", "c"),
            ("Patient.deceased.extension('urn:x').value", "d"),
            ("Patient.name.where(given.extension('urn:x').exists()).family", "E"),
        ] {
            let parameter = read("other", "Patient", "string", expression).unwrap().unwrap();
            assert_eq!(extract(&parameter, &patient), [IndexedValue::String(found.into())], "{expression}");
        }
        let has = read("other", "Patient", "token", "Patient.birthDate.hasExtension('urn:time')").unwrap().unwrap();
        assert!(
            matches!(&extract(&has, &patient)[..], [IndexedValue::Token(found)] if found.code.as_deref() == Some("true"))
        );
    }

    #[test]
    fn plans_are_bounded() {
        let deep = |steps: usize| format!("extension.value{}", ".extension".repeat(steps));
        assert!(read("other", "DomainResource", "token", &deep(30)).is_err());
        assert!(read("other", "Patient", "token", "Patient.extension('a').extension('b').value").is_ok());
        let filters = |count: usize| format!("extension.where(url = 'a'{}).value", " or url = 'b'".repeat(count));
        assert!(read("other", "Patient", "token", &filters(200)).is_err(), "each type of the value has all conditions");
        let path = |steps: usize| {
            read("other", "Patient", "string", &format!("Patient.text{}.id", ".extension".repeat(steps)))
        };
        assert!(path(30).is_ok(), "32 steps");
        assert!(path(31).is_err());
    }

    #[test]
    fn ways_are_counted_by_what_can_be_present() {
        let reads_per_resource =
            |expression: &str| read("other", "Patient", "token", expression).unwrap().unwrap().reads_per_resource();
        assert_eq!(reads_per_resource("Patient.active"), 1);
        assert_eq!(reads_per_resource("Patient.extension.value"), 1, "an extension has one value, of one type");
        assert_eq!(reads_per_resource("Patient.extension('a').value"), 2);
        assert_eq!(reads_per_resource("Patient.extension.where(url = '' or url = '' or url = '').value"), 4);
        assert_eq!(reads_per_resource("Patient.active.exists() or Patient.name.exists()"), 2);
        assert_eq!(reads_per_resource("Patient.active | Patient.name.use"), 2);
    }

    /// The parameters of US Core 6.1.0 whose expressions differ from the table of search parameters.
    #[test]
    fn parameters_of_us_core_are_those_of_the_standards() {
        let extension = |name: &str, url: &str, rest: &str| format!("{name}.extension.where(url = '{url}').{rest}");
        let us_core = "http://hl7.org/fhir/us/core/StructureDefinition/us-core-";
        let asserted = "http://hl7.org/fhir/StructureDefinition/condition-assertedDate";
        let of = |name: &str, rest: &str| extension("Patient", &format!("{us_core}{name}"), rest);
        let mut all = vec![
            (
                "Condition",
                "condition-asserted-date",
                "asserted-date",
                "date",
                extension("Condition", asserted, "valueDateTime"),
            ),
            ("Patient", "ethnicity", "ethnicity", "token", of("ethnicity", "extension.value.code")),
            (
                "Patient",
                "patient-gender-identity",
                "gender-identity",
                "token",
                of("genderIdentity", "value.coding.code"),
            ),
            ("Patient", "race", "race", "token", of("race", "extension.value.code")),
        ];
        let with_id = [
            "DocumentReference",
            "Encounter",
            "Patient",
            "Practitioner",
            "QuestionnaireResponse",
            "RelatedPerson",
            "ServiceRequest",
            "Specimen",
        ];
        all.extend(with_id.map(|base| (base, "id", "_id", "token", format!("{base}.id"))));
        for (base, name, code, kind, expression) in all {
            let id = if name == "id" { format!("{}-id", base.to_lowercase()) } else { name.to_owned() };
            let resource = json!({"resourceType": "SearchParameter", "id": "s", "status": "active", "code": code,
                "url": format!("http://hl7.org/fhir/us/core/SearchParameter/us-core-{id}"), "base": [base],
                "type": kind, "expression": expression});
            let stored = StoredParameter::read(&resource).unwrap().unwrap();
            assert!(stored.of(base.parse().unwrap()).unwrap().is_none(), "{id}");
        }
    }

    #[test]
    fn a_name_of_the_standards_keeps_its_meaning() {
        assert!(read("birthdate", "Patient", "date", "Patient.birthDate").unwrap().is_none(), "the same meaning");
        for (kind, expression) in [("date", "Patient.deceased.as(dateTime)"), ("string", "Patient.birthDate")] {
            let error = read("birthdate", "Patient", kind, expression).unwrap_err();
            assert!(error.reason.contains("with another meaning"), "{error}");
        }
        assert!(read("birthdate", "Group", "date", "Group.quantity").unwrap().is_none(), "not of Patient at all");
    }

    #[test]
    fn what_cannot_be_evaluated_is_refused() {
        let deep = format!("{}Patient.name{}", "(".repeat(2_000), ")".repeat(2_000));
        let long = format!("Patient{}", ".extension".repeat(400));
        let wide = format!("Patient.extension{}", ".value.extension".repeat(10));
        let nested = "Patient.extension.value.where(extension.value.where(extension.value.where(id.exists()).exists()).exists())";
        for expression in [
            "",
            "Patient.name + 1",
            "Patient.name.repeat(x)",
            "Patient.nonsense",
            "Patient.name.where(%resource.active.exists()).family",
            "Patient.name.given[0]",
            "Patient.name.where(use = 'usual')[0].family",
            "Patient.name[0][1].family",
            "(Patient.name | Patient.contact.name)[0].family",
            "Patient.name.where(given = 'A').family",
            "Patient.name.where((family | text) = 'A').family",
            "Patient.name.where(given != 'A').family",
            "Patient.name.where(extension.value is string).family",
            "Patient.name.given.where($this = 'A').extension('urn:x').value",
            "Patient.name.given.where(extension('urn:x').exists())",
            "Observation.code",
            &deep,
            &long,
            &wide,
            nested,
            "Patient.name.exists()",
            &"x".repeat(5_000),
        ] {
            let error = read("other", "Patient", "string", expression).unwrap_err();
            assert_eq!(error.element, "SearchParameter.expression", "{expression}: {error}");
        }
        for code in ["", "_other", "a.b", "a:b", "a b", "ä", "1a"] {
            assert_eq!(read(code, "Patient", "string", "Patient.name").unwrap_err().element, "SearchParameter.code");
        }
        for kind in ["composite", "special", "x"] {
            assert_eq!(read("other", "Patient", kind, "Patient.name").unwrap_err().element, "SearchParameter.type");
        }
    }
}
