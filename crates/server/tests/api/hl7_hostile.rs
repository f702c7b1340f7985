//! Hostile HL7 senders: malformed and oversized input, and clients that hold connections without sending.

use hl7v2::mllp::frame;
use serde_json::json;
use testkit::both_databases;
use testkit::world::{hl7_sandbox, hl7_update};

use crate::dice::Dice;
use crate::hl7::{events, raw};
use crate::hl7_mllp::{Line, impatient};

both_databases! {
    /// S6 and S7: no panic, no server error, and nothing is stored except events.
    async fn mutated_messages_do_not_break_the_interface(server: TestServer) {
        let caller = server.organization("Hospital").await;
        let sandbox = hl7_sandbox(&caller, json!({})).await;
        let mut line = Line::to(&sandbox).await;
        let mut dice = Dice(7);
        // Framing bytes would change the number of frames.
        let without_marks = |bytes: Vec<u8>| bytes.into_iter().filter(|byte| ![0x0b, 0x1c].contains(byte)).collect::<Vec<u8>>();
        for turn in 0..10 {
            let mut frames = Vec::new();
            for number in 0..100 {
                let changed = dice.mutate(hl7_update(&format!("{turn}-{number}")).into_bytes(), &ODD);
                frames.extend(frame(&without_marks(changed)));
            }
            line.write(&frames).await;
            // Mutated messages may request any number of acknowledgements; this one requests one.
            line.write(&frame(hl7_update(&format!("whole-{turn}")).as_bytes())).await;
            let last = format!("AA whole-{turn}");
            while line.next().await != last {}
        }
        for number in 0..100 {
            let bytes = dice.mutate(hl7_update(&format!("h{number}")).into_bytes(), &ODD);
            let response = raw(&caller, &sandbox.id(), &bytes).await;
            assert!([200, 400].contains(&response.status), "{} {:?}", response.text(), String::from_utf8_lossy(&bytes));
        }
    }

    async fn oversized_input_is_rejected(server: TestServer) {
        let caller = server.organization("Hospital").await;
        let sandbox = hl7_sandbox(&caller, json!({"strict": true})).await.id();
        let update = hl7_update("1");
        for (bomb, code) in [
            (format!("{update}{}", "NTE|1\r".repeat(15_000)), "AE"),
            (format!("{update}{}", "NTE|1\r".repeat(30_000)), "AR"),
            (format!("{update}OBX|{}", "x".repeat(8 << 20)), "AE"),
        ] {
            let response = raw(&caller, &sandbox, bomb.as_bytes()).await.expect(200);
            assert_eq!(response["ack_code"], code, "{} bytes", bomb.len());
        }
        raw(&caller, &sandbox, "MSH|^~\\&|\r".repeat(19_000).as_bytes()).await.expect_error(400, "BAD_REQUEST");
        assert_eq!(events(&caller, &sandbox).await.len(), 4);
    }

    /// R11: clients that are idle, do not complete a frame or do not read are disconnected without affecting others.
    async fn idle_slow_and_non_reading_clients_are_disconnected(server: TestServer) {
        let server = impatient(&server).await;
        let caller = server.organization("Hospital").await;
        let (held, other) = (hl7_sandbox(&caller, json!({})).await, hl7_sandbox(&caller, json!({})).await);
        let mut silent = Vec::new();
        for number in 0..100 {
            let mut line = Line::to(&held).await;
            if number % 2 == 0 {
                line.write(b"\x0bMSH|^~\\&|").await;
            }
            silent.push(line);
        }
        let mut working = Line::to(&other).await;
        assert_eq!(working.send(&hl7_update("1")).await, "AA 1");
        for mut line in silent {
            line.expect_end().await;
        }
        let mut after = Line::to(&held).await;
        assert_eq!(after.send(&hl7_update("1")).await, "AA 1", "their places are free again");
    }
}

/// What mutations insert.
const ODD: [&[u8]; 8] = [b"|", b"^~\\&", b"\r", b"\x00", b"\xff", b"\\", b"\r\n", b"\"\""];
