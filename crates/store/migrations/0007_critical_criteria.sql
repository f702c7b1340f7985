-- Critical criteria, their public labels, and what became of them.
alter table criteria add column critical bigint not null default 0;
alter table criteria add column public_label text;

-- As the criterion was when it was scored. guard: an agent that does nothing passes it.
alter table criterion_runs add column critical bigint not null default 0;
alter table criterion_runs add column guard bigint not null default 0;
alter table criterion_runs add column public_label text;

-- How many critical criteria failed, and whether every criterion passed. Before a task run ends, axes has the axes of its
-- criteria with a score of 0: what a task that is never scored counts.
alter table task_runs add column critical_failures bigint not null default 0;
alter table task_runs add column clean bigint not null default 0;

update task_runs set clean = 1
where status = 'completed'
    and exists (select 1 from criterion_runs c where c.task_run_id = task_runs.id)
    and not exists (select 1 from criterion_runs c where c.task_run_id = task_runs.id and c.passed = 0);
