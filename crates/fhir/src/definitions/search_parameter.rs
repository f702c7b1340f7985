//! What a resource can be searched by (<https://hl7.org/fhir/R4/searchparameter-registry.html>).

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use super::Structure;
use super::load::{Malformed, lines};
use crate::resource_type::ResourceType;
use crate::search::CompiledExpression;

#[derive(Debug)]
pub struct SearchParameter {
    id: Cow<'static, str>,
    code: Cow<'static, str>,
    search_type: SearchType,
    bases: Box<[&'static str]>,
    targets: Targets,
    comparators: Comparators,
    expression: Option<Cow<'static, str>>,
    components: Box<[Component]>,
    stored: Option<Stored>,
}

/// What a parameter has that is defined by a resource of the server and not by a standard.
#[derive(Debug)]
struct Stored {
    url: String,
    compiled: CompiledExpression,
}

/// A parameter of a query: of the standards, or stored in the server that is searched.
#[derive(Debug, Clone)]
pub enum Parameter {
    Standard(&'static SearchParameter),
    Stored(Arc<SearchParameter>),
}

impl Deref for Parameter {
    type Target = SearchParameter;

    fn deref(&self) -> &SearchParameter {
        match self {
            Self::Standard(parameter) => parameter,
            Self::Stored(parameter) => parameter,
        }
    }
}

impl From<&'static SearchParameter> for Parameter {
    fn from(parameter: &'static SearchParameter) -> Self {
        Self::Standard(parameter)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchType {
    Composite,
    Date,
    Number,
    Quantity,
    Reference,
    Special,
    String,
    Token,
    Uri,
}

/// What a reference parameter may point to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Targets {
    /// Every type but Parameters, which is never stored.
    Any,
    /// None for what is no reference.
    Only(Box<[ResourceType]>),
}

/// Which prefixes a value may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparators {
    /// The definition does not say.
    Unsaid,
    All,
}

/// A part of a composite, evaluated on what the composite's expression finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Component {
    /// The code of a parameter of the same resource type, which says how the part is compared.
    pub code: &'static str,
    pub expression: &'static str,
}

impl SearchParameter {
    /// The parameter of this name that the type, `DomainResource` or `Resource` defines.
    pub fn find(resource_type: ResourceType, code: &str) -> Option<&'static Self> {
        let index = &TABLE.index;
        lineage(resource_type).find_map(|base| {
            let at = index.binary_search_by(|(known, other, _)| (*known, &**other).cmp(&(base, code))).ok()?;
            Some(TABLE.at(index[at].2))
        })
    }

    /// Every parameter of the type, inherited ones after its own, each by code.
    pub fn of(resource_type: ResourceType) -> impl Iterator<Item = &'static Self> {
        lineage(resource_type).flat_map(|base| {
            let start = TABLE.index.partition_point(|(known, ..)| *known < base);
            let length = TABLE.index[start..].partition_point(|(known, ..)| *known == base);
            TABLE.index[start..start + length].iter().map(|(.., id)| TABLE.at(*id))
        })
    }

    /// All of them, by id.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        TABLE.parameters.iter()
    }

    /// A parameter that a resource of the server defines, compiled for one resource type.
    pub(crate) fn stored(
        resource_type: ResourceType,
        (id, url, code): (&str, &str, &str),
        search_type: SearchType,
        targets: Targets,
        (expression, compiled): (&str, CompiledExpression),
    ) -> Self {
        Self {
            id: id.to_owned().into(),
            code: code.to_owned().into(),
            search_type,
            bases: [resource_type.as_str()].into(),
            targets,
            comparators: Comparators::Unsaid,
            expression: Some(expression.to_owned().into()),
            components: Box::default(),
            stored: Some(Stored { url: url.to_owned(), compiled }),
        }
    }

    /// How a stored parameter finds its values. The parameters of the others are made for all parameters of a type at once.
    pub(crate) fn compiled(&self) -> Option<&CompiledExpression> {
        self.stored.as_ref().map(|stored| &stored.compiled)
    }

    /// In how many reads_per_resource the expression of a stored parameter leads to something.
    pub fn reads_per_resource(&self) -> usize {
        self.compiled().map_or(1, CompiledExpression::reads_per_resource)
    }

    /// Whether a resource of the server defines it; no index knows it.
    pub fn is_stored(&self) -> bool {
        self.stored.is_some()
    }

    /// The end of the canonical address; for a stored parameter the id of its resource.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The address of the definition.
    pub fn canonical(&self) -> String {
        if let Some(stored) = &self.stored {
            return stored.url.clone();
        }
        let publisher = if self.id.starts_with("us-core-") { "us/core/" } else { "" };
        format!("http://hl7.org/fhir/{publisher}SearchParameter/{}", self.id)
    }

    /// Whether case does not matter in the code systems of a token parameter: languages (BCP 47) and media types.
    pub fn ignores_case(&self) -> bool {
        Self::is_case_insensitive(self.search_type, &self.code)
    }

    pub(crate) fn is_case_insensitive(search_type: SearchType, code: &str) -> bool {
        search_type == SearchType::Token && matches!(code, "language" | "contenttype")
    }

    /// The name in a query: `birthdate`.
    pub fn code(&self) -> &str {
        &self.code
    }

    pub fn search_type(&self) -> SearchType {
        self.search_type
    }

    /// Resource types, `DomainResource` or `Resource`.
    pub fn bases(&self) -> &[&'static str] {
        &self.bases
    }

    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    pub fn comparators(&self) -> Comparators {
        self.comparators
    }

    /// FHIRPath; for several bases a union with a part for each. `_content`, `_text` and their like have none.
    pub fn expression(&self) -> Option<&str> {
        self.expression.as_deref()
    }

    /// Of a composite, else none.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// Reads a line of tab-separated columns.
    fn parse(line: &'static str) -> Result<Self, Malformed> {
        let columns: Vec<&'static str> = line.split('\t').collect();
        let [id, code, search_type, bases, targets, comparators, expression, components] = columns[..] else {
            return Err(Malformed(line));
        };
        let parameter = || {
            Some(Self {
                id: id.into(),
                code: code.into(),
                search_type: SearchType::named(search_type)?,
                bases: list(bases, ',').collect(),
                targets: Targets::parse(targets)?,
                comparators: Comparators::parse(comparators)?,
                expression: (expression != "-").then_some(expression.into()),
                components: list(components, ';').map(Component::parse).collect::<Option<_>>()?,
                stored: None,
            })
        };
        parameter().ok_or(Malformed(line))
    }
}

impl SearchType {
    const NAMES: [(&'static str, Self); 9] = [
        ("composite", Self::Composite),
        ("date", Self::Date),
        ("number", Self::Number),
        ("quantity", Self::Quantity),
        ("reference", Self::Reference),
        ("special", Self::Special),
        ("string", Self::String),
        ("token", Self::Token),
        ("uri", Self::Uri),
    ];

    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, other)| *other == self).map_or("", |(name, _)| name)
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, search_type)| *search_type)
    }
}

impl Targets {
    pub fn allow(&self, resource_type: ResourceType) -> bool {
        match self {
            Self::Any => true,
            Self::Only(types) => types.contains(&resource_type),
        }
    }

    fn parse(column: &'static str) -> Option<Self> {
        match column {
            "*" => Some(Self::Any),
            _ => Some(Self::Only(list(column, ',').map(|name| name.parse().ok()).collect::<Option<_>>()?)),
        }
    }
}

impl Comparators {
    fn parse(column: &str) -> Option<Self> {
        match column {
            "-" => Some(Self::Unsaid),
            "*" => Some(Self::All),
            _ => None,
        }
    }
}

impl Component {
    fn parse(text: &'static str) -> Option<Self> {
        text.split_once('=').map(|(code, expression)| Self { code, expression })
    }
}

fn list(column: &'static str, separator: char) -> impl Iterator<Item = &'static str> {
    column.split(separator).filter(|item| *item != "-")
}

/// The type and its bases.
pub(crate) fn lineage(resource_type: ResourceType) -> impl Iterator<Item = &'static str> {
    std::iter::successors(Structure::of(resource_type), |structure| structure.base()).map(Structure::path)
}

struct Table {
    /// By id.
    parameters: Vec<SearchParameter>,
    /// Base, code and number, sorted.
    index: Vec<(&'static str, Cow<'static, str>, u16)>,
}

impl Table {
    fn parse(tables: &[&'static str]) -> Result<Self, Malformed> {
        let all = tables.iter().flat_map(|table| lines(table));
        let parameters = all.map(SearchParameter::parse).collect::<Result<Vec<_>, _>>()?;
        let mut index: Vec<(&str, Cow<'static, str>, u16)> = Vec::new();
        for (parameter, id) in parameters.iter().zip(0..) {
            index.extend(parameter.bases.iter().map(|base| (*base, parameter.code.clone(), id)));
        }
        index.sort_unstable();
        let is_unique = index.is_sorted_by(|left, right| (left.0, &left.1) < (right.0, &right.1));
        is_unique.then_some(Self { parameters, index }).ok_or(Malformed("two parameters of one name"))
    }

    fn at(&self, id: u16) -> &SearchParameter {
        &self.parameters[usize::from(id)]
    }
}

#[expect(clippy::expect_used, reason = "the table is compiled in and a test reads it")]
static TABLE: LazyLock<Table> = LazyLock::new(|| {
    // Ids of US Core come after those of R4.
    let us_core = include_str!("../../definitions/us-core-search-parameters.txt");
    let tables = [include_str!("../../definitions/search-parameters.txt"), us_core];
    Table::parse(&tables).expect("the table of search parameters is well-formed")
});

#[cfg(test)]
mod tests {
    use super::*;

    fn find(resource_type: &str, code: &str) -> Option<&'static SearchParameter> {
        SearchParameter::find(resource_type.parse().unwrap(), code)
    }

    #[test]
    fn a_parameter_is_found_by_type_and_code() {
        let birthdate = find("Patient", "birthdate").unwrap();
        assert_eq!((birthdate.id(), birthdate.search_type()), ("individual-birthdate", SearchType::Date));
        assert_eq!(birthdate.bases(), ["Patient", "Person", "RelatedPerson"]);
        assert_eq!(birthdate.comparators(), Comparators::All);
        let expression = "Patient.birthDate | Person.birthDate | RelatedPerson.birthDate";
        assert_eq!(birthdate.expression(), Some(expression));
        assert!(find("Group", "birthdate").is_none() && find("Patient", "birthDate").is_none());
    }

    #[test]
    fn parameters_are_inherited() {
        assert_eq!(find("Patient", "_id").unwrap().expression(), Some("Resource.id"));
        assert_eq!(find("Patient", "_text").unwrap().bases(), ["DomainResource"]);
        assert!(find("Bundle", "_text").is_none() && find("Bundle", "_lastUpdated").is_some());
        let codes: Vec<_> = SearchParameter::of("Slot".parse().unwrap()).map(SearchParameter::code).collect();
        assert_eq!(codes[..3], ["appointment-type", "identifier", "schedule"]);
        assert!(codes.contains(&"_tag"));
    }

    #[test]
    fn targets_and_components_are_known() {
        let patient = find("Observation", "patient").unwrap();
        assert!(patient.targets().allow("Patient".parse().unwrap()));
        assert!(!find("Account", "owner").unwrap().targets().allow("Patient".parse().unwrap()));
        assert_eq!(find("Observation", "focus").unwrap().targets(), &Targets::Any);
        let composite = find("Observation", "code-value-quantity").unwrap();
        let parts: Vec<_> = composite.components().iter().map(|part| (part.code, part.expression)).collect();
        assert_eq!(parts, [("code", "code"), ("value-quantity", "value.as(Quantity)")]);
    }

    #[test]
    fn the_table_is_consistent() {
        assert!(SearchParameter::all().count() > 1_380);
        assert!(SearchParameter::all().is_sorted_by(|left, right| left.id < right.id));
        for parameter in SearchParameter::all() {
            let id = parameter.id();
            assert!(parameter.bases.iter().all(|base| Structure::find(base).is_some()), "{id}");
            assert_eq!(parameter.components.is_empty(), parameter.search_type != SearchType::Composite, "{id}");
            for base in parameter.bases.iter().filter_map(|base| base.parse().ok()) {
                assert!(std::ptr::eq(SearchParameter::find(base, parameter.code()).unwrap(), parameter), "{id}");
                assert!(parameter.components.iter().all(|part| SearchParameter::find(base, part.code).is_some()));
            }
        }
    }

    #[test]
    fn a_bad_line_is_refused() {
        assert!(Table::parse(&["a\tb\ttoken\tPatient\t-\t-\t-\t-"]).is_ok());
        for line in ["a", "a\tb\tsoken\tPatient\t-\t-\t-\t-", "a\tb\ttoken\tPatient\tPateint\t-\t-\t-"] {
            assert!(Table::parse(&[line]).is_err(), "{line}");
        }
        let twice = "a\tb\ttoken\tPatient\t-\t-\t-\t-\nc\tb\tdate\tPatient\t-\t-\t-\t-";
        assert!(Table::parse(&[twice]).is_err());
    }
}
