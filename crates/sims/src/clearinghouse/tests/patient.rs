//! Eligibility by a patient's id.

use model::clearinghouse::{Eligibility, EligibilityInquiry, Standing};
use model::simulator::SimulatorType;
use serde_json::json;

use super::house::{House, sandbox_id, sender, sound};
use crate::clearinghouse::patient::{Unasked, check, eligibility};

fn ask(house: &mut House, patient: &str) -> Result<Eligibility, Unasked> {
    let inquiry = EligibilityInquiry { patient_id: patient.to_owned(), ..EligibilityInquiry::default() };
    let id = sandbox_id(SimulatorType::Clearinghouse);
    house.run(|world, context| eligibility(world, &id, &sender(), &inquiry, context))
}

#[test]
fn a_real_270_and_271_stand_behind_it() {
    let mut house = House::with_rules(&json!([{"match": {"member": "W0003"}, "aaa": "72"}]));
    let ada = ask(&mut house, "Patient/ada").unwrap();
    sound(&ada.request);
    sound(&ada.response);
    assert!(ada.eligible && ada.status == Standing::Active);
    assert_eq!((ada.patient_id.as_str(), ada.member_id.as_str(), ada.plan.as_str()), ("ada", "W0001", "GOLD PPO"));
    assert_eq!((ada.payer.id.as_str(), ada.payer.name.as_str()), ("60054", "BLUE PLAN"));
    assert!(ada.benefits.iter().any(|benefit| benefit.code == "B" && benefit.amount == "25"));
    assert!(ada.request.contains("~ST*270*") && ada.response.contains("~ST*271*"));
    assert_eq!(house.events.len(), 2, "as if both had been sent");

    let cleo = ask(&mut house, "cleo").unwrap();
    assert!(cleo.eligible && cleo.request.contains("~NM1*03*1*OKAFOR*CLEO~"), "{}", cleo.request);
    let old = ask(&mut house, "old").unwrap();
    assert_eq!((old.status, old.rejections[0].code.as_str()), (Standing::Rejected, "72"));
}

#[test]
fn who_is_not_there_cannot_be_asked_about() {
    let mut house = House::with_rules(&json!([]));
    assert_eq!(ask(&mut house, "nobody").unwrap_err(), Unasked::NoPatient);
    assert_eq!(house.events.len(), 1);
    for (inquiry, place) in [
        (json!({"patient_id": ""}), "patient_id"),
        (json!({"patient_id": "1", "service_types": ["30", "*"]}), "service_types.1"),
        (json!({"patient_id": "1", "date": "2026-02-30"}), "date"),
        (json!({"patient_id": "1", "date": "yesterday"}), "date"),
    ] {
        let inquiry: EligibilityInquiry = serde_json::from_value(inquiry).unwrap();
        assert_eq!(check(&inquiry).unwrap_err().iter().next().unwrap().0, place);
    }
}
