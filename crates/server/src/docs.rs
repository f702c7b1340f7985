//! `/openapi.json`, and `/docs`: the same document as an HTML page without scripts. Also `/llms.txt`.

use std::fmt::Write as _;

use axum::extract;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use serde_json::{Map, Value};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;

const MANUAL: &str = include_str!("../../../docs/README.md");
const STYLE: &str = include_str!("docs.css");
const POLICY: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'");

/// The rendered OpenAPI document, as JSON and as an HTML page.
pub(crate) struct Docs {
    json: String,
    page: String,
}

impl Docs {
    pub(crate) fn new(api: &Value) -> Self {
        Self { page: render(api), json: format!("{api:#}") }
    }
}

/// This document.
#[utoipa::path(get, path = "/openapi.json", tag = "operations", security(()),
    responses((status = 200, description = "The OpenAPI 3.1 document of the API", body = Object)))]
async fn openapi_json(extract::State(state): extract::State<State>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], state.docs.json.clone()).into_response()
}

/// This document as an HTML page.
#[utoipa::path(get, path = "/docs", tag = "operations", security(()),
    responses((status = 200, description = "HTML page without scripts", body = String, content_type = "text/html")))]
async fn docs_page(extract::State(state): extract::State<State>) -> Response {
    with_security_policy(Html(state.docs.page.clone()).into_response())
}

/// The style sheet of the documentation page.
#[utoipa::path(get, path = "/docs/style.css", tag = "operations", security(()),
    responses((status = 200, description = "A style sheet", body = String, content_type = "text/css")))]
async fn docs_style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE).into_response()
}

/// The index of the manual, for language models.
#[utoipa::path(get, path = "/llms.txt", tag = "operations", security(()),
    responses((status = 200, description = "Markdown", body = String, content_type = "text/plain")))]
async fn llms_text() -> Response {
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], llms()).into_response()
}

/// The format of llmstxt.org: a title, a summary, and lists of links. Links to manual pages name files of the repository,
/// because the server does not serve them.
fn llms() -> String {
    let mut text = String::from(
        "# Verial\n\n> Simulated health systems for AI agents, and verification of what they did there.\n\n\
         ## API\n\n- [OpenAPI 3.1 document](/openapi.json): every endpoint with its schemas\n\
         - [API reference](/docs): the same as an HTML page\n",
    );
    for line in MANUAL.lines().skip(1) {
        if let Some(heading) = line.strip_prefix("## ") {
            let _ = write!(text, "\n## {heading}\n\n");
        } else if let Some((page, about)) = line.strip_prefix("| [").and_then(|row| row.split_once(" | ")) {
            let _ = writeln!(text, "- [{page}: {}", about.trim_end_matches([' ', '|']));
        }
    }
    text.replace("](", "](docs/").replace("](docs//", "](/")
}

pub(crate) fn router() -> OpenApiRouter<State> {
    let documents = OpenApiRouter::new().routes(routes!(openapi_json)).routes(routes!(llms_text));
    documents.routes(routes!(docs_page)).routes(routes!(docs_style))
}

fn with_security_policy(mut response: Response) -> Response {
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, POLICY);
    response
}

fn render(api: &Value) -> String {
    let mut page = String::from(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>Verial API</title><link rel=\"stylesheet\" href=\"/docs/style.css\"></head><body>",
    );
    let operations = operations(api);
    let _ = write!(
        page,
        "<nav aria-label=\"Endpoints\"><h1>Verial API</h1><p><a href=\"/openapi.json\">openapi.json</a></p>"
    );
    for tag in tags(api) {
        let _ = write!(page, "<h2>{}</h2><ul>", escape(tag));
        for operation in operations.iter().filter(|operation| operation.tag == tag) {
            let _ = write!(page, "<li><a href=\"#{}\">{}</a></li>", escape(&operation.id), heading(operation));
        }
        page.push_str("</ul>");
    }
    page.push_str("</nav><main>");
    let _ = write!(page, "<p class=\"lead\">{}</p>", text_of(&api["info"]["description"]));
    for tag in tags(api) {
        for operation in operations.iter().filter(|operation| operation.tag == tag) {
            write_operation(&mut page, operation);
        }
    }
    write_schemas(&mut page, &api["components"]["schemas"]);
    page.push_str("</main></body></html>");
    page
}

struct Operation<'a> {
    method: &'a str,
    path: &'a str,
    tag: &'a str,
    id: String,
    value: &'a Value,
}

fn operations(api: &Value) -> Vec<Operation<'_>> {
    let mut operations = Vec::new();
    for (path, item) in api["paths"].as_object().into_iter().flatten() {
        for (method, value) in item.as_object().into_iter().flatten() {
            let tag = value["tags"][0].as_str().unwrap_or("operations");
            let id = value["operationId"].as_str().unwrap_or(path).to_owned();
            operations.push(Operation { method, path, tag, id, value });
        }
    }
    operations
}

fn tags(api: &Value) -> Vec<&str> {
    api["tags"].as_array().map(|tags| tags.iter().filter_map(|tag| tag["name"].as_str()).collect()).unwrap_or_default()
}

fn heading(operation: &Operation<'_>) -> String {
    let method = operation.method.to_uppercase();
    format!(
        "<span class=\"method {}\">{method}</span> <code>{}</code>",
        escape(operation.method),
        escape(operation.path)
    )
}

fn write_operation(page: &mut String, operation: &Operation<'_>) {
    let _ = write!(page, "<section id=\"{}\"><h3>{}</h3>", escape(&operation.id), heading(operation));
    let summary = operation.value["summary"].as_str().or(operation.value["description"].as_str()).unwrap_or_default();
    let _ = write!(page, "<p>{}</p>", prose(summary));
    if let Some(parameters) = operation.value["parameters"].as_array() {
        page.push_str("<table><thead><tr><th>Parameter</th><th>In</th><th>Type</th><th></th></tr></thead><tbody>");
        for parameter in parameters {
            let (name, location) = (text_of(&parameter["name"]), text_of(&parameter["in"]));
            let _ = write!(
                page,
                "<tr><td><code>{name}</code></td><td>{location}</td><td>{}</td><td>{}</td></tr>",
                type_of(&parameter["schema"]),
                text_of(&parameter["description"])
            );
        }
        page.push_str("</tbody></table>");
    }
    if let Some(content) = operation.value["requestBody"]["content"].as_object() {
        let bodies: Vec<_> =
            content.iter().map(|(media, body)| format!("{} ({})", type_of(&body["schema"]), escape(media))).collect();
        let _ = write!(page, "<p>Body: {}</p>", bodies.join(", "));
    }
    page.push_str("<ul class=\"answers\">");
    for (status, response) in operation.value["responses"].as_object().unwrap_or(&Map::new()) {
        let schema = response["content"]
            .as_object()
            .and_then(|content| content.values().next())
            .map(|body| type_of(&body["schema"]));
        let _ = write!(
            page,
            "<li><b>{}</b> {} {}</li>",
            escape(status),
            text_of(&response["description"]),
            schema.unwrap_or_default()
        );
    }
    page.push_str("</ul></section>");
}

fn write_schemas(page: &mut String, schemas: &Value) {
    page.push_str("<h2>Schemas</h2>");
    for (name, schema) in schemas.as_object().unwrap_or(&Map::new()) {
        let _ = write!(
            page,
            "<section id=\"schema-{0}\"><h3>{0}</h3><p>{1}</p>",
            escape(name),
            text_of(&schema["description"])
        );
        if let Some(properties) = schema["properties"].as_object() {
            let required: Vec<&str> = schema["required"]
                .as_array()
                .map(|names| names.iter().filter_map(Value::as_str).collect())
                .unwrap_or_default();
            page.push_str("<table><tbody>");
            for (field, property) in properties {
                let mark = if required.contains(&field.as_str()) { "required" } else { "" };
                let (type_name, about) = (type_of(property), text_of(&property["description"]));
                let _ = write!(
                    page,
                    "<tr><td><code>{}</code></td><td>{type_name}</td><td>{mark}</td><td>{about}</td></tr>",
                    escape(field)
                );
            }
            page.push_str("</tbody></table>");
        } else {
            let _ = write!(page, "<p>{}</p>", type_of(schema));
        }
        page.push_str("</section>");
    }
}

/// A short description of a schema, with links to named schemas.
fn type_of(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()) {
        return format!("<a href=\"#schema-{0}\">{0}</a>", escape(name));
    }
    for key in ["oneOf", "anyOf", "allOf"] {
        if let Some(choices) = schema[key].as_array() {
            return choices.iter().map(type_of).collect::<Vec<_>>().join(" or ");
        }
    }
    if let Some(values) = schema["enum"].as_array() {
        return values
            .iter()
            .map(|value| format!("<code>{}</code>", escape(value.as_str().unwrap_or_default())))
            .collect::<Vec<_>>()
            .join(" ");
    }
    match &schema["type"] {
        Value::String(name) if name == "array" => format!("list of {}", type_of(&schema["items"])),
        Value::String(name) => escape(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).map(escape).collect::<Vec<_>>().join(" or "),
        _ => "any".into(),
    }
}

fn text_of(value: &Value) -> String {
    prose(value.as_str().unwrap_or_default())
}

/// HTML of a doc comment: text in backticks becomes `<code>`.
fn prose(text: &str) -> String {
    let parts = escape(text);
    let marked = parts.split('`').enumerate();
    marked.map(|(index, part)| if index % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() }).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
