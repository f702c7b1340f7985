//! Forwards an agent's requests to the sandboxes of its task, unchanged or altered by its mode. Bundled agents call it
//! directly, other agents through a loopback HTTP proxy.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use client::{ApiResponse, Client, ClientError, Method, segment};
use serde_json::Value;

use crate::attacks::{Exchange, Survey};
use crate::message::Message;
use crate::mutants::{Mutant, Mutation};
use crate::runner::RunRecord;
use crate::{AgentMode, Equivalent, equivalents, mutants};

/// The maximum number of recorded messages of a task. Messages beyond it are forwarded but not recorded.
const MAX_RECORDED: usize = 500;

/// Forwards the requests of one agent in one task.
pub struct MutatingProxy {
    client: Client,
    root: String,
    mode: AgentMode,
    sent: Mutex<Vec<Message>>,
    altered: AtomicBool,
    /// Requests of the agent with their responses, recorded in surveys and attacks.
    exchanges: Mutex<Vec<Exchange>>,
    survey: Mutex<Survey>,
    /// The first message of an attack that the server rejected, with its response.
    rejection: Mutex<Option<String>>,
    /// File writes that are delayed until the end ([`Equivalent::FilesLast`]).
    delayed: Mutex<Vec<Message>>,
}

impl MutatingProxy {
    /// Creates a proxy for a task run. `client` must use the run's token.
    pub fn new(client: Client, task_run: &str, mode: AgentMode) -> Self {
        let root = format!("/v1/task-runs/{}/sandbox", segment(task_run, false));
        Self {
            client,
            root,
            mode,
            sent: Mutex::default(),
            altered: AtomicBool::new(false),
            exchanges: Mutex::default(),
            survey: Mutex::default(),
            rejection: Mutex::default(),
            delayed: Mutex::default(),
        }
    }

    /// Whether any request was altered.
    pub fn was_altered(&self) -> bool {
        self.altered.load(Ordering::Relaxed)
    }

    /// The agent's write requests, before any alteration.
    pub fn sent(&self) -> Vec<Message> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The record of the task, once the agent has ended. `agent_error` is why the agent failed, if it did.
    pub fn run_record(&self, agent_error: Option<String>) -> RunRecord {
        let survey = self.survey.lock().unwrap_or_else(PoisonError::into_inner).clone();
        RunRecord {
            is_altered: self.was_altered(),
            sent: self.sent(),
            agent_error,
            survey: Survey { exchanges: self.exchanges(), ..survey },
            rejection: self.rejection.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    /// The agent's requests with their responses, recorded in surveys and attacks.
    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        self.exchanges.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers the first rejected message of an attack. Ignores 404: the task does not have that channel, so there is
    /// nothing to attack.
    pub(crate) fn record_rejection(&self, message: &Message, response: &ApiResponse) {
        if response.status == 404 {
            return;
        }
        let body: String = String::from_utf8_lossy(&response.body).chars().take(400).collect();
        let description = format!("{} {}: {} {body}", message.method, message.path, response.status);
        self.rejection.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(description);
    }

    /// Forwards a request of the agent, altered as its mode requires.
    pub async fn forward(&self, message: Message) -> Result<ApiResponse, ClientError> {
        if !matches!(self.mode, AgentMode::Survey(_) | AgentMode::Attack(_)) {
            return self.forward_altered(message).await;
        }
        let response = self.forward_altered(message.clone()).await?;
        self.record_exchange(&message, &response);
        Ok(response)
    }

    fn record_exchange(&self, message: &Message, response: &ApiResponse) {
        let message = message.without_sender();
        let (status, headers, body) = (response.status, response.headers.clone(), response.body.clone());
        let mut exchanges = self.exchanges.lock().unwrap_or_else(PoisonError::into_inner);
        if exchanges.len() < MAX_RECORDED {
            exchanges.push(Exchange { message, status, headers, body });
        }
    }

    async fn forward_altered(&self, message: Message) -> Result<ApiResponse, ClientError> {
        if message.is_read() {
            return self.forward_read(message).await;
        }
        let number = self.record_write(&message);
        match &self.mode {
            AgentMode::Mutant(mutant) => self.forward_mutated(mutant, number, message).await,
            AgentMode::Equivalent(equivalent) => self.forward_equivalent(*equivalent, number, message).await,
            AgentMode::Attack(case) => self.forward_attack(case, number, message).await,
            _ => self.send(&message).await,
        }
    }

    /// Does what the mode requires before the agent starts.
    pub async fn begin(&self) {
        match &self.mode {
            AgentMode::Equivalent(Equivalent::ReadsBefore) => self.read_extra().await,
            AgentMode::Survey(types) => {
                let survey = self.survey(types).await;
                *self.survey.lock().unwrap_or_else(PoisonError::into_inner) = survey;
            }
            _ => {}
        }
    }

    /// Does what the mode requires after the agent has ended.
    pub async fn finish(&self) -> Result<(), ClientError> {
        match &self.mode {
            AgentMode::Equivalent(Equivalent::ReadsAfter) => self.read_extra().await,
            AgentMode::Equivalent(Equivalent::FilesLast) => self.send_delayed().await?,
            AgentMode::Attack(case) => self.finish_attack(case).await?,
            AgentMode::Mutant(Mutant { mutation: Mutation::ExtraMessage(message), .. }) => {
                self.send_extra(message).await?
            }
            AgentMode::Mutant(Mutant { mutation: Mutation::RecordDeleted(resource_type), .. }) => {
                self.delete_record(resource_type).await?;
            }
            AgentMode::Mutant(Mutant { mutation: Mutation::RecordChanged(resource_type), .. }) => {
                self.change_record(resource_type).await?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Sends a message as it is.
    pub(crate) async fn send(&self, message: &Message) -> Result<ApiResponse, ClientError> {
        let path = format!("{}/{}", message.root.as_deref().unwrap_or(&self.root), message.path);
        self.client.exchange(message.method.clone(), &path, &message.headers, message.body.clone()).await
    }

    /// Notes that a request was altered, if `is_altered`.
    pub(crate) fn mark_altered(&self, is_altered: bool) {
        self.altered.fetch_or(is_altered, Ordering::Relaxed);
    }

    /// Records a write of the agent and returns its number.
    fn record_write(&self, message: &Message) -> usize {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        if sent.len() < MAX_RECORDED {
            sent.push(message.without_sender());
        }
        sent.len().saturating_sub(1)
    }

    async fn forward_read(&self, message: Message) -> Result<ApiResponse, ClientError> {
        if self.mode == AgentMode::Equivalent(Equivalent::ReadsTwice) {
            self.mark_altered(true);
            self.send(&message).await?;
        }
        if message.path.starts_with("files") {
            self.send_delayed().await?;
        }
        let response = self.send(&message).await?;
        Ok(match &self.mode {
            AgentMode::Attack(case) => self.report_delivered(case, response),
            _ => response,
        })
    }

    async fn forward_mutated(
        &self,
        mutant: &Mutant,
        number: usize,
        message: Message,
    ) -> Result<ApiResponse, ClientError> {
        match &mutant.mutation {
            Mutation::Values(values) => {
                let here = values.iter().filter(|(at, _)| *at == number).map(|(_, address)| address);
                let altered = mutants::mutated(mutant.kind, &message, here);
                self.mark_altered(altered.is_some());
                self.send(&altered.unwrap_or(message)).await
            }
            Mutation::Omitted(at) if *at == number => {
                self.mark_altered(true);
                Ok(ApiResponse { status: 200, headers: json_headers(), body: Bytes::from_static(b"{}") })
            }
            Mutation::Duplicated(at) if *at == number => {
                let first = self.send(&mutants::duplicate(&message)).await?;
                let second = self.send(&message).await?;
                // If one of the two is rejected, the work was done once only.
                self.mark_altered(first.is_success() && second.is_success());
                Ok(second)
            }
            Mutation::WrongLocation(at) if *at == number => {
                self.mark_altered(true);
                self.send(&mutants::relocated(&message)).await
            }
            Mutation::SiblingContent(at, content) if *at == number => {
                self.mark_altered(true);
                self.send(&message.with(content)).await
            }
            _ => self.send(&message).await,
        }
    }

    async fn forward_equivalent(
        &self,
        equivalent: Equivalent,
        number: usize,
        message: Message,
    ) -> Result<ApiResponse, ClientError> {
        match equivalent {
            Equivalent::ReadsBetween => self.read_extra().await,
            Equivalent::ReadsMissing => self.read_missing().await,
            Equivalent::InvalidFirst => {
                if let Some(invalid) = equivalents::truncated(&message) {
                    let response = self.send(&invalid).await?;
                    self.mark_altered(!response.is_success());
                }
            }
            Equivalent::RepeatedPut if message.method == Method::PUT => {
                let first = self.send(&message).await?;
                self.mark_altered(first.is_success());
            }
            Equivalent::AsTransaction | Equivalent::AsBatch => {
                let bundle_type = if equivalent == Equivalent::AsBatch { "batch" } else { "transaction" };
                if let Some(bundle) = equivalents::bundle(&message, bundle_type) {
                    self.mark_altered(true);
                    return self.forward_bundle(&bundle).await;
                }
            }
            Equivalent::FilesLast if message.path.starts_with("files/") && message.method == Method::PUT => {
                self.delayed.lock().unwrap_or_else(PoisonError::into_inner).push(message);
                return Ok(ApiResponse { status: 201, headers: json_headers(), body: Bytes::from_static(b"{}") });
            }
            Equivalent::FilesLast => {
                self.mark_altered(!self.delayed.lock().unwrap_or_else(PoisonError::into_inner).is_empty())
            }
            Equivalent::ReadsBack => return self.forward_and_read_back(message).await,
            _ => {}
        }
        let altered = equivalents::altered(equivalent, number, &message);
        self.mark_altered(altered.is_some());
        self.send(&altered.unwrap_or(message)).await
    }

    async fn send_delayed(&self) -> Result<(), ClientError> {
        let delayed = std::mem::take(&mut *self.delayed.lock().unwrap_or_else(PoisonError::into_inner));
        for message in delayed {
            self.send(&message).await?;
        }
        Ok(())
    }

    /// Forwards a write and immediately reads what it created.
    async fn forward_and_read_back(&self, message: Message) -> Result<ApiResponse, ClientError> {
        let response = self.send(&message).await?;
        let created: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        let path = message.path.split('?').next().unwrap_or_default();
        let path = match (message.method == Method::PUT, created["id"].as_str()) {
            (true, _) => path.to_owned(),
            (false, Some(id)) => format!("{path}/{id}"),
            (false, None) => return Ok(response),
        };
        self.mark_altered(self.send(&Message::read(&path)).await?.is_success());
        Ok(response)
    }

    /// Sends a bundle and returns the resource that it created, which is the response that the agent expects.
    async fn forward_bundle(&self, bundle: &Message) -> Result<ApiResponse, ClientError> {
        let response = self.send(bundle).await?;
        let content: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        let created =
            content["entry"][0]["response"]["location"].as_str().and_then(equivalents::reference_from_location);
        match created.filter(|_| response.is_success()) {
            Some(reference) => self.send(&Message::read(&format!("fhir/{reference}"))).await,
            None => Ok(response),
        }
    }

    /// Reads things that the work does not need. Ignores rejections.
    async fn read_extra(&self) {
        self.mark_altered(true);
        for path in
            ["fhir/Patient?_count=3", "fhir/metadata", "files/inbox", "hl7/inbox", "messages", "portal/prior-auths"]
        {
            let _ = self.send(&Message::read(path)).await;
        }
    }

    /// Reads things that do not exist.
    async fn read_missing(&self) {
        self.mark_altered(true);
        for path in ["fhir/Patient/nobody-of-this-name", "files/outbox/nothing.json", "fhir/Patient?name=Nobodyatall"] {
            let _ = self.send(&Message::read(path)).await;
        }
    }

    /// The first resource of a type, if there is one.
    async fn first(&self, resource_type: &str) -> Result<Option<Value>, ClientError> {
        let response = self.send(&Message::read(&format!("fhir/{resource_type}?_count=1"))).await?;
        let bundle: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        let resource = bundle["entry"][0]["resource"].clone();
        Ok(resource["id"].is_string().then_some(resource))
    }

    /// Sends an additional message. It counts as an alteration only if the server accepts it.
    async fn send_extra(&self, message: &Message) -> Result<(), ClientError> {
        let mut message = message.clone();
        let body = String::from_utf8_lossy(&message.body).into_owned();
        if body.contains(mutants::ANY_PATIENT) {
            let Some(patient) = self.first("Patient").await? else { return Ok(()) };
            message.body = body.replace(mutants::ANY_PATIENT, patient["id"].as_str().unwrap_or_default()).into();
        }
        self.mark_altered(self.send(&message).await?.is_success());
        Ok(())
    }

    /// Deletes a record of this type, which no task asks for.
    async fn delete_record(&self, resource_type: &str) -> Result<(), ClientError> {
        let Some(record) = self.first(resource_type).await? else { return Ok(()) };
        let path = format!("fhir/{resource_type}/{}", record["id"].as_str().unwrap_or_default());
        let deletion = Message { method: Method::DELETE, ..Message::read(&path) };
        self.mark_altered(self.send(&deletion).await?.is_success());
        Ok(())
    }

    /// Changes a record of this type that has nothing to do with the task.
    async fn change_record(&self, resource_type: &str) -> Result<(), ClientError> {
        let Some(mut record) = self.first(resource_type).await? else { return Ok(()) };
        record["language"] = "de".into();
        let path = format!("fhir/{resource_type}/{}", record["id"].as_str().unwrap_or_default());
        self.mark_altered(self.send(&Message::json(Method::PUT, &path, &record)).await?.is_success());
        Ok(())
    }
}

fn json_headers() -> Vec<(String, String)> {
    vec![("content-type".to_owned(), "application/json".to_owned())]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded messages are sent again in other runs, which have other addresses and keys.
    #[tokio::test]
    async fn recorded_messages_have_no_address_or_key() {
        let client = Client::new("http://127.0.0.1:1", "key").expect("a client");
        let proxy = MutatingProxy::new(client, "tr_1", AgentMode::Reference);
        let mut message = Message::json(Method::POST, "x12/transactions", &Value::Null);
        message.root = Some("/v1/task-runs/tr_1/sandbox".to_owned());
        message.headers.push(("Authorization".to_owned(), "Bearer tr_1".to_owned()));
        assert!(proxy.forward(message).await.is_err(), "nothing listens on that port");
        assert_eq!(proxy.sent(), [Message::json(Method::POST, "x12/transactions", &Value::Null)]);
    }
}
