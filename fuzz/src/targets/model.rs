//! The nouns: authored JSON, canonical JSON, templates, and the texts that have a form of their own.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use clinical::{Npi, PhoneNumber};
use model::api_key::{Secret, masked};
use model::benchmark::NewBenchmark;
use model::criterion::NewCriterion;
use model::dataset::{NewDatasetEntity, is_file_path};
use model::environment::NewEnvironment;
use model::identity::NewSolver;
use model::reading::{self, Hints};
use model::score::Score;
use model::simulator::NewSimulator;
use model::slug::{VersionRef, from_name, is_slug};
use model::task::NewTask;
use model::template::{self, Root};
use model::weight::Weight;
use model::{EventId, FieldErrors, Id, SandboxId, TaskId, Timestamp, canonical};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::json;

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// What prints as itself.
fn exact<T: FromStr + Display>(text: &str) {
    if let Ok(value) = text.parse::<T>() {
        assert_eq!(value.to_string(), text);
    }
}

/// One document as each of the things that an author can save.
pub(crate) fn authored(bytes: &[u8]) {
    let Some(document) = json::read(bytes) else { return };
    saved::<NewBenchmark>(&document);
    saved::<NewCriterion>(&document);
    saved::<NewDatasetEntity>(&document);
    saved::<NewEnvironment>(&document);
    saved::<NewSimulator>(&document);
    saved::<NewSolver>(&document);
    saved::<NewTask>(&document);
}

/// Both ways to read say the same, and shortly.
fn saved<T: DeserializeOwned + Debug>(document: &Value) {
    let outcome =
        |read: Result<T, FieldErrors>| read.map(|value| format!("{value:?}")).map_err(|faults| faults.to_string());
    let borrowed = outcome(reading::read(document, Hints::default()).into_result());
    assert_eq!(outcome(reading::read_owned(document.clone(), Hints::default()).into_result()), borrowed);
    assert!(borrowed.err().is_none_or(|faults| faults.len() < 100_000));
}

/// The same text whatever the order of members, and JSON of the same meaning.
pub(crate) fn canonical_json(bytes: &[u8]) {
    let Some(document) = json::read(bytes) else { return };
    let written = canonical::to_string(&document);
    assert_eq!(canonical::to_string(&json::reversed(&document)), written);
    let again = json::read(written.as_bytes()).unwrap_or_default();
    assert_eq!(canonical::to_string(&again), written);
}

pub(crate) fn template(bytes: &[u8]) {
    let text = text(bytes);
    let parsed = template::parse(text);
    assert!(parsed.as_ref().is_ok_and(Vec::is_empty) || template::is_template(text), "{parsed:?}");
    let mut errors = FieldErrors::new();
    template::check(&text.into(), &[Root::Entity, Root::Task], &mut errors);
    assert_eq!(errors.into_result().is_ok(), parsed.is_ok());
    let is_used = |root| parsed.as_ref().is_ok_and(|found| found.iter().any(|template| template.root == root));
    assert_eq!(template::uses(&text.into(), Root::Task), is_used(Root::Task));
}

pub(crate) fn id(bytes: &[u8]) {
    let text = text(bytes);
    exact::<TaskId>(text);
    exact::<EventId>(text);
    if let Ok(id) = text.parse::<SandboxId>() {
        assert_eq!(id.as_str(), text);
    }
    if let Some(secret) = Secret::parse(text) {
        assert_eq!(secret.reveal(), text);
        assert!(!masked(text).contains(text));
    }
    drop(masked(text));
    if let Ok(number) = text.parse::<PhoneNumber>() {
        assert!(!number.normalized().is_empty());
    }
    if let Ok(npi) = text.parse::<Npi>() {
        assert_eq!(npi.to_string(), text);
    }
}

pub(crate) fn slug(bytes: &[u8]) {
    let text = text(bytes);
    exact::<VersionRef>(text);
    if let Some(slug) = from_name(text) {
        assert!(is_slug(&slug), "{slug}");
        assert_eq!(from_name(&slug).as_deref(), Some(slug.as_str()));
    }
    assert!(!is_file_path(text) || !text.split('/').any(|part| matches!(part, "" | "." | "..")), "{text}");
}

/// By text and by JSON.
pub(crate) fn weight(bytes: &[u8]) {
    let read = text(bytes).parse::<Weight>().ok();
    if let Some(weight) = read {
        assert!(!weight.decimal().is_zero() && weight.decimal().is_sign_positive(), "{weight:?}");
        assert_eq!(weight.decimal().to_string().parse(), Ok(weight));
    }
    let Ok(weight) = serde_json::from_slice::<Weight>(bytes) else { return };
    let written = serde_json::to_string(&weight).unwrap_or_default();
    assert_eq!(serde_json::from_str::<Weight>(&written).ok(), Some(weight), "{written}");
}

pub(crate) fn score(bytes: &[u8]) {
    let Ok(score) = text(bytes).parse::<Score>() else { return };
    assert_eq!(score.to_string().parse().as_ref(), Ok(&score));
    assert!(score >= Score::zero() && score <= Score::one());
    let rounded = score.rounded().as_f64();
    assert!(rounded.is_some_and(|rounded| (0.0..=1.0).contains(&rounded)), "{rounded:?}");
    let (mean, _) = (Score::mean([&score, &score]), score.verdict());
    assert_eq!(mean, score);
}

/// What is read prints as an instant that is read as the same, as far ahead as any limit reaches.
pub(crate) fn timestamp(bytes: &[u8]) {
    let Ok(moment) = serde_json::from_value::<Timestamp>(text(bytes).into()) else { return };
    let written = serde_json::to_value(moment).unwrap_or_default();
    assert_eq!(serde_json::from_value::<Timestamp>(written).ok(), Some(moment));
}
