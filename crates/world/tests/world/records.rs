//! An overlay over layers is a plain versioned store.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;
use verial_world::{Direction, Lookup, Record, Revision, Seq, Window, Write};

use crate::dice::Dice;
use crate::plain::{Live, OTHER, Plain, PlainVersion, Story};
use crate::resources::TYPES;

fn collections() -> Vec<&'static str> {
    TYPES.into_iter().chain(OTHER).chain(["Nothing"]).collect()
}

/// Every key that there is, and some that there are not.
fn keys(plain: &Plain) -> Vec<(String, String)> {
    let unknown = collections().into_iter().map(|collection| (collection.to_owned(), "unknown".to_owned()));
    plain.0.keys().cloned().chain(unknown).collect()
}

type Shown = (String, String, u64, i64, Value);

fn shown(record: &Record<'_>) -> Shown {
    let json = Value::clone(&record.json());
    assert_eq!(json, serde_json::from_str::<Value>(&record.text()).unwrap());
    (record.collection.to_owned(), record.key.to_owned(), record.version, record.at.milliseconds(), json)
}

fn shown_live(live: &Live) -> Shown {
    (live.collection.clone(), live.key.clone(), live.version, live.at.milliseconds(), live.json.clone())
}

fn check_lookups(story: &Story, as_of: Seq) {
    for (collection, key) in keys(&story.plain) {
        let expected = story.plain.at(&collection, &key, as_of);
        match (story.records().at(&collection, &key, as_of), expected) {
            (Lookup::Unknown, None) => {}
            (Lookup::Deleted { version, at }, Some(PlainVersion { number, at: then, json: None, .. })) => {
                assert_eq!((version, at), (*number, *then));
            }
            (Lookup::Live(record), Some(PlainVersion { number, at, json: Some(json), .. })) => {
                let expected = (collection.clone(), key.clone(), *number, at.milliseconds(), json.clone());
                assert_eq!(shown(&record), expected);
            }
            (found, expected) => panic!("{collection}/{key} as of {as_of}: {found:?} is not {expected:?}"),
        }
    }
}

fn check_live(story: &Story, as_of: Seq) {
    for collection in collections() {
        let mut found: Vec<Shown> = story.records().live(collection, as_of).map(|record| shown(&record)).collect();
        found.sort_by(|left, right| left.1.cmp(&right.1));
        let live = story.plain.live(as_of);
        let expected: Vec<Shown> = live.iter().filter(|live| live.collection == collection).map(shown_live).collect();
        assert_eq!(found, expected);
    }
}

fn plain_revision(revision: &Revision<'_>) -> PlainVersion {
    let Revision { version, at, seq, write, .. } = *revision;
    let json = revision.record.as_ref().map(|record| Value::clone(&record.json()));
    PlainVersion { number: version, seq, at, write, json }
}

fn check_histories(story: &Story) {
    for (collection, key) in keys(&story.plain) {
        let mut expected = story.plain.0.get(&(collection.clone(), key.clone())).cloned().unwrap_or_default();
        expected.reverse();
        let found = story.records().history(&collection, &key);
        assert_eq!(found.iter().map(plain_revision).collect::<Vec<_>>(), expected);
        let next = expected.first().map_or(1, |last| last.number + 1);
        assert_eq!(story.records().next_version(&collection, &key), next);
    }
}

/// Newest first: a later entry of the log before an earlier one, and within one a later version before an earlier one.
fn check_written(story: &Story) {
    for collection in collections() {
        let found = story.records().written(collection);
        assert!(found.is_sorted_by_key(|revision| -revision.seq));
        let mut by_key: BTreeMap<(String, String), Vec<PlainVersion>> = BTreeMap::new();
        for revision in &found {
            assert_eq!(revision.collection, collection);
            by_key.entry((collection.to_owned(), revision.key.to_owned())).or_default().push(plain_revision(revision));
        }
        let mut expected = story.plain.clone().0;
        expected.retain(|(name, _), versions| {
            versions.retain(|version| version.seq > 0);
            versions.reverse();
            name == collection && !versions.is_empty()
        });
        assert_eq!(by_key, expected);
    }
}

fn check_baseline(story: &Story) {
    for collection in collections() {
        let found: Vec<_> = story.records().baseline_of(collection).collect();
        assert!(found.is_sorted_by(|left, right| left.key < right.key));
        let brought = story.plain.0.iter().filter(|((name, _), versions)| name == collection && versions[0].seq == 0);
        let expected: Vec<_> = brought.map(|((_, key), versions)| (&**key, versions[0].clone())).collect();
        assert_eq!(found.iter().map(|one| (one.key, plain_revision(one))).collect::<Vec<_>>(), expected);
    }
}

fn check_counts(story: &Story) {
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for live in story.plain.live(Seq::MAX) {
        *expected.entry(live.collection).or_default() += 1;
    }
    assert_eq!(story.records().counts(), expected);
}

fn check_differences(story: &Story) {
    let found = story.records().differences().map(|(before, now)| {
        let now = match now {
            Lookup::Unknown => panic!("something was written"),
            Lookup::Deleted { version, .. } => (version, None),
            Lookup::Live(record) => (record.version, Some(shown(&record).4)),
        };
        (before.map(|record| shown(&record).4), now)
    });
    let written = story.plain.0.values().filter(|versions| versions.iter().any(|version| version.seq > 0));
    let expected = written.map(|versions| {
        let first = versions.first().filter(|version| version.seq == 0);
        let last = versions.last().unwrap();
        (first.and_then(|version| version.json.clone()), (last.number, last.json.clone()))
    });
    assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

fn check_window(story: &Story, only: Option<&str>, window: Window<'_>) {
    let is_beyond = |live: &Live| {
        let place = (&*live.collection, &*live.key);
        match window.direction {
            Direction::Forward => window.from.is_none_or(|from| place > from),
            Direction::Backward => window.from.is_none_or(|from| place < from),
        }
    };
    let mut live = story.plain.live(Seq::MAX);
    if window.direction == Direction::Backward {
        live.reverse();
    }
    let wanted = live.iter().filter(|live| only.is_none_or(|only| live.collection == only) && is_beyond(live));
    let expected: Vec<Shown> = wanted.take(window.most).map(shown_live).collect();
    let found: Vec<Shown> = story.records().window(only, window).iter().map(shown).collect();
    assert_eq!(found, expected, "{only:?} {window:?}");
}

fn check_windows(story: &Story, dice: &mut Dice) {
    let keys = keys(&story.plain);
    let collections = collections();
    for _ in 0..30 {
        let (collection, key) = &keys[dice.below(keys.len())];
        let from = (!dice.once_in(5)).then_some((&**collection, &**key));
        let only = match dice.below(4) {
            0 => Some(dice.one(&collections)),
            1 => Some(&**collection),
            _ => None,
        };
        let direction = if dice.once_in(2) { Direction::Forward } else { Direction::Backward };
        let most = if dice.once_in(4) { usize::MAX } else { dice.below(12) };
        check_window(story, only, Window { from, direction, most });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn an_overlay_over_layers_is_a_plain_versioned_store(seed: u64, size in 0_usize..60, steps in 0_usize..25) {
        let dice = &mut Dice(seed);
        let mut story = Story::begin(dice, size);
        for _ in 0..steps {
            story.step(dice);
        }
        for as_of in (0..=story.world.seq).step_by(5).chain([story.world.seq, Seq::MAX]) {
            check_lookups(&story, as_of);
            check_live(&story, as_of);
        }
        check_histories(&story);
        check_written(&story);
        check_baseline(&story);
        check_counts(&story);
        check_differences(&story);
        check_windows(&story, dice);
    }
}

#[test]
fn writes_have_names() {
    for write in [Write::Create, Write::Update, Write::Delete] {
        assert_eq!(write.name().parse(), Ok(write));
    }
    assert_eq!("patch".parse::<Write>(), Err(()));
}
