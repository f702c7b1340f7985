//! Writes Bundles of stored resources without parsing them (<https://hl7.org/fhir/R4/bundle.html>).

use std::fmt::Write as _;

use serde_json::Value;
use world::Record;

use super::interaction_context::InteractionContext;
use super::reply::{Reply, ReplyContent, version_name};
use super::subset::Subset;

/// A Bundle that is being written as text.
pub(crate) struct BundleWriter {
    text: String,
    has_entries: bool,
    total: Option<usize>,
    names: Vec<String>,
}

impl BundleWriter {
    pub(crate) fn new(
        context: &InteractionContext<'_>,
        bundle_type: &str,
        total: Option<usize>,
        links: &[(&'static str, String)],
    ) -> Self {
        let mut text = String::with_capacity(4096);
        let now = context.now();
        let _ = write!(text, r#"{{"resourceType":"Bundle","meta":{{"lastUpdated":"{now}"}},"type":"{bundle_type}""#);
        if let Some(total) = total {
            let _ = write!(text, r#","total":{total}"#);
        }
        for (at, (relation, url)) in links.iter().enumerate() {
            text.push_str(if at == 0 { r#","link":["# } else { "," });
            let _ = write!(text, r#"{{"relation":"{relation}","url":{}}}"#, Value::from(url.as_str()));
        }
        text.push(']');
        Self { text, has_entries: false, total, names: Vec::new() }
    }

    fn write_separator(&mut self) {
        self.text.push_str(if self.has_entries { "," } else { r#","entry":["# });
        self.has_entries = true;
    }

    /// Adds a search result. The mode is `match` or `include`.
    pub(crate) fn add_result(
        &mut self,
        context: &InteractionContext<'_>,
        record: &Record<'_>,
        subset: &Subset,
        mode: &str,
    ) {
        self.write_separator();
        self.start_entry(context, record, subset);
        let _ = write!(self.text, r#","search":{{"mode":"{mode}"}}}}"#);
        self.names.push(version_name(record));
    }

    /// Adds an OperationOutcome about the search.
    pub(crate) fn add_outcome(&mut self, outcome: &Value) {
        self.write_separator();
        let _ = write!(self.text, r#"{{"resource":{outcome},"search":{{"mode":"outcome"}}}}"#);
    }

    /// Adds a version of a history.
    pub(crate) fn add_revision(&mut self, context: &InteractionContext<'_>, revision: &world::Revision<'_>) {
        let world::Revision { collection, key, version, at, write, .. } = revision;
        self.write_separator();
        match &revision.record {
            Some(record) => self.start_entry(context, record, &Subset::Whole),
            None => {
                let url = Value::from(format!("{}/{collection}/{key}", context.base_url));
                let _ = write!(self.text, r#"{{"fullUrl":{url}"#);
            }
        }
        let (method, url, status) = match write {
            world::Write::Create => ("POST", (*collection).to_owned(), "201 Created"),
            world::Write::Update => ("PUT", format!("{collection}/{key}"), "200 OK"),
            world::Write::Delete => ("DELETE", format!("{collection}/{key}"), "204 No Content"),
        };
        let _ = write!(
            self.text,
            r#","request":{{"method":"{method}","url":"{url}"}},"response":{{"status":"{status}","etag":"W/\"{version}\"","lastModified":"{at}"}}}}"#
        );
        self.names.push(super::reply::name_of(collection, key, *version));
    }

    /// Starts an entry with its resource.
    fn start_entry(&mut self, context: &InteractionContext<'_>, record: &Record<'_>, subset: &Subset) {
        let url = Value::from(format!("{}/{}/{}", context.base_url, record.collection, record.key));
        let _ = write!(self.text, r#"{{"fullUrl":{url},"resource":"#);
        match subset {
            Subset::Whole => self.text.push_str(&record.text()),
            subset => self.text.push_str(&subset.of_resource(&record.json()).to_string()),
        }
    }

    pub(crate) fn reply(mut self) -> Reply {
        self.text.push_str(if self.has_entries { "]}" } else { "}" });
        Reply::new(200, ReplyContent::List { text: self.text, total: self.total, entries: self.names })
    }
}
