//! The demographics of a patient, as a function of the seed and the index.

use crate::Population;
use crate::date::Date;
use crate::milli::Milli;
use crate::random::Random;
use crate::spec::Ages;
use crate::tables::City;

/// OMB race categories with their shares (Census 2023, rounded).
pub(crate) const RACES: [(&str, &str, i64); 5] = [
    ("2106-3", "White", 75),
    ("2054-5", "Black or African American", 13),
    ("2028-9", "Asian", 7),
    ("1002-5", "American Indian or Alaska Native", 2),
    ("2131-1", "Other Race", 3),
];

/// The height by age in months, in thousandths of the adult height (medians of the CDC growth charts).
const GIRLS: [(i64, i64); 14] = [
    (0, 303),
    (3, 366),
    (6, 402),
    (12, 456),
    (24, 521),
    (36, 576),
    (60, 662),
    (84, 744),
    (108, 815),
    (132, 882),
    (144, 925),
    (156, 962),
    (180, 993),
    (216, 1000),
];
const BOYS: [(i64, i64); 14] = [
    (0, 283),
    (3, 348),
    (6, 383),
    (12, 431),
    (24, 492),
    (36, 538),
    (60, 618),
    (84, 691),
    (108, 756),
    (132, 813),
    (156, 884),
    (168, 929),
    (192, 983),
    (216, 1000),
];

#[derive(Debug, Clone)]
pub(crate) struct Person {
    pub(crate) index: u64,
    pub(crate) female: bool,
    pub(crate) birth: Date,
    pub(crate) death: Option<Date>,
    pub(crate) given: String,
    pub(crate) middle: String,
    pub(crate) family: String,
    /// The name before marriage, and the day of the change.
    pub(crate) former: Option<(String, Date)>,
    pub(crate) race: usize,
    pub(crate) hispanic: bool,
    pub(crate) spanish: bool,
    pub(crate) line: String,
    pub(crate) city: City,
    pub(crate) phone: String,
    pub(crate) mrn: String,
    /// The adult height in centimeters.
    pub(crate) height: i64,
    /// The adult body mass index, in thousandths.
    pub(crate) bmi: i64,
    pub(crate) smoker: bool,
    pub(crate) is_namesake: bool,
}

impl Person {
    pub(crate) fn of(population: &Population, index: u64) -> Self {
        let person = Self::alone(population, index);
        let mut dirt = population.random(index, "namesake");
        if index > 0 && dirt.milli_percent(population.spec.dirt.namesake.0) {
            let other = Self::alone(population, index - 1);
            if other.female == person.female && other.birth != person.birth {
                return Self { given: other.given, family: other.family, is_namesake: true, ..person };
            }
        }
        person
    }

    /// Without regard to others.
    fn alone(population: &Population, index: u64) -> Self {
        let mut random = population.random(index, "person");
        let (names, spec) = (&population.tables.names, &population.spec);
        let female = random.percent(spec.female_percent);
        let birth = birth(&mut random, &spec.ages, spec.as_of);
        let age = spec.as_of.years_since(birth);
        let given = random.text(if female { &names.female } else { &names.male }).to_owned();
        let middle = random.text(if female { &names.female } else { &names.male }).to_owned();
        let family = random.text(&names.family).to_owned();
        let former = (female && age >= 21 && random.milli_percent(spec.dirt.married_name.0))
            .then(|| random.text(&names.family).to_owned())
            .filter(|former| *former != family);
        let former = former.map(|former| (former, spec.as_of.plus(-random.between(180, 365 * spec.history_years))));
        let hispanic = random.percent(19);
        let line = format!("{} {}", random.between(10, 9899), random.text(&names.streets));
        let city = random.pick(&names.cities).cloned();
        let city = city.unwrap_or(City { city: String::new(), zip: String::new() });
        let dies = age >= 60 && random.percent(if age >= 80 { 10 } else { 2 });
        Self {
            index,
            female,
            birth,
            death: dies.then(|| spec.as_of.plus(-random.between(5, 500))),
            given,
            middle,
            family,
            former,
            race: random.weighted(RACES.iter().map(|race| race.2)),
            hispanic,
            spanish: hispanic && random.percent(35),
            line,
            city,
            // Numbers from 555-0100 to 555-0199 are reserved for fiction, so the area code varies.
            phone: format!(
                "{}-555-01{:02}",
                random.pick(&["608", "262", "414", "920"]).unwrap_or(&"608"),
                random.below(100)
            ),
            mrn: format!("{:08}", 10_000_000 + index * 37 + 11),
            height: random.normal(if female { 162 } else { 176 }, 7),
            bmi: random.normal(29_600, 6_500).clamp(17_500, 55_000),
            smoker: age >= 18 && random.percent(11),
            is_namesake: false,
        }
    }

    pub(crate) fn id(&self) -> String {
        format!("p{:06}", self.index)
    }

    pub(crate) fn age(&self, date: Date) -> i64 {
        date.years_since(self.birth)
    }

    /// The height in centimeters. Children grow to the adult height.
    pub(crate) fn height_at(&self, date: Date) -> Milli {
        let months = date.months_since(self.birth).clamp(0, 216);
        let table = if self.female { &GIRLS } else { &BOYS };
        let mut last = table[0];
        for &(age, share) in table {
            if months <= age {
                let reached = last.1 * 1000 + (share - last.1) * 1000 * (months - last.0) / (age - last.0).max(1);
                return Milli(self.height * reached / 1000).rounded(1);
            }
            last = (age, share);
        }
        Milli(self.height * 1000)
    }

    /// The weight in kilograms, from the body mass index, which is near 16 in children.
    pub(crate) fn weight_at(&self, date: Date, noise: i64) -> Milli {
        let height = self.height_at(date).0;
        let months = date.months_since(self.birth);
        let bmi = match months {
            0..=11 => 14_000 + months * 250,
            12..=143 => 16_000 + (months - 12) * 25,
            144..=239 => 19_300 + (self.bmi - 19_300) * (months - 144) / 96,
            _ => self.bmi,
        };
        let weight = bmi * height / 100_000 * height / 100_000;
        Milli(weight * (1000 + noise) / 1000).rounded(1)
    }

    /// Whether the patient is alive on this day.
    pub(crate) fn lives_on(&self, date: Date) -> bool {
        date >= self.birth && self.death.is_none_or(|death| date <= death)
    }

    pub(crate) fn word(&self, date: Date) -> &'static str {
        match (self.age(date) < 18, self.female) {
            (true, true) => "girl",
            (true, false) => "boy",
            (false, true) => "woman",
            (false, false) => "man",
        }
    }
}

fn birth(random: &mut Random, ages: &Ages, as_of: Date) -> Date {
    let days = match random.weighted([ages.under_18, ages.from_18_to_64, ages.from_65].into_iter()) {
        0 => random.below(18 * 36_525 / 100),
        1 => random.between(18 * 36_525 / 100 + 1, 65 * 36_525 / 100 - 1),
        // The smaller of two draws, so that higher ages are less frequent.
        _ => 65 * 36_525 / 100 + 1 + random.below(32 * 365).min(random.below(32 * 365)),
    };
    as_of.plus(-days)
}
