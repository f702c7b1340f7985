-- head is the last entry of the log. The state is the fold of the changes after baseline. shape is the entry at which
-- sandboxes or their datasets last changed.
create table playgrounds (
    id text primary key,
    org_id text not null references organizations (id),
    environment_id text,
    head bigint not null,
    baseline bigint not null,
    shape bigint not null,
    created_at bigint not null,
    reset_at bigint,
    torn_down_at bigint
);
create index playgrounds_org on playgrounds (org_id, id);

-- config is the simulator's as it was when the sandbox was made. secret is what the credentials are derived from.
create table sandboxes (
    id text primary key,
    org_id text not null references organizations (id),
    playground_id text not null references playgrounds (id),
    simulator_id text not null,
    type text not null,
    name text not null,
    config text not null,
    datasets text not null,
    secret text not null,
    created_at bigint not null,
    torn_down_at bigint
);
create index sandboxes_org on sandboxes (org_id, id);
create index sandboxes_playground on sandboxes (playground_id, id);

-- Large payloads are blobs: payload is then empty and blob has its name.
create table events (
    playground_id text not null references playgrounds (id),
    seq bigint not null,
    id text not null,
    sandbox_id text not null,
    type text not null,
    at bigint not null,
    actor text not null,
    summary text not null,
    payload text not null,
    blob text,
    primary key (playground_id, seq)
);
create index events_sandbox on events (sandbox_id, seq);

-- A new version of a record, made by the event of the same seq; neither body nor blob when it was deleted.
create table changes (
    playground_id text not null references playgrounds (id),
    seq bigint not null,
    position bigint not null,
    sandbox_id text not null,
    collection text not null,
    key text not null,
    version bigint not null,
    at bigint not null,
    write text not null,
    body text,
    blob text,
    primary key (playground_id, seq, position)
);

-- Dataset revisions in the form in which they are searched, by the hash of their manifest.
create table layers (
    content_hash text not null,
    format bigint not null,
    index_blob text not null,
    segment_blobs text not null,
    created_at bigint not null,
    primary key (content_hash, format)
);
