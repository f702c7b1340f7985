//! What happens with benchmarks: places to try things in, solvers, runs, keys.

use super::describe::{Answer, Column, Field, Kind, Resource, Verb, text};

pub(crate) const PLAYGROUNDS: Resource = Resource {
    name: "playgrounds",
    one: "playground",
    about: "Playgrounds: an environment that runs",
    path: "/playgrounds",
    id: "pg_…",
    columns: &[
        Column("ID", "id"),
        Column("STATUS", "status"),
        Column("SANDBOXES", "sandboxes"),
        Column("CREATED", "created_at"),
        Column("ENVIRONMENT", "environment_id"),
    ],
    create: &[Field::new("environment", "environment_id", Kind::Text, "The environment to run, as env_…").required()],
    update: &[],
    filters: &[],
    gets: true,
    deletes: false,
    verbs: &[
        Verb::post("reset", "Back to how it began", "/playgrounds/{}/reset", &["pg_…"]),
        Verb::post("teardown", "End its traffic and credentials", "/playgrounds/{}/teardown", &["pg_…"])
            .known_as("delete"),
    ],
};

pub(crate) const SANDBOXES: Resource = Resource {
    name: "sandboxes",
    one: "sandbox",
    about: "Sandboxes: one simulator that runs",
    path: "/sandboxes",
    id: "sbx_…",
    columns: &[
        Column("ID", "id"),
        Column("TYPE", "type"),
        Column("NAME", "name"),
        Column("STATUS", "status"),
        Column("CREATED", "created_at"),
    ],
    create: &[
        Field::new("simulator", "simulator_id", Kind::Text, "The simulator to run, as sim_…").required(),
        Field::new("dataset", "dataset_id", Kind::Text, "Laid over the simulator's own datasets"),
        Field::new("playground", "playground_id", Kind::Text, "Where to put it; else it gets one of its own"),
    ],
    update: &[],
    filters: &[Field::new("playground", "playground_id", Kind::Text, "Only those of this playground")],
    gets: true,
    deletes: false,
    verbs: &[
        Verb::get(
            "events",
            "Everything that happened in it, oldest first",
            "/sandboxes/{}/events",
            &["sbx_…"],
            Answer::List(&[
                Column("AT", "at"),
                Column("TYPE", "type"),
                Column("SUMMARY", "summary"),
                Column("ACTOR", "actor"),
            ]),
        )
        .with(&[
            text("type", "Only events of this type"),
            text("since", "Only at this time or later, as 2026-04-23T12:00:00Z"),
        ]),
        Verb::get(
            "state",
            "What it holds now",
            "/sandboxes/{}/state",
            &["sbx_…"],
            Answer::List(&[
                Column("COLLECTION", "collection"),
                Column("KEY", "key"),
                Column("VERSION", "version"),
                Column("VALUE", "value"),
            ]),
        )
        .with(&[text("resource", "`Patient`, `Patient/1` or `Patient/1/_history/2`")]),
        Verb::get(
            "diff",
            "What is not as it was in the beginning",
            "/sandboxes/{}/diff",
            &["sbx_…"],
            Answer::List(&[
                Column("CHANGE", "change"),
                Column("COLLECTION", "collection"),
                Column("KEY", "key"),
                Column("AFTER", "after"),
            ]),
        ),
        Verb::post("attach", "Lay a dataset over it", "/sandboxes/{}/datasets/{}", &["sbx_…", "ds_…"])
            .known_as("add-dataset"),
        Verb::delete(
            "detach",
            "Take a dataset away from it",
            "/sandboxes/{}/datasets/{}",
            &["sbx_…", "ds_…"],
            "the dataset is detached",
        )
        .known_as("remove-dataset"),
        Verb::post("teardown", "End its traffic and credentials", "/sandboxes/{}/teardown", &["sbx_…"])
            .known_as("delete"),
    ],
};

const KEY_COLUMNS: &[Column] = &[
    Column("ID", "id"),
    Column("NAME", "name"),
    Column("BEGINS", "prefix"),
    Column("LAST USED", "last_used_at"),
    Column("REVOKED", "revoked_at"),
    Column("ENDS", "suffix"),
];

const SOLVER_FIELDS: [Field; 4] = [
    text("real-name", "The agent's own name").nullable(),
    text("agent-description", "What it is").nullable(),
    text("agent-version", "Which version of it").nullable(),
    text("contact-email", "Who answers for it").nullable(),
];
const ALIAS: Field = text("alias", "URL-safe, unique in the organization");

pub(crate) const SOLVERS: Resource = Resource {
    name: "solvers",
    one: "solver",
    about: "Solvers: whose agents run benchmarks, and their keys",
    path: "/solvers",
    id: "slv_…",
    columns: &[
        Column("ID", "id"),
        Column("ALIAS", "alias"),
        Column("NAME", "real_name"),
        Column("VERSION", "agent_version"),
        Column("CREATED", "created_at"),
    ],
    create: &{
        let [name, description, version, contact] = SOLVER_FIELDS;
        [ALIAS.required(), name, description, version, contact]
    },
    update: &{
        let [name, description, version, contact] = SOLVER_FIELDS;
        [ALIAS, name, description, version, contact]
    },
    filters: &[],
    gets: true,
    deletes: true,
    verbs: &[
        Verb::get("keys", "Its keys", "/solvers/{}/api-keys", &["slv_…"], Answer::List(KEY_COLUMNS)),
        Verb::post("create-key", "Make a key, which is shown this once", "/solvers/{}/api-keys", &["slv_…"])
            .with(&[text("name", "What the key is for").required()]),
        Verb::delete("revoke-key", "End a key", "/solvers/{}/api-keys/{}", &["slv_…", "key_…"], "the key is revoked"),
    ],
};

pub(crate) const KEYS: Resource = Resource {
    name: "keys",
    one: "key",
    about: "Keys of the organization",
    path: "/api-keys",
    id: "key_…",
    columns: KEY_COLUMNS,
    create: &[text("name", "What the key is for").required()],
    update: &[],
    filters: &[],
    gets: false,
    deletes: true,
    verbs: &[],
};

const TASK_RUN_COLUMNS: &[Column] = &[
    Column("ID", "id"),
    Column("TASK", "name"),
    Column("SCORE", "score"),
    Column("BOUNDS", "bounds"),
    Column("VERDICT", "verdict"),
    Column("CRITICAL", "critical_failures"),
    Column("STATUS", "status"),
];

pub(crate) const RUNS: Resource = Resource {
    name: "runs",
    one: "run",
    about: "Runs of benchmarks, and what came of them",
    path: "/benchmark-runs",
    id: "br_…",
    columns: &[
        Column("ID", "id"),
        Column("BENCHMARK", "benchmark"),
        Column("AGENT", "agent"),
        Column("SCORE", "score"),
        Column("BOUNDS", "bounds"),
        Column("VERDICT", "verdict"),
        Column("CRITICAL", "critical_failures"),
        Column("TASKS PASSED", "tasks_passed"),
        Column("STATUS", "status"),
        Column("CREATED", "created_at"),
    ],
    create: &[
        text("benchmark", "slug@version"),
        Field::new(
            "benchmark-id",
            "benchmark_id",
            Kind::Text,
            "Of your own, as it is now, published or not: bench_… or its slug",
        ),
        Field::new("scored", "scored", Kind::Flag, "Without details for the agent, and fit for the leaderboard"),
        text("agent", "Which agent, or which configuration of it"),
        Field::new("solver", "solver_id", Kind::Text, "The solver that it is run for"),
        Field::new("task", "tasks", Kind::Texts, "Only this task, by name or id; repeatable"),
        Field::new("tag", "tags", Kind::Texts, "Only tasks with this tag; repeatable"),
        Field::new("metadata", "metadata", Kind::Json, "Kept with the run: a JSON object of texts, or @FILE"),
    ],
    update: &[],
    filters: &[
        Field::new("benchmark", "benchmark_id", Kind::Text, "Only runs of this benchmark: bench_… or its slug"),
        Field::new("solver", "solver_id", Kind::Text, "Only runs of this solver"),
        text("agent", "Only runs of this agent"),
        text("status", "active, completed, cancelled, failed or timed_out"),
    ],
    gets: true,
    deletes: false,
    verbs: &[
        Verb::get(
            "tasks",
            "Its task runs",
            "/task-runs?benchmark_run_id={}",
            &["br_…"],
            Answer::List(TASK_RUN_COLUMNS),
        ),
        Verb::get("task", "One task run", "/task-runs/{}", &["tr_…"], Answer::One),
        Verb::get(
            "criteria",
            "What became of the criteria of a task run",
            "/criterion-runs?task_run_id={}",
            &["tr_…"],
            Answer::List(&[
                Column("ID", "id"),
                Column("CRITERION", "label"),
                Column("PASSED", "passed"),
                Column("CRITICAL", "critical"),
                Column("GUARD", "guard"),
                Column("DETAILS", "details"),
                Column("SCORE", "score"),
                Column("CRITERION ID", "criterion_id"),
            ]),
        ),
        Verb::get("evidence", "One criterion with its evidence", "/criterion-runs/{}", &["crun_…"], Answer::One),
        Verb::post("start-task", "Start a task run", "/task-runs/{}/start", &["tr_…"]),
        Verb::post("complete-task", "Complete and score a task run", "/task-runs/{}/complete", &["tr_…"]),
        Verb::post("cancel-task", "End a task run without scoring it", "/task-runs/{}/cancel", &["tr_…"]),
        Verb::post(
            "complete",
            "Score what is started, count 0 for what is not, end the run",
            "/benchmark-runs/{}/complete",
            &["br_…"],
        ),
        Verb::post("cancel", "End the run without scoring it", "/benchmark-runs/{}/cancel", &["br_…"]),
        Verb::post(
            "publish",
            "Put its series (solver and agent) on the leaderboard",
            "/benchmark-runs/{}/publish",
            &["br_…"],
        ),
        Verb::post("unpublish", "Take its series off the leaderboard", "/benchmark-runs/{}/unpublish", &["br_…"]),
    ],
};
