-- When a task run was sealed, and where its log ended then. Later entries of the log tell of what was settled after the
-- completion. A sealed task run cannot time out, whether or not it is scored yet.
alter table task_runs add column sealed_at bigint;
alter table task_runs add column completed_seq bigint;

-- The engine that scored the run; null while it is active, and when its task runs were scored by several.
alter table benchmark_runs add column engine text;
update benchmark_runs set engine = 'verify/1' where status <> 'active' and exists (select 1 from task_runs t
    where t.benchmark_run_id = benchmark_runs.id and t.sealed like '%"engine":"verify/1"%');
update benchmark_runs set engine = 'verify/2' where status <> 'active' and exists (select 1 from task_runs t
    where t.benchmark_run_id = benchmark_runs.id and t.sealed like '%"engine":"verify/2"%');
update benchmark_runs set engine = 'verify/3' where status <> 'active' and exists (select 1 from task_runs t
    where t.benchmark_run_id = benchmark_runs.id and t.sealed like '%"engine":"verify/3"%');
update benchmark_runs set engine = 'verify/4' where status <> 'active' and exists (select 1 from task_runs t
    where t.benchmark_run_id = benchmark_runs.id and t.sealed like '%"engine":"verify/4"%');
update benchmark_runs set engine = 'verify/5' where status <> 'active' and exists (select 1 from task_runs t
    where t.benchmark_run_id = benchmark_runs.id and t.sealed like '%"engine":"verify/5"%');
update benchmark_runs set engine = null where engine is not null and exists (select 1 from task_runs t
    where t.benchmark_run_id = benchmark_runs.id and t.sealed not like '%"engine":"' || benchmark_runs.engine || '"%');
-- Nothing of these runs was scored by any engine, so that the last one stands for all.
update benchmark_runs set engine = 'verify/5' where status <> 'active' and not exists (select 1 from task_runs t
    where t.benchmark_run_id = benchmark_runs.id and t.sealed is not null);

-- What another engine made of a finished run, beside the result that stands in benchmark_runs.
create table engine_results (
    benchmark_run_id text not null references benchmark_runs (id),
    engine text not null,
    score text,
    axes text,
    scored_at bigint not null,
    primary key (benchmark_run_id, engine)
);

-- Of its completed task runs. criteria is JSON; if it is large, it is a blob, criteria is null and criteria_blob has its name.
create table engine_task_results (
    benchmark_run_id text not null references benchmark_runs (id),
    engine text not null,
    task_run_id text not null references task_runs (id),
    score text not null,
    axes text not null,
    criteria text,
    criteria_blob text,
    primary key (benchmark_run_id, engine, task_run_id)
);
