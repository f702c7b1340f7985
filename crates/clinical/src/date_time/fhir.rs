//! The notation of FHIR (<https://hl7.org/fhir/R4/datatypes.html#dateTime>) and FHIRPath.

use std::fmt;

use super::fields::FieldTexts;
use super::{PartialDateTime, PartialTime, Precision, UtcOffset};

/// FHIR allows leap seconds.
const LAST_SECOND: u16 = 60;

impl PartialDateTime {
    /// Parses `2024`, `2024-02`, `2024-02-29`, and a day with a time to the minute or finer, with or without an offset:
    /// what FHIR search accepts. [`Self::is_fhir_date_time`] tells whether an element may have the value.
    pub fn parse_fhir(text: &str) -> Option<Self> {
        Self::parse_fhirpath(text).filter(|parsed| parsed.precision != Precision::Hour)
    }

    /// Like [`Self::parse_fhir`], also with a time to the hour (<https://hl7.org/fhirpath/N1/#date>).
    pub fn parse_fhirpath(text: &str) -> Option<Self> {
        let (date, time) = text.split_once('T').map_or((text, None), |(date, time)| (date, Some(time)));
        let mut fields = FieldTexts::default();
        fields.push_separated(date, '-', 3)?;
        let Some(time) = time else { return fields.read(None, LAST_SECOND, None) };
        if fields.count() != Precision::Day as usize {
            return None;
        }
        let (time, offset) = time.split_at(time.find(['Z', '+', '-']).unwrap_or(time.len()));
        let offset = if offset.is_empty() { None } else { Some(UtcOffset::parse_extended(offset)?) };
        let (whole, fraction) = split_fraction(time);
        fields.push_separated(whole, ':', 3)?;
        fields.read(fraction, LAST_SECOND, offset)
    }

    /// Whether an element of type `date` may have this value: it has no time.
    pub fn is_fhir_date(&self) -> bool {
        !self.has_time() && self.offset.is_none()
    }

    /// Whether an element of type `dateTime` may have this value: a date, or an instant.
    pub fn is_fhir_date_time(&self) -> bool {
        self.is_fhir_date() || self.is_fhir_instant()
    }

    /// Whether an element of type `instant` may have this value: it has seconds and an offset.
    pub fn is_fhir_instant(&self) -> bool {
        self.precision == Precision::Second && self.offset.is_some()
    }
}

impl PartialTime {
    /// Parses `10`, `10:30`, `10:30:00` or `10:30:00.5` (<https://hl7.org/fhirpath/N1/#time>). An element of type `time`
    /// has [`Precision::Second`].
    pub fn parse_fhirpath(text: &str) -> Option<Self> {
        let (whole, fraction) = split_fraction(text);
        let mut fields = FieldTexts::default();
        fields.push_separated(Self::DATE, '-', 3)?;
        fields.push_separated(whole, ':', 3)?;
        fields.read(fraction, LAST_SECOND, None).map(Self::of)
    }
}

fn split_fraction(time: &str) -> (&str, Option<&str>) {
    time.split_once('.').map_or((time, None), |(whole, fraction)| (whole, Some(fraction)))
}

impl fmt::Display for PartialDateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [year, month, day, ..] = self.fields;
        write!(f, "{year:04}")?;
        if self.precision >= Precision::Month {
            write!(f, "-{month:02}")?;
        }
        if self.precision >= Precision::Day {
            write!(f, "-{day:02}")?;
        }
        if !self.has_time() {
            return Ok(());
        }
        f.write_str("T")?;
        self.fmt_time(f)?;
        self.offset.map_or(Ok(()), |offset| offset.fmt(f))
    }
}

impl fmt::Display for PartialTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.on_fixed_date().fmt_time(f)
    }
}

impl PartialDateTime {
    fn fmt_time(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [.., hour, minute, second] = self.fields;
        write!(f, "{hour:02}")?;
        if self.precision >= Precision::Minute {
            write!(f, ":{minute:02}")?;
        }
        if self.precision >= Precision::Second {
            write!(f, ":{second:02}")?;
        }
        if self.fraction_digits > 0 {
            let fraction = format!("{:09}", self.nanoseconds);
            write!(f, ".{}", &fraction[..usize::from(self.fraction_digits)])?;
        }
        Ok(())
    }
}
