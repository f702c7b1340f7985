-- Columns are text or bigint only: times are milliseconds, flags 0 or 1, JSON is text.

create table organizations (
    id text primary key,
    name text not null,
    created_at bigint not null,
    updated_at bigint not null
);

-- Keys of every kind; solver_id is set on a solver's key. Only a hash of the secret is here.
create table keys (
    id text primary key,
    org_id text not null references organizations (id),
    solver_id text,
    name text not null,
    prefix text not null,
    suffix text not null,
    hash text not null,
    created_at bigint not null,
    last_used_at bigint,
    revoked_at bigint
);
create unique index keys_hash_key on keys (hash);
create index keys_owner on keys (org_id, solver_id, id);

create table solvers (
    id text primary key,
    org_id text not null references organizations (id),
    alias text not null,
    real_name text,
    agent_description text,
    agent_version text,
    contact_email text,
    created_at bigint not null,
    updated_at bigint not null
);
create unique index solvers_alias_key on solvers (org_id, alias);
create index solvers_org on solvers (org_id, id);

create table environments (
    id text primary key,
    org_id text not null references organizations (id),
    name text not null,
    description text,
    created_at bigint not null,
    updated_at bigint not null
);
create index environments_org on environments (org_id, id);

create table simulators (
    id text primary key,
    org_id text not null references organizations (id),
    type text not null,
    name text not null,
    config text not null,
    created_at bigint not null,
    updated_at bigint not null
);
create index simulators_org on simulators (org_id, id);

create table environment_simulators (
    environment_id text not null references environments (id),
    simulator_id text not null references simulators (id),
    position bigint not null,
    primary key (environment_id, simulator_id)
);
create index environment_simulators_simulator on environment_simulators (simulator_id);

-- The current content of a FHIR dataset is its manifest; that of a files dataset is in dataset_files.
create table datasets (
    id text primary key,
    org_id text not null references organizations (id),
    name text not null,
    description text,
    type text not null,
    parent_id text,
    revision bigint not null,
    counts text not null,
    bytes bigint not null,
    manifest text not null,
    created_at bigint not null,
    updated_at bigint not null
);
create index datasets_org on datasets (org_id, id);

create table dataset_files (
    dataset_id text not null references datasets (id),
    path text not null,
    sha256 text not null,
    size bigint not null,
    content_type text not null,
    modified_at bigint not null,
    primary key (dataset_id, path)
);

-- Kept revisions. They outlive their dataset, because published versions read them.
create table checkpoints (
    dataset_id text not null,
    revision bigint not null,
    org_id text not null references organizations (id),
    content_hash text not null,
    manifest text not null,
    counts text not null,
    bytes bigint not null,
    created_at bigint not null,
    primary key (dataset_id, revision)
);

create table dataset_entities (
    id text primary key,
    org_id text not null references organizations (id),
    dataset_id text not null references datasets (id),
    name text not null,
    ref text,
    data text not null,
    created_at bigint not null,
    updated_at bigint not null
);
create unique index dataset_entities_name_key on dataset_entities (dataset_id, name);
create index dataset_entities_dataset on dataset_entities (dataset_id, id);

create table simulator_datasets (
    simulator_id text not null references simulators (id),
    dataset_id text not null references datasets (id),
    position bigint not null,
    primary key (simulator_id, dataset_id)
);
create index simulator_datasets_dataset on simulator_datasets (dataset_id);

create table benchmarks (
    id text primary key,
    org_id text not null references organizations (id),
    name text not null,
    description text,
    environment_id text references environments (id),
    timeout bigint not null,
    concurrency bigint not null,
    visibility text not null,
    slug text,
    created_at bigint not null,
    updated_at bigint not null
);
create index benchmarks_org on benchmarks (org_id, id);
create index benchmarks_environment on benchmarks (environment_id);

create table tasks (
    id text primary key,
    org_id text not null references organizations (id),
    benchmark_id text not null references benchmarks (id),
    name text not null,
    timeout bigint,
    tags text not null,
    task_item text not null,
    scenario text not null,
    created_at bigint not null,
    updated_at bigint not null
);
create index tasks_org on tasks (org_id, id);
create index tasks_benchmark on tasks (benchmark_id, id);

create table task_entities (
    task_id text not null references tasks (id),
    entity_id text not null references dataset_entities (id),
    position bigint not null,
    primary key (task_id, entity_id)
);
create index task_entities_entity on task_entities (entity_id);

create table criteria (
    id text primary key,
    org_id text not null references organizations (id),
    task_id text not null references tasks (id),
    label text not null,
    assertion text not null,
    weight text not null,
    axis text,
    input_entity_id text references dataset_entities (id),
    warnings text not null,
    created_at bigint not null,
    updated_at bigint not null
);
create index criteria_org on criteria (org_id, id);
create index criteria_task on criteria (task_id, id);
create index criteria_entity on criteria (input_entity_id);

-- A slug belongs to one benchmark for ever once a version is out. visibility is the benchmark's current one.
create table slugs (
    slug text primary key,
    org_id text not null references organizations (id),
    benchmark_id text not null,
    visibility text not null,
    newest_version bigint
);
create index slugs_benchmark on slugs (benchmark_id);

create table benchmark_versions (
    slug text not null references slugs (slug),
    version bigint not null,
    org_id text not null references organizations (id),
    benchmark_id text not null,
    name text not null,
    description text,
    timeout bigint not null,
    concurrency bigint not null,
    content_hash text not null,
    snapshot text not null,
    published_at bigint not null,
    primary key (slug, version)
);
create unique index benchmark_versions_content_key on benchmark_versions (slug, content_hash);

-- Answers of requests that carried an Idempotency-Key; a secret in one is sealed with the caller's own key.
create table idempotency (
    owner text not null,
    idempotency_key text not null,
    request_hash text not null,
    answer text not null,
    created_at bigint not null,
    primary key (owner, idempotency_key)
);
create index idempotency_age on idempotency (created_at);
