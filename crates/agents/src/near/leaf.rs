//! The single values of a message: members of JSON, and fields of HL7 v2 and X12.

use serde_json::{Map, Value};

use super::segments::{self, Part};

/// Where a value stands: a JSON pointer, and the place in the text that it points to when that is a message of segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pointer: String,
    part: Option<Part>,
}

impl Address {
    pub(super) fn is_below(&self, pointer: &str) -> bool {
        self.pointer.strip_prefix(pointer).is_some_and(|rest| rest.starts_with('/'))
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.pointer)?;
        self.part.map_or(Ok(()), |part| write!(f, "{part}"))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub(crate) address: Address,
    /// The member that it is, or that the list is which it stands in.
    pub(crate) key: String,
    /// The member that holds the object that it is a member of.
    pub(crate) parent: String,
    /// A whole object stands for an item of a list.
    pub(crate) value: Value,
    /// The object that it is a member of has a member `value`, as quantities have.
    pub(crate) is_of_quantity: bool,
    /// The object that it is a member of has codings.
    pub(crate) has_coding: bool,
    /// Of a text of segments: the field's name as `PID-3.1`, and the segment's qualifier.
    pub(crate) field: Option<(String, String)>,
}

pub(crate) fn leaves(content: &Value) -> Vec<Leaf> {
    let mut found = Vec::new();
    walk(content, &Stand { pointer: String::new(), key: "", parent: "", object: None }, &mut found);
    found
}

#[derive(Clone)]
struct Stand<'v> {
    pointer: String,
    key: &'v str,
    parent: &'v str,
    object: Option<&'v Map<String, Value>>,
}

fn walk(value: &Value, stand: &Stand<'_>, found: &mut Vec<Leaf>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let pointer = format!("{}/{}", stand.pointer, key.replace('~', "~0").replace('/', "~1"));
                walk(member, &Stand { pointer, key, parent: stand.key, object: Some(members) }, found);
            }
        }
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                let at = Stand { pointer: format!("{}/{place}", stand.pointer), ..stand.clone() };
                if item.is_object() {
                    found.push(leaf(item, &at));
                }
                walk(item, &at, found);
            }
        }
        Value::String(text) if segments::is_message(text) => {
            found.extend(segments::fields(text).into_iter().map(|field| Leaf {
                address: Address { pointer: stand.pointer.clone(), part: Some(field.part) },
                field: Some((field.name, field.qualifier)),
                value: field.text.into(),
                ..leaf(&Value::Null, stand)
            }));
        }
        scalar => found.push(leaf(scalar, stand)),
    }
}

fn leaf(value: &Value, stand: &Stand<'_>) -> Leaf {
    let beside = |name: &str| stand.object.is_some_and(|object| object.contains_key(name));
    Leaf {
        address: Address { pointer: stand.pointer.clone(), part: None },
        key: stand.key.to_owned(),
        parent: stand.parent.to_owned(),
        value: value.clone(),
        is_of_quantity: beside("value") && stand.key != "value",
        has_coding: beside("coding"),
        field: None,
    }
}

/// The value there, if the message has such a place.
pub(crate) fn at(content: &Value, address: &Address) -> Option<Leaf> {
    leaves(content).into_iter().find(|leaf| leaf.address == *address)
}

/// Nothing takes it away, and what is then empty with it.
pub(crate) fn set(content: &mut Value, address: &Address, value: Option<Value>) {
    if let Some(part) = address.part {
        if let Some(Value::String(text)) = content.pointer_mut(&address.pointer) {
            let field = value.as_ref().and_then(Value::as_str).unwrap_or_default();
            *text = segments::with(text, part, field);
        }
        return;
    }
    match value {
        Some(value) => {
            if let Some(place) = content.pointer_mut(&address.pointer) {
                *place = value;
            }
        }
        None => remove(content, &address.pointer),
    }
}

fn remove(content: &mut Value, pointer: &str) {
    let Some((above, key)) = pointer.rsplit_once('/') else { return };
    let is_empty = match content.pointer_mut(above) {
        Some(Value::Object(members)) => {
            members.remove(&key.replace("~1", "/").replace("~0", "~"));
            members.is_empty()
        }
        Some(Value::Array(items)) => {
            if let Ok(place) = key.parse::<usize>()
                && place < items.len()
            {
                items.remove(place);
            }
            // An empty list of cards is an answer.
            items.is_empty() && !above.ends_with("/cards")
        }
        _ => false,
    };
    if is_empty {
        remove(content, above);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_value_has_a_place_of_its_own() {
        let body = json!({"code": {"coding": [{"code": "1", "system": "s"}]}, "dose": {"value": 5, "unit": "mg"}});
        let found = leaves(&body);
        for leaf in &found {
            assert_eq!(at(&body, &leaf.address).map(|same| same.value), Some(leaf.value.clone()));
            let mut less = body.clone();
            set(&mut less, &leaf.address, None);
            assert_ne!(less, body);
        }
        assert_eq!(found.iter().filter(|leaf| leaf.is_of_quantity).count(), 1);
        let mut less = body;
        set(&mut less, &Address { pointer: "/code/coding/0".into(), part: None }, None);
        assert_eq!(less, json!({"dose": {"value": 5, "unit": "mg"}}));
    }

    #[test]
    fn fields_of_messages_are_values_too() {
        let body = json!({"payload": "MSH|^~\\&|A\rPID|1||7^^^H||Stone^Ada"});
        let number = leaves(&body).into_iter().find(|leaf| leaf.value == "7").unwrap();
        assert_eq!(number.field, Some(("PID-3.1".into(), "1".into())));
        let mut other = body;
        set(&mut other, &number.address, Some("8".into()));
        assert_eq!(other["payload"], "MSH|^~\\&|A\rPID|1||8^^^H||Stone^Ada");
    }
}
