//! Names of parameters: modifiers, chains and `_has`
//! (<https://hl7.org/fhir/R4/search.html#modifiers>, <https://hl7.org/fhir/R4/search.html#chaining>).

use super::{MAX_ALTERNATIVES, MAX_CHAIN, MAX_VALUES, NamedParameters, Refusal, escape, resource_type_named, value};
use crate::definitions::{Parameter, SearchParameter, SearchType};
use crate::search::{Clause, Condition, Modifier, Wanted};
use crate::{OwnAddresses, ResourceType};

/// Ways that chains without types are tried; a search that names its types needs a few.
const MAX_WAYS: usize = 2_000;

pub(super) struct Reader<'a> {
    own: OwnAddresses<'a>,
    stored: &'a NamedParameters<'a>,
    values: usize,
    ways: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(own: OwnAddresses<'a>, stored: &'a NamedParameters<'a>) -> Self {
        Self { own, stored, values: 0, ways: 0 }
    }

    pub(super) fn clause(
        &mut self,
        resource_type: ResourceType,
        name: &str,
        value: &str,
        depth: usize,
    ) -> Result<Clause, Refusal> {
        self.ways += 1;
        if depth > MAX_CHAIN {
            return Err(Refusal::Limit(format!("a chain has at most {MAX_CHAIN} steps")));
        }
        if self.ways > MAX_WAYS {
            return Err(Refusal::Limit(
                "the chain may lead to too many types: name them, as in subject:Patient.name".into(),
            ));
        }
        if let Some(rest) = name.strip_prefix("_has:") {
            return self.reverse(resource_type, rest, value, depth);
        }
        match name.split_once('.') {
            Some((first, rest)) => self.forward(resource_type, first, rest, value, depth),
            None => self.own(resource_type, name, value).map(Clause::Own),
        }
    }

    /// `Observation:patient:code`
    fn reverse(&mut self, target: ResourceType, name: &str, value: &str, depth: usize) -> Result<Clause, Refusal> {
        let mut parts = name.splitn(3, ':');
        let (Some(source), Some(code), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(Refusal::Fault("is written _has:Type:reference:parameter".into()));
        };
        let source = resource_type_named(source)?;
        let parameter = self.reference(source, code)?;
        allow(&parameter, source, target)?;
        let then = Box::new(self.clause(source, rest, value, depth + 1)?);
        Ok(Clause::Reverse { source, parameter, then })
    }

    /// `subject:Patient` or `subject`, and what the resource there must answer.
    fn forward(
        &mut self,
        source: ResourceType,
        first: &str,
        rest: &str,
        value: &str,
        depth: usize,
    ) -> Result<Clause, Refusal> {
        let (code, target) = first.split_once(':').map_or((first, None), |(code, target)| (code, Some(target)));
        let parameter = self.reference(source, code)?;
        let targets = match target {
            Some(target) => {
                let target = resource_type_named(target)?;
                allow(&parameter, source, target)?;
                vec![(target, self.clause(target, rest, value, depth + 1)?)]
            }
            None => self.any_target(&parameter, rest, value, depth)?,
        };
        Ok(Clause::Forward { parameter, targets })
    }

    /// Every type that knows the rest and can take the value. If none does, the refusal that says most.
    fn any_target(
        &mut self,
        parameter: &SearchParameter,
        rest: &str,
        value: &str,
        depth: usize,
    ) -> Result<Vec<(ResourceType, Clause)>, Refusal> {
        let mut targets = Vec::new();
        let mut refusal =
            Refusal::Unknown(format!("nothing that {} may point to can be searched so", parameter.code()));
        for target in ResourceType::all().filter(|target| parameter.targets().allow(*target)) {
            match self.clause(target, rest, value, depth + 1) {
                Ok(clause) => targets.push((target, clause)),
                Err(Refusal::Unknown(_)) => {}
                Err(limit @ Refusal::Limit(_)) => return Err(limit),
                Err(other) => refusal = other,
            }
        }
        if targets.is_empty() { Err(refusal) } else { Ok(targets) }
    }

    /// `name` or `name:modifier`
    fn own(&mut self, resource_type: ResourceType, name: &str, value: &str) -> Result<Condition, Refusal> {
        let (code, modifier) = name.split_once(':').map_or((name, None), |(code, modifier)| (code, Some(modifier)));
        let parameter = self.searchable(resource_type, code)?;
        let modifier = modifier.map(|modifier| read_modifier(&parameter, modifier)).transpose()?;
        let texts: Vec<_> =
            escape::split(value, ',').filter(|text| !text.trim().is_empty()).take(MAX_ALTERNATIVES + 1).collect();
        if texts.is_empty() {
            return Err(Refusal::Empty);
        }
        self.values += texts.len();
        if texts.len() > MAX_ALTERNATIVES || self.values > MAX_VALUES {
            return Err(Refusal::Limit(format!(
                "a parameter has at most {MAX_ALTERNATIVES} values, a whole search {MAX_VALUES}"
            )));
        }
        let context = value::Context { resource_type, own: self.own };
        let wanted = |text: &str| context.wanted(&parameter, modifier.as_ref(), text).map_err(Refusal::Fault);
        let alternatives = texts.into_iter().map(wanted).collect::<Result<Vec<Wanted>, _>>()?;
        Ok(Condition { parameter, modifier, alternatives })
    }

    /// The parameter, if what it finds can be compared.
    pub(super) fn searchable(&self, resource_type: ResourceType, code: &str) -> Result<Parameter, Refusal> {
        let Some(parameter) = SearchParameter::find(resource_type, code) else {
            let stored = (self.stored)(resource_type, code).map(Parameter::Stored);
            return stored.ok_or_else(|| Refusal::Unknown(format!("{resource_type} has no such search parameter")));
        };
        let is_searchable = parameter.expression().is_some() && parameter.search_type() != SearchType::Special;
        let parameter = is_searchable.then_some(parameter.into());
        parameter.ok_or_else(|| Refusal::Unknown(format!("{code} is not supported")))
    }

    /// The parameter, if it is a reference.
    pub(super) fn reference(&self, resource_type: ResourceType, code: &str) -> Result<Parameter, Refusal> {
        let parameter = self.searchable(resource_type, code)?;
        if parameter.search_type() == SearchType::Reference {
            return Ok(parameter);
        }
        let is = parameter.search_type().name();
        Err(Refusal::Fault(format!("{code} of {resource_type} is a {is}, not a reference, and cannot be followed")))
    }
}

pub(super) fn allow(parameter: &SearchParameter, source: ResourceType, target: ResourceType) -> Result<(), Refusal> {
    let code = parameter.code();
    let is_allowed = parameter.targets().allow(target);
    is_allowed.then_some(()).ok_or_else(|| Refusal::Fault(format!("{code} of {source} does not point to {target}")))
}

fn read_modifier(parameter: &SearchParameter, name: &str) -> Result<Modifier, Refusal> {
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
            return Err(Refusal::Fault(format!("the modifier {name} is not supported for a {}", search_type.name())));
        }
        (Reference, name) if name.starts_with(|first: char| first.is_ascii_uppercase()) => {
            Modifier::Type(resource_type_named(name)?)
        }
        _ => return Err(Refusal::Fault(modifiers_of(search_type))),
    })
}

fn modifiers_of(search_type: SearchType) -> String {
    let allowed = match search_type {
        SearchType::String => "exact, contains and missing",
        SearchType::Token => "not, text, of-type and missing",
        SearchType::Reference => "a resource type, identifier and missing",
        SearchType::Uri => "above, below and missing",
        _ => "only missing",
    };
    format!("the modifiers of a {} are {allowed}", search_type.name())
}
