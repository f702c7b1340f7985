//! Descriptions of benchmarks, tasks, criteria, environments, simulators and datasets.

use super::describe::{Column, Field, FieldType, Resource, ResponseShape, Verb, text};

const NAME: Field = text("name", "1 to 200 characters");
const DESCRIPTION: Field = text("description", "At most 1000 characters").nullable();
const TIMEOUT: Field = Field::new("timeout", "timeout", FieldType::Integer, "Seconds for each task");

const BENCHMARK_FIELDS: [Field; 6] = [
    DESCRIPTION,
    Field::new("environment", "environment_id", FieldType::Text, "The environment that its tasks run in").nullable(),
    TIMEOUT,
    Field::new("concurrency", "concurrency", FieldType::Integer, "How many tasks of a run may be active at a time"),
    text("visibility", "`Public` or `Private`"),
    text("slug", "Its name in references: slug@version").nullable(),
];

pub(crate) const BENCHMARKS: Resource = Resource {
    name: "benchmarks",
    singular: "benchmark",
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
    has_get: true,
    has_delete: true,
    verbs: &[
        Verb::post(
            "publish",
            "Publish it as the next version of its slug",
            "/benchmarks/{}/publish",
            &["bench_… or its slug"],
        )
        .with(&[text("slug", "The slug, for the first publication")]),
        Verb::get(
            "versions",
            "List its published versions",
            "/benchmarks/{}/versions",
            &["bench_… or its slug"],
            ResponseShape::List(&[
                Column("VERSION", "version"),
                Column("PUBLISHED", "published_at"),
                Column("TASKS", "tasks"),
                Column("BOUNDS", "audit.bounds"),
                Column("CONTENT HASH", "content_hash"),
            ]),
        ),
        Verb::get(
            "stats",
            "Show statistics of its completed runs: n, mean, interval, pass@k, pass^k",
            "/benchmarks/{}/stats",
            &["slug@version"],
            ResponseShape::One,
        )
        .with(&[
            Field::new("solver", "solver_id", FieldType::Text, "Only runs of this solver"),
            text("agent", "Only runs of this agent"),
        ]),
        Verb::get("leaderboard", "Show its leaderboard", "/v1/leaderboards/{}", &["slug@version"], ResponseShape::One),
    ],
};

const TASK_FIELDS: [Field; 4] = [
    Field::new("timeout", "timeout", FieldType::Integer, "Seconds; defaults to the benchmark's timeout").nullable(),
    Field::new("tag", "tags", FieldType::Texts, "A tag; repeatable"),
    Field::new("task-item", "task_item", FieldType::Json, "What the agent reads: JSON or @FILE").nullable(),
    Field::new("scenario", "scenario", FieldType::Json, "{\"steps\": […]}: JSON or @FILE").nullable(),
];

const BENCHMARK: Field = Field::new("benchmark", "benchmark_id", FieldType::Text, "The benchmark: bench_… or its slug");

pub(crate) const TASKS: Resource = Resource {
    name: "tasks",
    singular: "task",
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
    has_get: true,
    has_delete: true,
    verbs: &[
        Verb::get("entities", "List its entities", "/tasks/{}/entities", &["task_…"], ResponseShape::List(ENTITIES)),
        Verb::post("attach", "Attach an entity", "/tasks/{}/entities", &["task_…"]).with(&[Field::new(
            "entity",
            "entity_id",
            FieldType::Text,
            "The entity: ent_…",
        )
        .required()]),
        Verb::delete(
            "detach",
            "Detach an entity",
            "/tasks/{}/entities/{}",
            &["task_…", "ent_…"],
            "the entity was detached",
        ),
    ],
};

const ENTITIES: &[Column] =
    &[Column("ID", "id"), Column("NAME", "name"), Column("REF", "ref"), Column("DATASET", "dataset_id")];

const CRITERION_FIELDS: [Field; 4] = [
    Field::new("weight", "weight", FieldType::Number, "Above 0; 1 by default"),
    text("axis", "Scores are also averaged per axis").nullable(),
    Field::new("entity", "input_entity_id", FieldType::Text, "The entity that its templates read").nullable(),
    Field::new("public-label", "public_label", FieldType::Text, "What agents read instead of the label in scored runs")
        .nullable(),
];
const LABEL: Field = text("label", "What it requires, in words");
const ASSERTION: Field =
    Field::new("assertion", "assertion", FieldType::Json, "{\"assert\": \"fhir-resource-state\", …}: JSON or @FILE");
const TASK: Field = Field::new("task", "task_id", FieldType::Text, "The task: task_…");

pub(crate) const CRITERIA: Resource = Resource {
    name: "criteria",
    singular: "criterion",
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
            Field::new("critical", "critical", FieldType::Flag, "Failing it means harm: it scores 0 unless passed");
        [TASK.required(), LABEL.required(), ASSERTION.required(), weight, axis, entity, public_label, critical]
    },
    update: &{
        let [weight, axis, entity, public_label] = CRITERION_FIELDS;
        let critical =
            Field::new("critical", "critical", FieldType::Json, "Whether failing it means harm: true or false");
        [LABEL, ASSERTION, weight, axis, entity, public_label, critical]
    },
    filters: &[TASK],
    has_get: true,
    has_delete: true,
    verbs: &[],
};

pub(crate) const ENVIRONMENTS: Resource = Resource {
    name: "environments",
    singular: "environment",
    about: "Environments: groups of simulators",
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
    has_get: true,
    has_delete: true,
    verbs: &[
        Verb::post("attach", "Attach a simulator", "/environments/{}/simulators/{}", &["env_…", "sim_…"]),
        Verb::delete(
            "detach",
            "Detach a simulator",
            "/environments/{}/simulators/{}",
            &["env_…", "sim_…"],
            "the simulator was detached",
        ),
    ],
};

const CONFIG: Field = Field::new("config", "config", FieldType::Json, "The configuration for its type: JSON or @FILE");

pub(crate) const SIMULATORS: Resource = Resource {
    name: "simulators",
    singular: "simulator",
    about: "Simulators: EHR, lab interface, clearinghouse, payer portal …",
    path: "/simulators",
    id: "sim_…",
    columns: &[Column("ID", "id"), Column("TYPE", "type"), Column("NAME", "name"), Column("DATASETS", "datasets")],
    create: &[text("type", "Fhir, Hl7, Clearinghouse, Files, Payer …").required(), NAME.required(), CONFIG],
    update: &[NAME, CONFIG],
    filters: &[],
    has_get: true,
    has_delete: true,
    verbs: &[
        Verb::post(
            "attach",
            "Attach a dataset that its sandboxes start from",
            "/simulators/{}/datasets/{}",
            &["sim_…", "ds_…"],
        ),
        Verb::delete(
            "detach",
            "Detach a dataset",
            "/simulators/{}/datasets/{}",
            &["sim_…", "ds_…"],
            "the dataset was detached",
        ),
    ],
};

const ENTITY_FIELDS: &[Field] = &[
    text("name", "Unique in the dataset").required(),
    text("ref", "`Patient/123`, or a file's path").required(),
    Field::new("data", "data", FieldType::Json, "Data for templates: JSON or @FILE"),
];

pub(crate) const DATASETS: Resource = Resource {
    name: "datasets",
    singular: "dataset",
    about: "Datasets: the initial data of simulators",
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
        Field::new("parent", "parent_id", FieldType::Text, "Branch from this dataset, starting with its content"),
    ],
    update: &[NAME, DESCRIPTION],
    filters: &[],
    has_get: true,
    has_delete: true,
    verbs: &[
        Verb::get(
            "checkpoints",
            "List revisions that are kept because they are in use",
            "/datasets/{}/checkpoints",
            &["ds_…"],
            ResponseShape::List(&[
                Column("REVISION", "revision"),
                Column("BYTES", "bytes"),
                Column("CREATED", "created_at"),
                Column("CONTENT HASH", "content_hash"),
            ]),
        ),
        Verb::get(
            "files",
            "List the files of a dataset of files",
            "/datasets/{}/files",
            &["ds_…"],
            ResponseShape::List(&[Column("PATH", "path"), Column("BYTES", "size"), Column("TYPE", "content_type")]),
        ),
        Verb::get("entities", "List its entities", "/datasets/{}/entities", &["ds_…"], ResponseShape::List(ENTITIES)),
        Verb::post("add-entity", "Add an entity", "/datasets/{}/entities", &["ds_…"]).with(ENTITY_FIELDS),
        Verb::delete(
            "remove-entity",
            "Remove an entity",
            "/datasets/{}/entities/{}",
            &["ds_…", "ent_…"],
            "the entity was removed",
        ),
    ],
};
