//! Pairs of requests with a foreign id and with an unknown id: the responses must not differ.

use futures_util::{StreamExt, stream};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Caller, TestResponse};

use crate::request::{AT_ONCE, Request};
use crate::surface::{Operation, Surface, Tenant, is_id};

/// An unknown id of the same type, an unknown version, or an unknown hash.
pub(crate) fn unknown_id(id: &str) -> String {
    if id.contains('@') {
        return "no-such-thing@1".to_owned();
    }
    if id.len() == 64 {
        return "0".repeat(64);
    }
    let (kind, _) = id.split_once('_').expect("an id");
    format!("{kind}_7{}", "Z".repeat(25))
}

/// Everything of a response that a prober could compare, with ids replaced.
pub(crate) fn comparable(response: &TestResponse, ids: &[&str]) -> String {
    let headers = response.headers.iter().filter(|(name, _)| *name != "date" && *name != "x-request-id");
    let body = if response.json.is_null() { response.text() } else { response.without_request_id().to_string() };
    let mut text = format!("{} {:?} {body}", response.status, headers.collect::<Vec<_>>());
    for id in ids {
        text = text.replace(&unknown_id(id), "an id").replace(id, "an id");
    }
    text
}

pub(crate) fn id_fields(schema: &Value) -> Vec<String> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.map(|(name, _)| name.clone()).filter(|name| is_id(name)).collect()
}

/// Valid and invalid spellings of an id in a path.
pub(crate) const SPELLINGS: [fn(&str) -> String; 26] = [
    |id| id.to_owned(),
    |id| id.to_lowercase(),
    |id| id.to_uppercase(),
    |id| format!("{id}%20"),
    |id| format!("%20{id}"),
    |id| format!("{id}%00"),
    |id| format!("{id}%0A"),
    |id| format!("{id}%2F"),
    |id| format!("{id}%2F..%2F{id}"),
    |id| format!("{id}@1"),
    |id| format!("{id}{id}"),
    |id| format!("{id},{id}"),
    |id| format!("{id}*"),
    |id| format!("{id};a=b"),
    |id| format!("{id}.json"),
    |id| format!("{id}%27%20or%201=1"),
    |id| format!("{id}%ff"),
    |id| format!("{id}%C2%A0"),
    |id| id.replace('_', "%5F"),
    |id| id.replace('_', "%255F"),
    |id| id.replace('_', "-"),
    |id| id.bytes().map(|byte| format!("%{byte:02X}")).collect(),
    |id| id.split('_').next_back().unwrap_or_default().to_owned(),
    |id| id[..id.len() - 1].to_owned(),
    |id| format!("{id}0"),
    |_| String::new(),
];

/// A request with foreign ids, and the same with unknown ids.
#[derive(Clone)]
pub(crate) struct Probe {
    theirs: Request,
    nothing: Request,
    /// Whether it must be an error: a list whose filter selects nothing is not.
    refused: bool,
}

impl Probe {
    fn with(self, change: impl Fn(Request) -> Request) -> Self {
        Self { theirs: change(self.theirs), nothing: change(self.nothing), refused: self.refused }
    }
}

/// Creates probes of `foreign` for a caller of another organization.
pub(crate) struct Prober<'a> {
    surface: &'a Surface,
    own: &'a Tenant,
    foreign: &'a Tenant,
    /// Entity tags of the foreign organization's resources, by id.
    tags: Vec<(String, String)>,
    foreign_organization: String,
}

/// An `Idempotency-Key` that the foreign organization has used.
const USED_KEY: &str = "used by the other";

impl<'a> Prober<'a> {
    pub(crate) async fn new(surface: &'a Surface, own: &'a Tenant, foreign: &'a Tenant) -> Self {
        let made = &foreign.made;
        let mut tags = Vec::new();
        for (folder, id) in [
            ("environments", &made.environment),
            ("simulators", &made.simulator),
            ("datasets", &made.dataset),
            ("benchmarks", &made.benchmark),
            ("tasks", &made.task),
            ("criteria", &made.criterion),
            ("solvers", &made.solver),
        ] {
            let response = foreign.caller.get(&format!("/{folder}/{id}")).await.expect(200);
            tags.push((id.clone(), response.header("etag").expect("a tag").to_owned()));
        }
        let foreign_organization = foreign.caller.get("/organization").await.expect(200).id();
        let attach = format!("/environments/{}/simulators/{}", made.environment, made.simulator);
        Request::new(Method::POST, attach).header("idempotency-key", USED_KEY).send(&foreign.caller).await.expect(200);
        Self { surface, own, foreign, tags, foreign_organization }
    }

    /// Sends both requests of every probe and compares the responses.
    pub(crate) async fn compare(&self, caller: &Caller, probes: Vec<Probe>) {
        let ids = self.foreign.ids();
        let ask =
            async |probe: Probe| (probe.theirs.send(caller).await, probe.nothing.send(caller).await, probe.refused);
        let mut answers = stream::iter(probes).map(ask).buffer_unordered(AT_ONCE);
        while let Some((theirs, nothing, refused)) = answers.next().await {
            assert!(!refused || (400..500).contains(&theirs.status), "{}: {}", theirs.request, theirs.text());
            // Most responses contain no id, and replacing ids takes longer than the request.
            if comparable(&theirs, &[]) != comparable(&nothing, &[]) {
                assert_eq!(
                    comparable(&theirs, &ids),
                    comparable(&nothing, &ids),
                    "{} against {}",
                    theirs.request,
                    nothing.request
                );
            }
        }
    }

    /// Every combination of own and foreign ids in the path, in every spelling and with all variants of headers and bodies.
    pub(crate) fn paths(&self, wanted: impl Fn(&Operation) -> bool) -> Vec<Probe> {
        let mut probes = Vec::new();
        for operation in self.surface.internal().filter(|operation| wanted(operation)) {
            for is_foreign in choices(operation) {
                for spell in SPELLINGS {
                    let probe = self.probe(operation, &is_foreign, spell);
                    let header_variants = self.header_variants(operation, &probe.theirs.path);
                    probes.extend(
                        header_variants
                            .into_iter()
                            .map(|(name, value)| probe.clone().with(|request| request.header(name, value.clone()))),
                    );
                    probes.push(probe);
                }
            }
        }
        probes
    }

    /// The operation with foreign ids as the chosen parameters, and with unknown ids.
    fn probe(&self, operation: &Operation, is_foreign: &[&str], spell: fn(&str) -> String) -> Probe {
        let path = |replace: &dyn Fn(&str) -> String| {
            operation.path(|name| {
                let tenant = if is_foreign.contains(&name) { self.foreign } else { self.own };
                let id = tenant.path_id(name, &operation.pattern);
                if is_foreign.contains(&name) { spell(&replace(&id)) } else { id }
            })
        };
        let (theirs, nothing) = (path(&str::to_owned), path(&unknown_id));
        Probe { theirs: self.request(operation, theirs), nothing: self.request(operation, nothing), refused: true }
    }

    /// Headers that could make a server reveal more, one at a time.
    fn header_variants(&self, operation: &Operation, path: &str) -> Vec<(&'static str, String)> {
        let tag = self.tags.iter().find(|(id, _)| path.contains(id)).map(|(_, tag)| tag.clone());
        let tag = tag.unwrap_or_else(|| "\"other\"".to_owned());
        let mut header_variants = vec![
            ("x-organization-id", self.foreign_organization.clone()),
            ("x-http-method-override", "GET".to_owned()),
            ("accept", "application/fhir+json, text/html".to_owned()),
        ];
        header_variants.extend(match operation.method {
            Method::GET => [("if-none-match", tag), ("if-none-match", "*".to_owned())],
            Method::POST => [("idempotency-key", "guessed".to_owned()), ("idempotency-key", USED_KEY.to_owned())],
            _ => [("if-match", tag), ("if-match", "*".to_owned())],
        });
        header_variants
    }

    /// A request with a valid body of the operation.
    fn request(&self, operation: &Operation, path: String) -> Request {
        let request = Request::new(operation.method.clone(), path);
        if operation.method == Method::PUT {
            return request.content("application/fhir+ndjson", testkit::world::patients(1));
        }
        match self.surface.body_schema(operation) {
            Some(schema) => request.json(&self.surface.sample(&schema, self.own, 0)),
            None => request,
        }
    }

    /// Own and foreign ids of other types than the path requires.
    pub(crate) fn kinds(&self) -> Vec<Probe> {
        let mut probes = Vec::new();
        for operation in self.surface.internal() {
            for chosen in choices(operation) {
                for id in self.foreign.ids().into_iter().chain(self.own.ids()) {
                    let path = |id: &str| {
                        operation.path(|name| {
                            let mine = self.own.path_id(name, &operation.pattern);
                            let same_kind = mine.split('_').next() == id.split('_').next();
                            if chosen.contains(&name) && !same_kind { id.to_owned() } else { mine }
                        })
                    };
                    let (theirs, nothing) = (path(id), path(&unknown_id(id)));
                    if theirs != nothing {
                        let (theirs, nothing) = (self.request(operation, theirs), self.request(operation, nothing));
                        probes.push(Probe { theirs, nothing, refused: true });
                    }
                }
            }
        }
        probes
    }

    /// Other methods, known and invented.
    pub(crate) fn methods(&self) -> Vec<Probe> {
        let known =
            [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::HEAD, Method::OPTIONS];
        let made_up = ["TRACE", "PROPFIND", "get", "QUERY"].map(|name| Method::from_bytes(name.as_bytes()).unwrap());
        let methods: Vec<Method> = known.into_iter().chain(made_up).collect();
        let mut probes = Vec::new();
        for operation in self.surface.internal() {
            for is_foreign in choices(operation) {
                let probe = Probe { refused: false, ..self.probe(operation, &is_foreign, SPELLINGS[0]) };
                let others = methods.iter().filter(|method| **method != operation.method);
                probes.extend(
                    others.map(|method| probe.clone().with(|request| Request { method: method.clone(), ..request })),
                );
            }
        }
        probes
    }

    /// A foreign id as every filter of every list of the caller, and as an unknown parameter.
    pub(crate) fn filters(&self) -> Vec<Probe> {
        let mut probes = Vec::new();
        for operation in self.surface.internal().filter(|operation| operation.is_list()) {
            let path = operation.path_of(self.own);
            let filters = operation.query_parameters().into_iter().filter(|name| is_id(name));
            let known = filters.map(|name| (name, self.foreign.body_id(name)));
            let unknown = [("org_id", self.foreign_organization.clone()), ("id", self.foreign.made.task.clone())];
            for (name, id) in known.chain(unknown) {
                for spell in SPELLINGS {
                    let ask = |id: &str| Request::get(format!("{path}?limit=100&{name}={}", spell(id)));
                    probes.push(Probe { theirs: ask(&id), nothing: ask(&unknown_id(&id)), refused: false });
                }
            }
        }
        probes
    }

    /// Foreign ids in bodies, with the caller's own ids in the path.
    pub(crate) fn bodies(&self) -> Vec<Probe> {
        let spellings: [fn(&str) -> String; 6] = [
            str::to_owned,
            str::to_lowercase,
            |id| format!("{id} "),
            |id| format!(" {id}"),
            |id| format!("{id}\n"),
            |id| id.replace('_', "%5F"),
        ];
        let mut probes = Vec::new();
        for (operation, schema) in self.surface.with_json_body() {
            for field in id_fields(&schema) {
                for spell in spellings {
                    let request = |id: &str| {
                        let mut body = self.surface.sample(&schema, self.own, 0);
                        body[&field] = json!(spell(id));
                        Request::new(operation.method.clone(), operation.path_of(self.own)).json(&body)
                    };
                    let id = self.foreign.body_id(&field);
                    let probe = Probe { theirs: request(&id), nothing: request(&unknown_id(&id)), refused: true };
                    probes.push(
                        probe.clone().with(|request| request.header("x-organization-id", &self.foreign_organization)),
                    );
                    probes.push(probe);
                }
            }
        }
        probes
    }

    /// Every operation on foreign resources with every invalid credential.
    pub(crate) fn credentials(&self, credentials: &[String]) -> Vec<Probe> {
        let mut probes = Vec::new();
        for operation in self.surface.internal() {
            for is_foreign in choices(operation) {
                let probe = self.probe(operation, &is_foreign, SPELLINGS[0]);
                probes.extend(
                    credentials
                        .iter()
                        .map(|credential| probe.clone().with(|request| request.header("authorization", credential))),
                );
            }
        }
        probes
    }
}

/// All non-empty selections of path parameters that are foreign.
fn choices(operation: &Operation) -> Vec<Vec<&str>> {
    // These are names within another resource, which may be the same in several organizations.
    let names = ["path", "auth_number", "message_id", "voicemail_id", "page", "service_id", "hook"];
    let is_id = |name: &&str| !names.contains(name);
    let variables: Vec<&str> = operation.variables().into_iter().filter(is_id).collect();
    let chosen = |choice: u32| {
        let places = variables.iter().enumerate().filter(move |(at, _)| choice >> at & 1 == 1);
        places.map(|(_, name)| *name).collect()
    };
    (1..1u32 << variables.len()).map(chosen).collect()
}
