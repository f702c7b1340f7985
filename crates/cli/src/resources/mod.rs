//! One group of commands per resource, all made from descriptions.

mod authoring;
pub(crate) mod beside;
mod body;
mod catalogue;
mod commands;
mod describe;
mod running;
pub(crate) mod show;
pub(crate) mod slugs;
mod upload;

use clap::{ArgMatches, Command, FromArgMatches};
use client::{Client, Method, segment};
use serde_json::{Value, json};

use crate::auth::Connection;
use crate::block_on;
use crate::output::{Form, say};
use describe::{Answer, Call, Column, Resource, Verb};

/// All groups, to be added to the command line.
pub(crate) fn groups() -> impl Iterator<Item = Command> {
    catalogue::ALL.into_iter().map(commands::group)
}

/// The group that a thing is found in, by what one of them is called.
pub(crate) fn group_of(noun: &str) -> Option<&'static str> {
    catalogue::ALL.into_iter().find(|resource| resource.one == noun).map(|resource| resource.name)
}

/// Runs the command of a group; `None` when there is no such group.
pub(crate) fn run(group: &str, matches: &ArgMatches) -> Option<anyhow::Result<()>> {
    let resource = catalogue::ALL.into_iter().find(|resource| resource.name == group)?;
    if let Some(done) = beside::run(group, matches) {
        return Some(done);
    }
    let (name, words) = matches.subcommand()?;
    Some(perform(resource, name, words))
}

fn perform(resource: &'static Resource, name: &str, words: &ArgMatches) -> anyhow::Result<()> {
    let client = Connection::from_arg_matches(words)?.client()?;
    let form = &Form::of(words);
    if words.get_flag("wide") {
        crate::output::show_whole_rows();
    }
    block_on(async {
        let id = match commands::given(words, "id") {
            Some(given) => segment(&slugs::of_command(&client, resource, name, given).await?, false),
            None => String::new(),
        };
        match name {
            "list" => list(&client, resource, words, form).await,
            "get" => {
                let found = client.call(Method::GET, &format!("{}/{}", resource.path, id), &[], None).await?;
                show_one(&found, form)
            }
            "create" => {
                let mut body = body::body(words, resource.create)?;
                with_ids(&client, &mut body).await?;
                if resource.name == "datasets" && body.get("type").is_none() {
                    body["type"] = json!("fhir");
                }
                let made = client.call(Method::POST, resource.path, &[], Some(&body)).await?;
                show_one(&made, form)
            }
            "update" => {
                let body = body::body(words, resource.update)?;
                if body.as_object().is_some_and(serde_json::Map::is_empty) {
                    return Err(crate::exit::usage("nothing to change: give at least one field, see --help"));
                }
                let path = format!("{}/{}", resource.path, id);
                show_one(&client.call(Method::PATCH, &path, &[], Some(&body)).await?, form)
            }
            "delete" if resource.deletes => {
                client.call(Method::DELETE, &format!("{}/{}", resource.path, id), &[], None).await?;
                done(&format!("the {} is deleted", resource.one), form)
            }
            other => {
                let is_it = |verb: &&Verb| verb.name == other || verb.alias == Some(other);
                match resource.verbs.iter().find(is_it) {
                    Some(verb) => act(&client, resource, verb, words, form).await,
                    None => Err(crate::exit::usage(format!("there is no `{other}` for {}", resource.name))),
                }
            }
        }
    })
}

async fn list(client: &Client, resource: &Resource, words: &ArgMatches, form: &Form) -> anyhow::Result<()> {
    let mut query = body::query(words, resource.filters)?;
    for (member, value) in &mut query {
        if let Some(id) = slugs::of_member(client, member, value).await? {
            *value = id;
        }
    }
    show_list(client, resource.path, query, resource.columns, words, form).await
}

/// A benchmark that was named by its slug.
async fn with_ids(client: &Client, body: &mut Value) -> anyhow::Result<()> {
    for (member, value) in body.as_object_mut().into_iter().flatten() {
        let given = value.as_str().unwrap_or_default();
        if let Some(id) = slugs::of_member(client, member, given).await? {
            *value = id.into();
        }
    }
    Ok(())
}

/// One page, or all of them.
async fn show_list(
    client: &Client,
    path: &str,
    mut query: Vec<(String, String)>,
    columns: &[Column],
    words: &ArgMatches,
    form: &Form,
) -> anyhow::Result<()> {
    if words.get_flag("all") {
        let all = client.all(path, &query).await?;
        return form.print(&json!({"data": all}), |_| show::list(&all, columns, None));
    }
    query.extend(words.get_one::<u32>("limit").map(|limit| ("limit".into(), limit.to_string())));
    query.extend(words.get_one::<String>("cursor").map(|cursor| ("cursor".into(), cursor.clone())));
    let page = client.call(Method::GET, path, &query, None).await?;
    form.print(&page, |page| {
        let items = page["data"].as_array().map(Vec::as_slice).unwrap_or_default();
        show::list(items, columns, page["_meta"]["next"].as_str());
    })
}

async fn act(
    client: &Client,
    resource: &'static Resource,
    verb: &Verb,
    words: &ArgMatches,
    form: &Form,
) -> anyhow::Result<()> {
    let mut path = verb.path.to_owned();
    for place in 0..verb.arguments.len() {
        let given = commands::given(words, &commands::argument_name(place)).map_or("", String::as_str);
        let named = if place == 0 { slugs::of_verb(client, resource, verb, given).await? } else { given.to_owned() };
        path = path.replacen("{}", &segment(&named, false), 1);
    }
    // A list whose filter is an argument has its query in the path.
    let (path, fixed) = match path.split_once('?') {
        Some((path, query)) => (path.to_owned(), query.split_once('=')),
        None => (path, None),
    };
    let fixed = fixed.map(|(name, value)| (name.to_owned(), value.to_owned()));
    if let Answer::List(columns) = verb.answer {
        let query = fixed.into_iter().chain(body::query(words, verb.fields)?).collect();
        return show_list(client, &path, query, columns, words, form).await;
    }
    let answer = match verb.method {
        Call::Get => client.call(Method::GET, &path, &body::query(words, verb.fields)?, None).await?,
        Call::Delete => client.call(Method::DELETE, &path, &[], None).await?,
        Call::Post => {
            let body = body::body(words, verb.fields)?;
            client.call(Method::POST, &path, &[], (!verb.fields.is_empty()).then_some(&body)).await?
        }
    };
    match verb.answer {
        Answer::Done(message) => done(message, form),
        _ => show_one(&answer, form),
    }
}

fn show_one(value: &Value, form: &Form) -> anyhow::Result<()> {
    form.print(value, show::one)
}

fn done(message: &str, form: &Form) -> anyhow::Result<()> {
    form.print(&json!({"done": true}), |_| say(message))
}
