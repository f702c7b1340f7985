-- A standalone sandbox was made without a playground, and its playground was made for it alone.
alter table sandboxes add column standalone bigint not null default 0;
update sandboxes set standalone = 1 where playground_id in
    (select id from playgrounds where environment_id is null and task_run_id is null)
    and not exists (select 1 from sandboxes older where older.playground_id = sandboxes.playground_id and older.id < sandboxes.id);

-- When datasets were last attached or detached; null if never.
alter table sandboxes add column reshaped_at bigint;
