//! A world is the fold of its log, and a copy of one stays as it is.

use proptest::prelude::*;
use verial_world::{Records, Seq, Window, World};

use crate::dice::Dice;
use crate::plain::{BASELINE, Story, records, sandbox_id};
use crate::queries::{pairs, read, some_type};
use crate::search::{ALL, Answer, answer};

/// Everything that a world shows of itself.
fn dump(world: &World) -> (Seq, Vec<String>, String) {
    let records = records(world);
    let everything = Window { from: None, direction: verial_world::Direction::Forward, most: usize::MAX };
    let shown = records.window(None, everything).into_iter().flat_map(|record| {
        let history = records.history(record.collection, record.key);
        history
            .into_iter()
            .map(|revision| format!("{} {:?}", revision.seq, revision.record.map(|it| it.text())))
            .collect::<Vec<_>>()
    });
    (world.seq, shown.collect(), format!("{:?} {:?}", records.counts(), written(records)))
}

fn written(records: &Records) -> Vec<(Seq, String, u64)> {
    let revisions = records.written_collections().flat_map(|collection| records.written(collection));
    revisions
        .map(|revision| (revision.seq, format!("{}/{}", revision.collection, revision.key), revision.version))
        .collect()
}

fn answers(dice: &mut Dice, world: &World) -> Vec<Answer> {
    let ask = |_| {
        let resource_type = some_type(dice);
        let query = read(resource_type.as_str(), &pairs(dice, resource_type.as_str()));
        let as_of = dice.below(world.seq as usize + 2) as Seq;
        answer(records(world), resource_type, &query, as_of, ALL)
    };
    (0..8).map(ask).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_fold_of_the_log_is_the_world(seed: u64, questions: u64, size in 0_usize..40, steps in 0_usize..20) {
        let dice = &mut Dice(seed);
        let mut story = Story::begin(dice, size);
        let mut folded = story.world.clone();
        for _ in 0..steps {
            story.step(dice);
        }
        for (seq, change) in &story.log {
            folded.apply(*seq, change);
        }
        prop_assert_eq!(dump(&folded), dump(&story.world));
        prop_assert_eq!(answers(&mut Dice(questions), &folded), answers(&mut Dice(questions), &story.world));
    }

    #[test]
    fn a_copy_stays_as_it_is(seed: u64, questions: u64, size in 0_usize..40, steps in 1_usize..12) {
        let dice = &mut Dice(seed);
        let mut story = Story::begin(dice, size);
        let mut copies = Vec::new();
        for _ in 0..steps {
            let answers = answers(&mut Dice(questions), &story.world);
            copies.push((story.world.clone(), dump(&story.world), answers));
            story.step(dice);
        }
        for (copy, dumped, answered) in copies {
            prop_assert_eq!(dump(&copy), dumped);
            prop_assert_eq!(answers(&mut Dice(questions), &copy), answered);
        }
    }
}

#[test]
fn a_change_is_its_sandboxes_own() {
    let dice = &mut Dice(1);
    let mut story = Story::begin(dice, 0);
    let mut other = story.world.sandboxes[&sandbox_id(1)].clone();
    other.id = sandbox_id(2);
    other.records = Records::new(Vec::new(), BASELINE);
    story.world.sandboxes.insert(other.id.clone(), other);
    story.step(dice);
    let before = dump(&story.world);
    let mut change = story.log[0].1.clone();
    change.sandbox = sandbox_id(2);
    story.world.apply(story.world.seq, &change);
    assert_eq!(dump(&story.world), before);
    assert_eq!(story.world.sandboxes[&sandbox_id(2)].records.counts().len(), 1);
    change.sandbox = sandbox_id(3);
    story.world.apply(before.0 + 5, &change);
    assert_eq!(story.world.seq, before.0 + 5, "the log goes on, though nobody takes the change");
    assert_eq!(dump(&story.world).1, before.1);
}
