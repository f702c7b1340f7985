//! Every rule for responses, with the field of the error.

use super::*;
use serde_json::json;

fn card() -> Value {
    json!({"uuid": "4e0a3a1e-3283-4575-ab82-028d55fe2719", "summary": "Potassium is high", "indicator": "warning",
        "detail": "**6.1** mmol/L", "source": {"label": "Lab", "url": "https://example.org", "icon": "https://example.org/i.png",
            "topic": {"code": "12345", "system": "http://example.org/topics", "display": "Lab"}},
        "suggestions": [{"label": "Repeat it", "uuid": "e56e1945-20b3-4393-8503-a1a20fd73152", "isRecommended": true, "actions": [
            {"type": "create", "description": "Order it", "resource": {"resourceType": "ServiceRequest"}},
            {"type": "update", "description": "Change it", "resource": {"resourceType": "Basic", "id": "1"}},
            {"type": "delete", "description": "Drop it", "resourceId": "ServiceRequest/1"}]}],
        "selectionBehavior": "at-most-one",
        "overrideReasons": [{"code": "refused", "system": "http://example.org", "display": "Patient refused"}],
        "links": [{"label": "More", "url": "https://example.org/launch", "type": "smart", "appContext": "{}"}]})
}

fn error_fields(answer: &Value, unknown: UnknownMembers) -> Vec<String> {
    let errors = check(answer, unknown).err().unwrap_or_default();
    errors.iter().map(|(field, _)| field.to_owned()).collect()
}

#[test]
fn valid_responses() {
    for unknown in [UnknownMembers::Rejected, UnknownMembers::Ignored] {
        for answer in [
            json!({"cards": []}),
            json!({"cards": [card()]}),
            json!({"cards": [{"summary": "x".repeat(139), "indicator": "info", "source": {"label": "a"}}]}),
            json!({"cards": [], "systemActions": [{"type": "update", "resource": {"resourceType": "Basic", "id": "1"}}]}),
            json!({"cards": [{"summary": "é".repeat(139), "indicator": "critical", "source": {"label": "a"}, "suggestions": [], "links": []}]}),
        ] {
            assert_eq!(error_fields(&answer, unknown), Vec::<String>::new(), "{answer}");
        }
    }
}

/// What happens to the sound card above when one member is something else.
#[test]
fn faults_have_a_place() {
    for (pointer, value, place) in [
        ("/summary", json!("x".repeat(140)), "summary"),
        ("/summary", json!(" "), "summary"),
        ("/summary", json!(null), "summary"),
        ("/summary", json!(7), "summary"),
        ("/indicator", json!("hard-stop"), "indicator"),
        ("/indicator", json!("Info"), "indicator"),
        ("/source", json!("Lab"), "source"),
        ("/source/label", json!(""), "source.label"),
        ("/source/url", json!("example.org"), "source.url"),
        ("/source/url", json!("javascript:alert(1)"), "source.url"),
        ("/source/icon", json!(1), "source.icon"),
        ("/source/topic", json!({"display": "Lab"}), "source.topic.code"),
        ("/uuid", json!(""), "uuid"),
        ("/uuid", json!(1), "uuid"),
        ("/detail", json!({}), "detail"),
        ("/selectionBehavior", json!("all"), "selectionBehavior"),
        ("/selectionBehavior", json!(null), "selectionBehavior"),
        ("/suggestions", json!({}), "suggestions"),
        ("/suggestions/0", json!([]), "suggestions.0"),
        ("/suggestions/0/label", json!(null), "suggestions.0.label"),
        ("/suggestions/0/isRecommended", json!("yes"), "suggestions.0.isRecommended"),
        ("/suggestions/0/uuid", json!("4e0a3a1e-3283-4575-ab82-028d55fe2719"), "suggestions.0.uuid"),
        ("/suggestions/0/actions/0/type", json!("patch"), "suggestions.0.actions.0.type"),
        ("/suggestions/0/actions/0/description", json!(null), "suggestions.0.actions.0.description"),
        ("/suggestions/0/actions/0/resource", json!(null), "suggestions.0.actions.0.resource"),
        ("/suggestions/0/actions/0/resource", json!({"resourceType": "Order"}), "suggestions.0.actions.0.resource"),
        ("/suggestions/0/actions/1/resource", json!({"resourceType": "Basic"}), "suggestions.0.actions.1.resource"),
        ("/suggestions/0/actions/2/resourceId", json!(null), "suggestions.0.actions.2.resourceId"),
        ("/suggestions/0/actions/2/resourceId", json!("1"), "suggestions.0.actions.2.resourceId"),
        ("/suggestions/0/actions/2/resourceId", json!("Basic/../1"), "suggestions.0.actions.2.resourceId"),
        ("/overrideReasons/0/code", json!(null), "overrideReasons.0.code"),
        ("/links/0/url", json!(null), "links.0.url"),
        ("/links/0/url", json!("/launch"), "links.0.url"),
        ("/links/0/type", json!("relative"), "links.0.type"),
        ("/links/0/type", json!("absolute"), "links.0.appContext"),
        ("/links/0/label", json!(null), "links.0.label"),
    ] {
        for unknown in [UnknownMembers::Rejected, UnknownMembers::Ignored] {
            let mut broken = card();
            *broken.pointer_mut(pointer).unwrap() = value.clone();
            let found = error_fields(&json!({"cards": [broken]}), unknown);
            assert_eq!(found, [format!("cards.0.{place}")], "{pointer} {value}");
        }
    }
}

#[test]
fn the_whole_is_judged_too() {
    let mut two = card();
    two["suggestions"] = json!([{"label": "a", "isRecommended": true}, {"label": "b", "isRecommended": true}]);
    for (answer, place) in [
        (json!([]), ""),
        (json!({}), "cards"),
        (json!({"cards": null}), "cards"),
        (json!({"cards": [], "extension": true}), "extension"),
        (json!({"cards": {}}), "cards"),
        (json!({"cards": vec![json!({}); 101]}), "cards"),
        (json!({"cards": [two]}), "cards.0.suggestions"),
        (json!({"cards": [card(), card()]}), "cards.1.suggestions.0.uuid"),
        (json!({"cards": [], "systemActions": [{"type": "create"}]}), "systemActions.0.resource"),
    ] {
        assert_eq!(
            error_fields(&answer, UnknownMembers::Rejected).first().map(String::as_str),
            Some(place),
            "{answer}"
        );
    }
    let mut odd = card();
    odd["sumary"] = json!("x");
    let answer = json!({"cards": [odd], "decisions": []});
    assert_eq!(error_fields(&answer, UnknownMembers::Rejected), ["cards.0.sumary", "decisions"]);
    assert_eq!(error_fields(&answer, UnknownMembers::Ignored), Vec::<String>::new());
}
