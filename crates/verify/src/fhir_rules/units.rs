//! Units with their UCUM codes and common spellings.

use serde_json::Value;

use crate::scoring::FieldResult;

pub(super) const UCUM: &str = "http://unitsofmeasure.org";

/// The UCUM codes of one unit, then its other spellings in lower case.
const UNITS: [(&[&str], &[&str]); 58] = [
    (&["kg"], &["kgs", "kilogram", "kilograms"]),
    (&["g"], &["gm", "gram", "grams"]),
    (&["mg"], &["milligram", "milligrams", "mgs"]),
    (&["ug"], &["mcg", "µg", "μg", "microgram", "micrograms"]),
    (&["ng"], &["nanogram", "nanograms"]),
    (&["L", "l"], &["liter", "liters", "litre", "litres"]),
    (&["dL", "dl"], &["deciliter", "deciliters"]),
    (&["mL", "ml"], &["milliliter", "milliliters", "millilitre", "millilitres", "cc"]),
    (&["uL", "ul"], &["µl", "μl", "microliter", "microliters"]),
    (&["m"], &["meter", "meters", "metre", "metres"]),
    (&["cm"], &["centimeter", "centimeters", "centimetre"]),
    (&["mm"], &["millimeter", "millimeters"]),
    (&["[in_i]", "[in_us]"], &["in", "inch", "inches"]),
    (&["[ft_i]", "[ft_us]"], &["ft", "foot", "feet"]),
    (&["[lb_av]"], &["lb", "lbs", "pound", "pounds"]),
    (&["[oz_av]"], &["oz", "ounce", "ounces"]),
    (&["Cel"], &["c", "°c", "degc", "deg c", "celsius", "degrees celsius"]),
    (&["[degF]"], &["f", "°f", "degf", "deg f", "fahrenheit", "degrees fahrenheit"]),
    (&["kg/m2"], &["kg/m²", "kg/m^2"]),
    (&["mm[Hg]"], &["mmhg", "mm hg"]),
    (
        &["/min", "{beats}/min", "{breaths}/min"],
        &["beats/min", "beats/minute", "beats per minute", "bpm", "breaths/min", "breaths/minute", "per minute"],
    ),
    (&["%"], &["percent", "pct"]),
    (&["mmol/L", "mmol/l"], &["millimole per liter", "millimoles per liter"]),
    (&["umol/L", "umol/l"], &["µmol/l", "μmol/l"]),
    (&["nmol/L", "nmol/l"], &[]),
    (&["pmol/L", "pmol/l"], &[]),
    (&["meq/L", "meq/l"], &["milliequivalent per liter", "milliequivalents per liter"]),
    (&["meq"], &["milliequivalent", "milliequivalents"]),
    (&["mmol"], &["millimole", "millimoles"]),
    (&["mg/dL", "mg/dl"], &["milligram per deciliter", "milligrams per deciliter"]),
    (&["g/dL", "g/dl"], &["gm/dl", "grams per deciliter"]),
    (&["ug/dL", "ug/dl"], &["mcg/dl", "µg/dl", "μg/dl"]),
    (&["ng/dL", "ng/dl"], &[]),
    (&["g/L", "g/l"], &["gm/l"]),
    (&["mg/L", "mg/l"], &[]),
    (&["ug/L", "ug/l"], &["mcg/l", "µg/l", "μg/l"]),
    (&["ng/mL", "ng/ml"], &[]),
    (&["pg/mL", "pg/ml"], &[]),
    (&["ug/mL", "ug/ml"], &["mcg/ml", "µg/ml", "μg/ml"]),
    (&["mg/mL", "mg/ml"], &[]),
    (&["mg/kg"], &[]),
    (&["U/L", "u/L", "[IU]/L", "[iU]/L"], &["iu/l", "units/l"]),
    (&["mU/L", "m[IU]/L", "m[iU]/L", "u[IU]/mL"], &["miu/l", "µiu/ml", "uiu/ml"]),
    (
        &["10*3/uL", "10*9/L"],
        &["10^3/ul", "10^3/µl", "10^9/l", "x10^3/ul", "x10e3/ul", "x10^9/l", "x10e9/l", "k/ul", "k/µl", "thousand/ul"],
    ),
    (
        &["10*6/uL", "10*12/L"],
        &["10^6/ul", "10^6/µl", "10^12/l", "x10^6/ul", "x10e6/ul", "x10^12/l", "m/ul", "million/ul"],
    ),
    (&["fL"], &["femtoliter", "femtoliters"]),
    (&["pg"], &["picogram", "picograms"]),
    (&["s"], &["sec", "second", "seconds"]),
    (&["min"], &["minute", "minutes"]),
    (&["h"], &["hr", "hrs", "hour", "hours"]),
    (&["d"], &["day", "days"]),
    (&["wk"], &["week", "weeks"]),
    (&["mo"], &["month", "months"]),
    (&["a"], &["yr", "yrs", "year", "years"]),
    (&["U", "[IU]", "[iU]", "[USP'U]"], &["unit", "units", "iu", "international unit", "international units"]),
    (&["{tbl}", "{tablet}", "TAB"], &["tab", "tabs", "tablet", "tablets"]),
    (&["{capsule}", "{cap}", "CAP"], &["cap", "caps", "capsule", "capsules"]),
    (&["{puff}"], &["puff", "puffs"]),
];

/// The index of a unit in the table.
fn unit(text: &str) -> Option<usize> {
    let text = text.trim();
    let by_code = || UNITS.iter().position(|(codes, _)| codes.contains(&text));
    let lower = text.to_lowercase();
    let by_code_in_any_case =
        || UNITS.iter().position(|(codes, _)| codes.iter().any(|code| code.eq_ignore_ascii_case(text)));
    let by_spelling = || UNITS.iter().position(|(_, spellings)| spellings.contains(&lower.as_str()));
    by_code().or_else(by_spelling).or_else(by_code_in_any_case)
}

/// Whether a text and a UCUM code are the same unit.
pub(super) fn is_same(text: &str, code: &str) -> bool {
    text == code || unit(text).is_some_and(|known| unit(code) == Some(known))
}

/// The violation for a Quantity whose unit and UCUM code are different units.
pub(super) fn contradiction(object: &Value, path: &str) -> Option<FieldResult> {
    let text = |name: &str| object.get(name).and_then(Value::as_str);
    let (written, code) = (text("unit")?, text("code")?);
    if text("system").is_some_and(|system| system != UCUM) {
        return None;
    }
    let (known, coded) = (unit(written)?, unit(code)?);
    let reason = format!("the unit contradicts the code `{code}`");
    let unit_path = if path.is_empty() { "unit".to_owned() } else { format!("{path}.unit") };
    (known != coded).then(|| FieldResult::violation(unit_path, code.into(), &written.into(), reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_spelling_belongs_to_one_unit() {
        for (place, (codes, spellings)) in UNITS.iter().enumerate() {
            for text in codes.iter().chain(*spellings) {
                assert_eq!(unit(text), Some(place), "{text}");
            }
            assert!(spellings.iter().all(|text| text.to_lowercase() == **text), "{spellings:?}");
        }
    }

    #[test]
    fn units_contradict_only_other_units() {
        for (unit, code, contradicts) in [
            ("mg", "mg", false),
            ("mcg", "ug", false),
            ("mg", "g", true),
            ("mmol/L", "mg/dL", true),
            ("mEq/L", "meq/L", false),
            ("K/uL", "10*9/L", false),
            ("tablets", "{tbl}", false),
            ("tablets", "mg", true),
            ("mm Hg", "mm[Hg]", false),
            ("drops", "mL", false),
            ("mg", "{score}", false),
        ] {
            let quantity = json!({"value": 1, "unit": unit, "code": code, "system": UCUM});
            assert_eq!(contradiction(&quantity, "q").is_some(), contradicts, "{unit} {code}");
        }
        assert!(contradiction(&json!({"unit": "mg", "code": "g", "system": "http://example.org"}), "").is_none());
    }
}
