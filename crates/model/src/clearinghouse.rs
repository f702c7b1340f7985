//! The JSON request and response bodies of the clearinghouse.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Timestamp;

/// One response interchange of the clearinghouse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = X12Response)]
pub struct Response {
    #[schema(example = "x12_01K9Z3T5Q8W7N4M2R6V0XBHCDE")]
    pub id: String,
    /// ISA13.
    pub control_number: String,
    /// ISA13 of the request interchange.
    pub in_reply_to: String,
    /// ST01 of each transaction, and `TA1` for an interchange acknowledgment.
    #[schema(example = json!(["271"]))]
    pub transaction_sets: Vec<String>,
    /// When the request was received.
    pub received_at: Timestamp,
    /// When the response became available.
    pub available_at: Timestamp,
    /// When the response was first delivered.
    #[schema(required)]
    pub delivered_at: Option<Timestamp>,
    /// The interchange.
    pub payload: String,
}

/// The response to submitted interchanges.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = X12Exchange)]
pub struct Exchange {
    /// All response interchanges as raw X12.
    pub payload: String,
    /// The same interchanges, parsed.
    pub interchanges: Vec<Interchange>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = X12Interchange)]
pub struct Interchange {
    /// ISA13.
    pub control_number: String,
    /// ISA06 and ISA08, without padding.
    pub sender: String,
    pub receiver: String,
    /// TA1.
    pub acknowledgments: Vec<Segment>,
    pub groups: Vec<Group>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = X12Group)]
pub struct Group {
    /// GS01.
    pub function: String,
    /// GS08.
    pub version: String,
    /// GS06.
    pub control_number: String,
    pub transactions: Vec<Transaction>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = X12Transaction)]
pub struct Transaction {
    /// ST01.
    #[schema(example = "271")]
    pub set: String,
    /// The implementation guide.
    #[schema(example = "005010X279A1")]
    pub version: String,
    /// ST02.
    pub control_number: String,
    /// From ST to SE.
    pub segments: Vec<Segment>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = X12Segment)]
pub struct Segment {
    #[schema(example = "EB")]
    pub name: String,
    /// The name of its loop in the implementation guide.
    #[schema(required, example = "2110C")]
    pub r#loop: Option<String>,
    /// The elements, with `^` between repetitions and `:` between components; `""` for an empty element.
    #[schema(example = json!(["1", "IND", "30"]))]
    pub elements: Vec<String>,
}

/// A request for the insurance coverage of a patient.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EligibilityInquiry {
    /// A patient of the playground's FHIR sandbox, as `123` or `Patient/123`.
    #[schema(min_length = 1, max_length = 100)]
    pub patient_id: String,
    /// Service type codes (EQ01). Default: `30`, the health plan.
    #[serde(default)]
    #[schema(max_items = 20, example = json!(["30", "98"]))]
    pub service_types: Vec<String>,
    /// The date of service. Default: today.
    #[schema(example = "2026-04-23")]
    pub date: Option<String>,
}

/// The coverage of a patient according to a 271, with the 270 and the 271 themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Eligibility {
    pub patient_id: String,
    /// Whether coverage is active.
    pub eligible: bool,
    pub status: Standing,
    /// NM109 of the subscriber.
    pub member_id: String,
    pub payer: Payer,
    /// EB05.
    pub plan: String,
    pub benefits: Vec<Benefit>,
    pub rejections: Vec<Rejection>,
    /// The id of the response, as listed by `x12/responses`.
    pub response_id: String,
    /// The 270.
    pub request: String,
    /// The 271.
    pub response: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = EligibilityStatus)]
pub enum Standing {
    Active,
    Inactive,
    /// The response will arrive later in `x12/responses`.
    Pending,
    Rejected,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = EligibilityPayer)]
pub struct Payer {
    pub id: String,
    pub name: String,
}

/// One EB segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = EligibilityBenefit)]
pub struct Benefit {
    /// EB01.
    pub code: String,
    /// EB02.
    pub coverage_level: String,
    /// EB03.
    pub service_types: Vec<String>,
    /// EB06.
    pub period: String,
    /// EB07.
    pub amount: String,
    /// EB08.
    pub percent: String,
    /// MSG01.
    pub messages: Vec<String>,
}

/// One AAA segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = EligibilityRejection)]
pub struct Rejection {
    /// AAA03.
    pub code: String,
    pub message: String,
    /// AAA04.
    pub follow_up: String,
}
