//! One group of commands per resource, generated from descriptions.

mod authoring;
mod body;
mod catalog;
mod commands;
mod describe;
pub(crate) mod extra_commands;
mod generate;
mod running;
pub(crate) mod show;
pub(crate) mod slugs;
mod upload;

use clap::{ArgMatches, Command, FromArgMatches};
use client::{Client, Method, segment};
use serde_json::{Value, json};

use crate::auth::Connection;
use crate::block_on;
use crate::output::{OutputFormat, print};
use describe::{Column, HttpMethod, Resource, ResponseShape, Verb};

/// All command groups.
pub(crate) fn groups() -> impl Iterator<Item = Command> {
    catalog::ALL.into_iter().map(commands::group)
}

/// The group of a resource, by its singular noun.
pub(crate) fn group_of(noun: &str) -> Option<&'static str> {
    catalog::ALL.into_iter().find(|resource| resource.singular == noun).map(|resource| resource.name)
}

/// Runs the command of a group; `None` when there is no such group.
pub(crate) fn run(group: &str, matches: &ArgMatches) -> Option<anyhow::Result<()>> {
    let resource = catalog::ALL.into_iter().find(|resource| resource.name == group)?;
    if let Some(result) = extra_commands::run(group, matches) {
        return Some(result);
    }
    let (name, matches) = matches.subcommand()?;
    Some(run_command(resource, name, matches))
}

fn run_command(resource: &'static Resource, name: &str, matches: &ArgMatches) -> anyhow::Result<()> {
    let client = Connection::from_arg_matches(matches)?.client()?;
    let format = &OutputFormat::from_matches(matches);
    if matches.get_flag("wide") {
        crate::output::disable_truncation();
    }
    block_on(async {
        let id = match commands::argument_value(matches, "id") {
            Some(given) => segment(&slugs::resolve_for_command(&client, resource, name, given).await?, false),
            None => String::new(),
        };
        match name {
            "list" => list(&client, resource, matches, format).await,
            "get" => {
                let found = client.call(Method::GET, &format!("{}/{}", resource.path, id), &[], None).await?;
                print_one(&found, format)
            }
            "create" => {
                let mut body = body::body(matches, resource.create)?;
                resolve_slugs(&client, &mut body).await?;
                if resource.name == "datasets" && body.get("type").is_none() {
                    body["type"] = json!("fhir");
                }
                let created = client.call(Method::POST, resource.path, &[], Some(&body)).await?;
                print_one(&created, format)
            }
            "update" => {
                let body = body::body(matches, resource.update)?;
                if body.as_object().is_some_and(serde_json::Map::is_empty) {
                    return Err(crate::exit::usage("nothing to change: give at least one field, see --help"));
                }
                let path = format!("{}/{}", resource.path, id);
                print_one(&client.call(Method::PATCH, &path, &[], Some(&body)).await?, format)
            }
            "delete" if resource.has_delete => {
                client.call(Method::DELETE, &format!("{}/{}", resource.path, id), &[], None).await?;
                print_done(&format!("the {} was deleted", resource.singular), format)
            }
            other => {
                let is_named = |verb: &&Verb| verb.name == other || verb.alias == Some(other);
                match resource.verbs.iter().find(is_named) {
                    Some(verb) => run_verb(&client, resource, verb, matches, format).await,
                    None => Err(crate::exit::usage(format!("unknown command `{other}` for {}", resource.name))),
                }
            }
        }
    })
}

async fn list(client: &Client, resource: &Resource, matches: &ArgMatches, format: &OutputFormat) -> anyhow::Result<()> {
    let mut query = body::query(matches, resource.filters)?;
    for (member, value) in &mut query {
        if let Some(id) = slugs::resolve_member(client, member, value).await? {
            *value = id;
        }
    }
    print_list(client, resource.path, query, resource.columns, matches, format).await
}

/// Replaces the slug of a benchmark by its id.
async fn resolve_slugs(client: &Client, body: &mut Value) -> anyhow::Result<()> {
    for (member, value) in body.as_object_mut().into_iter().flatten() {
        let given = value.as_str().unwrap_or_default();
        if let Some(id) = slugs::resolve_member(client, member, given).await? {
            *value = id.into();
        }
    }
    Ok(())
}

/// Prints one page, or all pages with `--all`.
async fn print_list(
    client: &Client,
    path: &str,
    mut query: Vec<(String, String)>,
    columns: &[Column],
    matches: &ArgMatches,
    format: &OutputFormat,
) -> anyhow::Result<()> {
    if matches.get_flag("all") {
        let all = client.list_all(path, &query).await?;
        return format.print(&json!({"data": all}), |_| show::list(&all, columns, None));
    }
    query.extend(matches.get_one::<u32>("limit").map(|limit| ("limit".into(), limit.to_string())));
    query.extend(matches.get_one::<String>("cursor").map(|cursor| ("cursor".into(), cursor.clone())));
    let page = client.call(Method::GET, path, &query, None).await?;
    format.print(&page, |page| {
        let items = page["data"].as_array().map(Vec::as_slice).unwrap_or_default();
        show::list(items, columns, page["_meta"]["next"].as_str());
    })
}

async fn run_verb(
    client: &Client,
    resource: &'static Resource,
    verb: &Verb,
    matches: &ArgMatches,
    format: &OutputFormat,
) -> anyhow::Result<()> {
    let mut path = verb.path.to_owned();
    for index in 0..verb.arguments.len() {
        let given = commands::argument_value(matches, &commands::argument_name(index)).map_or("", String::as_str);
        let id =
            if index == 0 { slugs::resolve_for_verb(client, resource, verb, given).await? } else { given.to_owned() };
        path = path.replacen("{}", &segment(&id, false), 1);
    }
    // The path of a list that is filtered by an argument contains a query.
    let (path, path_query) = match path.split_once('?') {
        Some((path, query)) => (path.to_owned(), query.split_once('=')),
        None => (path, None),
    };
    let path_query = path_query.map(|(name, value)| (name.to_owned(), value.to_owned()));
    if let ResponseShape::List(columns) = verb.response {
        let query = path_query.into_iter().chain(body::query(matches, verb.fields)?).collect();
        return print_list(client, &path, query, columns, matches, format).await;
    }
    let response = match verb.method {
        HttpMethod::Get => client.call(Method::GET, &path, &body::query(matches, verb.fields)?, None).await?,
        HttpMethod::Delete => client.call(Method::DELETE, &path, &[], None).await?,
        HttpMethod::Post => {
            let body = body::body(matches, verb.fields)?;
            client.call(Method::POST, &path, &[], (!verb.fields.is_empty()).then_some(&body)).await?
        }
    };
    match verb.response {
        ResponseShape::Done(message) => print_done(message, format),
        _ => print_one(&response, format),
    }
}

fn print_one(value: &Value, format: &OutputFormat) -> anyhow::Result<()> {
    format.print(value, show::object)
}

fn print_done(message: &str, format: &OutputFormat) -> anyhow::Result<()> {
    format.print(&json!({"done": true}), |_| print(message))
}
