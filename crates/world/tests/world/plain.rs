//! A versioned store without any cleverness, and stories that are told to it and to the world alike.

use std::collections::BTreeMap;
use std::sync::Arc;

use fhir::layer::Layer;
use model::simulator::SimulatorType;
use model::{Id, SandboxId, Timestamp, Ulid};
use serde_json::{Value, json};
use verial_world::{Change, Records, Sandbox, Seq, World, Write};

use crate::dice::Dice;
use crate::resources::{self, TYPES};

/// 2024-01-01.
pub(crate) const BASELINE: Timestamp = Timestamp(1_704_067_200_000);
/// What is written besides FHIR resources.
pub(crate) const OTHER: [&str; 2] = ["Aaa", "message"];

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlainVersion {
    pub(crate) number: u64,
    pub(crate) seq: Seq,
    pub(crate) at: Timestamp,
    pub(crate) write: Write,
    pub(crate) json: Option<Value>,
}

/// All versions of all records, oldest first; what the layers brought is a version at 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plain(pub(crate) BTreeMap<(String, String), Vec<PlainVersion>>);

/// A live record.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    pub(crate) collection: String,
    pub(crate) key: String,
    pub(crate) version: u64,
    pub(crate) at: Timestamp,
    pub(crate) json: Value,
}

impl Plain {
    pub(crate) fn at(&self, collection: &str, key: &str, as_of: Seq) -> Option<&PlainVersion> {
        let versions = self.0.get(&(collection.to_owned(), key.to_owned()))?;
        versions.iter().rfind(|version| version.seq <= as_of)
    }

    /// By collection and key.
    pub(crate) fn live(&self, as_of: Seq) -> Vec<Live> {
        let live = |(collection, key): &(String, String)| {
            let PlainVersion { number, at, json, .. } = self.at(collection, key, as_of)?.clone();
            Some(Live { collection: collection.clone(), key: key.clone(), version: number, at, json: json? })
        };
        self.0.keys().filter_map(live).collect()
    }

    pub(crate) fn record(&mut self, seq: Seq, change: &Change) {
        let json = change.text.as_ref().map(|text| serde_json::from_str(text).unwrap());
        let version = PlainVersion { number: change.version, seq, at: change.at, write: change.write, json };
        self.0.entry((change.collection.to_string(), change.key.to_string())).or_default().push(version);
    }
}

/// What a playground went through.
pub(crate) struct Story {
    pub(crate) world: World,
    pub(crate) plain: Plain,
    pub(crate) log: Vec<(Seq, Change)>,
}

pub(crate) fn sandbox_id(number: u128) -> SandboxId {
    SandboxId::from_ulid(Ulid(number))
}

pub(crate) fn world(layers: Vec<Arc<Layer>>) -> World {
    let id = sandbox_id(1);
    let records = Records::new(layers, BASELINE);
    let sandbox = Sandbox {
        id: id.clone(),
        kind: SimulatorType::Fhir,
        config: Arc::new(Value::Null),
        created_at: BASELINE,
        is_active: true,
        records,
    };
    World { seq: 0, oldest: 0, sandboxes: BTreeMap::from([(id, sandbox)]) }
}

pub(crate) fn layer(resources: &[Value]) -> Arc<Layer> {
    let lines: Vec<String> = resources.iter().map(Value::to_string).collect();
    Arc::new(Layer::build(vec![lines.join("\n")], 1).unwrap())
}

/// The records of a world of one sandbox.
pub(crate) fn records(world: &World) -> &Records {
    &world.sandboxes[&sandbox_id(1)].records
}

impl Story {
    /// Up to two layers, the later shadowing some of the earlier.
    pub(crate) fn begin(dice: &mut Dice, size: usize) -> Self {
        let count = dice.below(3);
        Self::over((0..count).map(|_| base_resources(dice, size)).collect())
    }

    /// One layer, in which there are too many observations to read one by one.
    pub(crate) fn over_many(dice: &mut Dice, count: usize) -> Self {
        let many = (0..count).map(|id| ("Observation", id));
        let few = TYPES.into_iter().flat_map(|resource_type| (0..resources::IDS).map(move |id| (resource_type, id)));
        let resource = |(resource_type, id): (&str, usize)| {
            let id = id.to_string();
            let resource = resources::resource(dice, resource_type, &id);
            ((resource_type.to_owned(), id), resource)
        };
        Self::over(vec![few.chain(many).map(resource).collect()])
    }

    fn over(brought: Vec<BTreeMap<(String, String), Value>>) -> Self {
        let mut plain = Plain::default();
        let mut layers = Vec::new();
        for brought in brought {
            layers.push(layer(&brought.values().cloned().collect::<Vec<_>>()));
            for (key, resource) in brought {
                plain.0.insert(key, vec![baseline(resource)]);
            }
        }
        Self { world: world(layers), plain, log: Vec::new() }
    }

    pub(crate) fn records(&self) -> &Records {
        records(&self.world)
    }

    /// One entry of the log, with some changes, perhaps to one record twice.
    pub(crate) fn step(&mut self, dice: &mut Dice) {
        let seq = self.world.seq + 1 + dice.below(2) as Seq;
        let mut key = some_key(dice);
        for _ in 0..1 + dice.below(4) {
            let change = self.change(dice, seq, &key.0, &key.1);
            self.apply(seq, change);
            if !dice.once_in(4) {
                key = some_key(dice);
            }
        }
    }

    pub(crate) fn apply(&mut self, seq: Seq, change: Change) {
        self.world.apply(seq, &change);
        self.plain.record(seq, &change);
        self.log.push((seq, change));
    }

    fn change(&self, dice: &mut Dice, seq: Seq, collection: &str, key: &str) -> Change {
        let last = self.plain.at(collection, key, Seq::MAX);
        let write = match last {
            Some(PlainVersion { json: Some(_), .. }) if dice.once_in(3) => Write::Delete,
            Some(PlainVersion { json: Some(_), .. }) => Write::Update,
            _ => Write::Create,
        };
        let version = last.map_or(1, |last| last.number + 1);
        let at = BASELINE.plus_milliseconds(seq * 1000);
        let text = (write != Write::Delete).then(|| content(dice, collection, key, at, version).to_string().into());
        Change { sandbox: sandbox_id(1), collection: collection.into(), key: key.into(), version, at, write, text }
    }
}

fn some_key(dice: &mut Dice) -> (String, String) {
    if dice.once_in(8) {
        return (dice.one(&OTHER).to_owned(), dice.below(4).to_string());
    }
    let resource_type = dice.one(&TYPES);
    (resource_type.to_owned(), resources::an_id(dice, resource_type))
}

/// Some say in their `meta` when they were written, some do not.
fn content(dice: &mut Dice, collection: &str, key: &str, at: Timestamp, version: u64) -> Value {
    if OTHER.contains(&collection) {
        return json!({"some": dice.below(9)});
    }
    let mut resource = resources::resource(dice, collection, key);
    if dice.once_in(2) {
        resource["meta"]["lastUpdated"] = json!(at.to_string());
        resource["meta"]["versionId"] = json!(version.to_string());
    }
    resource
}

fn base_resources(dice: &mut Dice, size: usize) -> BTreeMap<(String, String), Value> {
    let mut brought = BTreeMap::new();
    for _ in 0..dice.below(size + 1) {
        // Half of them observations, of which there must be many.
        let resource_type = if dice.once_in(2) { "Observation" } else { dice.one(&TYPES) };
        let id = resources::an_id(dice, resource_type);
        let mut resource = resources::resource(dice, resource_type, &id);
        if dice.once_in(4) {
            resource["meta"]["lastUpdated"] = json!(dice.one(&["2023-05-05T10:00:00.123Z", "2024-01-01T00:00:02Z"]));
        }
        brought.insert((resource_type.to_owned(), id), resource);
    }
    brought
}

/// As a layer shows it: version 1, updated when it says or else at the baseline.
fn baseline(mut resource: Value) -> PlainVersion {
    let said = resource["meta"]["lastUpdated"].clone();
    let at = serde_json::from_value(said.clone()).unwrap_or(BASELINE);
    resource["meta"]["versionId"] = json!("1");
    if said.is_null() {
        resource["meta"]["lastUpdated"] = json!(BASELINE.to_string());
    }
    PlainVersion { number: 1, seq: 0, at, write: Write::Create, json: Some(resource) }
}
