//! Disease modules as data: prevalence, course, treatment and notes.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::milli::Milli;

/// The order of modules: a module comes after those that it names as a risk.
pub(crate) const MODULES: [(&str, &str); 16] = [
    ("hypertension", include_str!("../modules/hypertension.yaml")),
    ("diabetes", include_str!("../modules/diabetes.yaml")),
    ("hyperlipidemia", include_str!("../modules/hyperlipidemia.yaml")),
    ("ckd", include_str!("../modules/ckd.yaml")),
    ("heart-failure", include_str!("../modules/heart-failure.yaml")),
    ("atrial-fibrillation", include_str!("../modules/atrial-fibrillation.yaml")),
    ("copd", include_str!("../modules/copd.yaml")),
    ("asthma", include_str!("../modules/asthma.yaml")),
    ("hypothyroidism", include_str!("../modules/hypothyroidism.yaml")),
    ("depression", include_str!("../modules/depression.yaml")),
    ("low-back-pain", include_str!("../modules/low-back-pain.yaml")),
    ("rheumatoid-arthritis", include_str!("../modules/rheumatoid-arthritis.yaml")),
    ("breast-screening", include_str!("../modules/breast-screening.yaml")),
    ("colon-screening", include_str!("../modules/colon-screening.yaml")),
    ("pregnancy", include_str!("../modules/pregnancy.yaml")),
    ("well-child", include_str!("../modules/well-child.yaml")),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ModuleKind {
    Chronic,
    Screening,
    Pregnancy,
    Child,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Module {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) kind: ModuleKind,
    /// The source of the prevalence figures.
    pub(crate) source: String,
    pub(crate) prevalence: Vec<Target>,
    pub(crate) onset: Option<Curve>,
    #[serde(default)]
    pub(crate) risks: Vec<Risk>,
    pub(crate) problem: Option<Diagnosis>,
    /// The first one that applies replaces the problem's code.
    #[serde(default)]
    pub(crate) stages: Vec<Stage>,
    /// The first one to occur replaces the problem's code. Later ones are separate problems.
    #[serde(default)]
    pub(crate) progression: Vec<Stage>,
    #[serde(default)]
    pub(crate) values: Vec<ValueShift>,
    #[serde(default)]
    pub(crate) labs: Vec<LabPlan>,
    pub(crate) visits: Option<VisitPlan>,
    pub(crate) refer: Option<Referral>,
    #[serde(default)]
    pub(crate) treatments: Vec<Treatment>,
    pub(crate) care: Option<CarePlanTemplate>,
    pub(crate) admission: Option<Admission>,
    #[serde(default)]
    pub(crate) imaging: Vec<StudyPlan>,
    pub(crate) screening: Option<Screening>,
    pub(crate) pregnancy: Option<Pregnancy>,
    pub(crate) child: Option<Child>,
    #[serde(default)]
    pub(crate) notes: Notes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Sex {
    Female,
    Male,
}

/// A published figure that the population is compared with.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Target {
    pub(crate) ages: [i64; 2],
    pub(crate) sex: Option<Sex>,
    pub(crate) percent: Milli,
    /// Whether only the last year counts.
    #[serde(default)]
    pub(crate) per_year: bool,
}

/// The percentage of people with the disease by age, linear between the points. `female` and `male` are percent of that.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Curve {
    pub(crate) points: Vec<(i64, Milli)>,
    #[serde(default = "hundred")]
    pub(crate) female: i64,
    #[serde(default = "hundred")]
    pub(crate) male: i64,
}

fn hundred() -> i64 {
    100
}

/// Another module, `obesity` or `smoker`, with the relative risk of this module.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Risk {
    pub(crate) of: String,
    pub(crate) times: Milli,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Diagnosis {
    pub(crate) icd10: String,
    /// The code and display of a concept for all stages.
    pub(crate) snomed: Option<(String, String)>,
    pub(crate) name: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stage {
    /// Other modules that the patient must have.
    #[serde(default)]
    pub(crate) with: Vec<String>,
    #[serde(default)]
    pub(crate) after_years: i64,
    #[serde(default = "hundred")]
    pub(crate) share: i64,
    pub(crate) egfr_below: Option<i64>,
    pub(crate) analyte: Option<String>,
    pub(crate) at_least: Option<Milli>,
    pub(crate) icd10: String,
    pub(crate) name: String,
}

/// The effect of the disease on an analyte or a vital sign.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ValueShift {
    pub(crate) analyte: String,
    pub(crate) mean: Milli,
    pub(crate) sd: Milli,
    /// The change of the mean for each year since the onset.
    #[serde(default)]
    pub(crate) drift: Milli,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LabPlan {
    pub(crate) panel: String,
    pub(crate) every_months: i64,
    /// In years.
    #[serde(default)]
    pub(crate) from_age: i64,
    /// Only while the patient takes this drug.
    pub(crate) with: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VisitPlan {
    pub(crate) per_year: i64,
    pub(crate) specialty: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Referral {
    pub(crate) specialty: String,
    pub(crate) share: i64,
    pub(crate) question: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Treatment {
    pub(crate) drug: String,
    pub(crate) share: i64,
    #[serde(default)]
    pub(crate) after_years: i64,
    /// In years.
    #[serde(default)]
    pub(crate) from_age: i64,
    /// Only started if this was prescribed at least three months earlier.
    pub(crate) requires: Option<String>,
    /// The first one that applies decides: another drug, or none.
    #[serde(default)]
    pub(crate) instead: Vec<DrugReplacement>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DrugReplacement {
    pub(crate) when: TreatmentCondition,
    pub(crate) drug: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) stop: Option<String>,
    /// Only for patients who already take a drug of this treatment.
    #[serde(default)]
    pub(crate) no_start: bool,
}

/// All given conditions must be met.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TreatmentCondition {
    pub(crate) egfr_below: Option<i64>,
    pub(crate) potassium_at_least: Option<Milli>,
    pub(crate) age_at_least: Option<i64>,
    pub(crate) has: Option<String>,
    pub(crate) pregnant: bool,
    pub(crate) anticoagulated: bool,
    pub(crate) apixaban_reduction: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CarePlanTemplate {
    pub(crate) title: String,
    pub(crate) goal: String,
    pub(crate) activities: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Admission {
    pub(crate) per_thousand_years: i64,
    pub(crate) icd10: String,
    pub(crate) name: String,
    pub(crate) days: i64,
    pub(crate) course: String,
}

/// An imaging study, a procedure or a stool test with its report.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StudyPlan {
    pub(crate) share: i64,
    pub(crate) service: String,
    pub(crate) name: String,
    pub(crate) fee: i64,
    pub(crate) modality: Option<String>,
    pub(crate) snomed: Option<String>,
    pub(crate) loinc: Option<String>,
    pub(crate) every_months: Option<i64>,
    #[serde(default)]
    pub(crate) stool: bool,
    #[serde(default)]
    pub(crate) procedure: bool,
    pub(crate) specialty: Option<String>,
    pub(crate) indication: Option<String>,
    #[serde(default)]
    pub(crate) findings: Vec<String>,
    #[serde(default)]
    pub(crate) impression: Vec<String>,
    pub(crate) abnormal: Option<Abnormal>,
    pub(crate) anticoagulated: Option<DrugInterruption>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Abnormal {
    pub(crate) percent: i64,
    #[serde(default)]
    pub(crate) findings: String,
    pub(crate) impression: String,
}

/// The effect of an anticoagulant: the days of interruption, and the share of patients who still get the procedure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DrugInterruption {
    pub(crate) hold: BTreeMap<String, i64>,
    pub(crate) percent: i64,
    pub(crate) instructions: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Screening {
    pub(crate) sex: Option<Sex>,
    pub(crate) ages: [i64; 2],
    pub(crate) every_months: i64,
    pub(crate) percent: Milli,
    pub(crate) reason: Diagnosis,
    pub(crate) tests: Vec<StudyPlan>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pregnancy {
    pub(crate) per_thousand_years: i64,
    pub(crate) ages: [i64; 2],
    pub(crate) visit_weeks: Vec<i64>,
    pub(crate) labs: Vec<WeekLab>,
    pub(crate) cesarean_percent: i64,
    pub(crate) delivery: Diagnosis,
    pub(crate) cesarean: Diagnosis,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WeekLab {
    pub(crate) week: i64,
    pub(crate) panel: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Child {
    pub(crate) visit_months: Vec<i64>,
    pub(crate) attend_percent: i64,
    pub(crate) vaccinated_percent: i64,
}

/// Sentences of notes, with placeholders such as `{a1c}`, `{drugs}` and `{years}`. A sentence without values is not used.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Notes {
    pub(crate) subjective: Vec<Sentence>,
    pub(crate) plan: Vec<Sentence>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Sentence {
    Always(String),
    /// Only while the patient takes a drug of the group.
    With {
        text: String,
        if_group: String,
    },
}
