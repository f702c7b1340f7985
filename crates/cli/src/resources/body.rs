//! Converts flags to the body or the query of a request.

use anyhow::Context;
use clap::ArgMatches;
use serde_json::{Map, Value};

use super::describe::{Field, FieldType};
use crate::exit::usage;

/// The body of a request: the content of `--from`, overridden by flags; `--clear` sets members to null.
pub(crate) fn body(matches: &ArgMatches, fields: &[Field]) -> anyhow::Result<Value> {
    let mut body = match matches.try_get_one::<String>("from").ok().flatten() {
        Some(source) => read_object(source)?,
        None => Map::new(),
    };
    for field in fields {
        if let Some(value) = field_value(matches, field)? {
            body.insert(field.member(), value);
        }
    }
    for cleared in matches.try_get_many::<String>("clear").ok().flatten().into_iter().flatten() {
        if let Some(field) = fields.iter().find(|field| field.flag == cleared) {
            body.insert(field.member(), Value::Null);
        }
    }
    Ok(Value::Object(body))
}

/// The query of a request.
pub(crate) fn query(matches: &ArgMatches, fields: &[Field]) -> anyhow::Result<Vec<(String, String)>> {
    let mut query = Vec::new();
    for field in fields {
        match field_value(matches, field)? {
            Some(Value::String(text)) => query.push((field.member(), text)),
            Some(other) => query.push((field.member(), other.to_string())),
            None => {}
        }
    }
    Ok(query)
}

fn field_value(matches: &ArgMatches, field: &Field) -> anyhow::Result<Option<Value>> {
    let flag = field.flag;
    Ok(match field.kind {
        FieldType::Text => matches.get_one::<String>(flag).map(|text| Value::from(text.as_str())),
        FieldType::Integer => matches.get_one::<i64>(flag).map(|number| Value::from(*number)),
        FieldType::Number => matches.get_one::<f64>(flag).map(|number| Value::from(*number)),
        FieldType::Flag => matches.get_flag(flag).then_some(Value::Bool(true)),
        FieldType::Texts => {
            let texts = matches.get_many::<String>(flag);
            texts.map(|texts| Value::from(texts.map(|text| Value::from(text.as_str())).collect::<Vec<_>>()))
        }
        FieldType::Json => matches.get_one::<String>(flag).map(|text| parse_json(flag, text)).transpose()?,
    })
}

fn parse_json(flag: &str, text: &str) -> anyhow::Result<Value> {
    let content = match text.strip_prefix('@') {
        Some(path) => read_source(path)?,
        None => text.to_owned(),
    };
    serde_json::from_str(&content).map_err(|error| usage(format!("--{flag} is not JSON: {error}")))
}

fn read_object(source: &str) -> anyhow::Result<Map<String, Value>> {
    match serde_json::from_str(&read_source(source)?) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(usage(format!("--from {source}: must be a JSON object"))),
        Err(error) => Err(usage(format!("--from {source} is not JSON: {error}"))),
    }
}

fn read_source(source: &str) -> anyhow::Result<String> {
    if source == "-" {
        return std::io::read_to_string(std::io::stdin()).context("cannot read standard input");
    }
    std::fs::read_to_string(source).with_context(|| format!("cannot read {source}"))
}
