//! The simulators: FHIR requests of every form, configs and scenarios.

use std::cell::Cell;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fhir::validate;
use model::simulator::SimulatorType;
use serde_json::Value;
use sims::cds_hooks::{UnknownMembers, cards};
use sims::clearinghouse::exchange::{Sender, Transport, exchange};
use sims::fhir::handle::{FhirClient, handle, is_read_only};
use sims::fhir::http::{Request, Response};
use sims::fhir::proxy_scopes;
use sims::fhir::scopes::Scopes;
use sims::{EnvironmentSimulator, validate_config, validate_scenario};
use world::{Context, Outcome};

use crate::fixture::{PLAYGROUND, START, sandbox_id};
use crate::json;

const BASE: &str = "https://verial.test/sandboxes/1/fhir";

/// As on the wire, with LF: `GET Patient?name=a`, headers, an empty line, the body.
pub(crate) fn fhir_request(bytes: &[u8]) {
    let end = bytes.windows(2).position(|pair| pair == b"\n\n");
    let (head, body) = end.map_or((bytes, &b""[..]), |end| (&bytes[..end], &bytes[end + 2..]));
    let Some((line, headers)) = json::first_line(head) else { return };
    let (method, address) = line.split_once(' ').unwrap_or((line, ""));
    let header = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
    let headers = headers.lines().filter_map(header).collect();
    asked(&request(method, address, headers, body));
}

/// The responses of the clearinghouse are always valid.
pub(crate) fn x12_clearinghouse(bytes: &[u8]) {
    let sender = Sender { actor: "fuzz".to_owned(), transport: Transport::File };
    let sandbox = sandbox_id(SimulatorType::Clearinghouse);
    let count = Cell::new(0u64);
    let new_id = || {
        count.set(count.get() + 1);
        format!("{:026}", count.get())
    };
    let context = Context { now: START, new_id: &new_id };
    let Outcome { answer, changes, events } = exchange(&PLAYGROUND.world, &sandbox, &sender, bytes, &context);
    assert!(!events.is_empty());
    match answer {
        Err(_) => assert!(changes.is_empty()),
        Ok(exchange) => {
            let text = exchange.text();
            let read = x12::parse(&text, &x12::Limits::default());
            let is_sound = |body: x12::Body<'_>| x12::check(&body).iter().all(|report| report.faults.is_empty());
            assert!(read.is_ok_and(is_sound), "{text}");
        }
    }
}

/// What an agent may answer a service may answer too, and it has cards.
pub(crate) fn cds_answer(bytes: &[u8]) {
    let Some(answer) = json::read(bytes) else { return };
    let is_sound = |unknown: UnknownMembers| cards::check(&answer, unknown).is_ok();
    if is_sound(UnknownMembers::Rejected) {
        assert!(is_sound(UnknownMembers::Ignored) && answer["cards"].is_array(), "{answer}");
    }
}

pub(crate) fn fhir_json_patch(bytes: &[u8]) {
    asked(&request("PATCH", "Patient/a", content("application/json-patch+json"), bytes));
}

pub(crate) fn fhir_transaction(bytes: &[u8]) {
    asked(&request("POST", "", content("application/fhir+json"), bytes));
}

fn content(media_type: &str) -> Vec<(String, String)> {
    vec![("content-type".to_owned(), media_type.to_owned())]
}

fn request(method: &str, address: &str, headers: Vec<(String, String)>, body: &[u8]) -> Request {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let (method, path, query) = (method.to_owned(), path.to_owned(), query.to_owned());
    Request { method, path, query, headers, body: body.to_vec(), base_url: BASE.to_owned(), ..Request::default() }
}

/// A refusal changes nothing and says why in FHIR, a read changes nothing, and the same request in the same world has
/// the same answer.
fn asked(request: &Request) {
    let Outcome { answer: Response { status, headers, body, raw }, changes, events } = answered(request);
    assert!((200..600).contains(&status) && status != 500, "{status}");
    assert_eq!(events.len(), 1);
    assert!(changes.is_empty() || (status < 300 && !is_read_only(request)), "{status}");
    if status >= 400 && request.method != "HEAD" {
        let outcome = json::read(body.as_bytes()).unwrap_or_default();
        assert_eq!(outcome["resourceType"], "OperationOutcome", "{body}");
        assert_eq!(validate(&outcome), Ok(()), "{body}");
    }
    for change in &changes {
        let text = change.text.as_deref().unwrap_or("{}");
        assert!(serde_json::from_str::<Value>(text).is_ok_and(|json| json.is_object()), "{text}");
    }
    if status < 300 {
        linked(&body);
    }
    let again = answered(request);
    assert_eq!(again.answer, Response { status, headers, body, raw });
    assert_eq!(again.events, events);
}

/// Every link of a page leads to a page.
fn linked(body: &str) {
    let Some(bundle) = json::read(body.as_bytes()).filter(|body| body["type"] == "searchset") else { return };
    let links = bundle["link"].as_array().map(Vec::as_slice).unwrap_or_default();
    for address in links.iter().filter_map(|link| link["url"].as_str()?.strip_prefix(BASE)?.strip_prefix('/')) {
        let status = answered(&request("GET", address, Vec::new(), b"")).answer.status;
        assert_eq!(status, 200, "{address}");
    }
}

/// A cursor that somebody made up: 16 bytes of its place and offset, then an address.
pub(crate) fn fhir_page(bytes: &[u8]) {
    let Some((numbers, address)) = bytes.split_at_checked(16) else { return };
    let Ok(address) = std::str::from_utf8(address) else { return };
    let check = numbers.iter().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    let page = URL_SAFE_NO_PAD.encode([numbers, &check.to_be_bytes()].concat());
    asked(&request("GET", &format!("{address}_page={page}"), Vec::new(), b""));
}

fn answered(request: &Request) -> Outcome<Response> {
    let ids = Cell::new(0);
    let new_id = || {
        ids.set(ids.get() + 1);
        format!("new-{}", ids.get())
    };
    let context = Context { now: START.plus_milliseconds(60_000), new_id: &new_id };
    let client = FhirClient { name: "agent".to_owned(), scopes: None };
    handle(&PLAYGROUND.world, &sandbox_id(SimulatorType::Fhir), &client, request, &context)
}

/// Scopes on the first line, then a request.
pub(crate) fn fhir_scopes(bytes: &[u8]) {
    let Some((scopes, rest)) = json::first_line(bytes) else { return };
    let scopes = Scopes::parse(scopes);
    assert_eq!(Scopes::parse(&scopes.text()), scopes);
    let (line, body) = rest.split_once('\n').unwrap_or((rest, ""));
    let (method, address) = line.split_once(' ').unwrap_or((line, ""));
    let mut request = request(method, address, content("application/fhir+json"), body.as_bytes());
    let rejection = proxy_scopes::reject(&scopes, &mut request);
    // An allowed request is still allowed after its body was replaced.
    if rejection.is_none() {
        assert_eq!(proxy_scopes::reject(&scopes, &mut request.clone()), None);
    }
}

/// The simulator's type on the first line, its config after it.
pub(crate) fn simulator_config(bytes: &[u8]) {
    let Some((kind, config)) = json::first_line(bytes) else { return };
    let (Ok(kind), Some(config)) = (kind.parse::<SimulatorType>(), json::read(config.as_bytes())) else { return };
    let checked = validate_config(kind, &config);
    assert_eq!(validate_config(kind, &config), checked);
    assert!(checked.err().is_none_or(|faults| faults.to_string().len() < 100_000));
}

pub(crate) fn scenario(bytes: &[u8]) {
    let Some(scenario) = json::read(bytes) else { return };
    let environment = SimulatorType::ALL.map(|kind| EnvironmentSimulator { kind, name: kind.name() });
    let checked = validate_scenario(&scenario, Some(&environment));
    assert_eq!(validate_scenario(&scenario, Some(&environment)), checked);
    let alone = validate_scenario(&scenario, None);
    assert!(checked.is_ok() || alone.is_err(), "an environment adds no faults");
}
