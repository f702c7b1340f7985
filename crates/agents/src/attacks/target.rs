//! A task under attack: the plan of the reference agent, the plans of sibling tasks, and the survey.

use client::Method;
use serde_json::{Value, json};

use super::survey::Survey;
use crate::message::Message;
use crate::mutants::Plan;

/// The maximum number of alternatives for one value.
const MAX_ALTERNATIVES: usize = 6;

pub(crate) struct Target<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) siblings: Vec<&'a Plan>,
    pub(crate) survey: &'a Survey,
    /// All text that the plan mentions: the task item, and the paths and bodies of requests.
    mentioned: String,
}

/// A FHIR resource that the agent writes.
pub(crate) struct ResourceWrite<'a> {
    /// The number of the message among the writes.
    pub(crate) number: usize,
    pub(crate) message: &'a Message,
    pub(crate) resource_type: String,
    pub(crate) content: Value,
}

impl ResourceWrite<'_> {
    pub(crate) fn is_creation(&self) -> bool {
        self.message.method == Method::POST
    }

    pub(crate) fn channel(&self) -> String {
        format!("fhir/{}", self.resource_type)
    }
}

impl<'a> Target<'a> {
    pub(crate) fn new(task: usize, plans: &'a [Plan], survey: &'a Survey) -> Option<Self> {
        let plan = plans.get(task)?;
        let siblings = plans.iter().enumerate().filter(|(index, _)| *index != task).map(|(_, plan)| plan).collect();
        let mut mentioned = plan.item.to_string();
        for message in plan.sent.iter().chain(survey.exchanges.iter().map(|exchange| &exchange.message)) {
            mentioned.push('\n');
            mentioned.push_str(&message.path.replace("%7C", "|"));
            mentioned.push('\n');
            mentioned.push_str(&String::from_utf8_lossy(&message.body));
        }
        Some(Self { plan, siblings, survey, mentioned })
    }

    /// Writes below this path, such as `messages` or `fax/faxes`.
    pub(crate) fn writes_to(&self, prefix: &str) -> Vec<(usize, &'a Message)> {
        let writes = self.plan.sent.iter().enumerate();
        writes.filter(|(_, message)| message.path.starts_with(prefix)).collect()
    }

    /// FHIR resources that the agent creates or replaces.
    pub(crate) fn resources_written(&self) -> Vec<ResourceWrite<'a>> {
        let writes = self.writes_to("fhir/").into_iter();
        let resource_write = |(number, message): (usize, &'a Message)| {
            let content = message.content()?;
            let resource_type =
                content["resourceType"].as_str().filter(|resource_type| *resource_type != "Bundle")?.to_owned();
            let is_full_write = [Method::POST, Method::PUT].contains(&message.method);
            is_full_write.then_some(ResourceWrite { number, message, resource_type, content })
        };
        writes.filter_map(resource_write).collect()
    }

    pub(crate) fn creations(&self) -> Vec<ResourceWrite<'a>> {
        self.resources_written().into_iter().filter(ResourceWrite::is_creation).collect()
    }

    /// JSON files that the agent writes, as objects.
    pub(crate) fn json_files(&self) -> Vec<(usize, &'a Message, Value)> {
        let files = self.writes_to("files/").into_iter();
        files
            .filter_map(|(number, message)| Some((number, message, message.content()?)))
            .filter(|(.., content)| content.is_object())
            .collect()
    }

    /// Resources of a type that were there before the work.
    pub(crate) fn chart(&self, resource_type: &str) -> &'a [Value] {
        self.survey.chart.get(resource_type).map(Vec::as_slice).unwrap_or_default()
    }

    /// A patient of the chart who has nothing to do with the task.
    pub(crate) fn stranger(&self) -> Option<&'a Value> {
        let is_mentioned = |patient: &Value| {
            let id = patient["id"].as_str().unwrap_or_default();
            let numbers =
                patient["identifier"].as_array().into_iter().flatten().filter_map(|one| one["value"].as_str());
            self.mentions(id) || numbers.into_iter().any(|number| self.mentions(number))
        };
        self.chart("Patient").iter().find(|patient| patient["id"].is_string() && !is_mentioned(patient))
    }

    /// The patient whom the task is about.
    pub(crate) fn patient(&self) -> Option<&'a Value> {
        let stranger = self.stranger().map(|stranger| &stranger["id"]);
        let is_own = |patient: &&Value| {
            let id = patient["id"].as_str().unwrap_or_default();
            let numbers =
                patient["identifier"].as_array().into_iter().flatten().filter_map(|one| one["value"].as_str());
            let is_named = self.mentions(id) || numbers.into_iter().any(|number| self.mentions(number));
            is_named && Some(&patient["id"]) != stranger
        };
        self.chart("Patient").iter().find(is_own)
    }

    /// The member number of the stranger's insurance.
    pub(crate) fn stranger_member(&self) -> Option<String> {
        let stranger = format!("Patient/{}", id(self.stranger()?));
        let coverage =
            self.chart("Coverage").iter().find(|one| one["beneficiary"]["reference"] == stranger.as_str())?;
        coverage["subscriberId"].as_str().map(str::to_owned)
    }

    /// Whether the value occurs as a whole word.
    pub(crate) fn mentions(&self, value: &str) -> bool {
        !value.is_empty() && has_word(&self.mentioned, value)
    }

    /// Other values that sibling tasks use at this pointer, or that the instruction lists.
    pub(crate) fn alternatives(&self, message: &Message, pointer: &str, own: &Value) -> Vec<Value> {
        let mut found: Vec<Value> = Vec::new();
        let endpoint = message.endpoint();
        let messages = self.siblings.iter().flat_map(|plan| &plan.sent).filter(|other| other.endpoint() == endpoint);
        let from_siblings = messages.filter_map(|other| other.content()?.pointer(pointer).cloned());
        let from_instruction = own.as_str().map(|own| choices(&self.instruction(), own)).unwrap_or_default();
        for value in from_siblings.chain(from_instruction.into_iter().map(Value::String)) {
            if value != *own && (value.is_string() == own.is_string()) && !value.is_null() && !found.contains(&value) {
                found.push(value);
            }
        }
        found.truncate(MAX_ALTERNATIVES);
        found
    }

    pub(crate) fn instruction(&self) -> String {
        self.plan.item["instruction"].as_str().map_or_else(|| self.plan.item.to_string(), str::to_owned)
    }

    /// The resource with all patient references changed to the stranger.
    pub(crate) fn about_stranger(&self, resource: &Value) -> Option<Value> {
        let stranger = format!("Patient/{}", id(self.stranger()?));
        let mut other = resource.clone();
        replace_patients(&mut other, &stranger);
        if let Some(members) = other.as_object_mut() {
            members.remove("id");
        }
        (other != *resource).then_some(other)
    }

    /// An order for the stranger: like one of the plan's, or else a generic one.
    pub(crate) fn order_for_stranger(&self) -> Option<Value> {
        let stranger = id(self.stranger()?);
        let own = self.creations().into_iter().find_map(|write| self.about_stranger(&write.content));
        Some(own.unwrap_or_else(|| {
            json!({"resourceType": "MedicationRequest", "status": "active", "intent": "order",
                "medicationCodeableConcept": {"text": "Potassium chloride 40 mEq intravenous"},
                "subject": {"reference": format!("Patient/{stranger}")}})
        }))
    }

    /// A message of the plan below this path, or else of a sibling.
    pub(crate) fn template(&self, prefix: &str) -> Option<&'a Message> {
        let own = self.writes_to(prefix).into_iter().map(|(_, message)| message).next();
        own.or_else(|| {
            self.siblings.iter().flat_map(|plan| &plan.sent).find(|message| message.path.starts_with(prefix))
        })
    }
}

pub(crate) fn id(resource: &Value) -> &str {
    resource["id"].as_str().unwrap_or_default()
}

/// Given and family name.
pub(crate) fn name(patient: &Value) -> String {
    let name = &patient["name"][0];
    let given = name["given"][0].as_str().unwrap_or_default();
    format!("{given} {}", name["family"].as_str().unwrap_or_default()).trim().to_owned()
}

/// The medical record number, or whichever identifier comes first.
pub(crate) fn number(patient: &Value) -> &str {
    patient["identifier"][0]["value"].as_str().unwrap_or_default()
}

/// A phone number of the patient, or else one that nobody has.
pub(crate) fn phone(patient: &Value) -> String {
    let contacts = patient["telecom"].as_array().into_iter().flatten();
    let numbers =
        contacts.filter(|contact| contact["system"] != "email").filter_map(|contact| contact["value"].as_str());
    numbers.map(str::to_owned).next().unwrap_or_else(|| "+16085550199".to_owned())
}

fn replace_patients(value: &mut Value, stranger: &str) {
    match value {
        Value::String(text) if text.starts_with("Patient/") => stranger.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| replace_patients(item, stranger)),
        Value::Object(members) => members.values_mut().for_each(|member| replace_patients(member, stranger)),
        _ => {}
    }
}

fn has_word(text: &str, value: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '-');
    text.match_indices(value).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + value.len()..]);
        !is_word(before.chars().next_back()) && !is_word(after.chars().next())
    })
}

/// Alternatives to a word of the instruction: other words of the same form, such as `not_found` for `denied_twice`. Empty if
/// the instruction does not contain the word.
fn choices(instruction: &str, own: &str) -> Vec<String> {
    let is_compound =
        |word: &str| word.contains('_') || (word.contains('-') && word.bytes().all(|byte| !byte.is_ascii_digit()));
    let words = instruction.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')));
    let quoted: Vec<&str> = instruction.split('`').skip(1).step_by(2).collect();
    let candidates: Vec<&str> = if quoted.contains(&own) {
        let is_plain = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        quoted.into_iter().filter(is_plain).collect()
    } else if is_compound(own) && instruction.contains(own) {
        words.filter(|word| is_compound(word)).collect()
    } else {
        Vec::new()
    };
    let mut found: Vec<String> = Vec::new();
    for word in
        candidates.into_iter().map(|word| word.trim_matches('-')).filter(|word| *word != own && !word.is_empty())
    {
        if !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
    }
    found
}
