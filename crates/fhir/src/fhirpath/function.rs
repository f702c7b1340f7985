//! The functions by name (<https://hl7.org/fhirpath/N1/#functions>, <https://hl7.org/fhir/R4/fhirpath.html#functions>).

use super::evaluate::{
    EvaluationResult, Given, combining, conversion, existence, fhir, filtering, math, strings, tree,
};
use super::item::Item;
use super::syntax::TypeName;

/// One of [`FUNCTIONS`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Function(&'static Row);

#[derive(Debug)]
struct Row {
    name: &'static str,
    least: usize,
    most: usize,
    run: Run,
}

type Run1 = for<'s, 'v> fn(&Given<'s, 'v>, Vec<Item<'v>>) -> EvaluationResult<'v>;
type RunType = for<'v> fn(Vec<Item<'v>>, &TypeName) -> EvaluationResult<'v>;

#[derive(Debug)]
enum Run {
    Plain(Run1),
    Typed(RunType),
    /// With the reason.
    Refused(&'static str),
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Function {
    pub(crate) fn named(name: &str) -> Option<Self> {
        FUNCTIONS.iter().find(|row| row.name == name).map(Self)
    }

    pub(crate) fn name(self) -> &'static str {
        self.0.name
    }

    pub(super) fn arity(self) -> (usize, usize) {
        (self.0.least, self.0.most)
    }

    pub(super) fn takes_type(self) -> bool {
        matches!(self.0.run, Run::Typed(_))
    }

    pub(super) fn refusal(self) -> Option<&'static str> {
        match self.0.run {
            Run::Refused(reason) => Some(reason),
            _ => None,
        }
    }

    pub(super) fn run<'v>(self, given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
        match self.0.run {
            Run::Plain(run) => run(given, input),
            Run::Typed(_) | Run::Refused(_) => Ok(Vec::new()),
        }
    }

    pub(super) fn run_typed<'v>(self, input: Vec<Item<'v>>, wanted: &TypeName) -> EvaluationResult<'v> {
        match self.0.run {
            Run::Typed(run) => run(input, wanted),
            Run::Plain(_) | Run::Refused(_) => Ok(Vec::new()),
        }
    }
}

const fn plain(name: &'static str, least: usize, most: usize, run: Run1) -> Row {
    Row { name, least, most, run: Run::Plain(run) }
}

const fn typed(name: &'static str, run: RunType) -> Row {
    Row { name, least: 1, most: 1, run: Run::Typed(run) }
}

const fn refused(name: &'static str, reason: &'static str) -> Row {
    Row { name, least: 0, most: 0, run: Run::Refused(reason) }
}

const NO_TERMINOLOGY: &str = "there is no terminology service here";

static FUNCTIONS: [Row; 93] = [
    plain("empty", 0, 0, existence::empty),
    plain("exists", 0, 1, existence::exists),
    plain("all", 1, 1, existence::all),
    plain("allTrue", 0, 0, existence::all_true),
    plain("anyTrue", 0, 0, existence::any_true),
    plain("allFalse", 0, 0, existence::all_false),
    plain("anyFalse", 0, 0, existence::any_false),
    plain("subsetOf", 1, 1, existence::subset_of),
    plain("supersetOf", 1, 1, existence::superset_of),
    plain("count", 0, 0, existence::count),
    plain("distinct", 0, 0, existence::distinct),
    plain("isDistinct", 0, 0, existence::is_distinct),
    plain("not", 0, 0, existence::not),
    plain("where", 1, 1, filtering::filter),
    plain("select", 1, 1, filtering::select),
    plain("repeat", 1, 1, filtering::repeat),
    typed("ofType", filtering::of_type),
    typed("is", filtering::is_type),
    typed("as", filtering::as_type),
    plain("single", 0, 0, filtering::single),
    plain("first", 0, 0, filtering::first),
    plain("last", 0, 0, filtering::last),
    plain("tail", 0, 0, filtering::tail),
    plain("skip", 1, 1, filtering::skip),
    plain("take", 1, 1, filtering::take),
    plain("intersect", 1, 1, combining::intersect),
    plain("exclude", 1, 1, combining::exclude),
    plain("union", 1, 1, combining::union_with),
    plain("combine", 1, 1, combining::combine),
    plain("aggregate", 1, 2, combining::aggregate),
    plain("iif", 2, 3, conversion::iif),
    plain("toBoolean", 0, 0, conversion::to_boolean),
    plain("convertsToBoolean", 0, 0, conversion::converts_to_boolean),
    plain("toInteger", 0, 0, conversion::to_integer),
    plain("convertsToInteger", 0, 0, conversion::converts_to_integer),
    plain("toDate", 0, 0, conversion::to_date),
    plain("convertsToDate", 0, 0, conversion::converts_to_date),
    plain("toDateTime", 0, 0, conversion::to_date_time),
    plain("convertsToDateTime", 0, 0, conversion::converts_to_date_time),
    plain("toTime", 0, 0, conversion::to_time),
    plain("convertsToTime", 0, 0, conversion::converts_to_time),
    plain("toDecimal", 0, 0, conversion::to_decimal),
    plain("convertsToDecimal", 0, 0, conversion::converts_to_decimal),
    plain("toString", 0, 0, conversion::to_text),
    plain("convertsToString", 0, 0, conversion::converts_to_text),
    plain("toQuantity", 0, 1, conversion::to_quantity),
    plain("convertsToQuantity", 0, 1, conversion::converts_to_quantity),
    plain("indexOf", 1, 1, strings::index_of),
    plain("substring", 1, 2, strings::substring),
    plain("startsWith", 1, 1, strings::starts_with),
    plain("endsWith", 1, 1, strings::ends_with),
    plain("contains", 1, 1, strings::contains),
    plain("upper", 0, 0, strings::upper),
    plain("lower", 0, 0, strings::lower),
    plain("replace", 2, 2, strings::replace),
    plain("matches", 1, 1, strings::matches),
    plain("matchesFull", 1, 1, strings::matches_full),
    plain("replaceMatches", 2, 2, strings::replace_matches),
    plain("length", 0, 0, strings::length),
    plain("toChars", 0, 0, strings::to_chars),
    plain("trim", 0, 0, strings::trim),
    plain("split", 1, 1, strings::split),
    plain("join", 0, 1, strings::join),
    plain("abs", 0, 0, math::abs),
    plain("ceiling", 0, 0, math::ceiling),
    plain("exp", 0, 0, math::exp),
    plain("floor", 0, 0, math::floor),
    plain("ln", 0, 0, math::ln),
    plain("log", 1, 1, math::log),
    plain("power", 1, 1, math::power),
    plain("round", 0, 1, math::round),
    plain("sqrt", 0, 0, math::sqrt),
    plain("truncate", 0, 0, math::truncate),
    plain("children", 0, 0, tree::children),
    plain("descendants", 0, 0, tree::descendants),
    plain("trace", 1, 2, tree::trace),
    plain("now", 0, 0, tree::now),
    plain("today", 0, 0, tree::today),
    plain("timeOfDay", 0, 0, tree::time_of_day),
    plain("type", 0, 0, tree::type_of),
    plain("extension", 1, 1, fhir::extension),
    plain("hasExtension", 1, 1, fhir::has_extension),
    plain("hasValue", 0, 0, fhir::has_value),
    plain("getValue", 0, 0, fhir::get_value),
    plain("resolve", 0, 0, fhir::resolve),
    plain("comparable", 1, 1, fhir::comparable),
    refused("memberOf", NO_TERMINOLOGY),
    refused("subsumes", NO_TERMINOLOGY),
    refused("subsumedBy", NO_TERMINOLOGY),
    refused("conformsTo", "profiles are checked by the validator"),
    refused("elementDefinition", "profiles are checked by the validator"),
    refused("slice", "profiles are checked by the validator"),
    refused("htmlChecks", "narratives are checked by the validator"),
];
