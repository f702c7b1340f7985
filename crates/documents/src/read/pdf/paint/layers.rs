//! Layers that are hidden when a document is opened (ISO 32000-1, 8.11).

use std::collections::BTreeSet;

use crate::error::DocumentError;
use crate::read::pdf::file::File;
use crate::read::pdf::object::{Dictionary, Object};

const MOST_LAYERS: usize = 10_000;
const DEEPEST: usize = 8;

/// The state of all layers in the document's default configuration.
#[derive(Debug, Default)]
pub(in crate::read::pdf) struct Layers {
    is_off_by_default: bool,
    on: BTreeSet<u32>,
    off: BTreeSet<u32>,
}

impl Layers {
    pub(in crate::read::pdf) fn read(file: &File<'_>) -> Result<Self, DocumentError> {
        let catalog = file.catalog()?.unwrap_or_default();
        let properties = file.resolve(catalog.get("OCProperties"))?;
        let Some(properties) = properties.dictionary() else { return Ok(Self::default()) };
        let configuration = file.resolve(properties.get("D"))?;
        let empty = Dictionary::default();
        let configuration = configuration.dictionary().unwrap_or(&empty);
        let listed = |name: &str| -> Result<BTreeSet<u32>, DocumentError> {
            let listed = file.resolve(configuration.get(name))?;
            Ok(listed.array().iter().take(MOST_LAYERS).filter_map(Object::reference).collect())
        };
        let is_off_by_default = file.resolve(configuration.get("BaseState"))?.name() == Some("OFF");
        Ok(Self { is_off_by_default, on: listed("ON")?, off: listed("OFF")? })
    }

    /// Whether the content of a group or membership is shown. Content without one is.
    pub(in crate::read::pdf) fn shows(&self, file: &File<'_>, object: &Object) -> Result<bool, DocumentError> {
        self.is_shown(file, object, 0)
    }

    fn is_shown(&self, file: &File<'_>, object: &Object, depth: usize) -> Result<bool, DocumentError> {
        file.budget.spend(20)?;
        let resolved = file.resolve(object)?;
        let Some(dictionary) = resolved.dictionary() else { return Ok(true) };
        if !dictionary.has_type("OCMD") {
            return Ok(self.is_on(object) && !says_off(file, dictionary)?);
        }
        let expression = file.resolve(dictionary.get("VE"))?;
        if !expression.array().is_empty() {
            return self.evaluate(file, &expression, depth + 1);
        }
        let groups = dictionary.get("OCGs");
        let listed = file.resolve(groups)?;
        let groups = match listed.as_ref() {
            Object::Array(groups) => groups.as_slice(),
            Object::Null => return Ok(true),
            _ => std::slice::from_ref(groups),
        };
        let mut states = Vec::new();
        for group in groups.iter().take(MOST_LAYERS) {
            states.push(depth >= DEEPEST || self.is_shown(file, group, depth + 1)?);
        }
        Ok(states.is_empty()
            || match file.resolve(dictionary.get("P"))?.name() {
                Some("AllOn") => states.iter().all(|on| *on),
                Some("AnyOff") => states.iter().any(|on| !on),
                Some("AllOff") => states.iter().all(|on| !on),
                _ => states.iter().any(|on| *on),
            })
    }

    /// `[/And a [/Not b]]`.
    fn evaluate(&self, file: &File<'_>, expression: &Object, depth: usize) -> Result<bool, DocumentError> {
        let resolved = file.resolve(expression)?;
        let [operator, operands @ ..] = resolved.array() else { return self.is_shown(file, expression, depth) };
        if depth > DEEPEST {
            return Ok(false);
        }
        let mut states = Vec::new();
        for operand in operands.iter().take(MOST_LAYERS) {
            states.push(self.evaluate(file, operand, depth + 1)?);
        }
        Ok(match operator.name() {
            Some("Or") => states.iter().any(|on| *on),
            Some("Not") => !states.first().copied().unwrap_or(false),
            _ => states.iter().all(|on| *on),
        })
    }

    fn is_on(&self, group: &Object) -> bool {
        match group.reference() {
            Some(number) if self.off.contains(&number) => false,
            Some(number) => !self.is_off_by_default || self.on.contains(&number),
            None => true,
        }
    }
}

/// Whether the group itself is hidden on screen or in print.
fn says_off(file: &File<'_>, group: &Dictionary) -> Result<bool, DocumentError> {
    let usage = file.resolve(group.get("Usage"))?;
    let Some(usage) = usage.dictionary() else { return Ok(false) };
    for (name, state) in [("View", "ViewState"), ("Print", "PrintState")] {
        let listed = file.resolve(usage.get(name))?;
        let state = listed.dictionary().map_or(&Object::Null, |listed| listed.get(state));
        if file.resolve(state)?.name() == Some("OFF") {
            return Ok(true);
        }
    }
    Ok(false)
}
