//! The commands of a resource, made from its description.

use clap::{Arg, ArgAction, Args, Command};

use super::beside;
use super::describe::{Answer, Field, Kind, Resource, Verb};
use crate::auth::Connection;
use crate::output::Form;

pub(crate) fn group(resource: &'static Resource) -> Command {
    let mut group =
        Command::new(resource.name).subcommand_required(true).arg_required_else_help(true).subcommand(list(resource));
    if resource.gets {
        group = group.subcommand(get(resource));
    }
    if !resource.create.is_empty() {
        group = group.subcommand(create(resource));
    }
    if !resource.update.is_empty() {
        group = group.subcommand(update(resource));
    }
    if resource.deletes {
        let about = format!("Delete {}", with_article(resource.one));
        group = group.subcommand(Command::new("delete").about(about).args(id(resource)));
    }
    for made in resource.verbs {
        group = group.subcommand(verb(made));
    }
    let group = beside::augment(resource.name, group);
    // The doc comment of the connection would become that of the group.
    Connection::augment_args(group.args(Form::arguments())).about(resource.about)
}

fn list(resource: &'static Resource) -> Command {
    let about = format!("List {}", resource.name);
    paged(Command::new("list").about(about)).args(resource.filters.iter().map(|field| flag(field, false)))
}

fn get(resource: &'static Resource) -> Command {
    let id = match resource.name {
        "benchmarks" => argument_or_flag("id", "bench_…, its slug, or slug@version", "id".to_owned()),
        _ => id(resource),
    };
    Command::new("get").about(format!("Show one {}", resource.one)).args(id)
}

fn create(resource: &'static Resource) -> Command {
    let command = Command::new("create").about(format!("Make {}", with_article(resource.one)));
    command.args(resource.create.iter().map(|field| flag(field, true))).arg(from_file())
}

fn update(resource: &'static Resource) -> Command {
    let command =
        Command::new("update").about(format!("Change {}: only what is given changes", with_article(resource.one)));
    let command = command.args(id(resource)).args(resource.update.iter().map(|field| flag(field, false)));
    let clearable: Vec<&str> = resource.update.iter().filter(|field| field.nullable).map(|field| field.flag).collect();
    let command = command.arg(from_file());
    if clearable.is_empty() {
        return command;
    }
    let clear = Arg::new("clear").long("clear").value_name("FIELD").action(ArgAction::Append);
    command.arg(clear.value_parser(clearable).help("Take this away; repeatable"))
}

fn verb(verb: &'static Verb) -> Command {
    let mut command = Command::new(verb.name).about(verb.about);
    if let Some(alias) = verb.alias {
        command = command.visible_alias(alias);
    }
    for (place, looks) in verb.arguments.iter().enumerate() {
        let flag = if place == 0 { "id".to_owned() } else { flag_of(looks) };
        command = command.args(argument_or_flag(&argument_name(place), looks, flag));
    }
    command = command.args(verb.fields.iter().map(|field| flag(field, true)));
    if matches!(verb.answer, Answer::List(_)) { paged(command) } else { command }
}

/// The name that clap knows an argument of a verb by.
pub(crate) fn argument_name(place: usize) -> String {
    format!("argument-{place}")
}

fn id(resource: &Resource) -> [Arg; 2] {
    argument_or_flag("id", resource.id, "id".to_owned())
}

/// An id by its place or by a flag, as `sandboxes get sbx_…` and `sandboxes get --id sbx_…`.
fn argument_or_flag(name: &str, looks: &str, flag: String) -> [Arg; 2] {
    let by_flag = by_flag(name);
    let placed = argument(name.to_owned(), looks).required(false).required_unless_present(&by_flag);
    let flagged = Arg::new(&by_flag).long(flag).value_name("ID").conflicts_with(name.to_owned());
    [placed, flagged.help("The same by name")]
}

/// What clap knows the flag of an argument by.
fn by_flag(name: &str) -> String {
    format!("{name}-by-flag")
}

/// The value of an argument that may also be given by its flag.
pub(crate) fn given<'a>(words: &'a clap::ArgMatches, name: &str) -> Option<&'a String> {
    let of = |name: &str| words.try_get_one::<String>(name).ok().flatten();
    of(name).or_else(|| of(&by_flag(name)))
}

/// `--dataset-id` for `ds_…`.
fn flag_of(looks: &str) -> String {
    format!("{}-id", noun(looks).1.to_lowercase().replace('_', "-"))
}

/// What it names, by how it looks: `br_…` is a run.
fn noun(looks: &str) -> (&'static str, &'static str, &'static str) {
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
        ("tr_", "TASK_RUN", "run of a task"),
        ("crun_", "CRITERION_RUN", "result of a criterion"),
    ];
    let noun = NOUNS.into_iter().find(|(prefix, ..)| looks.starts_with(prefix));
    noun.unwrap_or(("key_", "KEY", "key"))
}

fn argument(name: impl Into<clap::Id>, looks: &str) -> Arg {
    let (_, shown, words) = noun(looks);
    Arg::new(name).value_name(shown).required(true).help(format!("The {words}: {looks}"))
}

fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
}

fn from_file() -> Arg {
    let help = "The whole body as JSON; - reads standard input. Flags win over it";
    Arg::new("from").long("from").value_name("FILE").help(help)
}

fn paged(command: Command) -> Command {
    let limit = Arg::new("limit").long("limit").value_name("N").value_parser(clap::value_parser!(u32).range(1..=100));
    command
        .arg(limit.help("How many, 20 by default, 100 at most"))
        .arg(Arg::new("cursor").long("cursor").value_name("CURSOR").help("Go on where an earlier list ended"))
        .arg(
            Arg::new("all")
                .long("all")
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["limit", "cursor"])
                .help("Every page"),
        )
}

fn flag(field: &'static Field, may_be_required: bool) -> Arg {
    let mut arg = Arg::new(field.flag).long(field.flag).help(field.about);
    // `--simulator` is documented as `--simulator-id` too.
    if field.member.ends_with("_id") && !field.flag.ends_with("-id") {
        arg = arg.visible_alias(format!("{}-id", field.flag));
    }
    let arg = match field.kind {
        Kind::Flag => return arg.action(ArgAction::SetTrue),
        Kind::Texts => arg.action(ArgAction::Append).value_name("TEXT"),
        Kind::Integer => arg.value_name("N").value_parser(clap::value_parser!(i64)).allow_negative_numbers(true),
        Kind::Number => arg.value_name("X").value_parser(clap::value_parser!(f64)).allow_negative_numbers(true),
        Kind::Json => arg.value_name("JSON"),
        Kind::Text => arg.value_name("TEXT"),
    };
    if field.required && may_be_required { arg.required(true) } else { arg }
}
