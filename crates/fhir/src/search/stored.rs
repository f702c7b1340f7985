//! Search parameters that are resources of the server that is searched
//! (<https://hl7.org/fhir/R4/searchparameter.html>), beside those of the standards.

use serde_json::Value;

use super::{Plan, is_same};
use crate::ResourceType;
use crate::definitions::{SearchParameter, SearchType, Targets, lineage};
use crate::excerpt::Excerpt;

/// Of an expression.
const MAX_EXPRESSION_BYTES: usize = 4_096;
const MAX_CODE_CHARACTERS: usize = 64;

/// An active SearchParameter resource, as far as search uses it.
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
}

/// Why a SearchParameter resource cannot take effect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{element}: {reason}")]
pub struct StoredFault {
    /// `SearchParameter.expression`.
    pub element: &'static str,
    pub reason: String,
}

impl StoredParameter {
    /// Reads a valid SearchParameter resource; none if it is not active, or says nothing that search could use.
    pub fn read(resource: &Value) -> Result<Option<Self>, StoredFault> {
        let text = |name: &str| resource.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("status") != "active" {
            return Ok(None);
        }
        let search_type = SearchType::named(text("type")).filter(|found| is_supported(*found)).ok_or_else(|| {
            fault("type", "composite and special parameters are not supported; a draft of one can be stored")
        })?;
        let expression = text("expression");
        if expression.is_empty() {
            return Err(fault(
                "expression",
                "an active parameter needs an expression, by which resources are searched",
            ));
        }
        if expression.len() > MAX_EXPRESSION_BYTES {
            return Err(fault("expression", format!("has at most {MAX_EXPRESSION_BYTES} bytes")));
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

    /// The types that it can be a parameter of.
    pub fn types(&self) -> impl Iterator<Item = ResourceType> {
        ResourceType::all().filter(|resource_type| self.is_of(*resource_type))
    }

    fn is_of(&self, resource_type: ResourceType) -> bool {
        lineage(resource_type).any(|base| self.bases.iter().any(|own| own == base))
    }

    /// The parameter of a type. None if the type is no base, or has a parameter of the standards under this name, which
    /// means the same; a fault if the expression cannot be evaluated or the name means something else.
    pub fn of(&self, resource_type: ResourceType) -> Result<Option<SearchParameter>, StoredFault> {
        if !self.is_of(resource_type) {
            return Ok(None);
        }
        let Self { search_type, targets, code, expression, .. } = self;
        if let Some(standard) = SearchParameter::find(resource_type, code) {
            return if self.is_standard(standard, resource_type) {
                Ok(None)
            } else {
                Err(taken(standard, resource_type))
            };
        }
        if !is_code(code) {
            let form = format!("letters, digits, - and _, at most {MAX_CODE_CHARACTERS}, the first of them a letter");
            return Err(fault("code", format!("the name in a query has {form}; it is {}", Excerpt::of(code))));
        }
        let Some(plan) = Plan::compile(resource_type, *search_type, targets, code, expression) else {
            let reason = format!(
                "{} cannot be evaluated by a search: paths, where(), extension(), exists(), as, |, and, or can, and [n], =, \
                 !=, is where a path leads to one array or one value; it must not lead in too many ways",
                Excerpt::of(expression)
            );
            return Err(fault("expression", reason));
        };
        if plan.ways() == 0 {
            let kind = search_type.name();
            let reason =
                format!("{} leads to nothing in {resource_type} that a {kind} can be", Excerpt::of(expression));
            return Err(fault("expression", reason));
        }
        let names = (self.id.as_str(), self.url.as_str(), code.as_str());
        Ok(Some(SearchParameter::stored(resource_type, names, *search_type, targets.clone(), (expression, plan))))
    }

    /// Whether it is a parameter of the standards: by its canonical address, or because it finds the same.
    fn is_standard(&self, standard: &'static SearchParameter, resource_type: ResourceType) -> bool {
        let finds_same =
            || standard.search_type() == self.search_type && is_same(standard, resource_type, &self.expression);
        self.url == standard.canonical() || finds_same()
    }
}

fn taken(standard: &SearchParameter, resource_type: ResourceType) -> StoredFault {
    let (code, canonical) = (standard.code(), standard.canonical());
    let reason = format!(
        "{code} is a parameter of {resource_type} already, with another meaning ({canonical}); choose another code"
    );
    fault("code", reason)
}

fn is_supported(search_type: SearchType) -> bool {
    !matches!(search_type, SearchType::Composite | SearchType::Special)
}

fn is_code(code: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    code.len() <= MAX_CODE_CHARACTERS
        && code.starts_with(|first: char| first.is_ascii_alphabetic())
        && code.bytes().all(is_letter)
}

fn fault(element: &str, reason: impl Into<String>) -> StoredFault {
    let element = match element {
        "type" => "SearchParameter.type",
        "code" => "SearchParameter.code",
        _ => "SearchParameter.expression",
    };
    StoredFault { element, reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::search::{Found, extract};

    fn read(code: &str, base: &str, kind: &str, expression: &str) -> Result<Option<SearchParameter>, StoredFault> {
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
        assert_eq!(extract(&parameter, &patient), [Found::String("Ulm".into())]);
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
            assert_eq!(extract(&parameter, &patient), [Found::String(found.into())], "{expression}");
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
            assert_eq!(extract(&parameter, &patient), [Found::String(found.into())], "{expression}");
        }
        let has = read("other", "Patient", "token", "Patient.birthDate.hasExtension('urn:time')").unwrap().unwrap();
        assert!(matches!(&extract(&has, &patient)[..], [Found::Token(found)] if found.code.as_deref() == Some("true")));
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
        let ways = |expression: &str| read("other", "Patient", "token", expression).unwrap().unwrap().ways();
        assert_eq!(ways("Patient.active"), 1);
        assert_eq!(ways("Patient.extension.value"), 1, "an extension has one value, of one type");
        assert_eq!(ways("Patient.extension('a').value"), 2);
        assert_eq!(ways("Patient.extension.where(url = '' or url = '' or url = '').value"), 4);
        assert_eq!(ways("Patient.active.exists() or Patient.name.exists()"), 2);
        assert_eq!(ways("Patient.active | Patient.name.use"), 2);
    }

    /// Of US Core 6.1.0, those that differ from the table of search parameters in how they are written.
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
            let fault = read("birthdate", "Patient", kind, expression).unwrap_err();
            assert!(fault.reason.contains("already, with another meaning"), "{fault}");
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
            let fault = read("other", "Patient", "string", expression).unwrap_err();
            assert_eq!(fault.element, "SearchParameter.expression", "{expression}: {fault}");
        }
        for code in ["", "_other", "a.b", "a:b", "a b", "ä", "1a"] {
            assert_eq!(read(code, "Patient", "string", "Patient.name").unwrap_err().element, "SearchParameter.code");
        }
        for kind in ["composite", "special", "x"] {
            assert_eq!(read("other", "Patient", kind, "Patient.name").unwrap_err().element, "SearchParameter.type");
        }
    }
}
