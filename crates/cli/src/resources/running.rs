//! Descriptions of playgrounds, sandboxes, solvers, runs and keys.

use super::describe::{Column, Field, FieldType, Resource, ResponseShape, Verb, text};

pub(crate) const PLAYGROUNDS: Resource = Resource {
    name: "playgrounds",
    singular: "playground",
    about: "Playgrounds: running environments",
    path: "/playgrounds",
    id: "pg_…",
    columns: &[
        Column("ID", "id"),
        Column("STATUS", "status"),
        Column("SANDBOXES", "sandboxes"),
        Column("CREATED", "created_at"),
        Column("ENVIRONMENT", "environment_id"),
    ],
    create: &[Field::new("environment", "environment_id", FieldType::Text, "The environment to run: env_…").required()],
    update: &[],
    filters: &[],
    has_get: true,
    has_delete: false,
    verbs: &[
        Verb::post("reset", "Reset it to its initial state", "/playgrounds/{}/reset", &["pg_…"]),
        Verb::post("teardown", "End its traffic and credentials", "/playgrounds/{}/teardown", &["pg_…"])
            .with_alias("delete"),
    ],
};

pub(crate) const SANDBOXES: Resource = Resource {
    name: "sandboxes",
    singular: "sandbox",
    about: "Sandboxes: running simulators",
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
        Field::new("simulator", "simulator_id", FieldType::Text, "The simulator to run: sim_…").required(),
        Field::new("dataset", "dataset_id", FieldType::Text, "A dataset on top of the simulator's own"),
        Field::new("playground", "playground_id", FieldType::Text, "The playground to add it to; a new one if omitted"),
    ],
    update: &[],
    filters: &[Field::new("playground", "playground_id", FieldType::Text, "Only sandboxes of this playground")],
    has_get: true,
    has_delete: false,
    verbs: &[
        Verb::get(
            "events",
            "List its events, oldest first",
            "/sandboxes/{}/events",
            &["sbx_…"],
            ResponseShape::List(&[
                Column("AT", "at"),
                Column("TYPE", "type"),
                Column("SUMMARY", "summary"),
                Column("ACTOR", "actor"),
            ]),
        )
        .with(&[
            text("type", "Only events of this type"),
            text("since", "Only at this time or later, such as 2026-04-23T12:00:00Z"),
        ]),
        Verb::get(
            "state",
            "Show its current state",
            "/sandboxes/{}/state",
            &["sbx_…"],
            ResponseShape::List(&[
                Column("COLLECTION", "collection"),
                Column("KEY", "key"),
                Column("VERSION", "version"),
                Column("VALUE", "value"),
            ]),
        )
        .with(&[text("resource", "`Patient`, `Patient/1` or `Patient/1/_history/2`")]),
        Verb::get(
            "diff",
            "Show what changed since the start",
            "/sandboxes/{}/diff",
            &["sbx_…"],
            ResponseShape::List(&[
                Column("CHANGE", "change"),
                Column("COLLECTION", "collection"),
                Column("KEY", "key"),
                Column("AFTER", "after"),
            ]),
        ),
        Verb::post("attach", "Attach a dataset on top of the others", "/sandboxes/{}/datasets/{}", &["sbx_…", "ds_…"])
            .with_alias("add-dataset"),
        Verb::delete(
            "detach",
            "Detach a dataset",
            "/sandboxes/{}/datasets/{}",
            &["sbx_…", "ds_…"],
            "the dataset was detached",
        )
        .with_alias("remove-dataset"),
        Verb::post("teardown", "End its traffic and credentials", "/sandboxes/{}/teardown", &["sbx_…"])
            .with_alias("delete"),
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
    text("agent-description", "A description").nullable(),
    text("agent-version", "Its version").nullable(),
    text("contact-email", "Who to contact").nullable(),
];
const ALIAS: Field = text("alias", "URL-safe, unique in the organization");

pub(crate) const SOLVERS: Resource = Resource {
    name: "solvers",
    singular: "solver",
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
    has_get: true,
    has_delete: true,
    verbs: &[
        Verb::get("keys", "List its keys", "/solvers/{}/api-keys", &["slv_…"], ResponseShape::List(KEY_COLUMNS)),
        Verb::post("create-key", "Create a key, which is shown only once", "/solvers/{}/api-keys", &["slv_…"])
            .with(&[text("name", "What the key is for").required()]),
        Verb::delete(
            "revoke-key",
            "Revoke a key",
            "/solvers/{}/api-keys/{}",
            &["slv_…", "key_…"],
            "the key was revoked",
        ),
    ],
};

pub(crate) const KEYS: Resource = Resource {
    name: "keys",
    singular: "key",
    about: "Keys of the organization",
    path: "/api-keys",
    id: "key_…",
    columns: KEY_COLUMNS,
    create: &[text("name", "What the key is for").required()],
    update: &[],
    filters: &[],
    has_get: false,
    has_delete: true,
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
    singular: "run",
    about: "Benchmark runs and their results",
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
            FieldType::Text,
            "The current draft of your own benchmark, published or not: bench_… or its slug",
        ),
        Field::new("scored", "scored", FieldType::Flag, "Hide details from the agent; eligible for the leaderboard"),
        text("agent", "The agent or its configuration"),
        Field::new("solver", "solver_id", FieldType::Text, "The solver to run it for"),
        Field::new("task", "tasks", FieldType::Texts, "Only this task, by name or id; repeatable"),
        Field::new("tag", "tags", FieldType::Texts, "Only tasks with this tag; repeatable"),
        Field::new("metadata", "metadata", FieldType::Json, "Stored with the run: a JSON object of texts, or @FILE"),
    ],
    update: &[],
    filters: &[
        Field::new("benchmark", "benchmark_id", FieldType::Text, "Only runs of this benchmark: bench_… or its slug"),
        Field::new("solver", "solver_id", FieldType::Text, "Only runs of this solver"),
        text("agent", "Only runs of this agent"),
        text("status", "active, completed, cancelled, failed or timed_out"),
    ],
    has_get: true,
    has_delete: false,
    verbs: &[
        Verb::get(
            "tasks",
            "List its task runs",
            "/task-runs?benchmark_run_id={}",
            &["br_…"],
            ResponseShape::List(TASK_RUN_COLUMNS),
        ),
        Verb::get("task", "Show one task run", "/task-runs/{}", &["tr_…"], ResponseShape::One),
        Verb::get(
            "criteria",
            "List the criterion runs of a task run",
            "/criterion-runs?task_run_id={}",
            &["tr_…"],
            ResponseShape::List(&[
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
        Verb::get(
            "evidence",
            "Show one criterion run with its evidence",
            "/criterion-runs/{}",
            &["crun_…"],
            ResponseShape::One,
        ),
        Verb::post("start-task", "Start a task run", "/task-runs/{}/start", &["tr_…"]),
        Verb::post("complete-task", "Complete and score a task run", "/task-runs/{}/complete", &["tr_…"]),
        Verb::post("cancel-task", "End a task run without scoring it", "/task-runs/{}/cancel", &["tr_…"]),
        Verb::post(
            "complete",
            "Score started tasks, count others as 0, and end the run",
            "/benchmark-runs/{}/complete",
            &["br_…"],
        ),
        Verb::post("cancel", "End the run without scoring it", "/benchmark-runs/{}/cancel", &["br_…"]),
        Verb::post(
            "publish",
            "Publish its series (solver and agent) on the leaderboard",
            "/benchmark-runs/{}/publish",
            &["br_…"],
        ),
        Verb::post("unpublish", "Remove its series from the leaderboard", "/benchmark-runs/{}/unpublish", &["br_…"]),
    ],
};
