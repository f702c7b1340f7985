//! The embedded data: code tables, names, the practice and the disease modules. It is parsed once.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::milli::Milli;
use crate::module::{MODULES, Module};
use crate::spec::SpecError;

pub(crate) type Table<T> = BTreeMap<String, T>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Analyte {
    pub(crate) loinc: String,
    pub(crate) name: String,
    pub(crate) unit: String,
    pub(crate) digits: u32,
    pub(crate) low: Option<Milli>,
    pub(crate) high: Option<Milli>,
    pub(crate) critical_low: Option<Milli>,
    pub(crate) critical_high: Option<Milli>,
    pub(crate) mean: Milli,
    pub(crate) sd: Milli,
    pub(crate) other: Option<OtherUnit>,
    #[serde(default)]
    pub(crate) category: Category,
}

/// The category of an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Category {
    #[default]
    Laboratory,
    /// A questionnaire.
    Survey,
    /// A measurement in the clinic.
    Exam,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OtherUnit {
    pub(crate) unit: String,
    /// The factor as text, because [`Milli`] has thousandths only.
    pub(crate) factor: serde_json::Number,
    pub(crate) digits: u32,
}

impl OtherUnit {
    pub(crate) fn convert(&self, value: Milli) -> Milli {
        let text = self.factor.to_string();
        let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
        let parsed = |digits: &str| digits.parse::<i64>().unwrap_or(0);
        let millionths = parsed(whole) * 1_000_000 + parsed(&format!("{part:0<6}"));
        Milli(value.0 * millionths / 1_000_000).rounded(self.digits)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Panel {
    pub(crate) loinc: String,
    pub(crate) name: String,
    pub(crate) service: String,
    pub(crate) fee: i64,
    pub(crate) specimen: Option<String>,
    pub(crate) analytes: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Drug {
    pub(crate) rxnorm: String,
    pub(crate) name: String,
    pub(crate) short: String,
    pub(crate) sig: String,
    #[serde(default)]
    pub(crate) per_day: i64,
    /// The quantity of a fill, if it is not `per_day` times `supply_days`.
    pub(crate) quantity: Option<i64>,
    #[serde(default = "three_months")]
    pub(crate) supply_days: i64,
    /// Whether it is taken for a few days only, without refills.
    #[serde(default)]
    pub(crate) course: bool,
    #[serde(default = "tablet")]
    pub(crate) form: String,
    pub(crate) group: String,
}

fn three_months() -> i64 {
    90
}

fn one() -> usize {
    1
}

fn tablet() -> String {
    "tablet".to_owned()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Vaccine {
    pub(crate) cvx: String,
    pub(crate) name: String,
    /// The ages at which the doses of a child are due.
    #[serde(default)]
    pub(crate) months: Vec<i64>,
    /// The minimum number of days between doses.
    #[serde(default)]
    pub(crate) intervals: Vec<i64>,
    pub(crate) until_months: Option<i64>,
    pub(crate) adult: Option<AdultDose>,
    #[serde(default)]
    pub(crate) seasonal: bool,
    #[serde(default)]
    pub(crate) live: bool,
    /// One dose in each pregnancy.
    #[serde(default)]
    pub(crate) pregnancy: bool,
    /// The percentage of children who get a seasonal vaccine in a season.
    #[serde(default)]
    pub(crate) child_percent: i64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AdultDose {
    pub(crate) from: i64,
    #[serde(default = "one")]
    pub(crate) doses: usize,
    pub(crate) every_months: Option<i64>,
    pub(crate) percent: i64,
    pub(crate) percent_50: Option<i64>,
    pub(crate) percent_65: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DenialCondition {
    CoverageEnded,
    SecondCoverage,
    AdvancedImaging,
    /// The claim was sent after the filing limit.
    Late,
    /// The same claim was already sent.
    Duplicate,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Denial {
    pub(crate) carc: String,
    pub(crate) rarc: Option<String>,
    pub(crate) group: String,
    pub(crate) text: String,
    pub(crate) note: Option<String>,
    pub(crate) when: Option<DenialCondition>,
    pub(crate) weight: i64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Names {
    pub(crate) female: Vec<String>,
    pub(crate) male: Vec<String>,
    pub(crate) family: Vec<String>,
    pub(crate) streets: Vec<String>,
    pub(crate) nicknames: BTreeMap<String, String>,
    pub(crate) cities: Vec<City>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct City {
    pub(crate) city: String,
    pub(crate) zip: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Practice {
    pub(crate) organizations: Vec<Organization>,
    pub(crate) payers: Vec<Payer>,
    pub(crate) locations: Vec<Location>,
    pub(crate) specialties: Vec<Specialty>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Organization {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) phone: String,
    pub(crate) line: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Payer {
    pub(crate) id: String,
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) plan: String,
    pub(crate) prefix: String,
    pub(crate) ages: [i64; 2],
    pub(crate) weight: i64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Location {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) organization: String,
    pub(crate) line: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Specialty {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) taxonomy: String,
    pub(crate) count: usize,
}

#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) analytes: Table<Analyte>,
    pub(crate) panels: Table<Panel>,
    pub(crate) drugs: Table<Drug>,
    pub(crate) vaccines: Vec<Vaccine>,
    pub(crate) denials: Vec<Denial>,
    pub(crate) names: Names,
    pub(crate) practice: Practice,
    pub(crate) modules: Vec<Module>,
}

static TABLES: LazyLock<Result<Tables, SpecError>> = LazyLock::new(read);

pub(crate) fn tables() -> Result<&'static Tables, SpecError> {
    TABLES.as_ref().map_err(Clone::clone)
}

fn read() -> Result<Tables, SpecError> {
    let modules = MODULES.iter().map(|(name, text)| parsed(name, text)).collect::<Result<_, _>>()?;
    Ok(Tables {
        analytes: parsed("analytes", include_str!("../tables/analytes.yaml"))?,
        panels: parsed("panels", include_str!("../tables/panels.yaml"))?,
        drugs: parsed("drugs", include_str!("../tables/drugs.yaml"))?,
        vaccines: parsed("vaccines", include_str!("../tables/vaccines.yaml"))?,
        denials: parsed("denials", include_str!("../tables/denials.yaml"))?,
        names: parsed("names", include_str!("../tables/names.yaml"))?,
        practice: parsed("practice", include_str!("../tables/practice.yaml"))?,
        modules,
    })
}

fn parsed<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, SpecError> {
    let value = model::yaml::parse(text).map_err(|error| SpecError::Data(format!("{name}: {error}")))?;
    serde_json::from_value(value).map_err(|error| SpecError::Data(format!("{name}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the tables have everything that a module names.
    #[test]
    fn modules_and_tables_agree() {
        let tables = tables().unwrap();
        let vitals = ["systolic", "diastolic", "pulse", "saturation"];
        for module in &tables.modules {
            let id = &module.id;
            for shift in &module.values {
                let analyte = shift.analyte.as_str();
                assert!(vitals.contains(&analyte) || tables.analytes.contains_key(analyte), "{id}: {analyte}");
            }
            for plan in &module.labs {
                assert!(tables.panels.contains_key(&plan.panel), "{id}: {}", plan.panel);
            }
            for treatment in &module.treatments {
                let drugs =
                    std::iter::once(&treatment.drug).chain(treatment.instead.iter().filter_map(|i| i.drug.as_ref()));
                for drug in drugs.chain(&treatment.requires) {
                    assert!(tables.drugs.contains_key(drug), "{id}: {drug}");
                }
            }
        }
        let modules: Vec<&str> = MODULES.iter().map(|(_, text)| *text).collect();
        for drug in tables.drugs.keys() {
            assert!(modules.iter().any(|text| text.contains(&format!("drug: {drug}"))), "no module uses {drug}");
        }
        for module in &tables.modules {
            let first = module.onset.as_ref().and_then(|curve| curve.points.first());
            assert!(first.is_none_or(|point| point.1.0 == 0), "{}: the curve does not start at 0", module.id);
        }
        for panel in tables.panels.values() {
            assert!(panel.analytes.iter().all(|analyte| tables.analytes.contains_key(analyte)), "{}", panel.name);
        }
    }
}
