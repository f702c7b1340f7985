//! Carries out an attack while the reference agent works, behind its back.

use client::{Answer, ClientError};
use serde_json::Value;

use super::case::{Case, LAST_ID, Step};
use super::queued_not_delivered::{believed, is_under_way};
use super::survey::{Exchange, Survey};
use crate::courier::Courier;
use crate::message::Message;

/// The most files, and the most bytes of each, that a survey keeps.
const MOST_FILES: usize = 20;
const MOST_BYTES: usize = 1 << 20;
/// Members of responses that name something the server made.
const GENERATED: [&str; 6] = ["id", "auth_number", "request_id", "call_id", "uuid", "document_id"];

impl Courier {
    /// One write of the agent. What the server refuses is sent again as the agent had it, so that its work goes on.
    pub(crate) async fn carry_attack(
        &self,
        case: &Case,
        number: usize,
        message: Message,
    ) -> Result<Answer, ClientError> {
        let mut changed = message.clone();
        for step in &case.steps {
            match step {
                Step::Rewrite(at, rewrite) if *at == number => changed = rewrite(&changed).unwrap_or(changed),
                Step::Substitute { number: at, message: other, response } if *at == number => {
                    return self.substitute(other.as_deref(), response, &message).await;
                }
                _ => {}
            }
        }
        if changed == message {
            return Ok(self.believe(case, self.send(&message).await?));
        }
        let answer = self.send(&changed).await?;
        if is_accepted(&answer) {
            self.mark(true);
            return Ok(answer);
        }
        self.note_refusal(&changed, &answer);
        self.send(&message).await
    }

    async fn substitute(
        &self,
        other: Option<&Message>,
        recorded: &Exchange,
        original: &Message,
    ) -> Result<Answer, ClientError> {
        if let Some(other) = other {
            let answer = self.send(other).await?;
            if !is_accepted(&answer) {
                self.note_refusal(other, &answer);
                return self.send(original).await;
            }
            self.mark(true);
        }
        Ok(Answer { status: recorded.status, headers: recorded.headers.clone(), body: recorded.body.clone() })
    }

    pub(crate) fn believe(&self, case: &Case, answer: Answer) -> Answer {
        if !case.steps.iter().any(|step| matches!(step, Step::BelieveQueued)) {
            return answer;
        }
        let response: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        if !is_under_way(&response) {
            return answer;
        }
        self.mark(true);
        Answer { body: believed(&response).to_string().into(), ..answer }
    }

    /// What an attack sends after the work.
    pub(crate) async fn finish_attack(&self, case: &Case) -> Result<(), ClientError> {
        for step in &case.steps {
            match step {
                Step::Finally(messages) => self.send_all(messages).await?,
                Step::Followup(followup) => self.send_all(&followup(&self.exchanges())).await?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Each message may name what the one before it made. Stops at the first that is refused.
    async fn send_all(&self, messages: &[Message]) -> Result<(), ClientError> {
        let mut last = String::new();
        for message in messages {
            let body = String::from_utf8(message.body.to_vec()).map(|text| text.replace(LAST_ID, &last));
            let mut message = message.clone();
            message.path = message.path.replace(LAST_ID, &last);
            if let Ok(body) = body {
                message.body = body.into();
            }
            let answer = self.send(&message).await?;
            if !is_accepted(&answer) {
                self.note_refusal(&message, &answer);
                return Ok(());
            }
            self.mark(true);
            let made: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
            let id = ["auth_number", "id"].iter().find_map(|name| made[*name].as_str());
            last = id.or_else(|| made["call"]["id"].as_str()).unwrap_or_default().to_owned();
        }
        Ok(())
    }

    /// Sends recorded requests again, with the ids that this run has in the place of the recorded ones.
    pub(crate) async fn replay(&self, recorded: &[Exchange]) -> Result<(), ClientError> {
        let mut ids: Vec<(String, String)> = Vec::new();
        self.mark(true);
        for exchange in recorded {
            let answer = self.send(&with_ids(&exchange.message, &ids)).await?;
            let response = serde_json::from_slice(&answer.body).unwrap_or_default();
            pair_ids("", &exchange.json(), &response, &mut ids);
        }
        Ok(())
    }

    /// Reads what an agent could know before the work.
    pub(crate) async fn survey(&self, types: &[String]) -> Survey {
        let mut survey = Survey { fingerprint: self.fingerprint().await, ..Survey::default() };
        for kind in types {
            let bundle = self.look(&format!("fhir/{kind}?_count=20")).await;
            let entries = bundle["entry"].as_array().into_iter().flatten();
            let resources: Vec<Value> = entries.map(|entry| entry["resource"].clone()).collect();
            if !resources.is_empty() {
                survey.chart.insert(kind.clone(), resources);
            }
        }
        let listed = self.look("files?prefix=&limit=100").await;
        let paths = listed["data"].as_array().into_iter().flatten().filter_map(|file| file["path"].as_str());
        for path in paths.take(MOST_FILES) {
            let read = self.send(&Message::read(&format!("files/{}", client::segment(path, true)))).await;
            if let Ok(answer) = read
                && answer.is_success()
                && answer.body.len() <= MOST_BYTES
            {
                survey.files.insert(path.to_owned(), answer.body);
            }
        }
        survey
    }

    /// What tells a task from its siblings: what waits in its inboxes.
    pub(crate) async fn fingerprint(&self) -> String {
        let mut found = Vec::new();
        for (path, members) in [
            ("files?prefix=&limit=100", &["path", "sha256"][..]),
            ("hl7/inbox", &["payload"][..]),
            ("fax/inbox", &["from_number", "pages", "size"][..]),
            ("cds/hooks?status=pending", &["request"][..]),
        ] {
            let listed = self.look(path).await;
            let rows = listed["data"].as_array().cloned().unwrap_or_default();
            let told = rows.iter().map(|row| {
                let told = members.iter().map(|member| match *member {
                    "request" => row["request"]["context"].to_string(),
                    member => row[member].to_string(),
                });
                told.collect::<Vec<_>>().join(" ")
            });
            let mut told: Vec<String> = told.collect();
            told.sort();
            found.push(told.join("\n"));
        }
        found.join("\n\n")
    }

    async fn look(&self, path: &str) -> Value {
        match self.send(&Message::read(path)).await {
            Ok(answer) if answer.is_success() => serde_json::from_slice(&answer.body).unwrap_or_default(),
            _ => Value::Null,
        }
    }
}

/// Whether the simulator took the message, and not only the server.
fn is_accepted(answer: &Answer) -> bool {
    if !answer.is_success() {
        return false;
    }
    let text = String::from_utf8_lossy(&answer.body);
    if text.starts_with("ISA") {
        return !["~IK5*R", "~AK9*R", "\nIK5*R", "\nAK9*R"].iter().any(|rejected| text.contains(rejected));
    }
    let response: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    response["ack_code"].as_str().is_none_or(|code| matches!(code, "AA" | "CA")) && response["status"] != "undelivered"
}

fn with_ids(message: &Message, ids: &[(String, String)]) -> Message {
    let mut message = message.clone();
    for (old, new) in ids {
        message.path = message.path.replace(old, new);
        if let Ok(text) = std::str::from_utf8(&message.body)
            && text.contains(old)
        {
            message.body = text.replace(old, new).into();
        }
    }
    message
}

/// Pairs the ids of two responses that stand in the same place.
fn pair_ids(key: &str, old: &Value, new: &Value, ids: &mut Vec<(String, String)>) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            for (key, member) in old {
                if let Some(other) = new.get(key) {
                    pair_ids(key, member, other, ids);
                }
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            old.iter().zip(new).for_each(|(old, new)| pair_ids(key, old, new, ids));
        }
        (Value::String(old), Value::String(new)) if old != new && old.len() > 3 && GENERATED.contains(&key) => {
            ids.push((old.clone(), new.clone()));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn generated_ids_are_those_of_the_new_run() {
        let mut ids = Vec::new();
        pair_ids("", &json!({"id": "obs-old", "status": "a"}), &json!({"id": "obs-new", "status": "b"}), &mut ids);
        let message = Message::json(client::Method::POST, "fhir/Task", &json!({"focus": "Observation/obs-old"}));
        assert_eq!(with_ids(&message, &ids).content(), Some(json!({"focus": "Observation/obs-new"})));
        assert_eq!(ids.len(), 1);
    }
}
