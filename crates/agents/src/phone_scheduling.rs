//! Appointments by telephone: finds the way through the menu, asks, and writes down what was agreed.

use anyhow::Context;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A line that asks more often than this will not come to an end.
const MOST_TURNS: usize = 20;

pub(crate) async fn work(sandbox: &Sandbox) -> anyhow::Result<()> {
    let mut exchange = sandbox.post("voice/calls", &json!({})).await?;
    let call = exchange["call"]["id"].as_str().context("the line gave no call")?.to_owned();
    for _ in 0..MOST_TURNS {
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
            Reply::Elsewhere { number } => {
                say(sandbox, &call, "Thank you, goodbye.").await?;
                return task(sandbox, "refer-elsewhere", &format!("University Imaging, {number}")).await;
            }
            Reply::Message(words) => {
                say(sandbox, &call, &words).await?;
                // The line may have hung up by itself.
                let _ = sandbox.post(&format!("voice/calls/{call}/hangup"), &json!({})).await;
                return task(sandbox, "voicemail-left", "Heart Associates could not find the referral").await;
            }
        }
    }
    anyhow::bail!("the line goes in circles")
}

enum Reply {
    Keys(String),
    Say(String),
    Booked { start: String, confirmation: String },
    Elsewhere { number: String },
    Message(String),
}

/// What to do about what the line just said.
fn reply(sandbox: &Sandbox, heard: &str) -> anyhow::Result<Reply> {
    let lower = heard.to_lowercase();
    if let Some((_, after)) = lower.split_once("confirmation number is") {
        let confirmation: String = after.chars().filter(char::is_ascii_digit).collect();
        return Ok(Reply::Booked { start: moment(&lower).with_context(|| heard.to_owned())?, confirmation });
    }
    if lower.contains("we do not do") {
        let digits = lower.rsplit(':').next().unwrap_or_default().trim().trim_end_matches('.');
        return Ok(Reply::Elsewhere { number: digits.to_owned() });
    }
    if lower.contains("after the tone") {
        let words = format!(
            "This is the referral desk about {}. The referral number is {}. Please call us back at {}.",
            sandbox.told("patient")?,
            sandbox.told("referral_number")?,
            sandbox.told("callback_number")?
        );
        return Ok(Reply::Message(words));
    }
    if lower.contains("press 1") {
        return Ok(Reply::Keys("1".to_owned()));
    }
    if lower.contains("referral number") {
        return Ok(Reply::Keys(sandbox.told("referral_number")?.to_owned()));
    }
    let wish = sandbox.told("time_of_day")?;
    let examination = sandbox.told("examination")?;
    let when = if wish == "any time" { String::new() } else { format!(", {wish} please") };
    Ok(Reply::Say(format!("It is for a {examination}{when}.")))
}

fn heard(exchange: &Value) -> String {
    let turns = exchange["turns"].as_array().into_iter().flatten();
    let lines = turns.filter(|turn| turn["speaker"] != "agent").filter_map(|turn| turn["text"].as_str());
    lines.collect::<Vec<_>>().join(" ")
}

/// "…, april 14, at 9:30 am": in this year, by the office's clock.
fn moment(text: &str) -> Option<String> {
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
    let patient = format!("Patient/{}", sandbox.told("patient_id")?);
    let appointment = json!({"resourceType": "Appointment", "status": "booked",
        "identifier": [{"system": "https://heartassociates.example.org/confirmation", "value": confirmation}],
        "description": sandbox.told("examination")?, "start": start,
        "participant": [{"actor": {"reference": patient}, "status": "accepted"}]});
    sandbox.create(&appointment).await.map(drop)
}

async fn task(sandbox: &Sandbox, kind: &str, description: &str) -> anyhow::Result<()> {
    let patient = format!("Patient/{}", sandbox.told("patient_id")?);
    let task = json!({"resourceType": "Task", "status": "requested", "intent": "order", "code": {"text": kind},
        "description": description, "for": {"reference": patient}});
    sandbox.create(&task).await.map(drop)
}
