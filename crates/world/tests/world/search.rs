//! Search finds what reading everything finds, now and as of any earlier entry of the log.

use std::collections::BTreeSet;

use fhir::ResourceType;
use fhir::search::Query;
use proptest::prelude::*;
use verial_world::{Page, Records, Seq};

use crate::dice::Dice;
use crate::oracle::{Identity, Oracle};
use crate::plain::Story;
use crate::queries::{Pairs, pairs, read, some_type, wide_pairs};

pub(crate) const ALL: Page = Page { offset: 0, count: usize::MAX };

/// What a search gave, to be compared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    total: usize,
    matches: Vec<(String, u64, String)>,
    included: Vec<(Identity, u64)>,
}

pub(crate) fn answer(records: &Records, resource_type: ResourceType, query: &Query, as_of: Seq, page: Page) -> Answer {
    let found = records.search(resource_type, query, as_of, page);
    let matches = found.matches.iter().map(|hit| {
        assert_eq!(hit.resource_type, resource_type);
        assert_eq!(hit.record.collection, resource_type.as_str());
        (hit.record.key.to_owned(), hit.record.version, hit.record.text().into_owned())
    });
    let included =
        found.included.iter().map(|hit| ((hit.resource_type, hit.record.key.to_owned()), hit.record.version));
    Answer { total: found.total, matches: matches.collect(), included: included.collect() }
}

struct Asked {
    resource_type: ResourceType,
    pairs: Pairs,
    query: Query,
    as_of: Seq,
    page: Page,
}

impl Asked {
    fn new(dice: &mut Dice, as_of: Seq) -> Self {
        let resource_type = some_type(dice);
        let pairs = pairs(dice, resource_type.as_str());
        Self::of(dice, resource_type, pairs, as_of)
    }

    fn of(dice: &mut Dice, resource_type: ResourceType, pairs: Pairs, as_of: Seq) -> Self {
        let page = if dice.once_in(2) { ALL } else { Page { offset: dice.below(6), count: dice.below(9) } };
        Self { resource_type, query: read(resource_type.as_str(), &pairs), pairs, as_of, page }
    }

    fn answer(&self, records: &Records) -> Answer {
        answer(records, self.resource_type, &self.query, self.as_of, self.page)
    }

    /// Asks, and compares with the oracle.
    fn check(&self, story: &Story) -> Answer {
        let live = story.plain.live(self.as_of);
        let oracle = Oracle::new(&live);
        let expected = oracle.matches(self.resource_type, &self.query);
        let answer = self.answer(story.records());
        let shown = format!("{}?{:?} as of {}", self.resource_type, self.pairs, self.as_of);
        assert_eq!(answer.total, expected.len(), "{shown}");
        let page: Vec<&String> = expected.iter().skip(self.page.offset).take(self.page.count).collect();
        let ids: Vec<&String> = answer.matches.iter().map(|(id, ..)| id).collect();
        assert_eq!(ids, page, "{shown}");
        let matches = page.into_iter().map(|id| (self.resource_type, id.clone())).collect();
        let included: BTreeSet<Identity> = answer.included.iter().map(|(identity, _)| identity.clone()).collect();
        assert_eq!(included, oracle.included(&matches, &self.query.includes), "{shown}");
        assert_eq!(included.len(), answer.included.len(), "each once: {shown}");
        answer
    }
}

/// All pages together are the whole.
fn check_pages(story: &Story, asked: &Asked, count: usize) {
    let Asked { resource_type, query, as_of, .. } = asked;
    let whole = answer(story.records(), *resource_type, query, *as_of, ALL);
    let pages = (0..=whole.total / count).flat_map(|number| {
        let page = Page { offset: number * count, count };
        answer(story.records(), *resource_type, query, *as_of, page).matches
    });
    assert_eq!(pages.collect::<Vec<_>>(), whole.matches);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_search_finds_what_reading_everything_finds(seed: u64, size in 0_usize..200, steps in 0_usize..12) {
        let dice = &mut Dice(seed);
        let mut story = Story::begin(dice, size);
        for _ in 0..steps {
            story.step(dice);
        }
        for _ in 0..12 {
            let as_of = [Seq::MAX, story.world.seq, dice.below(story.world.seq as usize + 1) as Seq][dice.below(3)];
            let asked = Asked::new(dice, as_of);
            asked.check(&story);
            check_pages(&story, &asked, 1 + dice.below(7));
        }
    }

    #[test]
    fn a_search_as_of_then_gives_what_it_gave_then(seed: u64, size in 0_usize..60, steps in 1_usize..12) {
        let dice = &mut Dice(seed);
        let mut story = Story::begin(dice, size);
        let mut answered = Vec::new();
        for _ in 0..steps {
            for _ in 0..2 {
                let asked = Asked::new(dice, story.world.seq);
                answered.push((asked.check(&story), asked));
            }
            story.step(dice);
        }
        for (then, asked) in &answered {
            prop_assert_eq!(then, &asked.answer(story.records()), "{:?}", asked.pairs);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn many_questions_that_many_answer_find_what_reading_everything_finds(seed: u64, steps in 0_usize..4) {
        let dice = &mut Dice(seed);
        let mut story = Story::over_many(dice, 250);
        for _ in 0..steps {
            story.step(dice);
        }
        for _ in 0..4 {
            let pairs = wide_pairs(dice);
            Asked::of(dice, "Observation".parse().unwrap(), pairs, Seq::MAX).check(&story);
        }
    }
}
