-- Scores are exact fractions as text, axes JSON of such.

-- A run is its organization's; what is run may be another one's. The hash is of the run's token.
create table benchmark_runs (
    id text primary key,
    org_id text not null references organizations (id),
    solver_id text,
    benchmark_id text not null,
    slug text,
    version bigint,
    name text not null,
    content_hash text not null,
    agent text,
    scored bigint not null,
    concurrency bigint not null,
    phase text not null,
    status text not null,
    verdict text,
    score text,
    axes text,
    created_at bigint not null,
    started_at bigint,
    completed_at bigint,
    token_hash text not null,
    token_expires_at bigint not null,
    published_at bigint
);
create unique index benchmark_runs_token_key on benchmark_runs (token_hash);
create index benchmark_runs_org on benchmark_runs (org_id, id);
create index benchmark_runs_version on benchmark_runs (slug, version, id);

-- What a run of an unpublished benchmark runs.
create table draft_snapshots (
    benchmark_run_id text primary key references benchmark_runs (id),
    snapshot text not null
);

create table task_runs (
    id text primary key,
    org_id text not null references organizations (id),
    benchmark_run_id text not null references benchmark_runs (id),
    position bigint not null,
    task_id text not null,
    name text not null,
    timeout bigint not null,
    phase text not null,
    status text not null,
    verdict text,
    score text,
    axes text,
    playground_id text references playgrounds (id),
    sealed text,
    failure text,
    created_at bigint not null,
    started_at bigint,
    deadline_at bigint,
    completed_at bigint
);
create index task_runs_run on task_runs (benchmark_run_id, position);
create index task_runs_org on task_runs (org_id, id);
create index task_runs_deadline on task_runs (phase, deadline_at);

-- Large evidence is a blob: evidence is then null and evidence_blob has its name.
create table criterion_runs (
    id text primary key,
    org_id text not null references organizations (id),
    task_run_id text not null references task_runs (id),
    position bigint not null,
    criterion_id text not null,
    label text not null,
    axis text,
    weight text not null,
    passed bigint not null,
    score text not null,
    details text not null,
    evidence text,
    evidence_blob text,
    started_at bigint not null,
    completed_at bigint not null
);
create index criterion_runs_task on criterion_runs (task_run_id, position);
create index criterion_runs_org on criterion_runs (org_id, id);

-- The playground of a task run takes no traffic after ends_at, and nobody but the run may change what it is made of.
alter table playgrounds add column task_run_id text;
alter table playgrounds add column ends_at bigint;
