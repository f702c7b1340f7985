//! Parses parameter names: modifiers, chains and `_has` (<https://hl7.org/fhir/R4/search.html#modifiers>,
//! <https://hl7.org/fhir/R4/search.html#chaining>).

use super::{
    MAX_ALTERNATIVES, MAX_CHAIN, MAX_VALUES, NamedParameters, ParameterError, escape, parse_resource_type, search_value,
};
use crate::definitions::{Parameter, SearchParameter, SearchType};
use crate::search::{Clause, Condition, Modifier, SearchValue};
use crate::{OwnAddresses, ResourceType};

/// The most clauses that are tried for chains without types. A search that names its types needs only a few.
const MAX_CLAUSES: usize = 2_000;

pub(super) struct ParameterReader<'a> {
    addresses: OwnAddresses<'a>,
    stored: &'a NamedParameters<'a>,
    values: usize,
    clauses: usize,
}

impl<'a> ParameterReader<'a> {
    pub(super) fn new(addresses: OwnAddresses<'a>, stored: &'a NamedParameters<'a>) -> Self {
        Self { addresses, stored, values: 0, clauses: 0 }
    }

    pub(super) fn clause(
        &mut self,
        resource_type: ResourceType,
        name: &str,
        value: &str,
        depth: usize,
    ) -> Result<Clause, ParameterError> {
        self.clauses += 1;
        if depth > MAX_CHAIN {
            return Err(ParameterError::Limit(format!("a chain has at most {MAX_CHAIN} steps")));
        }
        if self.clauses > MAX_CLAUSES {
            return Err(ParameterError::Limit(
                "the chain can lead to too many resource types; name the type of each step, for example subject:Patient.name".into(),
            ));
        }
        if let Some(rest) = name.strip_prefix("_has:") {
            return self.reverse_chain(resource_type, rest, value, depth);
        }
        match name.split_once('.') {
            Some((first, rest)) => self.chain(resource_type, first, rest, value, depth),
            None => self.simple(resource_type, name, value).map(Clause::Simple),
        }
    }

    /// Parses the rest of `_has:`, such as `Observation:patient:code`.
    fn reverse_chain(
        &mut self,
        target: ResourceType,
        name: &str,
        value: &str,
        depth: usize,
    ) -> Result<Clause, ParameterError> {
        let mut parts = name.splitn(3, ':');
        let (Some(source), Some(code), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(ParameterError::Invalid("expected _has:Type:reference:parameter".into()));
        };
        let source = parse_resource_type(source)?;
        let parameter = self.reference(source, code)?;
        check_target(&parameter, source, target)?;
        let clause = Box::new(self.clause(source, rest, value, depth + 1)?);
        Ok(Clause::ReverseChain { source, parameter, clause })
    }

    /// Parses a chain: the reference parameter `first` (`subject:Patient` or `subject`) and the name of a parameter of
    /// its target.
    fn chain(
        &mut self,
        source: ResourceType,
        first: &str,
        rest: &str,
        value: &str,
        depth: usize,
    ) -> Result<Clause, ParameterError> {
        let (code, target) = first.split_once(':').map_or((first, None), |(code, target)| (code, Some(target)));
        let parameter = self.reference(source, code)?;
        let targets = match target {
            Some(target) => {
                let target = parse_resource_type(target)?;
                check_target(&parameter, source, target)?;
                vec![(target, self.clause(target, rest, value, depth + 1)?)]
            }
            None => self.any_target(&parameter, rest, value, depth)?,
        };
        Ok(Clause::Chain { parameter, targets })
    }

    /// The target types that have the parameter `rest` and accept the value. If there are none, returns the most
    /// specific error.
    fn any_target(
        &mut self,
        parameter: &SearchParameter,
        rest: &str,
        value: &str,
        depth: usize,
    ) -> Result<Vec<(ResourceType, Clause)>, ParameterError> {
        let mut targets = Vec::new();
        let mut error =
            ParameterError::Unknown(format!("no target type of {} has the search parameter {rest}", parameter.code()));
        for target in ResourceType::all().filter(|target| parameter.targets().allow(*target)) {
            match self.clause(target, rest, value, depth + 1) {
                Ok(clause) => targets.push((target, clause)),
                Err(ParameterError::Unknown(_)) => {}
                Err(limit @ ParameterError::Limit(_)) => return Err(limit),
                Err(other) => error = other,
            }
        }
        if targets.is_empty() { Err(error) } else { Ok(targets) }
    }

    /// Parses `name` or `name:modifier`.
    fn simple(&mut self, resource_type: ResourceType, name: &str, value: &str) -> Result<Condition, ParameterError> {
        let (code, modifier) = name.split_once(':').map_or((name, None), |(code, modifier)| (code, Some(modifier)));
        let parameter = self.searchable(resource_type, code)?;
        let modifier = modifier.map(|modifier| parse_modifier(&parameter, modifier)).transpose()?;
        let texts: Vec<_> =
            escape::split(value, ',').filter(|text| !text.trim().is_empty()).take(MAX_ALTERNATIVES + 1).collect();
        if texts.is_empty() {
            return Err(ParameterError::Empty);
        }
        self.values += texts.len();
        if texts.len() > MAX_ALTERNATIVES || self.values > MAX_VALUES {
            return Err(ParameterError::Limit(format!(
                "a parameter has at most {MAX_ALTERNATIVES} values, a whole search {MAX_VALUES}"
            )));
        }
        let context = search_value::Context { resource_type, addresses: self.addresses };
        let parse_value =
            |text: &str| context.parse_value(&parameter, modifier.as_ref(), text).map_err(ParameterError::Invalid);
        let alternatives = texts.into_iter().map(parse_value).collect::<Result<Vec<SearchValue>, _>>()?;
        Ok(Condition { parameter, modifier, alternatives })
    }

    /// The parameter, if it is supported.
    pub(super) fn searchable(&self, resource_type: ResourceType, code: &str) -> Result<Parameter, ParameterError> {
        let Some(parameter) = SearchParameter::find(resource_type, code) else {
            let stored = (self.stored)(resource_type, code).map(Parameter::Stored);
            return stored
                .ok_or_else(|| ParameterError::Unknown(format!("{resource_type} has no such search parameter")));
        };
        let is_searchable = parameter.expression().is_some() && parameter.search_type() != SearchType::Special;
        let parameter = is_searchable.then_some(parameter.into());
        parameter.ok_or_else(|| ParameterError::Unknown(format!("{code} is not supported")))
    }

    /// The parameter, which must be a reference.
    pub(super) fn reference(&self, resource_type: ResourceType, code: &str) -> Result<Parameter, ParameterError> {
        let parameter = self.searchable(resource_type, code)?;
        if parameter.search_type() == SearchType::Reference {
            return Ok(parameter);
        }
        let search_type = parameter.search_type().name();
        Err(ParameterError::Invalid(format!("{code} of {resource_type} is a {search_type} parameter, not a reference")))
    }
}

pub(super) fn check_target(
    parameter: &SearchParameter,
    source: ResourceType,
    target: ResourceType,
) -> Result<(), ParameterError> {
    let code = parameter.code();
    let is_allowed = parameter.targets().allow(target);
    is_allowed
        .then_some(())
        .ok_or_else(|| ParameterError::Invalid(format!("{code} of {source} cannot reference {target}")))
}

fn parse_modifier(parameter: &SearchParameter, name: &str) -> Result<Modifier, ParameterError> {
    use SearchType::{Reference, String, Token, Uri};
    let search_type = parameter.search_type();
    Ok(match (search_type, name) {
        (_, "missing") => Modifier::Missing,
        (String, "exact") => Modifier::Exact,
        (String, "contains") => Modifier::Contains,
        (Token, "not") => Modifier::Not,
        (Token, "text") => Modifier::Text,
        (Token, "of-type") => Modifier::OfType,
        (Uri, "above") => Modifier::Above,
        (Uri, "below") => Modifier::Below,
        (Reference, "identifier") => Modifier::Identifier,
        (Token, "in" | "not-in" | "above" | "below") | (Reference, "above" | "below") => {
            return Err(ParameterError::Invalid(format!(
                "the modifier {name} is not supported for {} parameters",
                search_type.name()
            )));
        }
        (Reference, name) if name.starts_with(|first: char| first.is_ascii_uppercase()) => {
            Modifier::Type(parse_resource_type(name)?)
        }
        _ => return Err(ParameterError::Invalid(allowed_modifiers(search_type))),
    })
}

fn allowed_modifiers(search_type: SearchType) -> String {
    let allowed = match search_type {
        SearchType::String => "exact, contains and missing",
        SearchType::Token => "not, text, of-type and missing",
        SearchType::Reference => "a resource type, identifier and missing",
        SearchType::Uri => "above, below and missing",
        _ => "only missing",
    };
    format!("the modifiers of {} parameters are {allowed}", search_type.name())
}
