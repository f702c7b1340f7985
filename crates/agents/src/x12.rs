//! Writes X12 inquiries and reads the segments of the responses.

use anyhow::{Context, bail};
use serde_json::Value;

use crate::insurance::npi;

/// The parties of an inquiry, from the chart.
pub(crate) struct Parties<'v> {
    pub(crate) payer: &'v Value,
    pub(crate) provider: &'v Value,
    pub(crate) patient: &'v Value,
    pub(crate) member: &'v str,
}

impl Parties<'_> {
    pub(crate) fn payer(&self) -> anyhow::Result<String> {
        let name = self.payer["name"].as_str().context("the payer has no name")?.to_uppercase();
        let number = self.payer["identifier"][0]["value"].as_str().context("the payer has no number")?;
        Ok(format!("NM1*PR*2*{name}*****PI*{number}"))
    }

    /// The practice with this entity identifier code: `1P` provider, `41` submitter.
    pub(crate) fn provider(&self, entity: &str) -> anyhow::Result<String> {
        let name = self.provider["name"].as_str().context("the practice has no name")?.to_uppercase();
        let number = npi(self.provider).context("the practice has no NPI")?;
        let qualifier = if entity == "41" { "46" } else { "XX" };
        Ok(format!("NM1*{entity}*2*{name}*****{qualifier}*{number}"))
    }

    pub(crate) fn subscriber(&self) -> anyhow::Result<String> {
        let name = &self.patient["name"][0];
        let family = name["family"].as_str().context("the patient has no name")?.to_uppercase();
        let given = name["given"][0].as_str().unwrap_or_default().to_uppercase();
        Ok(format!("NM1*IL*1*{family}*{given}****MI*{}", self.member))
    }

    pub(crate) fn demographics(&self) -> anyhow::Result<String> {
        let born = self.patient["birthDate"].as_str().context("the patient has no birth date")?;
        let gender = match self.patient["gender"].as_str() {
            Some("female") => "F",
            Some("male") => "M",
            _ => "U",
        };
        Ok(format!("DMG*D8*{}*{gender}", compact(born)))
    }
}

/// `2026-06-16` as `20260616`.
pub(crate) fn compact(day: &str) -> String {
    day.chars().filter(char::is_ascii_digit).take(8).collect()
}

/// Formats an interchange with one transaction, from ISA to IEA. `today` is a FHIR date.
pub(crate) fn interchange(set: &str, today: &str, segments: &[String]) -> anyhow::Result<String> {
    let (function, version) = match set {
        "270" => ("HS", "005010X279A1"),
        "276" => ("HR", "005010X212"),
        other => bail!("transaction set {other} is not supported"),
    };
    let today = compact(today);
    let short = today.get(2..).unwrap_or_default();
    let (sender, receiver) = (format!("{:<15}", "PRACTICE"), format!("{:<15}", "CLEARING"));
    let empty = " ".repeat(10);
    Ok(format!(
        "ISA*00*{empty}*00*{empty}*ZZ*{sender}*ZZ*{receiver}*{short}*0800*^*00501*000000001*0*T*:~\
         GS*{function}*PRACTICE*CLEARING*{today}*0800*1*X*{version}~ST*{set}*0001*{version}~{}~SE*{}*0001~GE*1*1~\
         IEA*1*000000001~",
        segments.join("~"),
        segments.len() + 2,
    ))
}

/// A segment of a response.
pub(crate) struct Segment {
    elements: Vec<String>,
    component: char,
}

impl Segment {
    pub(crate) fn name(&self) -> &str {
        self.at(0)
    }

    /// An element by its number. Empty if it is missing.
    pub(crate) fn at(&self, number: usize) -> &str {
        self.elements.get(number).map_or("", String::as_str)
    }

    /// The first component of an element.
    pub(crate) fn first_of(&self, number: usize) -> &str {
        self.at(number).split(self.component).next().unwrap_or_default()
    }
}

/// Splits a response into segments, with the delimiters of its ISA segment.
pub(crate) fn read(response: &str) -> anyhow::Result<Vec<Segment>> {
    let at = |index: usize| response.chars().nth(index).context("the response is not an X12 interchange");
    let (element, component, terminator) = (at(3)?, at(104)?, at(105)?);
    let segments = response.split(terminator).map(str::trim).filter(|segment| !segment.is_empty());
    let read = |segment: &str| Segment { elements: segment.split(element).map(str::to_owned).collect(), component };
    Ok(segments.map(read).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_interchange_can_be_read() {
        let written = interchange("276", "2026-08-24", &["STC*F1:65*20260824**225*170".to_owned()]).unwrap();
        let segments = read(&written).unwrap();
        let status = segments.iter().find(|segment| segment.name() == "STC").unwrap();
        assert_eq!((status.first_of(1), status.at(5), status.at(9)), ("F1", "170", ""));
        assert!(read("").is_err());
    }
}
