//! How common things are: against published figures, and dirt against its rates.

use verial_population::{DIRT, Population, Spec, must_support, prevalence};

#[test]
fn prevalence_is_near_the_published_figures() {
    let population = Population::new(1, Spec::default()).unwrap();
    for row in prevalence(&population, 2000) {
        // Three standard errors, and a tenth of the figure for the bends of its curve.
        let share = row.target as f64 / 100_000.0;
        let error = (share * (1.0 - share) / row.people.max(1) as f64).sqrt();
        let tolerance = 3.0 * error * 100_000.0 + row.target as f64 * 0.1;
        let off = (row.found - row.target).abs() as f64;
        assert!(row.people > 100 && off <= tolerance, "{row:?}: off by {off}, {tolerance} is allowed");
    }
}

#[test]
fn a_spec_can_switch_modules_and_dirt_off_and_on() {
    let rates: Vec<String> = DIRT.iter().map(|(name, ..)| format!("{name}: 0")).collect();
    let modules = "{diabetes: 0, well-child: 0}";
    let clean = Spec::parse(&format!("dirt: {{{}}}\nmodules: {modules}", rates.join(", "))).unwrap();
    let population = Population::new(5, clean).unwrap();
    assert!((0..15).all(|index| population.chart(index).dirt.is_empty()));
    let rows = prevalence(&population, 300);
    for row in rows.iter().filter(|row| row.module == "Type 2 diabetes" || row.module.starts_with("Well-child")) {
        assert_eq!((row.with, row.target), (0, 0), "{row:?}");
    }
    let check_up = |resource: &serde_json::Value| resource["type"][0]["coding"][0]["code"] == "185349003";
    let is_child = |index: u64| population.chart(index).resources[0]["birthDate"].as_str() > Some("2008-07-01");
    for index in (0..60).filter(|index| is_child(*index)) {
        assert!(!population.chart(index).resources.iter().any(check_up), "patient {index} has a well-child visit");
    }
    // A result without a code cannot have another code.
    let rate = |name: &str| if name == "missing_code" { 50 } else { 100 };
    let rates: Vec<String> = DIRT.iter().map(|(name, ..)| format!("{name}: {}", rate(name))).collect();
    let dirty = Spec::parse(&format!("dirt: {{{}}}", rates.join(", "))).unwrap();
    let population = Population::new(5, dirty).unwrap();
    let seen: Vec<&str> = (0..25).flat_map(|index| population.chart(index).dirt).collect();
    for (name, ..) in DIRT {
        assert!(seen.contains(name), "{name} never happens");
    }
}

#[test]
fn must_support_elements_are_filled() {
    let spec = Spec::parse("ages: {under_18: 1, from_18_to_64: 2, from_65: 3}").unwrap();
    let population = Population::new(1, spec).unwrap();
    let charts = (0..60).map(|index| population.chart(index).resources);
    for support in must_support(std::iter::once(population.shared()).chain(charts)).unwrap() {
        assert!(support.with > 0, "{support:?}");
    }
}
