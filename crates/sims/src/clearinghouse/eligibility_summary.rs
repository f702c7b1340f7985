//! Summarizes a 271 about one patient.

use model::clearinghouse::{Benefit, Eligibility, Payer, Rejection, Standing};
use x12::query::{Position, values};
use x12::{Limits, Segment};

/// Reads the first transaction. Anything other than a 271 counts as a rejection. The caller sets the ids and the raw X12.
pub(super) fn summarize(text: &str) -> Eligibility {
    let body = x12::parse(text, &Limits::default()).ok();
    let transaction = body.as_ref().and_then(|body| body.transactions().next());
    let segments: Vec<Segment<'_>> = transaction.map(|set| set.segments().to_vec()).unwrap_or_default();
    let segments_named = |name: &'static str| segments.iter().filter(move |segment| segment.name() == name);
    let entity = |code: &str| segments_named("NM1").find(|segment| segment.text_at(1) == code);
    let name_element =
        |code: &str, number: usize| entity(code).map_or_else(String::new, |name| name.text_at(number).to_owned());
    let rejections: Vec<Rejection> = segments_named("AAA").map(rejection).collect();
    let benefits = benefits(&segments);
    let is_any = |codes: &[&str]| benefits.iter().any(|benefit| codes.contains(&benefit.code.as_str()));
    let standing = match rejections.first() {
        Some(rejection) if rejection.code == "42" && rejection.follow_up == "Y" => Standing::Pending,
        Some(_) => Standing::Rejected,
        None if is_any(&["1", "2", "3", "4", "5"]) => Standing::Active,
        None if is_any(&["6", "7", "8"]) => Standing::Inactive,
        None if benefits.is_empty() => Standing::Rejected,
        None => Standing::Active,
    };
    Eligibility {
        patient_id: String::new(),
        eligible: standing == Standing::Active,
        status: standing,
        member_id: name_element("IL", 9),
        payer: Payer { id: name_element("PR", 9), name: name_element("PR", 3) },
        plan: segments_named("EB")
            .map(|found| found.text_at(5))
            .find(|plan| !plan.is_empty())
            .unwrap_or_default()
            .to_owned(),
        benefits,
        rejections,
        response_id: String::new(),
        request: String::new(),
        response: String::new(),
    }
}

fn benefits(segments: &[Segment<'_>]) -> Vec<Benefit> {
    let mut lines: Vec<Benefit> = Vec::new();
    for segment in segments {
        let at = |number: usize| segment.text_at(number).to_owned();
        match (segment.name(), lines.last_mut()) {
            ("EB", _) => lines.push(Benefit {
                code: at(1),
                coverage_level: at(2),
                service_types: values(segment, Position::element(3)).map(|code| code.into_owned()).collect(),
                period: at(6),
                amount: at(7),
                percent: at(8),
                messages: Vec::new(),
            }),
            ("MSG", Some(line)) => line.messages.push(at(1)),
            _ => {}
        }
    }
    lines
}

fn rejection(segment: &Segment<'_>) -> Rejection {
    let code = segment.text_at(3).to_owned();
    Rejection { message: meaning(&code).to_owned(), code, follow_up: segment.text_at(4).to_owned() }
}

/// Descriptions of reject reason codes (data element 901).
fn meaning(code: &str) -> &'static str {
    match code {
        "15" => "required application data missing",
        "41" => "authorization or access restrictions",
        "42" => "unable to respond at current time",
        "43" => "invalid or missing provider identification",
        "50" => "provider ineligible for inquiries",
        "51" => "provider not on file",
        "56" => "inappropriate date",
        "57" => "invalid or missing date of service",
        "58" => "invalid or missing date of birth",
        "62" => "date of service not within allowable inquiry period",
        "63" => "date of service in future",
        "64" => "invalid or missing patient id",
        "65" => "invalid or missing patient name",
        "67" => "patient not found",
        "71" => "patient birth date does not match that for the patient on the database",
        "72" => "invalid or missing subscriber or insured id",
        "73" => "invalid or missing subscriber or insured name",
        "74" => "invalid or missing subscriber or insured gender code",
        "75" => "subscriber or insured not found",
        "76" => "duplicate subscriber or insured id number",
        "78" => "subscriber or insured not in group or plan identified",
        "79" => "invalid participant identification",
        "80" => "no response received, transaction terminated",
        "T4" => "payer name or identifier missing",
        _ => "rejected",
    }
}
