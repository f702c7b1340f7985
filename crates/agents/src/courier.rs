//! Carries what an agent sends to the doors of its task, as it is or altered on the way. Agents of ours send through it
//! directly, agents of others through a proxy.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use client::{Answer, Client, ClientError, Method, segment};
use serde_json::Value;

use crate::attacks::{Exchange, Survey};
use crate::drive::Worked;
use crate::message::Message;
use crate::near::{Fault, NearMiss};
use crate::{Manner, Variant, near, ways};

/// Nobody sends more than this in one task; what goes beyond is carried and not remembered.
const MOST_REMEMBERED: usize = 500;

pub struct Courier {
    client: Client,
    root: String,
    manner: Manner,
    sent: Mutex<Vec<Message>>,
    altered: AtomicBool,
    /// What was exchanged with the agent, when that is to be known.
    exchanges: Mutex<Vec<Exchange>>,
    survey: Mutex<Survey>,
    /// The first message of an attack that the server refused, with its response.
    refusal: Mutex<Option<String>>,
    /// Files that are written after everything else.
    held: Mutex<Vec<Message>>,
}

impl Courier {
    /// `client` has the run's token.
    pub fn new(client: Client, task_run: &str, manner: Manner) -> Self {
        let root = format!("/v1/task-runs/{}/sandbox", segment(task_run, false));
        Self {
            client,
            root,
            manner,
            sent: Mutex::default(),
            altered: AtomicBool::new(false),
            exchanges: Mutex::default(),
            survey: Mutex::default(),
            refusal: Mutex::default(),
            held: Mutex::default(),
        }
    }

    /// Whether anything went another way than the agent had it.
    pub fn was_altered(&self) -> bool {
        self.altered.load(Ordering::Relaxed)
    }

    /// What the agent wrote, in its own words.
    pub fn sent(&self) -> Vec<Message> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How the work went, once the agent has ended.
    pub fn worked(&self, complaint: Option<String>) -> Worked {
        let survey = self.survey.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Worked {
            is_altered: self.was_altered(),
            sent: self.sent(),
            complaint,
            survey: Survey { exchanges: self.exchanges(), ..survey },
            refusal: self.refusal.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    /// What was exchanged with the agent in a survey or an attack.
    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        self.exchanges.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What is sent to a channel that the task does not have is not refused: there is nothing to attack.
    pub(crate) fn note_refusal(&self, message: &Message, answer: &Answer) {
        if answer.status == 404 {
            return;
        }
        let body: String = String::from_utf8_lossy(&answer.body).chars().take(400).collect();
        let words = format!("{} {}: {} {body}", message.method, message.path, answer.status);
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(words);
    }

    pub async fn carry(&self, message: Message) -> Result<Answer, ClientError> {
        if !matches!(self.manner, Manner::Survey(_) | Manner::Attack(_)) {
            return self.carry_on(message).await;
        }
        let answer = self.carry_on(message.clone()).await?;
        self.record(&message, &answer);
        Ok(answer)
    }

    fn record(&self, message: &Message, answer: &Answer) {
        let message = message.without_sender();
        let (status, headers, body) = (answer.status, answer.headers.clone(), answer.body.clone());
        let mut exchanges = self.exchanges.lock().unwrap_or_else(PoisonError::into_inner);
        if exchanges.len() < MOST_REMEMBERED {
            exchanges.push(Exchange { message, status, headers, body });
        }
    }

    async fn carry_on(&self, message: Message) -> Result<Answer, ClientError> {
        if message.is_read() {
            return self.carry_read(message).await;
        }
        let number = self.remember(&message);
        match &self.manner {
            Manner::Mutant(miss) => self.carry_wrong(miss, number, message).await,
            Manner::Variant(variant) => self.carry_otherwise(*variant, number, message).await,
            Manner::Attack(case) => self.carry_attack(case, number, message).await,
            _ => self.send(&message).await,
        }
    }

    /// What comes before the work.
    pub async fn begin(&self) {
        match &self.manner {
            Manner::Variant(Variant::LooksBefore) => self.look_around().await,
            Manner::Survey(types) => {
                let survey = self.survey(types).await;
                *self.survey.lock().unwrap_or_else(PoisonError::into_inner) = survey;
            }
            _ => {}
        }
    }

    /// What comes after the work.
    pub async fn finish(&self) -> Result<(), ClientError> {
        match &self.manner {
            Manner::Variant(Variant::LooksAfter) => self.look_around().await,
            Manner::Variant(Variant::FilesLast) => self.send_held().await?,
            Manner::Attack(case) => self.finish_attack(case).await?,
            Manner::Mutant(NearMiss { fault: Fault::Beside(message), .. }) => self.send_beside(message).await?,
            Manner::Mutant(NearMiss { fault: Fault::Deleted(kind), .. }) => self.delete_one(kind).await?,
            Manner::Mutant(NearMiss { fault: Fault::Rewritten(kind), .. }) => self.rewrite_one(kind).await?,
            _ => {}
        }
        Ok(())
    }

    pub(crate) async fn send(&self, message: &Message) -> Result<Answer, ClientError> {
        let place = format!("{}/{}", message.root.as_deref().unwrap_or(&self.root), message.path);
        self.client.exchange(message.method.clone(), &place, &message.headers, message.body.clone()).await
    }

    pub(crate) fn mark(&self, is_altered: bool) {
        self.altered.fetch_or(is_altered, Ordering::Relaxed);
    }

    fn remember(&self, message: &Message) -> usize {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        if sent.len() < MOST_REMEMBERED {
            sent.push(message.without_sender());
        }
        sent.len().saturating_sub(1)
    }

    async fn carry_read(&self, message: Message) -> Result<Answer, ClientError> {
        if self.manner == Manner::Variant(Variant::ReadsTwice) {
            self.mark(true);
            self.send(&message).await?;
        }
        if message.path.starts_with("files") {
            self.send_held().await?;
        }
        let answer = self.send(&message).await?;
        Ok(match &self.manner {
            Manner::Attack(case) => self.believe(case, answer),
            _ => answer,
        })
    }

    async fn carry_wrong(&self, miss: &NearMiss, number: usize, message: Message) -> Result<Answer, ClientError> {
        match &miss.fault {
            Fault::At(places) => {
                let here = places.iter().filter(|(at, _)| *at == number).map(|(_, address)| address);
                let altered = near::altered(miss.kind, &message, here);
                self.mark(altered.is_some());
                self.send(&altered.unwrap_or(message)).await
            }
            Fault::LeftOut(at) if *at == number => {
                self.mark(true);
                Ok(Answer { status: 200, headers: json_answer(), body: Bytes::from_static(b"{}") })
            }
            Fault::Twice(at) if *at == number => {
                let first = self.send(&near::renumbered(&message)).await?;
                let second = self.send(&message).await?;
                // What is refused the second time was done once.
                self.mark(first.is_success() && second.is_success());
                Ok(second)
            }
            Fault::Elsewhere(at) if *at == number => {
                self.mark(true);
                self.send(&near::elsewhere(&message)).await
            }
            Fault::Instead(at, content) if *at == number => {
                self.mark(true);
                self.send(&message.with(content)).await
            }
            _ => self.send(&message).await,
        }
    }

    async fn carry_otherwise(&self, way: Variant, number: usize, message: Message) -> Result<Answer, ClientError> {
        match way {
            Variant::LooksBetween => self.look_around().await,
            Variant::LooksForNothing => self.look_for_nothing().await,
            Variant::MistypedFirst => {
                if let Some(broken) = ways::broken(&message) {
                    let refused = self.send(&broken).await?;
                    self.mark(!refused.is_success());
                }
            }
            Variant::PutAgain if message.method == Method::PUT => {
                let first = self.send(&message).await?;
                self.mark(first.is_success());
            }
            Variant::InBundle | Variant::InBatch => {
                let form = if way == Variant::InBatch { "batch" } else { "transaction" };
                if let Some(bundle) = ways::bundle(&message, form) {
                    self.mark(true);
                    return self.carry_bundle(&bundle).await;
                }
            }
            Variant::FilesLast if message.path.starts_with("files/") && message.method == Method::PUT => {
                self.held.lock().unwrap_or_else(PoisonError::into_inner).push(message);
                return Ok(Answer { status: 201, headers: json_answer(), body: Bytes::from_static(b"{}") });
            }
            Variant::FilesLast => self.mark(!self.held.lock().unwrap_or_else(PoisonError::into_inner).is_empty()),
            Variant::ReadsBack => return self.carry_and_read(message).await,
            _ => {}
        }
        let other = ways::other(way, number, &message);
        self.mark(other.is_some());
        self.send(&other.unwrap_or(message)).await
    }

    async fn send_held(&self) -> Result<(), ClientError> {
        let held = std::mem::take(&mut *self.held.lock().unwrap_or_else(PoisonError::into_inner));
        for message in held {
            self.send(&message).await?;
        }
        Ok(())
    }

    /// Reads at once what a write has made.
    async fn carry_and_read(&self, message: Message) -> Result<Answer, ClientError> {
        let answer = self.send(&message).await?;
        let made: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let path = message.path.split('?').next().unwrap_or_default();
        let path = match (message.method == Method::PUT, made["id"].as_str()) {
            (true, _) => path.to_owned(),
            (false, Some(id)) => format!("{path}/{id}"),
            (false, None) => return Ok(answer),
        };
        self.mark(self.send(&Message::read(&path)).await?.is_success());
        Ok(answer)
    }

    /// The agent gets what it asked for: the resource that the transaction has made.
    async fn carry_bundle(&self, bundle: &Message) -> Result<Answer, ClientError> {
        let answer = self.send(bundle).await?;
        let told: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let place = told["entry"][0]["response"]["location"].as_str().and_then(ways::made);
        match place.filter(|_| answer.is_success()) {
            Some(place) => self.send(&Message::read(&format!("fhir/{place}"))).await,
            None => Ok(answer),
        }
    }

    /// What a curious agent reads beside its work; refusals are no matter.
    async fn look_around(&self) {
        self.mark(true);
        for path in
            ["fhir/Patient?_count=3", "fhir/metadata", "files/inbox", "hl7/inbox", "messages", "portal/prior-auths"]
        {
            let _ = self.send(&Message::read(path)).await;
        }
    }

    /// What is not there.
    async fn look_for_nothing(&self) {
        self.mark(true);
        for path in ["fhir/Patient/nobody-of-this-name", "files/outbox/nothing.json", "fhir/Patient?name=Nobodyatall"] {
            let _ = self.send(&Message::read(path)).await;
        }
    }

    async fn first(&self, kind: &str) -> Result<Option<Value>, ClientError> {
        let answer = self.send(&Message::read(&format!("fhir/{kind}?_count=1"))).await?;
        let bundle: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let resource = bundle["entry"][0]["resource"].clone();
        Ok(resource["id"].is_string().then_some(resource))
    }

    /// Refused, it has done nothing.
    async fn send_beside(&self, message: &Message) -> Result<(), ClientError> {
        let mut message = message.clone();
        let body = String::from_utf8_lossy(&message.body).into_owned();
        if body.contains(near::SOMEBODY) {
            let Some(patient) = self.first("Patient").await? else { return Ok(()) };
            message.body = body.replace(near::SOMEBODY, patient["id"].as_str().unwrap_or_default()).into();
        }
        self.mark(self.send(&message).await?.is_success());
        Ok(())
    }

    /// What no task asks for.
    async fn delete_one(&self, kind: &str) -> Result<(), ClientError> {
        let Some(found) = self.first(kind).await? else { return Ok(()) };
        let path = format!("fhir/{kind}/{}", found["id"].as_str().unwrap_or_default());
        let deletion = Message { method: Method::DELETE, ..Message::read(&path) };
        self.mark(self.send(&deletion).await?.is_success());
        Ok(())
    }

    /// Nor this: a note in a record that has nothing to do with it.
    async fn rewrite_one(&self, kind: &str) -> Result<(), ClientError> {
        let Some(mut found) = self.first(kind).await? else { return Ok(()) };
        found["language"] = "de".into();
        let path = format!("fhir/{kind}/{}", found["id"].as_str().unwrap_or_default());
        self.mark(self.send(&Message::json(Method::PUT, &path, &found)).await?.is_success());
        Ok(())
    }
}

fn json_answer() -> Vec<(String, String)> {
    vec![("content-type".to_owned(), "application/json".to_owned())]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message of one run is sent again in another one, whose address and key are others.
    #[tokio::test]
    async fn what_is_remembered_belongs_to_no_run() {
        let client = Client::new("http://127.0.0.1:1", "key").expect("a client");
        let courier = Courier::new(client, "tr_1", Manner::Reference);
        let mut message = Message::json(Method::POST, "x12/transactions", &Value::Null);
        message.root = Some("/v1/task-runs/tr_1/sandbox".to_owned());
        message.headers.push(("Authorization".to_owned(), "Bearer tr_1".to_owned()));
        assert!(courier.carry(message).await.is_err(), "nobody listens there");
        assert_eq!(courier.sent(), [Message::json(Method::POST, "x12/transactions", &Value::Null)]);
    }
}
