//! What the channels of a clearinghouse take and give besides raw interchanges.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Timestamp;

/// One answer of the clearinghouse: one interchange.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = X12Response)]
pub struct Response {
    #[schema(example = "x12_01K9Z3T5Q8W7N4M2R6V0XBHCDE")]
    pub id: String,
    /// ISA13.
    pub control_number: String,
    /// ISA13 of the interchange that it answers.
    pub in_reply_to: String,
    /// ST01 of its transactions, and `TA1`.
    #[schema(example = json!(["271"]))]
    pub transaction_sets: Vec<String>,
    /// When the request came.
    pub received_at: Timestamp,
    /// From when on the answer could be had.
    pub available_at: Timestamp,
    /// When it was first given out.
    #[schema(required)]
    pub delivered_at: Option<Timestamp>,
    /// The interchange.
    pub payload: String,
}

/// The answer to a body of interchanges.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = X12Exchange)]
pub struct Exchange {
    /// All interchanges of the answer, as they would be given raw.
    pub payload: String,
    /// The same, read.
    pub interchanges: Vec<Interchange>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = X12Interchange)]
pub struct Interchange {
    /// ISA13.
    pub control_number: String,
    /// ISA06 and ISA08, without the spaces that fill them.
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
    /// The implementation guide's name of the loop that it is in.
    #[schema(required, example = "2110C")]
    pub r#loop: Option<String>,
    /// With `^` between repetitions and `:` between components; `""` where there is nothing.
    #[schema(example = json!(["1", "IND", "30"]))]
    pub elements: Vec<String>,
}

/// Whose insurance is asked for.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EligibilityInquiry {
    /// A patient of the playground's FHIR sandbox, as `123` or `Patient/123`.
    #[schema(min_length = 1, max_length = 100)]
    pub patient_id: String,
    /// Service type codes (EQ01); `30`, the plan, without any.
    #[serde(default)]
    #[schema(max_items = 20, example = json!(["30", "98"]))]
    pub service_types: Vec<String>,
    /// The day of the service; today without it.
    #[schema(example = "2026-04-23")]
    pub date: Option<String>,
}

/// What a 271 says of a patient, with the 270 and the 271 themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Eligibility {
    pub patient_id: String,
    /// Whether coverage is in force.
    pub eligible: bool,
    pub status: Standing,
    /// NM109 of the subscriber.
    pub member_id: String,
    pub payer: Payer,
    /// EB05.
    pub plan: String,
    pub benefits: Vec<Benefit>,
    pub rejections: Vec<Rejection>,
    /// Of the answer, as `x12/responses` lists it.
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
    /// The answer comes later, among the responses.
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
