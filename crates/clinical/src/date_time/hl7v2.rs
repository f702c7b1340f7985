//! The notation of HL7 v2 (v2.8, chapter 2A: data types DT, TM, DTM and TS).

use super::fields::FieldTexts;
use super::{PartialDateTime, PartialTime, Precision, UtcOffset};

const LAST_SECOND: u16 = 59;
/// `SS[.S[S[S[S]]]]`
const MOST_FRACTION_DIGITS: usize = 4;

impl PartialDateTime {
    /// Parses `YYYY[MM[DD[HH[MM[SS[.S[S[S[S]]]]]]]]][+/-ZZZZ]`.
    pub fn parse_hl7v2(text: &str) -> Option<Self> {
        let (whole, fraction, offset) = split(text)?;
        let mut fields = FieldTexts::default();
        fields.push_compact(whole)?;
        fields.read(fraction, LAST_SECOND, offset)
    }

    /// Whether DT allows the value: it has neither a time nor an offset.
    pub fn is_hl7v2_date(&self) -> bool {
        !self.has_time() && self.offset.is_none()
    }
}

impl PartialTime {
    /// Parses `HH[MM[SS[.S[S[S[S]]]]]][+/-ZZZZ]`.
    pub fn parse_hl7v2(text: &str) -> Option<Self> {
        let (whole, fraction, offset) = split(text)?;
        let mut fields = FieldTexts::default();
        fields.push_separated(Self::DATE, '-', 3)?;
        fields.push_compact(whole)?;
        fields.read(fraction, LAST_SECOND, offset).filter(PartialDateTime::has_time).map(Self::of)
    }
}

type Parts<'t> = (&'t str, Option<&'t str>, Option<UtcOffset>);

fn split(text: &str) -> Option<Parts<'_>> {
    let (local, offset) = text.split_at(text.find(['+', '-']).unwrap_or(text.len()));
    let offset = if offset.is_empty() { None } else { Some(UtcOffset::parse_compact(offset)?) };
    let (whole, fraction) = local.split_once('.').map_or((local, None), |(whole, fraction)| (whole, Some(fraction)));
    let is_short = fraction.is_none_or(|digits| digits.len() <= MOST_FRACTION_DIGITS);
    is_short.then_some((whole, fraction, offset))
}

impl PartialDateTime {
    /// The DTM of the same precision and offset: `20260423120000+0000`. Fractions are left out.
    pub fn to_hl7v2(&self) -> String {
        let [year, rest @ ..] = self.fields;
        let mut text = format!("{year:04}");
        for field in rest.iter().take(self.precision as usize - Precision::Year as usize) {
            text.push_str(&format!("{field:02}"));
        }
        if let Some(offset) = self.offset {
            let (sign, minutes) = (if offset.minutes() < 0 { '-' } else { '+' }, offset.minutes().abs());
            text.push_str(&format!("{sign}{:02}{:02}", minutes / 60, minutes % 60));
        }
        text
    }
}
