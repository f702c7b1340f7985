//! Passes if the clearinghouse responded with an X12 transaction that correlates and whose elements match. For 270, 276 and
//! 837, passes if the agent sent one.
//!
//! Reads the X12 response or request events. `correlate_by` takes X12 paths. Paths select from one subscriber, dependent or
//! claim at a time, with the payer and provider above it, so that values of different persons are never combined. The example: [`EXAMPLE`].
//! Evidence: `fieldResults[{path,expected,actual,passed}]`.

use std::collections::{BTreeMap, BTreeSet};

use model::FieldErrors;
use model::event::{Event, EventType};
use model::simulator::SimulatorType;
use model::template::Bindings;
use serde::Deserialize;
use serde_json::Value;
use x12::query::View;
use x12::{Body, Limits};

use crate::candidates::{self, Candidate, unmet_fields};
use crate::checks::{Check, CheckInfo, ReadSimulators};
use crate::compare::{Typing, nfc};
use crate::count::Count;
use crate::evidence::{EvaluationContext, EvaluationResult, x12_text};
use crate::field::{FieldAssertion, check_fields};
use crate::limits::LONGEST_LIST;
use crate::manual::{self, Parameter};
use crate::matching::Match;
use crate::path::check_correlation;
use crate::path::segment::Selector;
use crate::path::x12::{X12Key, X12Path};
use crate::scoring::{CandidateResult, FieldResult, evaluate_fields, is_absence, score_candidates};
use crate::unmatchable::{self, UnmatchablePart};
use crate::x12_refusals::{TransactionStatus, X12Refusals};

pub const EXAMPLE: &str = r#"{
  "assert": "x12-response",
  "transaction": "271",
  "correlate_by": {"NM1[1=IL].9": "{{entity.member_id}}"},
  "fields": [
    {"path": "2110C.EB.1", "expected": "1"},
    {"path": "EB[1=B].7", "op": "lte", "expected": 40}
  ],
  "match": "any",
  "count": {"min": 1}
}"#;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct X12Response {
    pub transaction: Transaction,
    #[serde(default)]
    pub correlate_by: BTreeMap<X12Key, String>,
    #[serde(default)]
    pub fields: Vec<FieldAssertion<X12Path>>,
    #[serde(rename = "match", default)]
    pub matching: Match,
    #[serde(default)]
    pub count: Option<Count>,
    /// Whether the transaction must have no other subject, and each asserted segment only once.
    #[serde(default)]
    pub only: bool,
    /// The other segments that are allowed. None allows all.
    #[serde(default)]
    pub segments: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Transaction {
    #[serde(rename = "270")]
    EligibilityInquiry,
    #[serde(rename = "271")]
    EligibilityResponse,
    #[serde(rename = "276")]
    ClaimStatusRequest,
    #[serde(rename = "277")]
    ClaimStatusResponse,
    #[serde(rename = "277CA")]
    ClaimAcknowledgment,
    #[serde(rename = "278")]
    ServicesReview,
    #[serde(rename = "835")]
    Remittance,
    #[serde(rename = "837")]
    Claim,
    #[serde(rename = "999")]
    ImplementationAcknowledgment,
    #[serde(rename = "TA1")]
    InterchangeAcknowledgment,
}

/// The cost of examining one segment, in steps of the budget.
pub(crate) const SEGMENT_COST: usize = 20;

impl Check for X12Response {
    const INFO: CheckInfo = CheckInfo {
        name: "x12-response",
        summary: "The clearinghouse responded with an X12 transaction that correlates and whose elements match.",
        example: EXAMPLE,
        reads: ReadSimulators::Type(SimulatorType::Clearinghouse),
        is_limit: false,
        parameters: &[
            Parameter::required(
                "transaction",
                "`270`, `271`, `276`, `277`, `277CA`, `278`, `835`, `837`, `999` or `TA1`",
            ),
            Parameter::with_default("correlate_by", "{}", "from X12 paths to texts: selects the transactions"),
            Parameter::with_default("fields", "[]", "[fields](#fields-and-operators) with X12 paths"),
            manual::MATCH_ANY,
            manual::COUNT,
            Parameter::optional(
                "segments",
                "with `only`: the names of the segments that are allowed in addition to ST, BHT, HL, SE and those of `fields` and `correlate_by`. Any other segment fails. `[]` allows none",
            ),
            Parameter::with_default(
                "only",
                "false",
                "whether the transaction must have no other subscriber, dependent, claim or level, and each asserted segment only once",
            ),
        ],
        description: "Paths select from one subscriber, dependent or claim at a time, together with the payer and provider above it; `count` counts transactions. Reads the responses of the [clearinghouse](x12.md) (`x12_response` events). For 270, 276 and 837, reads what the agent sent (`x12_request` events), except transactions that a TA1 or 999 refused.",
        evidence: "`fieldResults[…]`; [`count`, `candidates[]`](#evidence)",
    };

    fn validate(&self, errors: &mut FieldErrors) {
        check_correlation(&self.correlate_by, |key| key.0.to_string(), errors);
        check_fields("fields", &self.fields, errors);
        errors.size("segments", self.segments.as_ref().map_or(0, Vec::len), LONGEST_LIST);
        if self.segments.is_some() && !self.only {
            errors.add("segments", "requires `only: true`");
        }
    }

    fn is_guard(&self) -> bool {
        is_absence(self.count)
    }

    fn evaluate(&self, context: &EvaluationContext<'_>) -> EvaluationResult {
        let (mut found, mut candidate_results) = (0, Vec::new());
        for event in context.events(SimulatorType::Clearinghouse, &[self.transaction.event_type()])? {
            let (transactions, candidates) = self.evaluate_interchange(event, context)?;
            found += transactions;
            candidate_results.extend(candidates);
        }
        let scored = score_candidates("transaction", found, candidate_results, self.matching, self.count);
        let results = scored.field_results();
        scored.outcome(self, context, [("fieldResults", results)])
    }

    fn unmet(&self) -> Vec<(&'static str, Value)> {
        vec![("fieldResults", unmet_fields(&self.fields, self.count))]
    }

    fn candidates(&self, context: &EvaluationContext<'_>) -> Result<Vec<Candidate>, String> {
        candidates::x12::of(self, context)
    }

    fn unmatchable_parts(&self, assertion: &Value, _bindings: &Bindings<'_>) -> Vec<UnmatchablePart> {
        unmatchable::x12_parts(self, assertion)
    }
}

impl X12Response {
    /// The number of transactions of one event that correlate, and a result for each of their subjects that correlates. An
    /// unreadable interchange is a candidate only if absence is asserted.
    fn evaluate_interchange(
        &self,
        event: &Event,
        context: &EvaluationContext<'_>,
    ) -> Result<(usize, Vec<CandidateResult>), String> {
        let name = event.id.to_string();
        let text = x12_text(&event.payload);
        context.budget.spend(text.map_or(0, str::len))?;
        let body = text
            .ok_or_else(|| "the event has no interchange".to_owned())
            .and_then(|text| x12::parse(text, &Limits::default()).map_err(|error| error.to_string()));
        let body = match body {
            Err(error) if is_absence(self.count) => {
                return Ok((1, vec![CandidateResult { name, error: Some(error), ..CandidateResult::default() }]));
            }
            Err(_) => return Ok((0, Vec::new())),
            Ok(body) => body,
        };
        let refusals = match event.r#type {
            EventType::X12Request => X12Refusals::of(event, &body, context)?,
            _ => X12Refusals::default(),
        };
        let (mut found, mut candidate_results) = (0, Vec::new());
        for views in self.transactions(&body, &refusals) {
            let (before, subjects) = (candidate_results.len(), views.len());
            for view in views {
                context.budget.spend(view.len() * SEGMENT_COST * (1 + self.fields.len() + self.correlate_by.len()))?;
                if self.correlates(&view) {
                    let find = |path: &X12Path| Ok(path.find(&view).into_iter().map(Value::from).collect());
                    let fields = evaluate_fields(&self.fields, Typing::Untyped, &context.budget, find);
                    let violations = if self.only { self.extras(&view, subjects) } else { Vec::new() };
                    candidate_results.push(CandidateResult {
                        name: name.clone(),
                        fields,
                        violations,
                        ..CandidateResult::default()
                    });
                }
            }
            found += usize::from(candidate_results.len() > before);
        }
        Ok((found, candidate_results))
    }

    /// The violations of `only` and `segments`: other subjects, and other or repeated segments.
    fn extras(&self, view: &View<'_, '_>, subjects: usize) -> Vec<FieldResult> {
        let mut extras = Vec::new();
        if subjects > 1 {
            let reason = "the transaction holds other subjects or claims, and `only` allows one".to_owned();
            extras.push(FieldResult::violation("HL".to_owned(), 1.into(), &subjects.into(), reason));
        }
        if subjects == 1 && view.other_names().any(|name| name == "HL") {
            let reason = "the transaction has a level that is not about the subject, and `only` allows none".to_owned();
            extras.push(FieldResult::violation("HL".to_owned(), Value::Null, &Value::Null, reason));
        }
        let ready = self.fields.iter().filter_map(|field| field.path.ready().ok());
        let paths: BTreeSet<X12Path> = ready
            .chain(self.correlate_by.keys().map(|key| &key.0))
            .filter(|path| !matches!(path.selector, Some(Selector::Nth(_))))
            .map(|path| X12Path { position: None, ..path.clone() })
            .collect();
        extras.extend(self.other_segment(&paths, view));
        for path in paths {
            let segments = path.find(view);
            if segments.len() > 1 {
                let reason = "occurs several times, and `only` allows it once".to_owned();
                extras.push(FieldResult::violation(path.to_string(), 1.into(), &segments.into(), reason));
            }
        }
        extras
    }

    /// The violation for the first segment that is not allowed.
    fn other_segment(&self, paths: &BTreeSet<X12Path>, view: &View<'_, '_>) -> Option<FieldResult> {
        const STRUCTURE: [&str; 4] = ["ST", "BHT", "HL", "SE"];
        let allowed = self.segments.as_ref()?;
        let nth = self.fields.iter().filter_map(|field| field.path.ready().ok());
        let named: BTreeSet<&str> = paths.iter().chain(nth).map(|path| path.segment.as_str()).collect();
        let is_other = |name: &&str| {
            !STRUCTURE.contains(name) && !named.contains(name) && !allowed.iter().any(|allowed| allowed == name)
        };
        let other = view.names().chain(view.other_names()).find(is_other)?;
        let reason = "is a segment that no path and no name in `segments` allows".to_owned();
        Some(FieldResult::violation(other.to_owned(), Value::Null, &Value::from(other), reason))
    }

    /// The transactions of the right kind, each as one view per subject.
    fn transactions<'i, 'a>(&self, body: &'i Body<'a>, refusals: &X12Refusals) -> Vec<Vec<View<'i, 'a>>> {
        if self.transaction == Transaction::InterchangeAcknowledgment {
            let has_one = |interchange: &&x12::Interchange<'_>| {
                interchange.outside_groups().any(|(_, segment)| segment.name() == "TA1")
            };
            let found = body.interchanges().iter().filter(has_one);
            return found.map(|interchange| vec![View::of_interchange(interchange)]).collect();
        }
        let transactions = body.transactions().filter(|one| self.transaction.includes(one.set(), one.version()));
        let counts = |one: &x12::Transaction<'_, '_>| match refusals.status_of(one) {
            TransactionStatus::Accepted => true,
            TransactionStatus::Refused => false,
            TransactionStatus::Unknown => is_absence(self.count),
        };
        transactions.filter(counts).map(|one| View::by_subject(&one)).collect()
    }

    fn correlates(&self, view: &View<'_, '_>) -> bool {
        self.correlate_by.iter().all(|(key, wanted)| key.0.find(view).iter().any(|found| nfc(found) == nfc(wanted)))
    }
}

impl Transaction {
    /// The name in assertions.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::EligibilityInquiry => "270",
            Self::EligibilityResponse => "271",
            Self::ClaimStatusRequest => "276",
            Self::ClaimStatusResponse => "277",
            Self::ClaimAcknowledgment => "277CA",
            Self::ServicesReview => "278",
            Self::Remittance => "835",
            Self::Claim => "837",
            Self::ImplementationAcknowledgment => "999",
            Self::InterchangeAcknowledgment => "TA1",
        }
    }

    /// The events with such transactions. A 278 is a request and a response; the response is read.
    pub(crate) fn event_type(self) -> EventType {
        match self {
            Self::EligibilityInquiry | Self::ClaimStatusRequest | Self::Claim => EventType::X12Request,
            _ => EventType::X12Response,
        }
    }

    /// Compares ST01 and the number of the guide, because the acknowledgment of claims is a 277 of its own guide.
    pub(crate) fn includes(self, set: &str, version: &str) -> bool {
        let is_acknowledgment = version.contains("X214");
        match self {
            Self::EligibilityInquiry => set == "270",
            Self::EligibilityResponse => set == "271",
            Self::ClaimStatusRequest => set == "276",
            Self::ClaimStatusResponse => set == "277" && !is_acknowledgment,
            Self::ClaimAcknowledgment => set == "277" && is_acknowledgment,
            Self::ServicesReview => set == "278",
            Self::Remittance => set == "835",
            Self::Claim => set == "837",
            Self::ImplementationAcknowledgment => set == "999",
            Self::InterchangeAcknowledgment => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Playground, says, scores};
    use model::event::EventType;
    use model::simulator::SimulatorType;
    use serde_json::{Value, json};

    fn check(specification: Value, expected_errors: &[(&str, &str)]) {
        crate::testing::check("x12-response", specification, expected_errors);
    }

    #[test]
    fn valid_specifications() {
        for transaction in ["270", "271", "276", "277", "277CA", "278", "835", "837", "999", "TA1"] {
            check(json!({"transaction": transaction}), &[]);
        }
        check(json!({"transaction": "278", "fields": [{"path": "HCR.1", "expected": "A1"}], "count": 1}), &[]);
    }

    #[test]
    fn invalid_specifications() {
        check(json!({}), &[("transaction", "required")]);
        check(json!({"transaction": "272"}), &[("transaction", "one of `270`")]);
        check(json!({"transaction": 271}), &[("transaction", "string")]);
        check(
            json!({"transaction": "271", "correlate_by": {"NM1-09": "1"}, "fields": [{"path": "EB01", "expected": "1"}]}),
            &[("correlate_by.NM1-09", "name a segment"), ("fields.0.path", "name a segment")],
        );
        check(json!({"transaction": "271", "correlate_by": {"NM1.9": ""}}), &[("correlate_by.NM1.9", "empty")]);
    }

    const R271: &str = "ISA*00*          *00*          *ZZ*PAYER          *ZZ*CLINIC         *260401*1200*^*00501*000000001*0*P*:~\
GS*HB*PAYER*CLINIC*20260401*1200*1*X*005010X279A1~ST*271*0001*005010X279A1~BHT*0022*11*1*20260401*1200~HL*1**20*1~\
NM1*PR*2*PAYER*****PI*1~HL*2*1*21*1~NM1*1P*2*CLINIC*****XX*1~HL*3*2*22*0~NM1*IL*1*SMITH*ANN****MI*M1~EB*1**30~\
EB*B**98****35.00~SE*11*0001~GE*1*1~IEA*1*000000001~";

    fn clearinghouse() -> Playground {
        Playground::new(&[])
            .event(SimulatorType::Clearinghouse, EventType::X12Response, json!({"payload": R271}))
            .with_entity(json!({"data": {"member_id": "M1"}}))
    }

    #[test]
    fn inquiries_are_read_from_requests() {
        let question = R271.replace("ST*271*", "ST*270*");
        let requested = Playground::new(&[])
            .event(SimulatorType::Clearinghouse, EventType::X12Request, json!({"payload": question}))
            .event(SimulatorType::Clearinghouse, EventType::X12Response, json!({"payload": R271}));
        says(
            &requested,
            &assertion(json!({"transaction": "270", "correlate_by": {"NM1[1=IL].9": "M1"}})),
            "1/1",
            "1 transaction",
        );
        says(
            &requested,
            &assertion(json!({"transaction": "270", "correlate_by": {"NM1[1=IL].9": "M2"}})),
            "0/1",
            "no transaction",
        );
        says(&requested, &assertion(json!({"transaction": "271", "count": 1})), "1/1", "1 transaction");
    }

    #[test]
    fn other_segments_are_violations() {
        let wanted = |segments: Value| {
            assertion(json!({"transaction": "271", "correlate_by": {"NM1[1=IL].9": "M1"}, "only": true,
                "fields": [{"path": "EB[1=1].3", "expected": "30"}], "segments": segments}))
        };
        says(&clearinghouse(), &wanted(json!([])), "1/1", "");
        let with = |extra: &str| {
            let payload = json!({"payload": R271.replace("EB*B**98", &format!("{extra}~EB*B**98"))});
            Playground::new(&[]).event(SimulatorType::Clearinghouse, EventType::X12Response, payload)
        };
        says(&with("MSG*CALL 900"), &wanted(json!([])), "0/1", "MSG");
        says(&with("MSG*CALL 900"), &wanted(json!(["MSG"])), "1/1", "");
        for (extra, expected_text) in [("HL*4*1*21*0~NM1*1P*2*OTHER", "a level"), ("HL*4*1*21*0~MSG*CALL 900", "MSG")] {
            let payload = json!({"payload": R271.replace("SE*11", &format!("{extra}~SE*11"))});
            let other = Playground::new(&[]).event(SimulatorType::Clearinghouse, EventType::X12Response, payload);
            says(&other, &wanted(json!([])), "0/1", expected_text);
        }
        check(json!({"transaction": "271", "segments": []}), &[("segments", "only: true")]);
    }

    /// Requests that the clearinghouse refused do not count.
    #[test]
    fn refused_requests_do_not_count() {
        let question = R271.replace("ST*271*", "ST*270*");
        let answered = |answer: &str| {
            let reply = json!({"payload": answer, "in_reply_to": "000000001"});
            Playground::new(&[])
                .event(SimulatorType::Clearinghouse, EventType::X12Request, json!({"payload": question}))
                .event(SimulatorType::Clearinghouse, EventType::X12Response, reply)
        };
        let envelope = |inside: &str| {
            let (header, _) = R271.split_once("GS*").unwrap();
            format!("{header}{inside}IEA*1*000000001~")
        };
        let report = |set: &str, group: &str| {
            envelope(&format!(
                "GS*FA*PAYER*CLINIC*20260401*1200*1*X*005010X231A1~ST*999*0001*005010X231A1~AK1*HS*1~AK2*270*0001~\
                 IK5*{set}~AK9*{group}*1*1*0~SE*6*0001~GE*1*1~"
            ))
        };
        let requested = assertion(json!({"transaction": "270", "count": 1}));
        for (answer, score) in [
            (R271.to_owned(), "1/1"),
            (envelope("TA1*000000001*260401*1200*R*001~"), "0/1"),
            (envelope("TA1*000000001*260401*1200*A*000~"), "1/1"),
            (report("R*5", "R"), "0/1"),
            (report("R*5", "P"), "0/1"),
            (report("E", "E"), "1/1"),
        ] {
            says(&answered(&answer), &requested, score, "");
        }
        // If two requests have the same control numbers, neither presence nor absence can be asserted.
        let twice = json!({"payload": format!("{question}{question}")});
        let reply = json!({"payload": envelope("TA1*000000001*260401*1200*R*025~"), "in_reply_to": "000000001"});
        let hidden = Playground::new(&[]).event(SimulatorType::Clearinghouse, EventType::X12Request, twice).event(
            SimulatorType::Clearinghouse,
            EventType::X12Response,
            reply,
        );
        says(&hidden, &requested, "0/1", "");
        says(&hidden, &assertion(json!({"transaction": "270", "count": {"max": 0}})), "0/1", "must not exist");
        // A second attempt that is accepted counts, even with the same control number.
        let second = answered(&report("R*5", "R"))
            .event(SimulatorType::Clearinghouse, EventType::X12Request, json!({"payload": question}))
            .event(SimulatorType::Clearinghouse, EventType::X12Response, json!({"payload": R271}));
        says(&second, &requested, "1/1", "1 transaction");
    }

    /// Two members' claims swapped in one inquiry.
    #[test]
    fn values_of_two_subjects_do_not_complete_each_other() {
        let inquiry = |first: &str, second: &str| {
            let above = "HL*1**20*1~NM1*PR*2*PAYER*****PI*1~HL*2*1*21*1~NM1*41*2*CLINIC*****46*1~HL*3*2*19*1~NM1*1P*2*C*****XX*9~";
            let subject = |number: u8, member: &str, claim: &str| {
                format!("HL*{number}*3*22*0~NM1*IL*1*X*Y****MI*{member}~TRN*1*T{number}~REF*1K*{claim}~")
            };
            let head = R271.split("ST*").next().unwrap_or_default();
            let body = format!("{above}{}{}", subject(4, "M1", first), subject(5, "M2", second));
            let text = format!(
                "{head}ST*276*0001*005010X212~BHT*0010*13*1*20260401*1200~{body}SE*1*0001~GE*1*1~IEA*1*000000001~"
            );
            Playground::new(&[]).event(SimulatorType::Clearinghouse, EventType::X12Request, json!({"payload": text}))
        };
        let by_claim = |claim: &str| {
            assertion(
                json!({"transaction": "276", "correlate_by": {"NM1[1=IL].9": "M1", "REF[1=1K].2": claim}, "count": 1}),
            )
        };
        says(&inquiry("C1", "C2"), &by_claim("C1"), "1/1", "1 transaction");
        says(&inquiry("C2", "C1"), &by_claim("C1"), "0/1", "found none");
        let only = |claim: &str| {
            assertion(json!({"transaction": "276", "correlate_by": {"REF[1=1K].2": claim}, "only": true}))
        };
        says(&inquiry("C1", "C2"), &only("C1"), "0/1", "other subjects or claims");
        let field = json!({"transaction": "276", "correlate_by": {"NM1[1=IL].9": "M1"}, "fields": [{"path": "REF[1=1K].2", "expected": "C1"}]});
        says(&inquiry("C1", "C2"), &assertion(field.clone()), "1/1", "");
        says(&inquiry("C2", "C1"), &assertion(field), "0/1", "");
    }

    #[test]
    fn only_allows_an_asserted_segment_once() {
        let only =
            assertion(json!({"transaction": "271", "only": true, "fields": [{"path": "EB.1", "expected": "1"}]}));
        says(&clearinghouse(), &only, "0/1", "occurs several times");
        let one = json!({"transaction": "271", "only": true, "fields": [{"path": "EB[1=B].7", "expected": 35}]});
        says(&clearinghouse(), &assertion(one), "1/1", "");
    }

    fn assertion(specification: Value) -> Value {
        let mut assertion = specification;
        assertion["assert"] = json!("x12-response");
        assertion
    }

    #[test]
    fn transactions_are_correlated_and_compared() {
        scores(
            &clearinghouse(),
            &assertion(
                json!({"transaction": "271", "correlate_by": {"NM1[1=IL].9": "{{entity.member_id}}"}, "fields": [
                {"path": "2110C.EB.1", "expected": "1"}, {"path": "EB[1=B].7", "op": "lte", "expected": 30}]}),
            ),
            "1/2",
            &json!({"fieldResults": [
                {"path": "2110C.EB.1", "expected": "1", "actual": ["1", "B"], "passed": true},
                {"path": "EB[1=B].7", "op": "lte", "expected": 30, "actual": "35.00", "passed": false},
            ]}),
        );
        for (specification, score, expected_text) in [
            (json!({"transaction": "271"}), "1/1", "1 transaction"),
            (json!({"transaction": "277"}), "0/1", "no transaction"),
            (json!({"transaction": "TA1", "count": 0}), "1/1", "as expected"),
            (json!({"transaction": "271", "correlate_by": {"NM1.9": "M2"}}), "0/1", "no transaction"),
        ] {
            says(&clearinghouse(), &assertion(specification), score, expected_text);
        }
        let odd =
            Playground::new(&[]).event(SimulatorType::Clearinghouse, EventType::X12Response, json!({"payload": "ISA"}));
        says(&odd, &assertion(json!({"transaction": "271"})), "0/1", "no transaction");
        says(&odd, &assertion(json!({"transaction": "271", "count": 0})), "0/1", "cannot be ruled out");
    }
}
