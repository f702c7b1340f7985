//! The values that expressions find: elements of resources with their FHIR type, and values of the System types.

use std::borrow::Cow;

use rust_decimal::Decimal;
use serde_json::{Map, Number, Value, json};

use super::quantity::{CalendarUnit, Quantity, Unit};
use super::temporal::{Temporal, TemporalType};
use super::types::is_made_from;
use super::value::decimal;
use crate::definitions::{ElementType, Primitive, Structure, StructureKind};

#[derive(Debug, Clone)]
pub enum Item<'v> {
    Node(Node<'v>),
    Boolean(bool),
    Integer(i64),
    Decimal(Decimal),
    Text(Cow<'v, str>),
    Temporal(Temporal),
    Quantity(Box<Quantity>),
    /// What `type()` tells.
    Type(TypeInfo),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeInfo {
    pub namespace: &'static str,
    pub name: &'static str,
}

/// A resource or an element of one.
#[derive(Debug, Clone, Copy)]
pub struct Node<'v> {
    /// None if a primitive has only an id or extensions.
    value: Option<&'v Value>,
    /// What JSON keeps under the name with an underscore.
    extra: Option<&'v Value>,
    structure: &'static Structure,
    /// The resource that its `#` references point into.
    owner: &'v Value,
}

const UCUM: &str = "http://unitsofmeasure.org";

impl<'v> Node<'v> {
    /// A resource by its `resourceType`; nothing if that is no type.
    pub(super) fn resource(value: &'v Value, owner: &'v Value) -> Option<Self> {
        let structure = Structure::find(value.get("resourceType")?.as_str()?)?;
        (structure.kind() == StructureKind::Resource).then_some(Self {
            value: Some(value),
            extra: None,
            structure,
            owner,
        })
    }

    /// A value of this structure; `owner` is the resource that its `#` references point into.
    pub(crate) fn element(value: &'v Value, structure: &'static Structure, owner: &'v Value) -> Self {
        Self { value: Some(value), extra: None, structure, owner }
    }

    pub fn value(&self) -> Option<&'v Value> {
        self.value
    }

    pub(super) fn structure(&self) -> &'static Structure {
        self.structure
    }

    pub(super) fn owner(&self) -> &'v Value {
        self.owner
    }

    fn primitive(&self) -> Option<Primitive> {
        match self.structure.kind() {
            StructureKind::Primitive(primitive) => Some(primitive),
            _ => None,
        }
    }

    pub(super) fn is_primitive(&self) -> bool {
        self.primitive().is_some()
    }

    pub(super) fn is(&self, type_name: &str) -> bool {
        is_made_from(self.structure, type_name)
    }

    /// A text member of an object.
    pub(super) fn text(&self, key: &str) -> Option<&'v str> {
        self.value?.get(key)?.as_str()
    }

    /// The object that holds its children: for a primitive only id and extensions.
    fn members(&self) -> Option<&'v Map<String, Value>> {
        if self.is_primitive() { self.extra?.as_object() } else { self.value?.as_object() }
    }

    /// The element and type if the name is only the JSON key of a choice here: `value` and `Quantity`.
    pub(super) fn choice_key(&self, name: &str) -> Option<(&'static str, &'static str)> {
        let (_, element, used) = self.structure.element(name).filter(|(_, element, _)| element.is_choice())?;
        (element.name() != name).then(|| (element.name(), used.name()))
    }

    /// Children of one name, or of all; in the order of the JSON.
    pub(super) fn children(&self, name: Option<&str>, found: &mut Vec<Item<'v>>) {
        let Some(members) = self.members() else { return };
        if let Some(name) = name {
            match self.structure.element(name) {
                Some((_, element, used)) if element.name() == name && !element.is_choice() => {
                    self.member(members, name, used, found);
                    return;
                }
                _ if !self.structure.elements().any(|element| element.name() == name) => return,
                _ => {}
            }
        }
        for key in members.keys() {
            let bare = key.strip_prefix('_').unwrap_or(key);
            let is_wanted = name.is_none_or(|name| bare.starts_with(name));
            // A primitive with a value and extensions is returned once, under the name of the value.
            let is_duplicate = bare.len() != key.len() && members.contains_key(bare);
            if !is_wanted || is_duplicate || bare.is_empty() {
                continue;
            }
            if let Some((_, element, used)) = self.structure.element(bare)
                && name.is_none_or(|name| element.name() == name)
            {
                self.member(members, bare, used, found);
            }
        }
    }

    fn member(
        &self,
        members: &'v Map<String, Value>,
        key: &str,
        used: &'static ElementType,
        found: &mut Vec<Item<'v>>,
    ) {
        let content = used.content();
        let value = members.get(key);
        let is_primitive = matches!(content.kind(), StructureKind::Primitive(_));
        let extra = if is_primitive { members.get(&format!("_{key}")) } else { None };
        match (value, extra) {
            (Some(Value::Array(values)), extra) => {
                let extras = extra.and_then(Value::as_array);
                for at in 0..values.len().max(extras.map_or(0, Vec::len)) {
                    self.child(values.get(at), extras.and_then(|extras| extras.get(at)), content, key, found);
                }
            }
            (None, Some(Value::Array(extras))) => {
                extras.iter().for_each(|extra| self.child(None, Some(extra), content, key, found));
            }
            (value, extra) => self.child(value, extra, content, key, found),
        }
    }

    fn child(
        &self,
        value: Option<&'v Value>,
        extra: Option<&'v Value>,
        structure: &'static Structure,
        key: &str,
        found: &mut Vec<Item<'v>>,
    ) {
        let (value, extra) = (value.filter(|value| !value.is_null()), extra.filter(|extra| extra.is_object()));
        if value.is_none() && extra.is_none() {
            return;
        }
        let is_resource = matches!(structure.kind(), StructureKind::Resource | StructureKind::AbstractResource);
        let node = match value {
            Some(value) if is_resource => {
                let owner = if key == "contained" { self.owner } else { value };
                let unknown = Self { value: Some(value), extra: None, structure, owner };
                Self::resource(value, owner).unwrap_or(unknown)
            }
            value => Self { value, extra, structure, owner: self.owner },
        };
        found.push(Item::Node(node));
    }

    /// The System value of a primitive. One that is not written as its type demands is what its JSON says.
    fn atom(&self) -> Option<Item<'v>> {
        let Some(primitive) = self.primitive() else {
            return self.quantity().map(|found| Item::Quantity(Box::new(found)));
        };
        Some(match self.value? {
            Value::Bool(value) => Item::Boolean(*value),
            Value::Number(number) => of_number(number, primitive == Primitive::Decimal)?,
            Value::String(text) => {
                let kind = match primitive {
                    Primitive::Date => Some(TemporalType::Date),
                    Primitive::DateTime | Primitive::Instant => Some(TemporalType::DateTime),
                    Primitive::Time => Some(TemporalType::Time),
                    _ => None,
                };
                let temporal = kind.and_then(|kind| Temporal::parse(kind, text));
                temporal.map_or(Item::Text(Cow::Borrowed(text)), Item::Temporal)
            }
            _ => return None,
        })
    }

    /// A Quantity in UCUM units; with a comparator it is no known amount.
    fn quantity(&self) -> Option<Quantity> {
        if !self.is("Quantity") || self.text("system")? != UCUM || self.value?.get("comparator").is_some() {
            return None;
        }
        let code = self.text("code")?;
        let value = decimal(self.value?.get("value")?.as_number()?.as_str())?;
        let calendar = CalendarUnit::coded(code).filter(|_| matches!(code, "a" | "mo"));
        Some(Quantity { value, unit: calendar.map_or_else(|| Unit::Ucum(code.to_owned()), Unit::Calendar) })
    }

    pub(super) fn is_same_place(&self, other: &Self) -> bool {
        let is_same = |left: Option<&Value>, right: Option<&Value>| match (left, right) {
            (Some(left), Some(right)) => std::ptr::eq(left, right),
            (None, None) => true,
            _ => false,
        };
        is_same(self.value, other.value) && is_same(self.extra, other.extra)
    }

    pub(super) fn extra(&self) -> Option<&'v Value> {
        self.extra
    }
}

fn of_number<'v>(number: &Number, is_decimal: bool) -> Option<Item<'v>> {
    let text = number.as_str();
    match text.parse().ok().filter(|_| !is_decimal) {
        Some(integer) => Some(Item::Integer(integer)),
        None => decimal(text).map(Item::Decimal),
    }
}

impl<'v> Item<'v> {
    pub(super) fn text(text: impl Into<Cow<'v, str>>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn quantity(quantity: Quantity) -> Self {
        Self::Quantity(Box::new(quantity))
    }

    /// As a value of a System type, if it is or stands for one.
    pub fn atom(&self) -> Option<Self> {
        match self {
            Self::Node(node) => node.atom(),
            atom => Some(atom.clone()),
        }
    }

    pub fn type_info(&self) -> TypeInfo {
        let name = match self {
            Self::Node(node) => {
                let structure = node.structure;
                let named =
                    if structure.path().contains('.') { structure.base().unwrap_or(structure) } else { structure };
                return TypeInfo { namespace: "FHIR", name: named.path() };
            }
            Self::Boolean(_) => "Boolean",
            Self::Integer(_) => "Integer",
            Self::Decimal(_) => "Decimal",
            Self::Text(_) => "String",
            Self::Temporal(temporal) => match temporal.temporal_type() {
                TemporalType::Date => "Date",
                TemporalType::DateTime => "DateTime",
                TemporalType::Time => "Time",
            },
            Self::Quantity(_) => "Quantity",
            Self::Type(_) => "SimpleTypeInfo",
        };
        TypeInfo { namespace: "System", name }
    }

    /// For evidence: elements as they are in the resource, other values as FHIR would write them.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Node(node) => node.value.or(node.extra).cloned().unwrap_or_default(),
            Self::Boolean(value) => Value::Bool(*value),
            Self::Integer(value) => json!(value),
            Self::Decimal(value) => number(*value),
            Self::Text(text) => Value::String(text.clone().into_owned()),
            Self::Temporal(temporal) => Value::String(temporal.to_string()),
            Self::Quantity(quantity) => {
                let code = match &quantity.unit {
                    Unit::Calendar(unit) => unit.code(),
                    Unit::Ucum(code) => code,
                };
                json!({ "value": number(quantity.value), "system": UCUM, "code": code })
            }
            Self::Type(info) => json!({ "namespace": info.namespace, "name": info.name }),
        }
    }
}

fn number(value: Decimal) -> Value {
    value.to_string().parse().map_or(Value::Null, Value::Number)
}
