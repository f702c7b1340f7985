//! The specification of a population: its date, its ages, the frequency of modules and of data errors.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::date::Date;
use crate::milli::Milli;
use crate::module::MODULES;

/// Why a population cannot be generated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    #[error("the specification: {0}")]
    Spec(String),
    #[error("the embedded data: {0}")]
    Data(String),
}

/// The specification of a population. All members are optional.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Spec {
    /// The last day of the charts.
    pub(crate) as_of: Date,
    /// The number of years with visits.
    pub(crate) history_years: i64,
    pub(crate) ages: Ages,
    pub(crate) female_percent: i64,
    /// The percentage of claims that are denied.
    pub(crate) denied_percent: i64,
    /// The frequency of modules, in percent of their default frequency.
    pub(crate) modules: BTreeMap<String, i64>,
    pub(crate) dirt: Dirt,
}

/// Weights of age groups.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Ages {
    pub(crate) under_18: i64,
    pub(crate) from_18_to_64: i64,
    pub(crate) from_65: i64,
}

impl Default for Ages {
    fn default() -> Self {
        Self { under_18: 22, from_18_to_64: 60, from_65: 18 }
    }
}

macro_rules! dirt {
    ($($(#[doc = $doc:literal])+ $name:ident: $percent:literal,)+) => {
        /// Rates of data errors, in percent of people, or of the affected documents, results or codes.
        #[derive(Debug, Clone, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub(crate) struct Dirt {
            $($(#[doc = $doc])+ pub(crate) $name: Milli,)+
        }

        impl Default for Dirt {
            fn default() -> Self {
                Self { $($name: Milli($percent),)+ }
            }
        }

        impl Dirt {
            fn rates(&self) -> Vec<(&'static str, Milli)> {
                vec![$((stringify!($name), self.$name)),+]
            }
        }

        /// Each kind of data error, with its default rate in thousandths of a percent and a description.
        pub const DIRT: &[(&str, i64, &str)] = &[$((stringify!($name), $percent, concat!($($doc),+))),+];
    };
}

dirt! {
    /// Has the name of the previous patient, and another birth date
    namesake: 2_000,
    /// A second chart of the same person, with a misspelled, swapped or other name
    duplicate_chart: 5_000,
    /// An earlier address is still there
    moved: 8_000,
    /// A woman whose former name is in the chart and in old notes
    married_name: 4_000,
    /// Coverage that has ended, with no other
    coverage_ended: 4_000,
    /// Two coverages whose periods overlap
    coverage_overlap: 4_000,
    /// A note that contradicts the medication list
    medication_contradiction: 8_000,
    /// An allergy as text, without a code (of allergies)
    free_text_allergy: 15_000,
    /// A laboratory result in another unit (of results that have one)
    unit_variant: 3_000,
    /// A result or problem in a local or another code system
    code_variant: 2_000,
    /// A result or problem without any code
    missing_code: 1_000,
    /// A note that nobody has signed (of notes)
    unsigned_document: 2_000,
    /// A note about another patient (of notes)
    misfiled_document: 1_000,
    /// A problem that is over and still active (of patients)
    stale_problem: 20_000,
    /// Results that were filed under an old record number
    old_mrn_results: 3_000,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            as_of: Date::new(2026, 6, 30),
            history_years: 5,
            ages: Ages::default(),
            female_percent: 51,
            denied_percent: 19,
            modules: BTreeMap::new(),
            dirt: Dirt::default(),
        }
    }
}

impl Spec {
    /// Reads a specification from a JSON value. `null` means all defaults.
    pub fn read(value: Value) -> Result<Self, SpecError> {
        if value.is_null() {
            return Ok(Self::default());
        }
        let spec: Self = serde_json::from_value(value).map_err(|error| SpecError::Spec(error.to_string()))?;
        spec.check()?;
        Ok(spec)
    }

    /// Reads YAML, which includes JSON.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        Self::read(model::yaml::parse(text).map_err(SpecError::Spec)?)
    }

    fn check(&self) -> Result<(), SpecError> {
        let within = |name: &str, value: i64, first: i64, last: i64| {
            let error = format!("`{name}` is {value}; it must be from {first} to {last}");
            if (first..=last).contains(&value) { Ok(()) } else { Err(SpecError::Spec(error)) }
        };
        within("as_of", self.as_of.parts().0, 2000, 2100)?;
        within("history_years", self.history_years, 1, 20)?;
        within("female_percent", self.female_percent, 0, 100)?;
        within("denied_percent", self.denied_percent, 0, 100)?;
        let Ages { under_18, from_18_to_64, from_65 } = self.ages;
        for (name, share) in [("under_18", under_18), ("from_18_to_64", from_18_to_64), ("from_65", from_65)] {
            within(&format!("ages.{name}"), share, 0, 1000)?;
        }
        within("ages (their sum)", under_18 + from_18_to_64 + from_65, 1, 3000)?;
        for (name, percent) in &self.modules {
            if !MODULES.iter().any(|(id, _)| id == name) {
                let known: Vec<&str> = MODULES.iter().map(|(id, _)| *id).collect();
                return Err(SpecError::Spec(format!("there is no module `{name}`; there are {}", known.join(", "))));
            }
            within(&format!("modules.{name}"), *percent, 0, 1000)?;
        }
        for (name, Milli(rate)) in self.dirt.rates() {
            let error = format!("`dirt.{name}` must be from 0 to 100 percent");
            if !(0..=100_000).contains(&rate) {
                return Err(SpecError::Spec(error));
            }
        }
        Ok(())
    }

    /// The frequency of a module, in percent of its default frequency.
    pub(crate) fn frequency(&self, module: &str) -> i64 {
        self.modules.get(module).copied().unwrap_or(100)
    }

    /// The first day of the charts.
    pub(crate) fn start(&self) -> Date {
        self.as_of.plus_years(-self.history_years)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_values_have_clear_errors() {
        for (text, part) in [
            ("history_years: 0", "`history_years` is 0; it must be from 1 to 20"),
            ("female_percent: 101", "from 0 to 100"),
            ("as_of: tomorrow", "`tomorrow` is not a date"),
            ("as_of: 2026-02-30", "is not a date"),
            ("as_of: 9223372036854775807-01-01", "is not a date"),
            ("dirt: {moved: -9223372036854775808}", "is not a decimal"),
            ("dirt: {namesakes: 3}", "unknown field `namesakes`"),
            ("dirt: {namesake: 101}", "`dirt.namesake` must be from 0 to 100"),
            ("modules: {gout: 100}", "there is no module `gout`; there are hypertension"),
            ("modules: {ckd: -1}", "`modules.ckd` is -1"),
            ("ages: {under_18: 0, from_18_to_64: 0, from_65: 0}", "their sum"),
            ("patients: 5", "unknown field `patients`"),
            ("[1", ""),
            ("7", "invalid type"),
        ] {
            let error = Spec::parse(text).unwrap_err().to_string();
            assert!(error.contains(part) && error.starts_with("the specification: "), "{text}: {error}");
        }
        assert_eq!(Spec::parse("").unwrap().history_years, 5);
        let ages = Spec::parse("ages: {under_18: 40}").unwrap().ages;
        assert_eq!((ages.under_18, ages.from_18_to_64, ages.from_65), (40, 60, 18));
        assert_eq!(Spec::parse("{\"dirt\": {\"namesake\": 2.5}}").unwrap().dirt.namesake, Milli(2500));
    }
}
