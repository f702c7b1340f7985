//! Reference agent of `phone-scheduling`: navigates the phone menu, asks for an appointment, and records the outcome.

use anyhow::Context;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// The maximum number of turns of a call. A longer call is a loop.
const MAX_TURNS: usize = 20;

pub(crate) async fn solve(sandbox: &Sandbox) -> anyhow::Result<()> {
    let mut exchange = sandbox.post("voice/calls", &json!({})).await?;
    let call = exchange["call"]["id"].as_str().context("the response has no call id")?.to_owned();
    for _ in 0..MAX_TURNS {
        let heard = heard(&exchange);
        match reply(sandbox, &heard)? {
            Reply::Keys(keys) => {
                exchange = sandbox.post(&format!("voice/calls/{call}/dtmf"), &json!({"digits": keys})).await?
            }
            Reply::Say(words) => exchange = say(sandbox, &call, &words).await?,
            Reply::Booked { start, confirmation } => {
                say(sandbox, &call, "Thank you, goodbye.").await?;
                return book(sandbox, &start, &confirmation).await;
            }
            Reply::ReferElsewhere { number } => {
                say(sandbox, &call, "Thank you, goodbye.").await?;
                let description = format!("Call {number} for this examination.");
                return task(sandbox, "refer-elsewhere", Some(&description)).await;
            }
            Reply::LeaveMessage(words) => {
                say(sandbox, &call, &words).await?;
                // The line may have hung up already.
                let _ = sandbox.post(&format!("voice/calls/{call}/hangup"), &json!({})).await;
                return task(sandbox, "voicemail-left", None).await;
            }
        }
    }
    anyhow::bail!("the call did not end within {MAX_TURNS} turns")
}

/// The next action in a call.
enum Reply {
    Keys(String),
    Say(String),
    Booked { start: String, confirmation: String },
    ReferElsewhere { number: String },
    LeaveMessage(String),
}

/// Decides how to react to what the line said.
fn reply(sandbox: &Sandbox, heard: &str) -> anyhow::Result<Reply> {
    let lower = heard.to_lowercase();
    if let Some((_, after)) = lower.split_once("confirmation number is") {
        let confirmation: String = after.chars().filter(char::is_ascii_digit).collect();
        return Ok(Reply::Booked { start: appointment_time(&lower).with_context(|| heard.to_owned())?, confirmation });
    }
    if lower.contains("we do not do") {
        let digits = lower.rsplit(':').next().unwrap_or_default().trim().trim_end_matches('.');
        return Ok(Reply::ReferElsewhere { number: digits.to_owned() });
    }
    if lower.contains("after the tone") {
        let words = format!(
            "This is the referral desk calling about {}. The referral number is {}. Please call us back at {}.",
            sandbox.item_text("patient")?,
            sandbox.item_text("referral_number")?,
            sandbox.item_text("callback_number")?
        );
        return Ok(Reply::LeaveMessage(words));
    }
    if lower.contains("press 1") {
        return Ok(Reply::Keys("1".to_owned()));
    }
    if lower.contains("referral number") {
        return Ok(Reply::Keys(sandbox.item_text("referral_number")?.to_owned()));
    }
    let time_of_day = sandbox.item_text("time_of_day")?;
    let examination = sandbox.item_text("examination")?;
    let when = if time_of_day == "any time" { String::new() } else { format!(", {time_of_day}") };
    Ok(Reply::Say(format!("{examination}{when}.")))
}

/// The text of the line's turns.
fn heard(exchange: &Value) -> String {
    let turns = exchange["turns"].as_array().into_iter().flatten();
    let lines = turns.filter(|turn| turn["speaker"] != "agent").filter_map(|turn| turn["text"].as_str());
    lines.collect::<Vec<_>>().join(" ")
}

/// Parses "…, april 14, at 9:30 am" as a timestamp of 2026 in the office's time zone.
fn appointment_time(text: &str) -> Option<String> {
    let (_, after) = text.split_once("april ")?;
    let (day, after) = after.split_once(',')?;
    let (_, after) = after.split_once("at ")?;
    let mut words = after.split_whitespace();
    let (hour, minute) = words.next()?.split_once(':')?;
    let is_afternoon = words.next()?.starts_with("pm");
    let hour: u8 = hour.parse().ok()?;
    let hour = if is_afternoon && hour < 12 { hour + 12 } else { hour };
    let day: u8 = day.trim().parse().ok()?;
    Some(format!("2026-04-{day:02}T{hour:02}:{minute}:00-05:00"))
}

async fn say(sandbox: &Sandbox, call: &str, words: &str) -> anyhow::Result<Value> {
    sandbox.post(&format!("voice/calls/{call}/turns"), &json!({"say": words})).await
}

async fn book(sandbox: &Sandbox, start: &str, confirmation: &str) -> anyhow::Result<()> {
    let patient = format!("Patient/{}", sandbox.item_text("patient_id")?);
    let appointment = json!({"resourceType": "Appointment", "status": "booked",
        "identifier": [{"system": "https://heartassociates.example.org/confirmation", "value": confirmation}],
        "description": sandbox.item_text("examination")?, "start": start,
        "participant": [{"actor": {"reference": patient}, "status": "accepted"}]});
    sandbox.create(&appointment).await.map(drop)
}

async fn task(sandbox: &Sandbox, code: &str, description: Option<&str>) -> anyhow::Result<()> {
    let patient = format!("Patient/{}", sandbox.item_text("patient_id")?);
    let mut task = json!({"resourceType": "Task", "status": "requested", "intent": "order", "code": {"text": code},
        "for": {"reference": patient}});
    if let Some(description) = description {
        task["description"] = description.into();
    }
    sandbox.create(&task).await.map(drop)
}
