//! Carries out an attack while the reference agent works, without its knowledge.

use client::{ApiResponse, ClientError};
use serde_json::Value;

use super::case::{AttackCase, AttackStep, LAST_ID};
use super::queued_not_delivered::{as_delivered, is_pending};
use super::survey::{Exchange, Survey};
use crate::message::Message;
use crate::mutating_proxy::MutatingProxy;

/// The maximum number of files that a survey keeps, and the maximum size of each.
const MAX_FILES: usize = 20;
const MAX_BYTES: usize = 1 << 20;
/// Members of responses that identify something the server created.
const GENERATED_IDS: [&str; 6] = ["id", "auth_number", "request_id", "call_id", "uuid", "document_id"];

impl MutatingProxy {
    /// Forwards a write of the agent, altered by the attack. If the server rejects the altered message, the original is sent,
    /// so that the agent can go on.
    pub(crate) async fn forward_attack(
        &self,
        case: &AttackCase,
        number: usize,
        message: Message,
    ) -> Result<ApiResponse, ClientError> {
        let mut changed = message.clone();
        for step in &case.steps {
            match step {
                AttackStep::Rewrite(at, rewrite) if *at == number => changed = rewrite(&changed).unwrap_or(changed),
                AttackStep::RewriteAny(rewrite) => changed = rewrite(&changed).unwrap_or(changed),
                AttackStep::Substitute { number: at, message: other, response } if *at == number => {
                    return self.substitute(other.as_deref(), response, &message).await;
                }
                _ => {}
            }
        }
        if changed == message {
            return Ok(self.report_delivered(case, self.send(&message).await?));
        }
        let response = self.send(&changed).await?;
        if is_accepted(&response) {
            self.mark_altered(true);
            return Ok(response);
        }
        self.record_rejection(&changed, &response);
        self.send(&message).await
    }

    /// Sends `other` instead of the agent's message and returns the recorded response.
    async fn substitute(
        &self,
        other: Option<&Message>,
        recorded: &Exchange,
        original: &Message,
    ) -> Result<ApiResponse, ClientError> {
        if let Some(other) = other {
            let response = self.send(other).await?;
            if !is_accepted(&response) {
                self.record_rejection(other, &response);
                return self.send(original).await;
            }
            self.mark_altered(true);
        }
        Ok(ApiResponse { status: recorded.status, headers: recorded.headers.clone(), body: recorded.body.clone() })
    }

    /// Changes pending statuses in the response to delivered, if the attack says so.
    pub(crate) fn report_delivered(&self, case: &AttackCase, response: ApiResponse) -> ApiResponse {
        if !case.steps.iter().any(|step| matches!(step, AttackStep::ReportDelivered)) {
            return response;
        }
        let content: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        if !is_pending(&content) {
            return response;
        }
        self.mark_altered(true);
        ApiResponse { body: as_delivered(&content).to_string().into(), ..response }
    }

    /// Sends the messages of an attack that follow the work.
    pub(crate) async fn finish_attack(&self, case: &AttackCase) -> Result<(), ClientError> {
        for step in &case.steps {
            match step {
                AttackStep::SendAfterwards(messages) => self.send_all(messages).await?,
                AttackStep::Followup(followup) => self.send_all(&followup(&self.exchanges())).await?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Sends messages in order. Each may contain the id that the previous one created. Stops at the first rejection.
    async fn send_all(&self, messages: &[Message]) -> Result<(), ClientError> {
        let mut last = String::new();
        for message in messages {
            let body = String::from_utf8(message.body.to_vec()).map(|text| text.replace(LAST_ID, &last));
            let mut message = message.clone();
            message.path = message.path.replace(LAST_ID, &last);
            if let Ok(body) = body {
                message.body = body.into();
            }
            let response = self.send(&message).await?;
            if !is_accepted(&response) {
                self.record_rejection(&message, &response);
                return Ok(());
            }
            self.mark_altered(true);
            let created: Value = serde_json::from_slice(&response.body).unwrap_or_default();
            let id = ["auth_number", "id"].iter().find_map(|name| created[*name].as_str());
            last = id.or_else(|| created["call"]["id"].as_str()).unwrap_or_default().to_owned();
        }
        Ok(())
    }

    /// Sends recorded requests again, with the recorded ids replaced by those of this run.
    pub(crate) async fn replay(&self, recorded: &[Exchange]) -> Result<(), ClientError> {
        let mut ids: Vec<(String, String)> = Vec::new();
        self.mark_altered(true);
        for exchange in recorded {
            let response = self.send(&with_ids(&exchange.message, &ids)).await?;
            let content = serde_json::from_slice(&response.body).unwrap_or_default();
            pair_ids("", &exchange.json(), &content, &mut ids);
        }
        Ok(())
    }

    /// Reads everything that an agent could know before the work.
    pub(crate) async fn survey(&self, types: &[String]) -> Survey {
        let mut survey = Survey { fingerprint: self.fingerprint().await, ..Survey::default() };
        for resource_type in types {
            let bundle = self.read_json(&format!("fhir/{resource_type}?_count=20")).await;
            let entries = bundle["entry"].as_array().into_iter().flatten();
            let resources: Vec<Value> = entries.map(|entry| entry["resource"].clone()).collect();
            if !resources.is_empty() {
                survey.chart.insert(resource_type.clone(), resources);
            }
        }
        let listed = self.read_json("files?prefix=&limit=100").await;
        let paths = listed["data"].as_array().into_iter().flatten().filter_map(|file| file["path"].as_str());
        for path in paths.take(MAX_FILES) {
            let read = self.send(&Message::read(&format!("files/{}", client::segment(path, true)))).await;
            if let Ok(response) = read
                && response.is_success()
                && response.body.len() <= MAX_BYTES
            {
                survey.files.insert(path.to_owned(), response.body);
            }
        }
        survey
    }

    /// What distinguishes a task from its siblings: the contents of its inboxes.
    pub(crate) async fn fingerprint(&self) -> String {
        let mut found = Vec::new();
        for (path, members) in [
            ("files?prefix=&limit=100", &["path", "sha256"][..]),
            ("hl7/inbox", &["payload"][..]),
            ("fax/inbox", &["from_number", "pages", "size"][..]),
            ("cds/hooks?status=pending", &["request"][..]),
        ] {
            let listed = self.read_json(path).await;
            let rows = listed["data"].as_array().cloned().unwrap_or_default();
            let lines = rows.iter().map(|row| {
                let values = members.iter().map(|member| match *member {
                    "request" => row["request"]["context"].to_string(),
                    member => row[member].to_string(),
                });
                values.collect::<Vec<_>>().join(" ")
            });
            let mut lines: Vec<String> = lines.collect();
            lines.sort();
            found.push(lines.join("\n"));
        }
        found.join("\n\n")
    }

    /// The JSON response to a read, or null.
    async fn read_json(&self, path: &str) -> Value {
        match self.send(&Message::read(path)).await {
            Ok(response) if response.is_success() => serde_json::from_slice(&response.body).unwrap_or_default(),
            _ => Value::Null,
        }
    }
}

/// Whether the simulator accepted the message: a successful response may still contain a rejection.
fn is_accepted(response: &ApiResponse) -> bool {
    if !response.is_success() {
        return false;
    }
    let text = String::from_utf8_lossy(&response.body);
    if text.starts_with("ISA") {
        return !["~IK5*R", "~AK9*R", "\nIK5*R", "\nAK9*R"].iter().any(|rejected| text.contains(rejected));
    }
    let content: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    content["ack_code"].as_str().is_none_or(|code| matches!(code, "AA" | "CA")) && content["status"] != "undelivered"
}

/// Replaces recorded ids in a message.
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

/// Pairs the ids at the same paths of two responses.
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
        (Value::String(old), Value::String(new)) if old != new && old.len() > 3 && GENERATED_IDS.contains(&key) => {
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
    fn recorded_ids_are_replaced_by_those_of_the_new_run() {
        let mut ids = Vec::new();
        pair_ids("", &json!({"id": "obs-old", "status": "a"}), &json!({"id": "obs-new", "status": "b"}), &mut ids);
        let message = Message::json(client::Method::POST, "fhir/Task", &json!({"focus": "Observation/obs-old"}));
        assert_eq!(with_ids(&message, &ids).content(), Some(json!({"focus": "Observation/obs-new"})));
        assert_eq!(ids.len(), 1);
    }
}
