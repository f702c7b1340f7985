//! What benchmarks are written with.

use super::describe::{Answer, Column, Field, Kind, Resource, Verb, text};

const NAME: Field = text("name", "1 to 200 characters");
const DESCRIPTION: Field = text("description", "At most 1000 characters").nullable();
const TIMEOUT: Field = Field::new("timeout", "timeout", Kind::Integer, "Seconds for each task");

const BENCHMARK_FIELDS: [Field; 6] = [
    DESCRIPTION,
    Field::new("environment", "environment_id", Kind::Text, "The environment that its tasks run in").nullable(),
    TIMEOUT,
    Field::new("concurrency", "concurrency", Kind::Integer, "How many tasks of a run may be started at a time"),
    text("visibility", "`Public` or `Private`"),
    text("slug", "Its name in references: slug@version").nullable(),
];

pub(crate) const BENCHMARKS: Resource = Resource {
    name: "benchmarks",
    one: "benchmark",
    about: "Benchmarks: your own, and everyone's published Public ones",
    path: "/benchmarks",
    id: "bench_… or its slug",
    columns: &[
        Column("ID", "id"),
        Column("SLUG", "slug"),
        Column("VERSION", "version"),
        Column("NAME", "name"),
        Column("VISIBILITY", "visibility"),
    ],
    create: &{
        let [description, environment, timeout, concurrency, visibility, slug] = BENCHMARK_FIELDS;
        [NAME.required(), description, environment, timeout, concurrency, visibility, slug]
    },
    update: &{
        let [description, environment, timeout, concurrency, visibility, slug] = BENCHMARK_FIELDS;
        [NAME, description, environment, timeout, concurrency, visibility, slug]
    },
    filters: &[],
    gets: true,
    deletes: true,
    verbs: &[
        Verb::post(
            "publish",
            "Freeze it as the next version of its slug",
            "/benchmarks/{}/publish",
            &["bench_… or its slug"],
        )
        .with(&[text("slug", "For the first publication, when it has none yet")]),
        Verb::get(
            "versions",
            "Its published versions",
            "/benchmarks/{}/versions",
            &["bench_… or its slug"],
            Answer::List(&[
                Column("VERSION", "version"),
                Column("PUBLISHED", "published_at"),
                Column("TASKS", "tasks"),
                Column("BOUNDS", "audit.bounds"),
                Column("CONTENT HASH", "content_hash"),
            ]),
        ),
        Verb::get(
            "stats",
            "Numbers of its completed runs: n, mean, interval, pass@k, pass^k",
            "/benchmarks/{}/stats",
            &["slug@version"],
            Answer::One,
        )
        .with(&[
            Field::new("solver", "solver_id", Kind::Text, "Only runs of this solver"),
            text("agent", "Only runs of this agent"),
        ]),
        Verb::get("leaderboard", "Its leaderboard", "/v1/leaderboards/{}", &["slug@version"], Answer::One),
    ],
};

const TASK_FIELDS: [Field; 4] = [
    Field::new("timeout", "timeout", Kind::Integer, "Seconds; without it the benchmark's").nullable(),
    Field::new("tag", "tags", Kind::Texts, "A tag; repeatable"),
    Field::new("task-item", "task_item", Kind::Json, "What the agent gets to read: JSON or @FILE").nullable(),
    Field::new("scenario", "scenario", Kind::Json, "{\"steps\": […]}: JSON or @FILE").nullable(),
];

const BENCHMARK: Field = Field::new("benchmark", "benchmark_id", Kind::Text, "The benchmark: bench_… or its slug");

pub(crate) const TASKS: Resource = Resource {
    name: "tasks",
    one: "task",
    about: "Tasks of benchmarks",
    path: "/tasks",
    id: "task_…",
    columns: &[
        Column("ID", "id"),
        Column("NAME", "name"),
        Column("CRITERIA", "criteria"),
        Column("TAGS", "tags"),
        Column("TIMEOUT", "timeout"),
    ],
    create: &{
        let [timeout, tags, item, scenario] = TASK_FIELDS;
        [BENCHMARK.required(), NAME.required(), timeout, tags, item, scenario]
    },
    update: &{
        let [timeout, tags, item, scenario] = TASK_FIELDS;
        [NAME, timeout, tags, item, scenario]
    },
    filters: &[BENCHMARK],
    gets: true,
    deletes: true,
    verbs: &[
        Verb::get(
            "entities",
            "The entities that it speaks of",
            "/tasks/{}/entities",
            &["task_…"],
            Answer::List(ENTITIES),
        ),
        Verb::post("attach", "Let it speak of an entity", "/tasks/{}/entities", &["task_…"]).with(&[Field::new(
            "entity",
            "entity_id",
            Kind::Text,
            "The entity, as ent_…",
        )
        .required()]),
        Verb::delete(
            "detach",
            "Let it speak of an entity no more",
            "/tasks/{}/entities/{}",
            &["task_…", "ent_…"],
            "the entity is detached",
        ),
    ],
};

const ENTITIES: &[Column] =
    &[Column("ID", "id"), Column("NAME", "name"), Column("REF", "ref"), Column("DATASET", "dataset_id")];

const CRITERION_FIELDS: [Field; 4] = [
    Field::new("weight", "weight", Kind::Number, "Above 0; 1 by default"),
    text("axis", "Scores are also averaged per axis").nullable(),
    Field::new("entity", "input_entity_id", Kind::Text, "The entity that its templates read").nullable(),
    Field::new("public-label", "public_label", Kind::Text, "What agents read instead of the label in scored runs")
        .nullable(),
];
const LABEL: Field = text("label", "What it asks, in words");
const ASSERTION: Field =
    Field::new("assertion", "assertion", Kind::Json, "{\"assert\": \"fhir-resource-state\", …}: JSON or @FILE");
const TASK: Field = Field::new("task", "task_id", Kind::Text, "The task, as task_…");

pub(crate) const CRITERIA: Resource = Resource {
    name: "criteria",
    one: "criterion",
    about: "Criteria of tasks",
    path: "/criteria",
    id: "crit_…",
    columns: &[
        Column("ID", "id"),
        Column("LABEL", "label"),
        Column("ASSERT", "assertion.assert"),
        Column("AXIS", "axis"),
        Column("WEIGHT", "weight"),
        Column("CRITICAL", "critical"),
        Column("GUARD", "guard"),
    ],
    create: &{
        let [weight, axis, entity, public_label] = CRITERION_FIELDS;
        let critical =
            Field::new("critical", "critical", Kind::Flag, "Failing it means harm: it scores 0 unless passed");
        [TASK.required(), LABEL.required(), ASSERTION.required(), weight, axis, entity, public_label, critical]
    },
    update: &{
        let [weight, axis, entity, public_label] = CRITERION_FIELDS;
        let critical = Field::new("critical", "critical", Kind::Json, "Whether failing it means harm: true or false");
        [LABEL, ASSERTION, weight, axis, entity, public_label, critical]
    },
    filters: &[TASK],
    gets: true,
    deletes: true,
    verbs: &[],
};

pub(crate) const ENVIRONMENTS: Resource = Resource {
    name: "environments",
    one: "environment",
    about: "Environments: simulators that belong together",
    path: "/environments",
    id: "env_…",
    columns: &[
        Column("ID", "id"),
        Column("NAME", "name"),
        Column("SIMULATORS", "simulators"),
        Column("DESCRIPTION", "description"),
    ],
    create: &[NAME.required(), DESCRIPTION],
    update: &[NAME, DESCRIPTION],
    filters: &[],
    gets: true,
    deletes: true,
    verbs: &[
        Verb::post("attach", "Put a simulator into it", "/environments/{}/simulators/{}", &["env_…", "sim_…"]),
        Verb::delete(
            "detach",
            "Take a simulator out of it",
            "/environments/{}/simulators/{}",
            &["env_…", "sim_…"],
            "the simulator is detached",
        ),
    ],
};

const CONFIG: Field = Field::new("config", "config", Kind::Json, "What its type takes: JSON or @FILE");

pub(crate) const SIMULATORS: Resource = Resource {
    name: "simulators",
    one: "simulator",
    about: "Simulators: EHR, lab interface, clearinghouse, payer portal …",
    path: "/simulators",
    id: "sim_…",
    columns: &[Column("ID", "id"), Column("TYPE", "type"), Column("NAME", "name"), Column("DATASETS", "datasets")],
    create: &[text("type", "Fhir, Hl7, Clearinghouse, Files, Payer …").required(), NAME.required(), CONFIG],
    update: &[NAME, CONFIG],
    filters: &[],
    gets: true,
    deletes: true,
    verbs: &[
        Verb::post(
            "attach",
            "Let its sandboxes start from a dataset",
            "/simulators/{}/datasets/{}",
            &["sim_…", "ds_…"],
        ),
        Verb::delete(
            "detach",
            "Take a dataset away from it",
            "/simulators/{}/datasets/{}",
            &["sim_…", "ds_…"],
            "the dataset is detached",
        ),
    ],
};

const ENTITY_FIELDS: &[Field] = &[
    text("name", "Unique in the dataset").required(),
    text("ref", "`Patient/123`, or a file's path").required(),
    Field::new("data", "data", Kind::Json, "Anything that templates read: JSON or @FILE"),
];

pub(crate) const DATASETS: Resource = Resource {
    name: "datasets",
    one: "dataset",
    about: "Datasets: what simulated systems start from",
    path: "/datasets",
    id: "ds_…",
    columns: &[
        Column("ID", "id"),
        Column("NAME", "name"),
        Column("TYPE", "type"),
        Column("COUNTS", "counts"),
        Column("BYTES", "bytes"),
        Column("REVISION", "revision"),
    ],
    create: &[
        NAME.required(),
        text("type", "`fhir` (default) or `files`"),
        DESCRIPTION,
        Field::new("parent", "parent_id", Kind::Text, "Branch from this dataset: starts with its content"),
    ],
    update: &[NAME, DESCRIPTION],
    filters: &[],
    gets: true,
    deletes: true,
    verbs: &[
        Verb::get(
            "checkpoints",
            "Revisions that are kept because something uses them",
            "/datasets/{}/checkpoints",
            &["ds_…"],
            Answer::List(&[
                Column("REVISION", "revision"),
                Column("BYTES", "bytes"),
                Column("CREATED", "created_at"),
                Column("CONTENT HASH", "content_hash"),
            ]),
        ),
        Verb::get(
            "files",
            "Files of a dataset of files",
            "/datasets/{}/files",
            &["ds_…"],
            Answer::List(&[Column("PATH", "path"), Column("BYTES", "size"), Column("TYPE", "content_type")]),
        ),
        Verb::get("entities", "Named rows of it", "/datasets/{}/entities", &["ds_…"], Answer::List(ENTITIES)),
        Verb::post("add-entity", "Name a row of it", "/datasets/{}/entities", &["ds_…"]).with(ENTITY_FIELDS),
        Verb::delete(
            "remove-entity",
            "Forget a named row",
            "/datasets/{}/entities/{}",
            &["ds_…", "ent_…"],
            "the entity is removed",
        ),
    ],
};
