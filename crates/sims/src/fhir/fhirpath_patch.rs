//! FHIRPath Patch (<https://hl7.org/fhir/R4/fhirpatch.html>): operations in a Parameters resource, each on the element
//! that a FHIRPath expression selects.

use std::cell::Cell;
use std::collections::HashSet;

use clinical::PartialDateTime;
use fhir::ResourceType;
use fhir::definitions::{Element, Max, Structure};
use fhir::fhirpath::{Context, FhirPath, Item};
use serde_json::{Map, Value};

use super::depth;
use super::outcome::excerpt;

/// The maximum number of operations of a patch.
const MAX_OPERATIONS: usize = 1_000;
/// The evaluation steps of all paths together.
const MAX_STEPS: u64 = 2_000_000;
/// The values that are visited to locate the selected elements.
const MAX_VISITED: usize = 20_000_000;

/// Why a patch was not applied.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PatchError {
    /// The patch itself is wrong (400).
    Malformed(String),
    /// It does not fit the resource (422).
    Inapplicable(String),
}

/// Applies all operations. After an error the caller must discard the resource.
pub(crate) fn apply(resource: &mut Value, parameters: &Value, now: model::Timestamp) -> Result<(), PatchError> {
    let operations = parameters["parameter"].as_array().map(Vec::as_slice).unwrap_or_default();
    if operations.is_empty() {
        return Err(PatchError::Malformed(
            "a FHIRPath Patch must have a parameter `operation` for each operation".into(),
        ));
    }
    if operations.len() > MAX_OPERATIONS {
        return Err(PatchError::Malformed(format!("a patch has at most {MAX_OPERATIONS} operations")));
    }
    let budget = PatchBudget::at(now)?;
    for (at, parameter) in operations.iter().enumerate() {
        let result = Operation::parse(parameter).and_then(|operation| operation.apply(resource, &budget));
        result.map_err(|error| match error {
            PatchError::Malformed(reason) => PatchError::Malformed(format!("operation {at}: {reason}")),
            PatchError::Inapplicable(reason) => PatchError::Inapplicable(format!("operation {at}: {reason}")),
        })?;
    }
    Ok(())
}

struct Operation<'p> {
    kind: &'p str,
    text: &'p str,
    path: FhirPath,
    parts: &'p [Value],
}

impl<'p> Operation<'p> {
    fn parse(parameter: &'p Value) -> Result<Self, PatchError> {
        if parameter["name"] != "operation" {
            return Err(PatchError::Malformed("every parameter of a patch must be named `operation`".into()));
        }
        let parts = parameter["part"].as_array().map(Vec::as_slice).unwrap_or_default();
        let kind = text_of(parts, "type")?;
        let text = text_of(parts, "path")?;
        let path = FhirPath::parse(text)
            .map_err(|fault| PatchError::Malformed(format!("the path `{}` cannot be read {fault}", excerpt(text))))?;
        Ok(Self { kind, text, path, parts })
    }

    fn apply(&self, resource: &mut Value, budget: &PatchBudget) -> Result<(), PatchError> {
        let found = self.find(resource, budget)?;
        match self.kind {
            "add" => self.add(resource, &self.require_one(found)?),
            "replace" => self.replace(resource, &self.require_one(found)?),
            "delete" => {
                if let Some(location) = found {
                    remove(resource, &location);
                }
                Ok(())
            }
            "insert" => self.insert(resource, &found.ok_or_else(|| self.not_a_list())?),
            "move" => self.move_item(resource, &found.ok_or_else(|| self.not_a_list())?),
            other => {
                let message = format!("`type` must be add, insert, delete, replace or move, got `{}`", excerpt(other));
                Err(PatchError::Malformed(message))
            }
        }
    }

    /// The location of the element that the path selects. For `insert` and `move`, the list of all selected elements.
    fn find(&self, resource: &Value, budget: &PatchBudget) -> Result<Option<Vec<PathKey>>, PatchError> {
        let items = self.path.evaluate(resource, &budget.context).map_err(|fault| {
            PatchError::Inapplicable(format!("the path `{}` cannot be evaluated: {fault}", excerpt(self.text)))
        })?;
        let wants_list = matches!(self.kind, "insert" | "move");
        if items.len() > 1 && !wants_list {
            return Err(self.not_one(items.len()));
        }
        let value_of = |item: &Item<'_>| match item {
            Item::Node(node) => node.value().map(std::ptr::from_ref),
            _ => None,
        };
        let Some(first) = items.first() else { return Ok(None) };
        let mut location = match value_of(first) {
            Some(wanted) => budget.locate(resource, wanted)?,
            None => None,
        }
        .ok_or_else(|| {
            let message = format!("the path `{}` does not select an element of the resource", excerpt(self.text));
            PatchError::Inapplicable(message)
        })?;
        if wants_list {
            let Some(PathKey::Index(_)) = location.pop() else { return Err(self.not_a_list()) };
            let list = location.iter().try_fold(resource, |value, key| match key {
                PathKey::Name(name) => value.get(name),
                PathKey::Index(index) => value.get(index),
            });
            let list = list.and_then(Value::as_array).into_iter().flatten();
            let list: HashSet<*const Value> = list.map(std::ptr::from_ref).collect();
            if !items.iter().all(|item| value_of(item).is_some_and(|value| list.contains(&value))) {
                return Err(self.not_a_list());
            }
        }
        Ok(Some(location))
    }

    fn require_one(&self, found: Option<Vec<PathKey>>) -> Result<Vec<PathKey>, PatchError> {
        found.ok_or_else(|| self.not_one(0))
    }

    fn not_one(&self, count: usize) -> PatchError {
        PatchError::Inapplicable(format!(
            "the path `{}` selects {count} elements; it must select exactly one",
            excerpt(self.text)
        ))
    }

    fn add(&self, resource: &mut Value, location: &[PathKey]) -> Result<(), PatchError> {
        let name = text_of(self.parts, "name")?;
        let structure = structure_at(resource, location)
            .ok_or_else(|| PatchError::Inapplicable(format!("nothing can be added to `{}`", excerpt(self.text))))?;
        let (key, element, value) = member(structure, name, part(self.parts, "value"))?;
        check_depth(&value, location.len() + if element.max() == Max::Many { 2 } else { 1 })?;
        let Some(Value::Object(fields)) = at(resource, location) else {
            return Err(PatchError::Inapplicable(format!("`{}` is not an object", excerpt(self.text))));
        };
        match (element.max() == Max::Many, fields.get_mut(&key)) {
            (true, Some(Value::Array(items))) => {
                items.push(value);
                let list: Vec<PathKey> = location.iter().cloned().chain([PathKey::Name(key)]).collect();
                update_extensions(resource, &list, |_| {});
            }
            (true, _) => {
                fields.insert(key, Value::Array(vec![value]));
            }
            (false, None) => {
                fields.insert(key, value);
            }
            (false, Some(_)) => {
                let message = format!("{key} already exists and cannot repeat: use `replace`");
                return Err(PatchError::Inapplicable(message));
            }
        }
        Ok(())
    }

    fn replace(&self, resource: &mut Value, location: &[PathKey]) -> Result<(), PatchError> {
        let Some((last, parents)) = location.split_last() else {
            return Err(PatchError::Inapplicable("the resource itself cannot be replaced by a patch".into()));
        };
        let (owner, key) = match (last, parents.split_last()) {
            (PathKey::Name(name), _) => (parents, name),
            (PathKey::Index(_), Some((PathKey::Name(name), owner))) => (owner, name),
            _ => return Err(PatchError::Inapplicable(format!("`{}` cannot be replaced", excerpt(self.text)))),
        };
        let unknown = || PatchError::Inapplicable(format!("`{}` is not an R4 element", excerpt(self.text)));
        let structure = structure_at(resource, owner).ok_or_else(unknown)?;
        let (_, element, _) = structure.element(key).ok_or_else(unknown)?;
        let (new_key, _, value) = member(structure, element.name(), part(self.parts, "value"))?;
        check_depth(&value, location.len())?;
        match (last, at(resource, parents)) {
            (PathKey::Index(index), Some(Value::Array(items))) if *index < items.len() => items[*index] = value,
            (PathKey::Name(old), Some(Value::Object(fields))) => {
                let position = fields.keys().position(|known| known == old).unwrap_or(fields.len());
                if new_key != *old {
                    fields.shift_remove(old);
                    fields.shift_remove(&format!("_{old}"));
                }
                match fields.get_mut(&new_key) {
                    Some(existing) => *existing = value,
                    None => {
                        fields.shift_insert(position.min(fields.len()), new_key, value);
                    }
                }
            }
            _ => return Err(unknown()),
        }
        Ok(())
    }

    /// Inserts into the list that the path selects.
    fn insert(&self, resource: &mut Value, list: &[PathKey]) -> Result<(), PatchError> {
        let index = index_of(self.parts, "index")?;
        let Some((PathKey::Name(name), owner)) = list.split_last() else { return Err(self.not_a_list()) };
        let structure = structure_at(resource, owner).ok_or_else(|| self.not_a_list())?;
        let (_, _, value) = member(structure, name, part(self.parts, "value"))?;
        check_depth(&value, list.len() + 1)?;
        match at(resource, list) {
            Some(Value::Array(items)) if index <= items.len() => {
                items.insert(index, value);
                update_extensions(resource, list, |extensions| {
                    if index < extensions.len() {
                        extensions.insert(index, Value::Null);
                    }
                });
                Ok(())
            }
            _ => Err(PatchError::Inapplicable(format!("the list has no place {index}"))),
        }
    }

    fn move_item(&self, resource: &mut Value, list: &[PathKey]) -> Result<(), PatchError> {
        let (source, destination) = (index_of(self.parts, "source")?, index_of(self.parts, "destination")?);
        match at(resource, list) {
            Some(Value::Array(items)) if source < items.len() && destination < items.len() => {
                let item = items.remove(source);
                items.insert(destination, item);
                update_extensions(resource, list, |extensions| {
                    extensions.resize(extensions.len().max(source + 1).max(destination + 1), Value::Null);
                    let extension = extensions.remove(source);
                    extensions.insert(destination, extension);
                });
                Ok(())
            }
            _ => Err(PatchError::Inapplicable(format!("the list has no places {source} and {destination}"))),
        }
    }

    fn not_a_list(&self) -> PatchError {
        PatchError::Inapplicable(format!("the path `{}` does not select the items of one list", excerpt(self.text)))
    }
}

/// A step of a location in JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PathKey {
    Name(String),
    Index(usize),
}

/// The evaluation context and work limit that the operations of a patch share.
struct PatchBudget {
    context: Context<'static>,
    visited: Cell<usize>,
}

impl PatchBudget {
    fn at(now: model::Timestamp) -> Result<Self, PatchError> {
        let now = PartialDateTime::parse_fhir(&now.to_string())
            .ok_or_else(|| PatchError::Inapplicable("the time is not known".into()))?;
        Ok(Self { context: Context::at(now).within(MAX_STEPS), visited: Cell::new(0) })
    }

    /// The location of a value inside the resource, found by its memory address.
    fn locate(&self, resource: &Value, wanted: *const Value) -> Result<Option<Vec<PathKey>>, PatchError> {
        let mut location = Vec::new();
        if !self.find_in(resource, wanted, &mut location) {
            location.clear();
        }
        if self.visited.get() > MAX_VISITED {
            return Err(PatchError::Inapplicable("the patch is too costly; send it in parts".into()));
        }
        location.reverse();
        let is_found = !location.is_empty() || std::ptr::eq(resource, wanted);
        Ok(is_found.then_some(location))
    }

    /// Searches recursively. Collects the keys in reverse order.
    fn find_in(&self, from: &Value, wanted: *const Value, location: &mut Vec<PathKey>) -> bool {
        self.visited.set(self.visited.get() + 1);
        if std::ptr::eq(from, wanted) {
            return true;
        }
        if self.visited.get() > MAX_VISITED {
            return false;
        }
        let found = match from {
            Value::Array(items) => {
                items.iter().position(|item| self.find_in(item, wanted, location)).map(PathKey::Index)
            }
            Value::Object(fields) => {
                let found = fields.iter().find(|(_, value)| self.find_in(value, wanted, location));
                found.map(|(name, _)| PathKey::Name(name.clone()))
            }
            _ => None,
        };
        let is_found = found.is_some();
        location.extend(found);
        is_found
    }
}

/// Limits the depth of the result, so that code can walk it recursively.
fn check_depth(value: &Value, below: usize) -> Result<(), PatchError> {
    let fits = depth::fits(value, below);
    if fits { Ok(()) } else { Err(PatchError::Inapplicable("the result is nested too deeply".into())) }
}

fn at<'v>(resource: &'v mut Value, location: &[PathKey]) -> Option<&'v mut Value> {
    location.iter().try_fold(resource, |value, key| match key {
        PathKey::Name(name) => value.get_mut(name),
        PathKey::Index(index) => value.get_mut(index),
    })
}

fn remove(resource: &mut Value, location: &[PathKey]) {
    let Some((last, parents)) = location.split_last() else { return };
    match (last, at(resource, parents)) {
        (PathKey::Index(index), Some(Value::Array(items))) if *index < items.len() => {
            items.remove(*index);
            update_extensions(resource, parents, |extensions| {
                if *index < extensions.len() {
                    extensions.remove(*index);
                }
            });
        }
        (PathKey::Name(name), Some(Value::Object(fields))) => {
            fields.shift_remove(name);
            fields.shift_remove(&format!("_{name}"));
        }
        _ => {}
    }
}

/// Applies the same change to `_name`, the parallel list with the extensions of a list of primitives.
fn update_extensions(resource: &mut Value, list: &[PathKey], change: impl FnOnce(&mut Vec<Value>)) {
    let Some((PathKey::Name(name), owner)) = list.split_last() else { return };
    let Some(Value::Object(fields)) = at(resource, owner) else { return };
    let length = fields.get(name).and_then(Value::as_array).map_or(0, Vec::len);
    let extensions_key = format!("_{name}");
    let Some(Value::Array(extensions)) = fields.get_mut(&extensions_key) else { return };
    change(extensions);
    extensions.resize(extensions.len().max(length), Value::Null);
    if extensions.iter().all(Value::is_null) {
        fields.shift_remove(&extensions_key);
    }
}

/// The structure definition of the element.
fn structure_at(resource: &Value, location: &[PathKey]) -> Option<&'static Structure> {
    let of = |value: &Value| value["resourceType"].as_str()?.parse::<ResourceType>().ok().and_then(Structure::of);
    let (mut value, mut structure) = (resource, of(resource)?);
    for key in location {
        match key {
            PathKey::Index(index) => value = value.get(index)?,
            PathKey::Name(name) => {
                value = value.get(name)?;
                structure = structure.element(name)?.2.content();
            }
        }
        if let Some(inner) = of(value) {
            structure = inner;
        }
    }
    Some(structure)
}

/// The JSON key, the element definition and the value for an element of this name.
fn member(
    structure: &'static Structure,
    name: &str,
    part: Option<&Value>,
) -> Result<(String, &'static Element, Value), PatchError> {
    let part = part.ok_or_else(|| PatchError::Malformed("the part `value` is missing".into()))?;
    let unknown = || PatchError::Inapplicable(format!("{} has no element `{}`", structure.path(), excerpt(name)));
    let given = typed_value(part);
    let choice = structure.elements().find(|element| element.is_choice() && element.name() == name);
    if let Some(element) = choice {
        let (kind, value) =
            given.ok_or_else(|| PatchError::Malformed(format!("`{name}` needs a value with a type")))?;
        let key = format!("{name}{kind}");
        structure.element(&key).ok_or_else(unknown)?;
        return Ok((key, element, value.clone()));
    }
    let (_, element, used) = structure.element(name).ok_or_else(unknown)?;
    let value = match given {
        Some((_, value)) => value.clone(),
        None => build_from_parts(used.content(), part)?,
    };
    Ok((name.to_owned(), element, value))
}

/// The type and the value of a part, such as `valueString`, or its resource.
fn typed_value(part: &Value) -> Option<(&str, &Value)> {
    let fields = part.as_object()?;
    let typed = fields.iter().find_map(|(key, value)| Some((key.strip_prefix("value")?, value)));
    typed.or_else(|| Some(("", fields.get("resource")?)))
}

/// Builds an element without a type of its own, such as `Patient.contact`, from parts.
fn build_from_parts(structure: &'static Structure, part: &Value) -> Result<Value, PatchError> {
    let parts = part["part"].as_array().map(Vec::as_slice).unwrap_or_default();
    if parts.is_empty() {
        return Err(PatchError::Malformed("a value must have a `value[x]` or parts".into()));
    }
    let mut fields = Map::new();
    for part in parts {
        let name = part["name"].as_str().ok_or_else(|| PatchError::Malformed("every part must have a name".into()))?;
        let (key, element, value) = member(structure, name, Some(part))?;
        if element.max() == Max::Many {
            let items = fields.entry(key).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(items) = items {
                items.push(value);
            }
        } else {
            fields.insert(key, value);
        }
    }
    Ok(Value::Object(fields))
}

fn part<'p>(parts: &'p [Value], name: &str) -> Option<&'p Value> {
    parts.iter().find(|part| part["name"] == name)
}

fn text_of<'p>(parts: &'p [Value], name: &str) -> Result<&'p str, PatchError> {
    let value = part(parts, name).and_then(typed_value).and_then(|(_, value)| value.as_str());
    value.ok_or_else(|| PatchError::Malformed(format!("the part `{name}` must be a string")))
}

fn index_of(parts: &[Value], name: &str) -> Result<usize, PatchError> {
    let value = part(parts, name).and_then(typed_value).and_then(|(_, value)| value.as_u64());
    let index = value.and_then(|value| usize::try_from(value).ok());
    index.ok_or_else(|| PatchError::Malformed(format!("the part `{name}` must be a non-negative whole number")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn operation(parts: &[Value]) -> Value {
        json!({"name": "operation", "part": parts})
    }

    fn patched(resource: Value, operations: &[Value]) -> Result<Value, PatchError> {
        let mut resource = resource;
        let parameters = json!({"resourceType": "Parameters", "parameter": operations});
        apply(&mut resource, &parameters, model::Timestamp(0)).map(|()| resource)
    }

    fn simple(kind: &str, path: &str, more: &[Value]) -> Value {
        let mut parts = vec![json!({"name": "type", "valueCode": kind}), json!({"name": "path", "valueString": path})];
        parts.extend_from_slice(more);
        operation(&parts)
    }

    #[test]
    fn examples_of_the_specification() {
        let named = |name: &str| json!({"name": "name", "valueString": name});
        let patient = json!({"resourceType": "Patient", "id": "p", "birthDate": "1920-01-01"});
        let value = json!({"name": "value", "valueDate": "1930-01-01"});
        assert_eq!(
            patched(patient.clone(), &[simple("replace", "Patient.birthDate", std::slice::from_ref(&value))]).unwrap()
                ["birthDate"],
            "1930-01-01"
        );
        let bare = json!({"resourceType": "Patient", "id": "p"});
        assert_eq!(
            patched(bare.clone(), &[simple("add", "Patient", &[named("birthDate"), value])]).unwrap()["birthDate"],
            "1930-01-01"
        );
        assert_eq!(patched(patient, &[simple("delete", "Patient.birthDate", &[])]).unwrap(), bare);
        assert_eq!(patched(bare.clone(), &[simple("delete", "Patient.birthDate", &[])]).unwrap(), bare);
        let contact = json!({"name": "value", "part": [{"name": "name", "valueHumanName": {"text": "a name"}},
            {"name": "relationship", "valueCodeableConcept": {"text": "friend"}}]});
        let added = patched(bare.clone(), &[simple("add", "Patient", &[named("contact"), contact])]).unwrap();
        assert_eq!(added["contact"], json!([{"name": {"text": "a name"}, "relationship": [{"text": "friend"}]}]));
        let flag = json!({"name": "value", "valueBoolean": true});
        let added = patched(bare.clone(), &[simple("add", "Patient", &[named("deceased"), flag])]).unwrap();
        let time = json!({"name": "value", "valueDateTime": "2020"});
        let replaced = patched(added, &[simple("replace", "Patient.deceased", &[time])]).unwrap();
        assert_eq!(replaced, json!({"resourceType": "Patient", "id": "p", "deceasedDateTime": "2020"}));
        let extension = json!({"name": "value", "valueExtension": {"url": "http://e", "valueString": "x"}});
        let added = patched(bare, &[simple("add", "Patient", &[named("extension"), extension])]).unwrap();
        assert_eq!(added["extension"][0]["url"], "http://e");
    }

    #[test]
    fn list_items_are_inserted_moved_and_deleted() {
        let of = |values: &[&str]| {
            let list: Vec<Value> = values.iter().map(|value| json!({"system": "http://s", "value": value})).collect();
            json!({"resourceType": "Patient", "identifier": list})
        };
        let index = |name: &str, at: u64| json!({"name": name, "valueInteger": at});
        let value = json!({"name": "value", "valueIdentifier": {"system": "http://s", "value": "3"}});
        let inserted = simple("insert", "Patient.identifier", &[index("index", 1), value.clone()]);
        assert_eq!(patched(of(&["1", "2"]), &[inserted]).unwrap(), of(&["1", "3", "2"]));
        let moved = simple("move", "Patient.identifier", &[index("source", 3), index("destination", 1)]);
        assert_eq!(patched(of(&["1", "2", "3", "4"]), &[moved]).unwrap(), of(&["1", "4", "2", "3"]));
        let deleted = simple("delete", "Patient.identifier.where(value = '2')", &[]);
        assert_eq!(patched(of(&["1", "2"]), &[deleted]).unwrap(), of(&["1"]));
        let replaced =
            simple("replace", "Patient.identifier[0].value", &[json!({"name": "value", "valueString": "9"})]);
        assert_eq!(patched(of(&["1", "2"]), &[replaced]).unwrap(), of(&["9", "2"]));
        let far = simple("insert", "Patient.identifier", &[index("index", 7), value]);
        assert!(matches!(patched(of(&["1"]), &[far]), Err(PatchError::Inapplicable(_))));
    }

    #[test]
    fn extensions_of_primitives_stay_aligned() {
        let extension = json!({"extension": [{"url": "http://e", "valueString": "b"}]});
        let of = |given: Value, beside: Value| json!({"resourceType": "Patient", "name": [{"given": given, "_given": beside}]});
        let start = || of(json!(["a", "b"]), json!([null, extension]));
        let number = |name: &str, at: u64| json!({"name": name, "valueInteger": at});
        let value = json!({"name": "value", "valueString": "c"});
        let path = "Patient.name.given";
        let deleted = patched(start(), &[simple("delete", "Patient.name.given[0]", &[])]).unwrap();
        assert_eq!(deleted, of(json!(["b"]), json!([extension])));
        let inserted = patched(start(), &[simple("insert", path, &[number("index", 0), value.clone()])]).unwrap();
        assert_eq!(inserted, of(json!(["c", "a", "b"]), json!([null, null, extension])));
        let moved = simple("move", path, &[number("source", 1), number("destination", 0)]);
        assert_eq!(patched(start(), &[moved]).unwrap(), of(json!(["b", "a"]), json!([extension, null])));
        let named = json!({"name": "name", "valueString": "given"});
        let added = patched(start(), &[simple("add", "Patient.name", &[named, value])]).unwrap();
        assert_eq!(added, of(json!(["a", "b", "c"]), json!([null, extension, null])));
        let bare = patched(start(), &[simple("delete", "Patient.name.given[1]", &[])]).unwrap();
        assert_eq!(bare, json!({"resourceType": "Patient", "name": [{"given": ["a"]}]}));
    }

    #[test]
    fn all_paths_share_one_budget() {
        let names: Vec<Value> = (0..200).map(|at| json!({"family": at.to_string()})).collect();
        let patient = json!({"resourceType": "Patient", "name": names});
        let costly = simple("delete", "Patient.name.where(%resource.name.where(family = 'x').exists())", &[]);
        assert!(patched(patient.clone(), std::slice::from_ref(&costly)).is_ok());
        let error = patched(patient, &vec![costly; 100]).unwrap_err();
        assert!(matches!(&error, PatchError::Inapplicable(reason) if reason.contains("steps")), "{error:?}");
    }

    #[test]
    fn depth_is_limited() {
        let nested = |levels: usize| {
            (0..levels).fold(json!({"url": "http://e"}), |inner, _| json!({"url": "http://e", "extension": [inner]}))
        };
        let patient = || json!({"resourceType": "Patient", "extension": [nested(30)]});
        let value = |levels| json!({"name": "value", "valueExtension": nested(levels)});
        let path = format!("Patient{}", ".extension".repeat(31));
        let name = json!({"name": "name", "valueString": "extension"});
        let first = json!({"name": "index", "valueInteger": 0});
        for operation in [
            simple("add", &path, &[name.clone(), value(30)]),
            simple("insert", &path, &[first, value(30)]),
            simple("replace", &path, &[value(30)]),
        ] {
            let error = patched(patient(), &[operation]).unwrap_err();
            assert_eq!(error, PatchError::Inapplicable("operation 0: the result is nested too deeply".into()));
        }
        assert!(patched(patient(), &[simple("add", &path, &[name, value(1)])]).is_ok());
    }

    #[test]
    fn inapplicable_operations_are_rejected() {
        let patient = || json!({"resourceType": "Patient", "name": [{"family": "a"}, {"family": "b"}], "active": true});
        let named = |name: &str| json!({"name": "name", "valueString": name});
        let flag = json!({"name": "value", "valueBoolean": true});
        for (operation, is_malformed) in [
            (simple("replace", "Patient.name", std::slice::from_ref(&flag)), false),
            (simple("replace", "Patient.birthDate", std::slice::from_ref(&flag)), false),
            (simple("add", "Patient", &[named("active"), flag.clone()]), false),
            (simple("add", "Patient", &[named("wheels"), flag.clone()]), false),
            (simple("delete", "Patient.name", &[]), false),
            (simple("replace", "Patient.name.count()", std::slice::from_ref(&flag)), false),
            (simple("paint", "Patient.active", std::slice::from_ref(&flag)), true),
            (simple("replace", "Patient.active", &[]), true),
            (simple("replace", "Patient.(", &[flag]), true),
            (json!({"name": "other"}), true),
        ] {
            let error = patched(patient(), std::slice::from_ref(&operation)).unwrap_err();
            assert_eq!(matches!(error, PatchError::Malformed(_)), is_malformed, "{operation}: {error:?}");
        }
        assert!(matches!(patched(patient(), &[]), Err(PatchError::Malformed(_))));
    }
}
