//! Generates the clap commands of a resource from its description.

use clap::{Arg, ArgAction, Args, Command};

use super::describe::{Field, FieldType, Resource, ResponseShape, Verb};
use super::extra_commands;
use crate::auth::Connection;
use crate::output::OutputFormat;

pub(crate) fn group(resource: &'static Resource) -> Command {
    let mut group =
        Command::new(resource.name).subcommand_required(true).arg_required_else_help(true).subcommand(list(resource));
    if resource.has_get {
        group = group.subcommand(get(resource));
    }
    if !resource.create.is_empty() {
        group = group.subcommand(create(resource));
    }
    if !resource.update.is_empty() {
        group = group.subcommand(update(resource));
    }
    if resource.has_delete {
        let about = format!("Delete {}", with_article(resource.singular));
        group = group.subcommand(Command::new("delete").about(about).args(id(resource)));
    }
    for described in resource.verbs {
        group = group.subcommand(verb(described));
    }
    let group = extra_commands::augment(resource.name, group);
    // Set the description last: the doc comment of `Connection` would replace it.
    Connection::augment_args(group.args(OutputFormat::arguments())).about(resource.about)
}

fn list(resource: &'static Resource) -> Command {
    let about = format!("List {}", resource.name);
    add_paging(Command::new("list").about(about)).args(resource.filters.iter().map(|field| flag(field, false)))
}

fn get(resource: &'static Resource) -> Command {
    let id = match resource.name {
        "benchmarks" => argument_or_flag("id", "bench_…, its slug, or slug@version", "id".to_owned()),
        _ => id(resource),
    };
    Command::new("get").about(format!("Show one {}", resource.singular)).args(id)
}

fn create(resource: &'static Resource) -> Command {
    let command = Command::new("create").about(format!("Create {}", with_article(resource.singular)));
    command.args(resource.create.iter().map(|field| flag(field, true))).arg(from_argument())
}

fn update(resource: &'static Resource) -> Command {
    let command = Command::new("update")
        .about(format!("Change {}; omitted fields keep their values", with_article(resource.singular)));
    let command = command.args(id(resource)).args(resource.update.iter().map(|field| flag(field, false)));
    let clearable: Vec<&str> = resource.update.iter().filter(|field| field.nullable).map(|field| field.flag).collect();
    let command = command.arg(from_argument());
    if clearable.is_empty() {
        return command;
    }
    let clear = Arg::new("clear").long("clear").value_name("FIELD").action(ArgAction::Append);
    command.arg(clear.value_parser(clearable).help("Remove this field; repeatable"))
}

fn verb(verb: &'static Verb) -> Command {
    let mut command = Command::new(verb.name).about(verb.about);
    if let Some(alias) = verb.alias {
        command = command.visible_alias(alias);
    }
    for (index, id_format) in verb.arguments.iter().enumerate() {
        let flag = if index == 0 { "id".to_owned() } else { id_flag(id_format) };
        command = command.args(argument_or_flag(&argument_name(index), id_format, flag));
    }
    command = command.args(verb.fields.iter().map(|field| flag(field, true)));
    if matches!(verb.response, ResponseShape::List(_)) { add_paging(command) } else { command }
}

/// The clap id of a verb's argument.
pub(crate) fn argument_name(index: usize) -> String {
    format!("argument-{index}")
}

fn id(resource: &Resource) -> [Arg; 2] {
    argument_or_flag("id", resource.id, "id".to_owned())
}

/// An id as a positional argument or as a flag: `sandboxes get sbx_…` and `sandboxes get --id sbx_…`.
fn argument_or_flag(name: &str, id_format: &str, flag: String) -> [Arg; 2] {
    let flag_id = flag_id(name);
    let positional = argument(name.to_owned(), id_format).required(false).required_unless_present(&flag_id);
    let named = Arg::new(&flag_id).long(flag).value_name("ID").conflicts_with(name.to_owned());
    [positional, named.help("The same as a flag")]
}

/// The clap id of an argument's flag.
fn flag_id(name: &str) -> String {
    format!("{name}-by-flag")
}

/// The value of an argument, given positionally or by its flag.
pub(crate) fn argument_value<'a>(description: &'a clap::ArgMatches, name: &str) -> Option<&'a String> {
    let of = |name: &str| description.try_get_one::<String>(name).ok().flatten();
    of(name).or_else(|| of(&flag_id(name)))
}

/// `--dataset-id` for `ds_…`.
fn id_flag(id_format: &str) -> String {
    format!("{}-id", noun(id_format).1.to_lowercase().replace('_', "-"))
}

/// Prefix, value name and description of what an id format stands for: `br_…` is a run.
fn noun(id_format: &str) -> (&'static str, &'static str, &'static str) {
    const NOUNS: [(&str, &str, &str); 14] = [
        ("bench_", "BENCHMARK", "benchmark"),
        ("slug@", "VERSION", "published version of a benchmark"),
        ("task_", "TASK", "task"),
        ("crit_", "CRITERION", "criterion"),
        ("env_", "ENVIRONMENT", "environment"),
        ("sim_", "SIMULATOR", "simulator"),
        ("ds_", "DATASET", "dataset"),
        ("ent_", "ENTITY", "entity"),
        ("pg_", "PLAYGROUND", "playground"),
        ("sbx_", "SANDBOX", "sandbox"),
        ("slv_", "SOLVER", "solver"),
        ("br_", "RUN", "run"),
        ("tr_", "TASK_RUN", "task run"),
        ("crun_", "CRITERION_RUN", "criterion run"),
    ];
    let noun = NOUNS.into_iter().find(|(prefix, ..)| id_format.starts_with(prefix));
    noun.unwrap_or(("key_", "KEY", "key"))
}

fn argument(name: impl Into<clap::Id>, id_format: &str) -> Arg {
    let (_, value_name, description) = noun(id_format);
    Arg::new(name).value_name(value_name).required(true).help(format!("The {description}: {id_format}"))
}

fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
}

fn from_argument() -> Arg {
    let help = "The complete body as JSON; - reads standard input. Flags override it";
    Arg::new("from").long("from").value_name("FILE").help(help)
}

fn add_paging(command: Command) -> Command {
    let limit = Arg::new("limit").long("limit").value_name("N").value_parser(clap::value_parser!(u32).range(1..=100));
    command
        .arg(limit.help("Page size: 20 by default, at most 100"))
        .arg(Arg::new("cursor").long("cursor").value_name("CURSOR").help("Continue where an earlier list ended"))
        .arg(
            Arg::new("all")
                .long("all")
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["limit", "cursor"])
                .help("Show all pages"),
        )
}

fn flag(field: &'static Field, enforce_required: bool) -> Arg {
    let mut arg = Arg::new(field.flag).long(field.flag).help(field.about);
    // `--simulator` is also documented as `--simulator-id`.
    if field.member.ends_with("_id") && !field.flag.ends_with("-id") {
        arg = arg.visible_alias(format!("{}-id", field.flag));
    }
    let arg = match field.kind {
        FieldType::Flag => return arg.action(ArgAction::SetTrue),
        FieldType::Texts => arg.action(ArgAction::Append).value_name("TEXT"),
        FieldType::Integer => arg.value_name("N").value_parser(clap::value_parser!(i64)).allow_negative_numbers(true),
        FieldType::Number => arg.value_name("X").value_parser(clap::value_parser!(f64)).allow_negative_numbers(true),
        FieldType::Json => arg.value_name("JSON"),
        FieldType::Text => arg.value_name("TEXT"),
    };
    if field.required && enforce_required { arg.required(true) } else { arg }
}
