//! The leaf values of a message: JSON members, and fields of HL7 v2 and X12 text.

use serde_json::{Map, Value};

use super::segments::{self, FieldPosition};

/// The path of a leaf: a JSON pointer and, when that points to an HL7 v2 or X12 text, a field in that text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeafPath {
    pointer: String,
    field: Option<FieldPosition>,
}

impl LeafPath {
    pub(super) fn is_below(&self, pointer: &str) -> bool {
        self.pointer.strip_prefix(pointer).is_some_and(|rest| rest.starts_with('/'))
    }
}

impl std::fmt::Display for LeafPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.pointer)?;
        self.field.map_or(Ok(()), |field| write!(f, "{field}"))
    }
}

/// A value of a message with its context.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub(crate) path: LeafPath,
    /// The name of the member, or of the list that contains the value.
    pub(crate) key: String,
    /// The name of the member that holds the containing object.
    pub(crate) parent: String,
    /// The value. List items that are objects are leaves too.
    pub(crate) value: Value,
    /// Whether the containing object has a member `value`, as quantities have.
    pub(crate) is_in_quantity: bool,
    /// Whether the containing object has codings.
    pub(crate) has_coding: bool,
    /// For HL7 v2 and X12: the name of the field, such as `PID-3.1`, and the qualifier of its segment.
    pub(crate) field: Option<(String, String)>,
}

/// Lists all leaves of a message.
pub(crate) fn leaves(content: &Value) -> Vec<Leaf> {
    let mut found = Vec::new();
    walk(content, &Cursor { pointer: String::new(), key: "", parent: "", object: None }, &mut found);
    found
}

/// The position of the walk in a JSON value.
#[derive(Clone)]
struct Cursor<'v> {
    pointer: String,
    key: &'v str,
    parent: &'v str,
    object: Option<&'v Map<String, Value>>,
}

fn walk(value: &Value, cursor: &Cursor<'_>, found: &mut Vec<Leaf>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let pointer = format!("{}/{}", cursor.pointer, key.replace('~', "~0").replace('/', "~1"));
                walk(member, &Cursor { pointer, key, parent: cursor.key, object: Some(members) }, found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let at = Cursor { pointer: format!("{}/{index}", cursor.pointer), ..cursor.clone() };
                if item.is_object() {
                    found.push(leaf(item, &at));
                }
                walk(item, &at, found);
            }
        }
        Value::String(text) if segments::is_message(text) => {
            found.extend(segments::fields(text).into_iter().map(|field| Leaf {
                path: LeafPath { pointer: cursor.pointer.clone(), field: Some(field.position) },
                field: Some((field.name, field.qualifier)),
                value: field.text.into(),
                ..leaf(&Value::Null, cursor)
            }));
        }
        scalar => found.push(leaf(scalar, cursor)),
    }
}

fn leaf(value: &Value, cursor: &Cursor<'_>) -> Leaf {
    let has_sibling = |name: &str| cursor.object.is_some_and(|object| object.contains_key(name));
    Leaf {
        path: LeafPath { pointer: cursor.pointer.clone(), field: None },
        key: cursor.key.to_owned(),
        parent: cursor.parent.to_owned(),
        value: value.clone(),
        is_in_quantity: has_sibling("value") && cursor.key != "value",
        has_coding: has_sibling("coding"),
        field: None,
    }
}

/// The leaf at a path, if the message has one.
pub(crate) fn at(content: &Value, path: &LeafPath) -> Option<Leaf> {
    leaves(content).into_iter().find(|leaf| leaf.path == *path)
}

/// Sets the value at a path. `None` removes it, with all containers that become empty.
pub(crate) fn set(content: &mut Value, path: &LeafPath, value: Option<Value>) {
    if let Some(position) = path.field {
        if let Some(Value::String(text)) = content.pointer_mut(&path.pointer) {
            let field = value.as_ref().and_then(Value::as_str).unwrap_or_default();
            *text = segments::with(text, position, field);
        }
        return;
    }
    match value {
        Some(value) => {
            if let Some(target) = content.pointer_mut(&path.pointer) {
                *target = value;
            }
        }
        None => remove(content, &path.pointer),
    }
}

fn remove(content: &mut Value, pointer: &str) {
    let Some((parent, key)) = pointer.rsplit_once('/') else { return };
    let is_empty = match content.pointer_mut(parent) {
        Some(Value::Object(members)) => {
            members.remove(&key.replace("~1", "/").replace("~0", "~"));
            members.is_empty()
        }
        Some(Value::Array(items)) => {
            if let Ok(index) = key.parse::<usize>()
                && index < items.len()
            {
                items.remove(index);
            }
            // An empty list of CDS cards is a valid response.
            items.is_empty() && !parent.ends_with("/cards")
        }
        _ => false,
    };
    if is_empty {
        remove(content, parent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_leaf_can_be_found_and_removed_by_its_path() {
        let body = json!({"code": {"coding": [{"code": "1", "system": "s"}]}, "dose": {"value": 5, "unit": "mg"}});
        let found = leaves(&body);
        for leaf in &found {
            assert_eq!(at(&body, &leaf.path).map(|same| same.value), Some(leaf.value.clone()));
            let mut less = body.clone();
            set(&mut less, &leaf.path, None);
            assert_ne!(less, body);
        }
        assert_eq!(found.iter().filter(|leaf| leaf.is_in_quantity).count(), 1);
        let mut less = body;
        set(&mut less, &LeafPath { pointer: "/code/coding/0".into(), field: None }, None);
        assert_eq!(less, json!({"dose": {"value": 5, "unit": "mg"}}));
    }

    #[test]
    fn fields_of_hl7_messages_are_leaves() {
        let body = json!({"payload": "MSH|^~\\&|A\rPID|1||7^^^H||Stone^Ada"});
        let number = leaves(&body).into_iter().find(|leaf| leaf.value == "7").unwrap();
        assert_eq!(number.field, Some(("PID-3.1".into(), "1".into())));
        let mut other = body;
        set(&mut other, &number.path, Some("8".into()));
        assert_eq!(other["payload"], "MSH|^~\\&|A\rPID|1||8^^^H||Stone^Ada");
    }
}
