-- Most of what is written is events of reads. They are appended after their playground's row was, so they need not look
-- for it again, and those of one sandbox are found among those of its playground.
create table lean_events (
    playground_id text not null,
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
insert into lean_events select playground_id, seq, id, sandbox_id, type, at, actor, summary, payload, blob from events;
drop table events;
alter table lean_events rename to events;
