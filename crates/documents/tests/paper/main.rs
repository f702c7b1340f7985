//! Documents as their users see them: what is rendered can be read, what others made can be read, and nothing that anybody
//! sends does harm.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic, also in the functions that its tests share")]

mod hostile;
mod plain;
mod reading;
mod rendering;
mod visible;

use documents::Document;
use serde_json::{Value, json};

fn document(specification: Value) -> Document {
    serde_json::from_value(specification).unwrap()
}

/// A referral with one of everything.
fn referral() -> Value {
    json!({
        "title": "Referral to Cardiology",
        "letterhead": {"name": "Lakeside Family Medicine", "lines": ["1420 Harbor Street, Madison, WI 53703", "NPI 1316284090"]},
        "date": "April 1, 2026",
        "recipient": ["Heart and Vascular Associates", "88 Park Avenue"],
        "header": {"Patient": "Đặng Thị Hồng", "MRN": 482_913, "Diagnosis": "I48.91 Unspecified atrial fibrillation", "Sex": "F"},
        "sections": [
            {"heading": "Reason for referral", "text": "Palpitations for two weeks; CHA₂DS₂-VASc ≥ 2.\n\nSeen by Dr. Núñez and Dr. Müller."},
            {"heading": "Medications", "table": {"columns": ["Drug", "Dose"], "rows": [["Metoprolol", "25 mg"], ["Aspirin", 81]]}},
            {"list": ["Penicillin: hives", "Sulfa: rash"], "fields": {"ECG": "enclosed"}},
        ],
        "signature": "present", "signer": "Maria Lee, MD", "signed_on": "2026-04-01", "footer": "CONFIDENTIAL",
    })
}

/// Whether all words of one text are in the other, in their order. Gives the first that is not.
fn missing<'a>(wanted: &'a str, found: &str) -> Option<&'a str> {
    let mut found = found.split_whitespace();
    wanted.split_whitespace().find(|word| !found.any(|other| other == *word))
}
