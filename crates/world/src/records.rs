//! Versioned records over dataset layers. Each (collection, key) has a history that can be read as of any log position.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use fhir::ResourceType;
use fhir::layer::{DocId, Layer};
use model::Timestamp;
use rpds::{ListSync, RedBlackTreeMapSync};
use serde_json::Value;

use crate::{Change, Seq, Tree, Write, tree};

/// The records of one sandbox. Cheap to copy; copies do not change.
#[derive(Clone, Debug)]
pub struct Records {
    /// Later layers take precedence.
    pub(crate) layers: Arc<[Arc<Layer>]>,
    /// File trees, in the same order.
    pub(crate) trees: Arc<[Arc<Tree>]>,
    /// The last-updated time of layer resources that do not state one.
    pub(crate) baseline: Timestamp,
    baseline_text: Arc<str>,
    pub(crate) overlay: RedBlackTreeMapSync<Arc<str>, Collection>,
}

pub(crate) type Collection = RedBlackTreeMapSync<Arc<str>, Versions>;

/// The overlay versions of one record, newest first.
pub(crate) type Versions = ListSync<Version>;

/// A version in the overlay.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) number: u64,
    pub(crate) seq: Seq,
    pub(crate) at: Timestamp,
    pub(crate) write: Write,
    pub(crate) text: Option<Arc<str>>,
    /// The parsed text, once it was needed.
    json: Arc<OnceLock<Arc<Value>>>,
}

/// A record at one version.
#[derive(Clone, Debug)]
pub struct Record<'a> {
    pub collection: &'a str,
    pub key: &'a str,
    pub version: u64,
    pub at: Timestamp,
    pub(crate) body: Body<'a>,
}

#[derive(Clone, Debug)]
pub(crate) enum Body<'a> {
    Layer { layer: &'a Layer, doc: DocId, baseline: &'a str },
    Own { text: &'a Arc<str>, json: &'a OnceLock<Arc<Value>> },
}

impl<'a> Record<'a> {
    /// The JSON text as it is stored.
    pub fn text(&self) -> Cow<'a, str> {
        match self.body {
            Body::Layer { layer, doc, baseline } => layer.text(doc, baseline),
            Body::Own { text, .. } => Cow::Borrowed(text),
        }
    }

    pub fn json(&self) -> Arc<Value> {
        // Stored text is always JSON.
        let parse = || Arc::new(serde_json::from_str(&self.text()).unwrap_or_default());
        match self.body {
            Body::Layer { .. } => parse(),
            Body::Own { json, .. } => Arc::clone(json.get_or_init(parse)),
        }
    }
}

/// One entry of a record's history.
#[derive(Clone, Debug)]
pub struct Revision<'a> {
    pub collection: &'a str,
    pub key: &'a str,
    pub version: u64,
    pub at: Timestamp,
    pub seq: Seq,
    pub write: Write,
    /// `None` if it was deleted.
    pub record: Option<Record<'a>>,
}

/// The state of a key.
#[derive(Clone, Debug)]
pub enum Lookup<'a> {
    /// It never existed.
    Unknown,
    Deleted {
        version: u64,
        at: Timestamp,
    },
    Live(Record<'a>),
}

impl<'a> Lookup<'a> {
    pub fn live(self) -> Option<Record<'a>> {
        match self {
            Lookup::Live(record) => Some(record),
            Lookup::Unknown | Lookup::Deleted { .. } => None,
        }
    }
}

impl Records {
    pub fn new(layers: Vec<Arc<Layer>>, baseline: Timestamp) -> Self {
        let baseline_text = baseline.to_string().into();
        let trees = Arc::new([]);
        Self { layers: layers.into(), trees, baseline, baseline_text, overlay: RedBlackTreeMapSync::new_sync() }
    }

    pub fn uses(&self, layer: &Arc<Layer>) -> bool {
        self.layers.iter().any(|used| Arc::ptr_eq(used, layer))
    }

    /// The layers below the overlay. Later layers take precedence.
    pub fn layers(&self) -> impl Iterator<Item = &Layer> {
        self.layers.iter().map(|layer| &**layer)
    }

    /// The record as of log entry `as_of`; `Seq::MAX` for the current state.
    pub fn at<'a>(&'a self, collection: &'a str, key: &'a str, as_of: Seq) -> Lookup<'a> {
        match self.versions(collection, key).find(|version| version.seq <= as_of) {
            None => self.in_layers(collection, key).map_or(Lookup::Unknown, Lookup::Live),
            Some(version) => match own(collection, key, version) {
                Some(record) => Lookup::Live(record),
                None => Lookup::Deleted { version: version.number, at: version.at },
            },
        }
    }

    pub fn get<'a>(&'a self, collection: &'a str, key: &'a str) -> Lookup<'a> {
        self.at(collection, key, Seq::MAX)
    }

    /// The number of the record's next version.
    pub fn next_version(&self, collection: &str, key: &str) -> u64 {
        match self.get(collection, key) {
            Lookup::Unknown => 1,
            Lookup::Deleted { version, .. } => version + 1,
            Lookup::Live(record) => record.version + 1,
        }
    }

    /// All versions of a record, newest first.
    pub fn history<'a>(&'a self, collection: &'a str, key: &'a str) -> Vec<Revision<'a>> {
        let own = self.versions(collection, key).map(|version| revision(collection, key, version));
        own.chain(self.in_layers(collection, key).map(baseline_revision)).collect()
    }

    /// The overlay versions of a collection, newest first; without the layers.
    pub fn written<'a>(&'a self, collection: &'a str) -> Vec<Revision<'a>> {
        let records = self.overlay.get(collection).into_iter().flat_map(|records| records.iter());
        let versions = records.flat_map(|(key, versions)| versions.iter().map(move |version| (key, version)));
        let mut found: Vec<_> = versions.map(|(key, version)| revision(collection, key, version)).collect();
        // A stable sort keeps versions of one entry in their order, newest first.
        found.sort_by_key(|revision| std::cmp::Reverse(revision.seq));
        found
    }

    /// The records of the layers, by key.
    pub fn baseline_of<'a>(&'a self, collection: &'a str) -> impl Iterator<Item = Revision<'a>> {
        self.in_layers_by_key(collection).map(baseline_revision)
    }

    /// Merges the layers. If several have a key, the last one counts.
    fn in_layers_by_key<'a>(&'a self, collection: &'a str) -> impl Iterator<Item = Record<'a>> {
        let resource_type = collection.parse::<ResourceType>().ok();
        let docs = |layer: &Layer| resource_type.map_or(0..0, |resource_type| layer.of_type(resource_type));
        let mut rests: Vec<(&Layer, Range<u32>)> = self.layers.iter().map(|layer| (&**layer, docs(layer))).collect();
        let resources = std::iter::from_fn(move || {
            let key = rests.iter().filter_map(first_key).min()?;
            let mut uppermost = None;
            for rest in rests.iter_mut().filter(|rest| first_key(rest) == Some(key)) {
                uppermost = rest.1.next().map(|doc| (rest.0, DocId::new(doc)));
            }
            uppermost.and_then(|(layer, doc)| self.of_layer(layer, doc))
        });
        resources.chain(self.in_trees_by_key(collection))
    }

    /// The collections in the overlay.
    pub fn written_collections(&self) -> impl Iterator<Item = &str> {
        self.overlay.keys().map(|name| &**name)
    }

    /// All keys of the overlay, each with the record of the layers and the current state.
    pub fn differences(&self) -> impl Iterator<Item = (Option<Record<'_>>, Lookup<'_>)> {
        let keys = self.overlay.iter().flat_map(|(name, records)| records.keys().map(move |key| (&**name, &**key)));
        keys.map(|(collection, key)| (self.in_layers(collection, key), self.get(collection, key)))
    }

    /// The number of live records of each collection.
    pub fn counts(&self) -> std::collections::BTreeMap<String, u64> {
        let names = self.layers.iter().flat_map(|layer| layer.counts()).map(|(kind, _)| kind.as_str().to_owned());
        let files = self.has_trees().then(|| tree::FILES.to_owned());
        let names: std::collections::BTreeSet<String> =
            names.chain(files).chain(self.written_collections().map(ToOwned::to_owned)).collect();
        let count = |name: String| {
            let live = self.count(&name);
            (name, live)
        };
        names.into_iter().map(count).filter(|(_, live)| *live > 0).collect()
    }

    /// Does not read layers without overlay records.
    fn count(&self, collection: &str) -> u64 {
        let in_layers = match (&*self.layers, collection.parse()) {
            (_, Err(_)) if collection == tree::FILES => self.in_trees_by_key(collection).count(),
            (_, Err(_)) | ([], _) => 0,
            ([layer], Ok(resource_type)) => layer.of_type(resource_type).len(),
            _ => self.in_layers_by_key(collection).count(),
        };
        let written = self.overlay.get(collection).into_iter().flat_map(|records| records.keys());
        let overlaid = written.filter(|key| self.in_layers(collection, key).is_some()).count();
        (in_layers - overlaid + self.own_live(collection, Seq::MAX).count()) as u64
    }

    /// All live records of a collection: those of the layers by key, then those of the overlay.
    pub fn live<'a>(&'a self, collection: &'a str, as_of: Seq) -> impl Iterator<Item = Record<'a>> {
        let untouched = move |record: &Record<'_>| !self.is_written(collection, record.key, as_of);
        let base = self.in_layers_by_key(collection).filter(untouched);
        base.chain(self.own_live(collection, as_of))
    }

    /// All live records of a collection in the overlay, by key. The layers are not read, so an unknown collection costs
    /// almost nothing.
    pub fn own<'a>(&'a self, collection: &'a str) -> impl Iterator<Item = Record<'a>> {
        self.own_live(collection, Seq::MAX)
    }

    pub(crate) fn own_live<'a>(&'a self, collection: &'a str, as_of: Seq) -> impl Iterator<Item = Record<'a>> {
        let records = self.overlay.get(collection).into_iter().flat_map(|records| records.iter());
        records.filter_map(move |(key, versions)| {
            let version = versions.iter().find(|version| version.seq <= as_of)?;
            own(collection, key, version)
        })
    }

    /// Whether the overlay changed or deleted the record by then.
    pub(crate) fn is_written(&self, collection: &str, key: &str, as_of: Seq) -> bool {
        let first = self.overlay.get(collection).and_then(|records| records.get(key)?.last());
        first.is_some_and(|version| version.seq <= as_of)
    }

    /// A document of a layer, unless a later layer has the same key.
    fn uppermost(&self, layer: usize, doc: DocId) -> Option<Record<'_>> {
        let (resource_type, id) = self.layers[layer].key(doc)?;
        let is_under = self.layers[layer + 1..].iter().any(|above| above.get(resource_type, id).is_some());
        if is_under { None } else { self.of_layer(&self.layers[layer], doc) }
    }

    /// A document of a layer, unless a later layer or the overlay has the same key at that time.
    pub(crate) fn visible(&self, layer: usize, doc: DocId, as_of: Seq) -> Option<Record<'_>> {
        self.uppermost(layer, doc).filter(|record| !self.is_written(record.collection, record.key, as_of))
    }

    pub(crate) fn of_layer<'a>(&'a self, layer: &'a Layer, doc: DocId) -> Option<Record<'a>> {
        let (resource_type, id) = layer.key(doc)?;
        let at = layer.last_updated(doc).map_or(self.baseline, Timestamp);
        let body = Body::Layer { layer, doc, baseline: &self.baseline_text };
        Some(Record { collection: resource_type.as_str(), key: id, version: 1, at, body })
    }

    fn in_layers<'a>(&'a self, collection: &'a str, key: &'a str) -> Option<Record<'a>> {
        let Ok(resource_type) = collection.parse::<ResourceType>() else { return self.in_trees(collection, key) };
        let found = self.layers.iter().rev().find_map(|layer| Some((layer, layer.get(resource_type, key)?)));
        found.and_then(|(layer, doc)| self.of_layer(layer, doc))
    }

    /// The stored key, for records that outlive the caller's key.
    pub(crate) fn stored_key(&self, collection: &str, key: &str) -> Option<&str> {
        let written = self.overlay.get(collection).and_then(|records| records.get_key_value(key));
        written.map(|(key, _)| &**key).or_else(|| {
            let resource_type: ResourceType = collection.parse().ok()?;
            self.layers.iter().rev().find_map(|layer| Some(layer.key(layer.get(resource_type, key)?)?.1))
        })
    }

    /// The overlay versions of a record, newest first.
    fn versions(&self, collection: &str, key: &str) -> impl Iterator<Item = &Version> {
        self.overlay
            .get(collection)
            .and_then(|records| records.get(key))
            .into_iter()
            .flat_map(|versions| versions.iter())
    }

    /// Drops all versions of later log entries.
    pub(crate) fn rewind(&mut self, position: Seq) {
        let is_later = |version: &Version| version.seq > position;
        let mut kept = RedBlackTreeMapSync::new_sync();
        for (name, records) in self.overlay.iter() {
            let mut collection = records.clone();
            for (key, versions) in records.iter().filter(|(_, versions)| versions.first().is_some_and(is_later)) {
                let mut earlier = versions.clone();
                while earlier.first().is_some_and(is_later) && earlier.drop_first_mut() {}
                if earlier.is_empty() {
                    collection.remove_mut(key);
                } else {
                    collection.insert_mut(Arc::clone(key), earlier);
                }
            }
            if !collection.is_empty() {
                kept.insert_mut(Arc::clone(name), collection);
            }
        }
        self.overlay = kept;
    }

    pub(crate) fn apply(&mut self, seq: Seq, change: &Change) {
        let Change { version: number, at, write, text, .. } = change;
        let version =
            Version { number: *number, seq, at: *at, write: *write, text: text.clone(), json: Arc::default() };
        let records = self.overlay.get(&change.collection).cloned().unwrap_or_else(Collection::new_sync);
        let versions = records.get(&change.key).cloned().unwrap_or_else(Versions::new_sync).push_front(version);
        let records = records.insert(Arc::clone(&change.key), versions);
        self.overlay.insert_mut(Arc::clone(&change.collection), records);
    }
}

/// The key of the first document of a range.
fn first_key<'a>((layer, docs): &(&'a Layer, Range<u32>)) -> Option<&'a str> {
    let doc = docs.clone().next()?;
    layer.key(DocId::new(doc)).map(|(_, key)| key)
}

fn own<'a>(collection: &'a str, key: &'a str, version: &'a Version) -> Option<Record<'a>> {
    let body = Body::Own { text: version.text.as_ref()?, json: &version.json };
    Some(Record { collection, key, version: version.number, at: version.at, body })
}

fn revision<'a>(collection: &'a str, key: &'a str, version: &'a Version) -> Revision<'a> {
    let Version { number, seq, at, write, .. } = version;
    let record = own(collection, key, version);
    Revision { collection, key, version: *number, at: *at, seq: *seq, write: *write, record }
}

fn baseline_revision(record: Record<'_>) -> Revision<'_> {
    let Record { collection, key, version, at, .. } = record;
    Revision { collection, key, version, at, seq: 0, write: Write::Create, record: Some(record) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Id, SandboxId, Ulid};

    #[test]
    fn rewinding_drops_later_entries() {
        let mut records = Records::new(Vec::new(), Timestamp(0));
        let mut write = |seq: Seq, key: &str, text: Option<&str>| {
            let change = Change {
                sandbox: SandboxId::from_ulid(Ulid(1)),
                collection: "rows".into(),
                key: key.into(),
                version: records.next_version("rows", key),
                at: Timestamp(seq),
                write: if text.is_some() { Write::Update } else { Write::Delete },
                text: text.map(Into::into),
            };
            records.apply(seq, &change);
        };
        for (seq, key, text) in [
            (1, "a", Some("1")),
            (1, "b", Some("1")),
            (2, "a", Some("2")),
            (3, "b", None),
            (3, "c", Some("3")),
            (3, "c", Some("4")),
        ] {
            write(seq, key, text);
        }
        let live = |records: &Records| {
            let rows = records.own("rows").map(|record| format!("{}{}", record.key, record.text()));
            rows.collect::<Vec<_>>().join(" ")
        };
        let rewound = |position: Seq| {
            let mut earlier = records.clone();
            earlier.rewind(position);
            earlier
        };
        assert_eq!([3, 2, 1, 0].map(|position| live(&rewound(position))), ["a2 c4", "a2 b1", "a1 b1", ""]);
        assert_eq!(rewound(2).next_version("rows", "c"), 1);
        assert_eq!(rewound(0).written_collections().count(), 0);
    }
}
