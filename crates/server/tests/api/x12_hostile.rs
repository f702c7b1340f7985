//! S6 and S7 for X12: any input gets an X12 response or a 4xx, and rejected input only leaves an event.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::json;
use testkit::both_databases;

use crate::dice::Dice;
use crate::x12::{House, inquiry};

/// The number of cases in continuous integration.
const CASES: usize = 1000;

both_databases! {
    async fn malformed_interchanges_are_acknowledged_or_rejected(server: TestServer) {
        let house = House::open(&server.organization("Acme").await, json!([])).await;
        let mut dice = Dice(12);
        let mut statuses: BTreeMap<(u16, &str), usize> = BTreeMap::new();
        for _ in 0..CASES {
            let response = house.send(damaged(&mut dice), &[]).await;
            let text = response.text();
            let kind = match response.status {
                200 if text.contains("ST*271*") => "271",
                200 => "TA1 or 999",
                _ => response.json["error"]["code"].as_str().map_or("none", |_| "error"),
            };
            assert!(matches!((response.status, kind), (200, _) | (400 | 413, "error")), "{}: {text}", response.status);
            *statuses.entry((response.status, kind)).or_default() += 1;
        }
        let kept = house.caller.get(&house.path("/state?resource=responses&limit=100")).await.expect(200);
        let answered = statuses.get(&(200, "271")).copied().unwrap_or(0);
        assert_eq!(kept.data().len(), answered.min(100), "only what was taken is kept");
        eprintln!("{CASES} malformed bodies: {statuses:?}");
        house.send(inquiry("W0001", "30"), &[]).await.expect(200);
    }

    async fn oversized_input_is_rejected(server: TestServer) {
        let house = House::open(&server.organization("Acme").await, json!([])).await;
        let sound = inquiry("W0001", "30");
        let head = &sound[..106];
        let repeated = |part: &str, bytes: usize| part.repeat(bytes / part.len());
        let bombs: Vec<(&str, Vec<u8>)> = vec![
            ("no terminator", repeated("A", 7 << 20).into_bytes()),
            ("a segment without end", format!("{head}GS*{}", repeated("9", 7 << 20)).into_bytes()),
            ("a segment of 100 MB", format!("{head}GS*{}~", repeated("9", 100_000_000)).into_bytes()),
            ("only separators", format!("{head}{}", repeated("*", 7 << 20)).into_bytes()),
            ("only terminators", format!("{head}{}", repeated("~", 7 << 20)).into_bytes()),
            ("many interchanges", repeated(head, 7 << 20).into_bytes()),
            ("many groups", format!("{head}{}", repeated("GS*HS~", 7 << 20)).into_bytes()),
            ("many levels", sound.replace("EQ*30~", &repeated("HL*4*2*22*0~", 7 << 20)).into_bytes()),
            ("many repetitions", sound.replace("EQ*30", &format!("EQ*{}", repeated("30^", 60_000))).into_bytes()),
            ("packed", vec![0x1f, 0x8b, 0x08, 0x00]),
        ];
        for (name, bomb) in bombs {
            let response = house.caller.send_bytes(Method::POST, &house.path("/x12/transactions"), &[], Some(("", bomb))).await;
            let text = response.text();
            let is_told = response.status == 200 && (text.contains("TA1*") || text.contains("AK9*R") || text.contains("ST*271*"));
            assert!(is_told || matches!(response.status, 400 | 413), "{name}: {} {}", response.status, text.len());
            assert!(text.len() < 32 << 20, "{name}: an answer of {} bytes", text.len());
        }
        house.send(inquiry("W0001", "30"), &[]).await.expect(200);
    }

    async fn another_organization_cannot_reach_the_clearinghouse(server: TestServer) {
        let house = House::open(&server.organization("Acme").await, json!([])).await;
        let other = House::open(&server.organization("Other").await, json!([])).await;
        house.send(inquiry("W0001", "30"), &[]).await.expect(200);
        let [row] = house.caller.get(&house.path("/x12/responses")).await.expect(200).data().to_vec().try_into().unwrap();
        let id = row["id"].as_str().unwrap();
        let foreign = format!("{}/{id}", house.path("/x12/responses"));
        other.caller.get(&foreign).await.expect_error(404, "NOT_FOUND");
        other.caller.get(&other.path(&format!("/x12/responses/{id}"))).await.expect_error(404, "NOT_FOUND");
        let body = Some(("", inquiry("W0001", "30").into_bytes()));
        other.caller.send_bytes(Method::POST, &house.path("/x12/transactions"), &[], body).await.expect_error(404, "NOT_FOUND");
    }
}

/// A valid body with random damage.
fn damaged(dice: &mut Dice) -> Vec<u8> {
    let mut bytes = inquiry(["W0001", "W9"][dice.below(2)], "30").into_bytes();
    for _ in 0..=dice.below(3) {
        let at = dice.below(bytes.len());
        match dice.below(8) {
            0 => bytes[at] = u8::try_from(dice.below(256)).unwrap(),
            1 => bytes.truncate(at.max(1)),
            2 => drop(bytes.remove(at)),
            3 => bytes.insert(at, b"*~^:\n\r\x00A"[dice.below(8)]),
            4 => bytes[at] = b"*~^:|!>"[dice.below(7)],
            5 => {
                let end = (at + 1 + dice.below(60)).min(bytes.len());
                bytes.drain(at..end);
            }
            6 => {
                let end = (at + 1 + dice.below(60)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            _ => bytes.extend_from_slice(&inquiry("W0001", "98").into_bytes()[..at.min(300)]),
        }
        if bytes.is_empty() {
            bytes.push(b'I');
        }
    }
    bytes
}
