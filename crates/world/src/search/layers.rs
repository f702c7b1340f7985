//! The part of a search that the layers' indexes answer.

use fhir::ResourceType;
use fhir::layer::{Candidates, DocId, Layer};

use super::Hit;
use super::clause::{LAST_UPDATED, Question, all_hold};
use crate::{Records, Seq};

/// Below so many candidates it is cheaper to read the resources than to ask the index again.
const FEW: usize = 64;

impl Records {
    pub(crate) fn matching_in_layers(
        &self,
        resource_type: ResourceType,
        questions: &[Question<'_>],
        as_of: Seq,
    ) -> Vec<Hit<'_>> {
        let mut hits = Vec::new();
        for (at, layer) in self.layers.iter().enumerate() {
            let docs = self.candidates(layer, resource_type, questions).into_iter();
            let records = docs.filter_map(|doc| self.visible(at, doc, as_of));
            hits.extend(records.map(|record| Hit { resource_type, record }));
        }
        hits
    }

    /// The documents of a layer that answer every question, whether or not something lies over them.
    fn candidates(&self, layer: &Layer, resource_type: ResourceType, questions: &[Question<'_>]) -> Vec<DocId> {
        let mut open: Vec<&Question<'_>> = questions.iter().collect();
        open.sort_by_key(|question| estimate(layer, resource_type, question));
        let mut docs: Option<Vec<DocId>> = None;
        let mut unsure = Vec::new();
        for question in open {
            let few = docs.as_ref().is_some_and(|docs| docs.len() <= FEW);
            match if few { None } else { propose(layer, resource_type, question) } {
                Some(Candidates { docs: proposed, exact }) => {
                    docs = Some(match docs {
                        Some(docs) => intersection(&docs, &proposed),
                        None => proposed,
                    });
                    if !exact {
                        unsure.push(question);
                    }
                }
                None => unsure.push(question),
            }
        }
        let docs = docs.unwrap_or_else(|| layer.of_type(resource_type).map(DocId::new).collect());
        if unsure.is_empty() {
            return docs;
        }
        let answers =
            |doc: &DocId| self.of_layer(layer, *doc).is_some_and(|record| all_hold(unsure.iter().copied(), &record));
        docs.into_iter().filter(answers).collect()
    }
}

/// About how many documents a question leaves.
fn estimate(layer: &Layer, resource_type: ResourceType, question: &Question<'_>) -> usize {
    match question {
        Question::Own(condition) if condition.parameter.code() == LAST_UPDATED => usize::MAX,
        Question::Own(condition) => layer.estimate(resource_type, condition),
        Question::PointsTo(parameter, _) if parameter.is_stored() => usize::MAX,
        Question::PointsTo(_, targets) => targets.len(),
        Question::IsOneOf(ids) => ids.len(),
    }
}

/// What the index knows; none when only the resources themselves can tell.
fn propose(layer: &Layer, resource_type: ResourceType, question: &Question<'_>) -> Option<Candidates> {
    match question {
        Question::Own(condition) if condition.parameter.code() == LAST_UPDATED => None,
        Question::Own(condition) => Some(layer.candidates(resource_type, condition)),
        Question::PointsTo(parameter, _) if parameter.is_stored() => None,
        Question::PointsTo(parameter, targets) => {
            let docs = targets.iter().flat_map(|(target, id)| layer.referring(resource_type, parameter, *target, id));
            Some(Candidates { docs: in_order(docs.collect()), exact: true })
        }
        Question::IsOneOf(ids) => {
            let docs = ids.iter().filter_map(|id| layer.get(resource_type, id));
            Some(Candidates { docs: in_order(docs.collect()), exact: true })
        }
    }
}

fn in_order(mut docs: Vec<DocId>) -> Vec<DocId> {
    docs.sort_unstable();
    docs.dedup();
    docs
}

/// Of two sorted lists. The shorter one is walked; the longer one is searched.
fn intersection(left: &[DocId], right: &[DocId]) -> Vec<DocId> {
    let (short, long) = if left.len() <= right.len() { (left, right) } else { (right, left) };
    short.iter().copied().filter(|doc| long.binary_search(doc).is_ok()).collect()
}
