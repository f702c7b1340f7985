//! A patient is a function of the seed and the index.

use sha2::{Digest, Sha256};
use verial_population::{Population, Spec};

const PATIENTS: u64 = 50;

fn hash(charts: &[String]) -> String {
    let digest = Sha256::digest(charts.concat());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_order_and_the_threads_change_nothing() {
    let spec = || Spec::parse("history_years: 2").unwrap();
    let population = Population::new(7, spec()).unwrap();
    let forward: Vec<String> = (0..PATIENTS).map(|index| population.lines(index)).collect();
    let mut backward: Vec<String> = (0..PATIENTS).rev().map(|index| population.lines(index)).collect();
    backward.reverse();
    let population = &population;
    let threads: Vec<String> = std::thread::scope(|scope| {
        let part =
            |first: u64| scope.spawn(move || (first..PATIENTS).step_by(4).map(|i| (i, population.lines(i))).collect());
        let parts: Vec<std::thread::ScopedJoinHandle<'_, Vec<(u64, String)>>> = (0..4).map(part).collect();
        let mut charts: Vec<(u64, String)> = parts.into_iter().flat_map(|part| part.join().unwrap()).collect();
        charts.sort();
        charts.into_iter().map(|(_, chart)| chart).collect()
    });
    assert_eq!(hash(&forward), hash(&backward));
    assert_eq!(hash(&forward), hash(&threads));
    let other = Population::new(8, spec()).unwrap();
    assert_ne!(forward[0], other.lines(0));
}

/// Output may only change together with the version of the generator.
#[test]
fn the_bytes_of_a_version_are_fixed() {
    let population = Population::new(7, Spec::default()).unwrap();
    let mut parts = vec![verial_population::lines(&population.shared())];
    parts.extend((0..12).map(|index| population.lines(index)));
    let golden = "705391a86a67cc10d62a39c4df3d94d44fb63bec285008448dd916f3442a53bf";
    assert_eq!((verial_population::VERSION, hash(&parts).as_str()), (2, golden), "increase VERSION with the new hash");
}
