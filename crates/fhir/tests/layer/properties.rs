//! What must be true of any dataset and any question.

use fhir::ResourceType;
use fhir::layer::{DocId, Layer, LayerError};
use fhir::search::extract;
use proptest::prelude::*;
use serde_json::Value;
use verial_fhir as fhir;

use crate::conditions::condition;
use crate::dice::Dice;
use crate::resources::{TYPES, lines};

fn layer(lines: &[String]) -> Layer {
    Layer::build(vec![lines.join("\n")], 1).unwrap()
}

/// The documents of the type for which the condition holds, by reading each.
fn brute_force(layer: &Layer, resource_type: ResourceType, condition: &fhir::search::Condition) -> Vec<DocId> {
    let holds = |doc: &DocId| {
        let resource: Value = serde_json::from_str(layer.written(*doc)).unwrap();
        condition.holds(&extract(&condition.parameter, &resource))
    };
    layer.of_type(resource_type).map(DocId::new).filter(holds).collect()
}

fn check(layer: &Layer, dice: &mut Dice) {
    let resource_type: ResourceType = dice.one(&TYPES).parse().unwrap();
    let condition = condition(dice, resource_type);
    let candidates = layer.candidates(resource_type, &condition);
    let expected = brute_force(layer, resource_type, &condition);
    assert!(candidates.docs.is_sorted_by(|left, right| left < right));
    if candidates.exact {
        assert_eq!(candidates.docs, expected, "{condition:#?}");
    }
    assert!(expected.iter().all(|doc| candidates.docs.contains(doc)), "{condition:#?}");
    assert!(layer.estimate(resource_type, &condition) >= candidates.docs.len(), "{condition:#?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn candidates_hold_every_answer_and_when_exact_nothing_else(seed: u64, count in 0_usize..200) {
        let dice = &mut Dice(seed);
        let layer = layer(&lines(dice, count));
        for _ in 0..200 {
            check(&layer, dice);
        }
    }

    #[test]
    fn a_layer_is_the_same_however_it_is_built(seed: u64, count in 0_usize..200, threads in 0_usize..4) {
        let dice = &mut Dice(seed);
        let mut lines = lines(dice, count);
        let whole = layer(&lines);
        for at in (1..lines.len()).rev() {
            lines.swap(at, dice.below(at + 1));
        }
        let chunks: Vec<_> = lines.chunks(1 + dice.below(50)).map(|chunk| chunk.join("\n") + "\n").collect();
        prop_assert_eq!(&Layer::build(chunks, threads).unwrap(), &whole);
    }

    #[test]
    fn a_layer_comes_back_from_its_bytes(seed: u64, count in 0_usize..200) {
        let layer = layer(&lines(&mut Dice(seed), count));
        let segments = layer.segments().map(<[u8]>::to_vec).collect();
        prop_assert_eq!(&Layer::decode(&layer.encode_index(), segments).unwrap(), &layer);
    }

    #[test]
    fn a_flipped_bit_is_an_error(seed: u64, count in 1_usize..60) {
        let dice = &mut Dice(seed);
        let layer = layer(&lines(dice, count));
        let mut index = layer.encode_index();
        let mut segments: Vec<_> = layer.segments().map(<[u8]>::to_vec).collect();
        for _ in 0..50 {
            let bit = dice.below(index.len() * 8);
            index[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(Layer::decode(&index, segments.clone()).is_err());
            index[bit / 8] ^= 1 << (bit % 8);
            let bit = dice.below(segments[0].len() * 8);
            segments[0][bit / 8] ^= 1 << (bit % 8);
            prop_assert!(matches!(Layer::decode(&index, segments.clone()), Err(LayerError::Damaged(_))));
            segments[0][bit / 8] ^= 1 << (bit % 8);
            let cut = dice.below(index.len());
            prop_assert!(Layer::decode(&index[..cut], segments.clone()).is_err());
        }
    }
}
