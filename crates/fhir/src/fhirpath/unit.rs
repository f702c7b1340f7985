//! The part of UCUM (<https://ucum.org/ucum>) that clinical quantities are written in: prefixes, products, quotients and
//! powers of the units listed here. A unit outside it equals itself and compares with nothing.

use rust_decimal::Decimal;

/// Powers of what is counted: see [`BASES`].
type Dimension = [i8; BASES.len()];

/// Metre, second, gram, mole, kelvin, coulomb, candela, radian, and units that convert to nothing else.
const BASES: [&str; 13] = ["m", "s", "g", "mol", "K", "C", "cd", "rad", "Cel", "[degF]", "[iU]", "eq", "osm"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Measure {
    /// How many of the base units one is.
    pub(super) factor: Decimal,
    dimension: Dimension,
}

const PREFIXES: [(&str, i32); 17] = [
    ("da", 1),
    ("Y", 24),
    ("T", 12),
    ("G", 9),
    ("M", 6),
    ("k", 3),
    ("h", 2),
    ("d", -1),
    ("c", -2),
    ("m", -3),
    ("u", -6),
    ("n", -9),
    ("p", -12),
    ("f", -15),
    ("a", -18),
    ("z", -21),
    ("y", -24),
];

/// Unit, whether it takes prefixes, its worth, and what that is measured in.
const UNITS: [(&str, bool, &str, &str); 51] = [
    ("m", true, "1", "m"),
    ("s", true, "1", "s"),
    ("g", true, "1", "g"),
    ("mol", true, "1", "mol"),
    ("K", true, "1", "K"),
    ("C", true, "1", "C"),
    ("cd", true, "1", "cd"),
    ("rad", true, "1", "rad"),
    ("Cel", true, "1", "Cel"),
    ("[degF]", false, "1", "[degF]"),
    ("[iU]", true, "1", "[iU]"),
    ("[IU]", true, "1", "[iU]"),
    ("eq", true, "1", "eq"),
    ("osm", true, "1", "osm"),
    ("%", false, "0.01", ""),
    ("[ppth]", false, "0.001", ""),
    ("[ppm]", false, "0.000001", ""),
    ("[pi]", false, "3.1415926535897932384626433833", ""),
    ("10*", false, "10", ""),
    ("10^", false, "10", ""),
    ("deg", false, "0.0174532925199432957692369077", "rad"),
    ("min", false, "60", "s"),
    ("h", false, "3600", "s"),
    ("d", false, "86400", "s"),
    ("wk", false, "604800", "s"),
    ("mo", false, "2629800", "s"),
    ("a", false, "31557600", "s"),
    ("L", true, "0.001", "m3"),
    ("l", true, "0.001", "m3"),
    ("ar", true, "100", "m2"),
    ("t", true, "1000000", "g"),
    ("Hz", true, "1", "/s"),
    ("N", true, "1000", "g.m/s2"),
    ("Pa", true, "1000", "g/m/s2"),
    ("bar", true, "100000000", "g/m/s2"),
    ("m[Hg]", true, "133322000", "g/m/s2"),
    ("m[H2O]", true, "9806650", "g/m/s2"),
    ("J", true, "1000", "g.m2/s2"),
    ("cal", true, "4184", "g.m2/s2"),
    ("W", true, "1000", "g.m2/s3"),
    ("A", true, "1", "C/s"),
    ("V", true, "1000", "g.m2/s2/C"),
    ("kat", true, "1", "mol/s"),
    ("U", true, "0.0000000166666666666666666667", "mol/s"),
    ("[in_i]", false, "0.0254", "m"),
    ("[ft_i]", false, "0.3048", "m"),
    ("[mi_i]", false, "1609.344", "m"),
    ("[lb_av]", false, "453.59237", "g"),
    ("[oz_av]", false, "28.349523125", "g"),
    ("[foz_us]", false, "0.0000295735295625", "m3"),
    ("[gr]", false, "0.06479891", "g"),
];

/// Codes are short; a bound keeps data from costing time.
const LONGEST: usize = 64;

impl Measure {
    const ONE: Self = Self { factor: Decimal::ONE, dimension: [0; BASES.len()] };

    pub(super) fn of(code: &str) -> Option<Self> {
        if code.is_empty() || code.len() > LONGEST || !code.is_ascii() {
            return None;
        }
        let (measure, rest) = term(code, 0)?;
        rest.is_empty().then_some(measure)
    }

    pub(super) fn is_comparable(&self, other: &Self) -> bool {
        self.dimension == other.dimension
    }

    pub(super) fn times(&self, other: &Self) -> Option<Self> {
        let mut dimension = self.dimension;
        for (power, more) in dimension.iter_mut().zip(other.dimension) {
            *power = power.checked_add(more)?;
        }
        Some(Self { factor: self.factor.checked_mul(other.factor)?, dimension })
    }

    pub(super) fn over(&self, other: &Self) -> Option<Self> {
        self.times(&other.power(-1)?)
    }

    fn power(&self, exponent: i32) -> Option<Self> {
        let mut result = Self::ONE;
        for _ in 0..exponent.unsigned_abs() {
            result = result.times(self)?;
        }
        if exponent >= 0 {
            return Some(result);
        }
        Some(Self { factor: Decimal::ONE.checked_div(result.factor)?, dimension: result.dimension.map(|power| -power) })
    }

    /// The value in base units, and their code.
    pub(super) fn base_quantity(&self, value: Decimal) -> Option<(Decimal, String)> {
        let parts = BASES.iter().zip(self.dimension).filter(|(_, power)| *power != 0);
        let parts: Vec<_> =
            parts.map(|(base, power)| if power == 1 { (*base).to_owned() } else { format!("{base}{power}") }).collect();
        let code = if parts.is_empty() { "1".to_owned() } else { parts.join(".") };
        Some((value.checked_mul(self.factor)?.normalize(), code))
    }
}

/// Reads products and quotients from the left.
fn term(text: &str, depth: usize) -> Option<(Measure, &str)> {
    if depth > 4 {
        return None;
    }
    let (mut total, mut rest) = if text.starts_with('/') { (Measure::ONE, text) } else { component(text, depth)? };
    loop {
        let is_quotient = rest.starts_with('/');
        if !is_quotient && !rest.starts_with('.') {
            return Some((total, rest));
        }
        let (next, after) = component(&rest[1..], depth)?;
        total = if is_quotient { total.over(&next)? } else { total.times(&next)? };
        rest = after;
    }
}

fn component(text: &str, depth: usize) -> Option<(Measure, &str)> {
    if let Some(inner) = text.strip_prefix('(') {
        let (measure, rest) = term(inner, depth + 1)?;
        return Some((measure, rest.strip_prefix(')')?));
    }
    if text.starts_with('{') {
        return Some((Measure::ONE, annotation(text)?));
    }
    let end = symbol_end(text);
    let (symbol, rest) = text.split_at(end);
    Some((powered(symbol)?, annotation(rest)?))
}

/// What follows `{…}`, which says what is counted and changes nothing.
fn annotation(text: &str) -> Option<&str> {
    match text.strip_prefix('{') {
        Some(inner) => inner.split_once('}').map(|(_, rest)| rest),
        None => Some(text),
    }
}

/// Square brackets may hold anything.
fn symbol_end(text: &str) -> usize {
    let mut is_inside = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => is_inside = true,
            b']' => is_inside = false,
            b'.' | b'/' | b'(' | b')' | b'{' if !is_inside => return at,
            _ => {}
        }
    }
    text.len()
}

/// `m2`, `s-1`, `10*3`, `24`.
fn powered(symbol: &str) -> Option<Measure> {
    if !symbol.is_empty() && symbol.len() < 9 && symbol.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Measure { factor: symbol.parse().ok()?, ..Measure::ONE });
    }
    if let Some(measure) = unit(symbol) {
        return Some(measure);
    }
    let digits = symbol.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (name, exponent) = symbol.split_at(symbol.len() - digits);
    let (name, sign) = match name.strip_suffix(['-', '+']) {
        Some(bare) => (bare, if name.ends_with('-') { -1 } else { 1 }),
        None => (name, 1),
    };
    let exponent: i32 = exponent.parse().ok().filter(|exponent| *exponent <= 24)?;
    unit(name)?.power(sign * exponent)
}

fn unit(symbol: &str) -> Option<Measure> {
    if let Some(row) = UNITS.iter().find(|(name, ..)| *name == symbol) {
        return measure(row);
    }
    PREFIXES.iter().find_map(|(prefix, power)| {
        let name = symbol.strip_prefix(prefix)?;
        let row = UNITS.iter().find(|(unit, takes_prefix, ..)| *takes_prefix && *unit == name)?;
        let scale = Measure { factor: Decimal::TEN, ..Measure::ONE }.power(*power)?;
        measure(row)?.times(&scale)
    })
}

fn measure((name, _, worth, meaning): &(&str, bool, &str, &str)) -> Option<Measure> {
    let factor = worth.parse().ok()?;
    if let Some(at) = BASES.iter().position(|base| base == meaning) {
        let mut dimension = Measure::ONE.dimension;
        dimension[at] = 1;
        return Some(Measure { factor, dimension });
    }
    let base = if meaning.is_empty() || meaning == name { Measure::ONE } else { Measure::of(meaning)? };
    Some(Measure { factor, dimension: base.dimension })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_one_dimension_compare() {
        for (left, right, ratio) in [
            ("kg", "g", "1000"),
            ("mg", "g", "0.001"),
            ("L", "mL", "1000"),
            ("dL", "mL", "100"),
            ("mL", "cm3", "1"),
            ("cm", "mm", "10"),
            ("h", "min", "60"),
            ("wk", "d", "7"),
            ("mmol/L", "umol/L", "1000"),
            ("mg/dL", "g/L", "0.01"),
            ("ug/mL", "mg/L", "1"),
            ("10*3/uL", "10*9/L", "1"),
            ("{beats}/min", "/min", "1"),
            ("m[Hg]", "mm[Hg]", "1000"),
            ("kPa", "Pa", "1000"),
            ("m2", "cm2", "10000"),
            ("kg/m2", "g/m2", "1000"),
            ("[in_i]", "cm", "2.54"),
            ("[lb_av]", "g", "453.59237"),
            ("%", "1", "0.01"),
            ("mm/h", "m/h", "0.001"),
            ("[iU]/L", "m[iU]/mL", "1"),
        ] {
            let (left_measure, right_measure) = (Measure::of(left).unwrap(), Measure::of(right).unwrap());
            assert!(left_measure.is_comparable(&right_measure), "{left} {right}");
            let found = left_measure.factor / right_measure.factor;
            assert_eq!(found.normalize(), ratio.parse::<Decimal>().unwrap().normalize(), "{left} {right}");
        }
    }

    #[test]
    fn units_of_other_dimensions_do_not() {
        for (left, right) in [("mg", "mL"), ("mmol/L", "mg/dL"), ("Cel", "K"), ("mg", "1"), ("s", "m"), ("eq", "mol")] {
            assert!(!Measure::of(left).unwrap().is_comparable(&Measure::of(right).unwrap()), "{left} {right}");
        }
    }

    #[test]
    fn what_is_no_unit_is_none() {
        for code in
            ["", "lbs", "mg/", "{", "(g", "g)", "kk", "m999", "((((((g))))))", "[s]", "tablet", "µg", &"m.".repeat(40)]
        {
            assert_eq!(Measure::of(code), None, "{code}");
        }
    }
}
