//! The configuration of a phone line: its number, its voicemails, and the graph of its IVR.

use std::collections::{BTreeMap, BTreeSet};

use model::FieldErrors;
use model::reading::shortened;
use serde::Deserialize;
use serde_json::Value;

use crate::authored::Authored;
use crate::contact_points;
use crate::voice::node::{self, IvrNode};
use crate::voice::steps::LeftVoicemail;
use crate::voice::{graph, prompt};

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VoiceConfig {
    /// The number of the line. Without it, each sandbox gets a number of its own.
    pub phone_number: Option<String>,
    /// Voicemails that exist from the start.
    #[serde(default)]
    pub voicemails: Vec<LeftVoicemail>,
    /// Without it, nobody answers calls to the line.
    pub ivr: Option<Ivr>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ivr {
    /// The node that answers the call.
    pub start: String,
    /// The authored nodes. See [`Ivr::read_nodes`].
    nodes: BTreeMap<String, Value>,
    /// The default for how often a menu or collect node asks again.
    pub retries: Option<i64>,
    /// The default for how long a node waits for the caller.
    pub timeout_seconds: Option<i64>,
    /// The default for whether the caller may interrupt a prompt.
    pub barge_in: Option<bool>,
}

const MAX_NODES: usize = 500;
const MAX_VOICEMAILS: usize = 200;

impl Ivr {
    /// Reads all nodes by name.
    pub fn read_nodes(&self) -> Result<BTreeMap<&str, IvrNode>, FieldErrors> {
        let mut nodes = BTreeMap::new();
        let mut errors = FieldErrors::new();
        for (name, authored) in self.nodes.iter() {
            match IvrNode::read(authored) {
                Ok(node) => {
                    nodes.insert(name.as_str(), node);
                }
                Err(node_errors) => errors.nest(&format!("nodes.{}", shortened(name, 80)), node_errors),
            }
        }
        errors.into_result().map(|()| nodes)
    }

    /// One node. The graph was validated when it was saved.
    pub(super) fn node(&self, name: &str) -> Option<IvrNode> {
        IvrNode::read(self.nodes.get(name)?).ok()
    }
}

impl Authored for VoiceConfig {
    fn validate(&self, errors: &mut FieldErrors) {
        if let Some(number) = &self.phone_number {
            contact_points::check_phone_number(errors, "phone_number", number);
        }
        errors.each("voicemails", &self.voicemails, MAX_VOICEMAILS, LeftVoicemail::validate);
        if let Some(ivr) = &self.ivr {
            errors.inside("ivr", |errors| ivr.validate(errors));
        }
    }
}

impl Ivr {
    fn validate(&self, errors: &mut FieldErrors) {
        node::check_retry_policy(errors, self.retries, self.timeout_seconds);
        if self.nodes.is_empty() || self.nodes.len() > MAX_NODES {
            return errors.add("nodes", format!("must have 1 to {MAX_NODES} nodes, has {}", self.nodes.len()));
        }
        for name in self.nodes.keys().filter(|name| !node::is_name(name)) {
            errors.add(format!("nodes.{}", shortened(name, 80)), node::NAME_RULE);
        }
        if !self.nodes.contains_key(&self.start) {
            errors.add("start", format!("no node `{}`", shortened(&self.start, 60)));
        }
        match self.read_nodes() {
            Ok(nodes) => {
                check_prompts(&nodes, errors);
                graph::check(&self.start, &nodes, errors);
            }
            Err(node_errors) => errors.merge(node_errors),
        }
    }
}

/// What prompts name must be known by the time of some prompt: a field that is collected, a record that is looked up.
fn check_prompts(nodes: &BTreeMap<&str, IvrNode>, errors: &mut FieldErrors) {
    let fields: BTreeSet<&str> = nodes.values().flat_map(IvrNode::collected_fields).collect();
    let has_record = nodes.values().any(|node| matches!(node, IvrNode::Lookup(_)));
    for (name, node) in nodes {
        for (place, text) in node.prompts() {
            if let Err(message) = prompt::check(text, &fields, has_record) {
                errors.add(format!("nodes.{name}.{place}"), message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authored::check;
    use serde_json::json;

    fn errors(ivr: &Value) -> String {
        check::<VoiceConfig>(&json!({ "ivr": ivr })).err().map_or_else(String::new, |errors| errors.to_string())
    }

    #[test]
    fn graphs_must_lead_somewhere() {
        let goodbye = json!({"type": "hangup"});
        let say = |next: &str| json!({"type": "say", "prompt": "x", "next": next});
        let menu = |next: &str| json!({"type": "menu", "prompt": "x", "options": [{"dtmf": "1", "next": next}]});
        for (ivr, expected) in [
            (json!({"start": "a", "nodes": {"a": goodbye}}), ""),
            (json!({"start": "a", "nodes": {"a": say("b"), "b": goodbye}}), ""),
            (
                json!({"start": "a", "nodes": {"a": {"type": "menu", "prompt": "x", "otherwise": "b",
                    "options": [{"dtmf": "*", "next": "a"}]}, "b": goodbye}}),
                "",
            ),
            (json!({"start": "b", "nodes": {"a": goodbye}}), "ivr.start: no node `b`"),
            (json!({"start": "a", "nodes": {}}), "ivr.nodes: must have 1 to 500 nodes, has 0"),
            (json!({"start": "a", "nodes": {"a": say("c")}}), "ivr.nodes.a.next: no node `c`"),
            (json!({"start": "a", "nodes": {"a": menu("c")}}), "ivr.nodes.a.options.0.next: no node `c`"),
            (json!({"start": "a", "nodes": {"a": goodbye, "b": goodbye}}), "ivr.nodes.b: cannot be reached from `a`"),
            (
                json!({"start": "a", "nodes": {"a": menu("a")}}),
                "ivr.nodes.a: is a dead end: no hangup, voicemail, transfer or representative can be reached",
            ),
            (
                json!({"start": "a", "nodes": {"a": {"type": "lookup", "source": "rows", "resource": "x",
                    "match": {"id": "1"}, "found": "c", "not_found": "b"}, "b": say("a"), "c": goodbye}}),
                "ivr.nodes.a: is in a cycle of nodes that never listen to the caller; \
                 ivr.nodes.b: is in a cycle of nodes that never listen to the caller",
            ),
            (
                json!({"start": "a b", "nodes": {"a b": goodbye}}),
                "ivr.nodes.a b: must be a name of 1 to 64 letters, digits, `_` or `-`",
            ),
        ] {
            assert_eq!(errors(&ivr), expected, "{ivr}");
        }
    }

    #[test]
    fn prompts_may_only_use_known_fields_and_records() {
        let ivr = json!({"start": "a", "nodes": {
            "a": {"type": "collect", "prompt": "Hello {{field.member_id}}",
                "field": "member_id", "kind": "digits", "next": "b"},
            "b": {"type": "say", "prompt": "{{field.name}} {{record.name}}", "next": "c"},
            "c": {"type": "hangup", "prompt": "{{entity.name}}"},
        }});
        assert_eq!(
            errors(&ivr),
            "ivr.nodes.b.prompt: names the field `name`, which no node collects; \
             ivr.nodes.c.prompt: template `{{entity.name}}` must start with `field.` or `record.`"
        );
    }

    #[test]
    fn malformed_graphs_are_rejected() {
        for (ivr, expected) in [
            (json!([]), "ivr: must be an object, is a list"),
            (json!({}), "ivr.start: is required"),
            (json!({"start": "a", "nodes": []}), "ivr.nodes: must be an object, is a list"),
            (json!({"start": "a", "nodes": {"a": 1}}), "ivr.nodes.a: must be an object, is 1"),
            (json!({"start": "a", "nodes": {"a": {}}}), "ivr.nodes.a.type: is required"),
            (
                json!({"start": "a", "retries": 11, "nodes": {"a": {"type": "hangup"}}}),
                "ivr.retries: must be from 0 to 10, is 11",
            ),
        ] {
            assert_eq!(errors(&ivr), expected, "{ivr}");
        }
    }

    #[test]
    fn large_graphs_are_walked_without_recursion() {
        let mut nodes: serde_json::Map<String, Value> = (0..499)
            .map(|index| {
                (format!("n{index}"), json!({"type": "say", "prompt": "x", "next": format!("n{}", index + 1)}))
            })
            .collect();
        nodes.insert("n499".to_owned(), json!({"type": "hangup"}));
        assert_eq!(errors(&json!({"start": "n0", "nodes": nodes})), "");
        nodes.insert("n499".to_owned(), json!({"type": "say", "prompt": "x", "next": "n0"}));
        // All 500 nodes are dead ends, and the first 100 errors are reported.
        assert_eq!(errors(&json!({"start": "n0", "nodes": nodes})).matches("is a dead end").count(), 100);
        nodes.insert("n500".to_owned(), json!({"type": "hangup"}));
        assert_eq!(errors(&json!({"start": "n0", "nodes": nodes})), "ivr.nodes: must have 1 to 500 nodes, has 501");
    }
}
