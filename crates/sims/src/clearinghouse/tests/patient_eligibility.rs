//! Eligibility by patient id.

use model::clearinghouse::{Eligibility, EligibilityInquiry, Standing};
use model::simulator::SimulatorType;
use serde_json::json;

use super::fixture::{Fixture, assert_valid, sandbox_id, sender};
use crate::clearinghouse::patient_eligibility::{EligibilityError, check, eligibility};

fn request(fixture: &mut Fixture, patient: &str) -> Result<Eligibility, EligibilityError> {
    let inquiry = EligibilityInquiry { patient_id: patient.to_owned(), ..EligibilityInquiry::default() };
    let id = sandbox_id(SimulatorType::Clearinghouse);
    fixture.run(|world, context| eligibility(world, &id, &sender(), &inquiry, context))
}

#[test]
fn the_summary_comes_from_a_real_270_and_271() {
    let mut fixture = Fixture::with_rules(&json!([{"match": {"member": "W0003"}, "aaa": "72"}]));
    let ada = request(&mut fixture, "Patient/ada").unwrap();
    assert_valid(&ada.request);
    assert_valid(&ada.response);
    assert!(ada.eligible && ada.status == Standing::Active);
    assert_eq!((ada.patient_id.as_str(), ada.member_id.as_str(), ada.plan.as_str()), ("ada", "W0001", "GOLD PPO"));
    assert_eq!((ada.payer.id.as_str(), ada.payer.name.as_str()), ("60054", "BLUE PLAN"));
    assert!(ada.benefits.iter().any(|benefit| benefit.code == "B" && benefit.amount == "25"));
    assert!(ada.request.contains("~ST*270*") && ada.response.contains("~ST*271*"));
    assert_eq!(fixture.events.len(), 2, "a request and a response");

    let cleo = request(&mut fixture, "cleo").unwrap();
    assert!(cleo.eligible && cleo.request.contains("~NM1*03*1*OKAFOR*CLEO~"), "{}", cleo.request);
    let old = request(&mut fixture, "old").unwrap();
    assert_eq!((old.status, old.rejections[0].code.as_str()), (Standing::Rejected, "72"));
}

#[test]
fn unknown_patients_and_invalid_inquiries_are_rejected() {
    let mut fixture = Fixture::with_rules(&json!([]));
    assert_eq!(request(&mut fixture, "nobody").unwrap_err(), EligibilityError::NoPatient);
    assert_eq!(fixture.events.len(), 1);
    for (inquiry, field) in [
        (json!({"patient_id": ""}), "patient_id"),
        (json!({"patient_id": "1", "service_types": ["30", "*"]}), "service_types.1"),
        (json!({"patient_id": "1", "date": "2026-02-30"}), "date"),
        (json!({"patient_id": "1", "date": "yesterday"}), "date"),
    ] {
        let inquiry: EligibilityInquiry = serde_json::from_value(inquiry).unwrap();
        assert_eq!(check(&inquiry).unwrap_err().iter().next().unwrap().0, field);
    }
}
