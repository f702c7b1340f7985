//! FHIRPath expressions (HL7 FHIRPath 2.0, as R4 uses them).

use std::borrow::Cow;
use std::fmt;

use clinical::PartialDateTime;
use fhir::fhirpath::{Context, Resolver};
use serde_json::Value;
use world::Records;

use crate::authored::Notation;
use crate::budget::Budget;
use crate::compare::size;
use crate::evidence::EvaluationContext;
use crate::limits::LONGEST_PATTERN;

#[derive(Clone, Debug, PartialEq)]
pub struct FhirPath {
    written: String,
    expression: fhir::fhirpath::FhirPath,
}

impl Notation for FhirPath {
    const LONGEST: usize = LONGEST_PATTERN;

    fn read(text: &str) -> Result<Self, String> {
        if text.chars().any(|c| c.is_control() && !c.is_whitespace()) {
            return Err("must not contain control characters".to_owned());
        }
        let written = text.trim().to_owned();
        let expression = fhir::fhirpath::FhirPath::parse(&written)
            .map_err(|error| format!("is not a valid FHIRPath expression: {error}"))?;
        Ok(Self { written, expression })
    }
}

impl FhirPath {
    /// The elements and literals in the expression.
    pub(crate) fn mentions(&self) -> fhir::fhirpath::Mentions {
        self.expression.mentions()
    }

    /// Evaluates the expression. References resolve in the store of the resource; `now()` is the time of the last event.
    pub(crate) fn find(
        &self,
        resource: &Value,
        records: &Records,
        context: &EvaluationContext<'_>,
    ) -> Result<Vec<Value>, String> {
        context.budget.spend(size(resource))?;
        let store = Store { records, budget: &context.budget };
        let now =
            PartialDateTime::parse_fhir(&context.now().to_string()).ok_or("the time of the last event is not valid")?;
        let fhirpath_context = Context::at(now).resolving(&store);
        let found = self.expression.evaluate(resource, &fhirpath_context).map_err(|error| error.to_string())?;
        // The resolver cannot report that the budget is spent, so check it here.
        context.budget.spend(0)?;
        Ok(found.iter().map(fhir::fhirpath::Item::to_json).collect())
    }
}

struct Store<'a> {
    records: &'a Records,
    budget: &'a Budget,
}

impl Resolver for Store<'_> {
    fn resolve(&self, reference: &str) -> Option<Cow<'_, Value>> {
        let (collection, key) = reference.split_once('/')?;
        let record = self.records.get(collection, key).live()?;
        self.budget.spend(record.text().len()).ok()?;
        Some(Cow::Owned(Value::clone(&record.json())))
    }
}

impl fmt::Display for FhirPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Evidence;
    use crate::testing::{Playground, sandbox_id};
    use model::simulator::SimulatorType;
    use serde_json::json;

    #[test]
    fn a_reference_that_exceeds_the_budget_is_an_error() {
        let long = json!({"resourceType": "Basic", "id": "long", "code": {"text": "x".repeat(1000)}});
        let playground = Playground::new(&[]).fhir(&long);
        let evidence = Evidence {
            world: &playground.world,
            names: &crate::sandbox_scope::NO_NAMES,
            events: &[],
            effects: &[],
            completed_seq: None,
            contents: &crate::NO_FILE_CONTENTS,
            entity: None,
            task: None,
        };
        let pointing = json!({"resourceType": "List", "entry": [{"item": {"reference": "Basic/long"}}]});
        let found = |steps| {
            let context = EvaluationContext { budget: Budget::of(steps), ..EvaluationContext::new(evidence) };
            let records = &playground.world.sandboxes[&sandbox_id(SimulatorType::Fhir)].records;
            let expression = FhirPath::read("entry.item.resolve().where(code.exists())").expect("an expression");
            expression.find(&pointing, records, &context).map(|found| found.len())
        };
        assert_eq!(found(5_000), Ok(1));
        assert!(found(500).is_err_and(|error| error.contains("budget")));
    }
}
