//! Bundles of stored resources, whose text is passed through (<https://hl7.org/fhir/R4/bundle.html>).

use std::fmt::Write as _;

use serde_json::Value;
use world::Record;

use super::call::Call;
use super::reply::{Content, Reply, version_name};
use super::subset::Subset;

/// A Bundle in the making.
pub(crate) struct Listing {
    text: String,
    has_entries: bool,
    total: Option<usize>,
    names: Vec<String>,
}

impl Listing {
    pub(crate) fn new(call: &Call<'_>, kind: &str, total: Option<usize>, links: &[(&'static str, String)]) -> Self {
        let mut text = String::with_capacity(4096);
        let now = call.now();
        let _ = write!(text, r#"{{"resourceType":"Bundle","meta":{{"lastUpdated":"{now}"}},"type":"{kind}""#);
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

    fn separate(&mut self) {
        self.text.push_str(if self.has_entries { "," } else { r#","entry":["# });
        self.has_entries = true;
    }

    /// A resource that a search found; the mode is `match` or `include`.
    pub(crate) fn found(&mut self, call: &Call<'_>, record: &Record<'_>, subset: &Subset, mode: &str) {
        self.separate();
        self.resource(call, record, subset);
        let _ = write!(self.text, r#","search":{{"mode":"{mode}"}}}}"#);
        self.names.push(version_name(record));
    }

    /// What is to be said about the search itself.
    pub(crate) fn outcome(&mut self, outcome: &Value) {
        self.separate();
        let _ = write!(self.text, r#"{{"resource":{outcome},"search":{{"mode":"outcome"}}}}"#);
    }

    /// A line of a history.
    pub(crate) fn revision(&mut self, call: &Call<'_>, revision: &world::Revision<'_>) {
        let world::Revision { collection, key, version, at, write, .. } = revision;
        self.separate();
        match &revision.record {
            Some(record) => self.resource(call, record, &Subset::Whole),
            None => {
                let url = Value::from(format!("{}/{collection}/{key}", call.base_url));
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

    /// Opens an entry.
    fn resource(&mut self, call: &Call<'_>, record: &Record<'_>, subset: &Subset) {
        let url = Value::from(format!("{}/{}/{}", call.base_url, record.collection, record.key));
        let _ = write!(self.text, r#"{{"fullUrl":{url},"resource":"#);
        match subset {
            Subset::Whole => self.text.push_str(&record.text()),
            subset => self.text.push_str(&subset.of_resource(&record.json()).to_string()),
        }
    }

    pub(crate) fn reply(mut self) -> Reply {
        self.text.push_str(if self.has_entries { "]}" } else { "}" });
        Reply::new(200, Content::List { text: self.text, total: self.total, entries: self.names })
    }
}
