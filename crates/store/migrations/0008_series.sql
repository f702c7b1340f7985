-- order_seed decides the order of a scored run's tasks. partial_selection: the run has only some of the version's tasks.
-- organization_writes: the organization's key wrote into its sandboxes. agent_version: the solver's when the run was made.
alter table benchmark_runs add column order_seed bigint;
alter table benchmark_runs add column partial_selection bigint not null default 0;
alter table benchmark_runs add column organization_writes bigint not null default 0;
alter table benchmark_runs add column agent_version text;
update benchmark_runs
    set agent_version = (select s.agent_version from solvers s where s.id = benchmark_runs.solver_id);

-- What stands on leaderboards: all scored runs of a version by a solver with one agent and agent version. Texts that are
-- null in runs are empty here, because a key has no nulls.
create table published_series (
    slug text not null,
    version bigint not null,
    solver_id text not null,
    agent text not null,
    agent_version text not null,
    published_at bigint not null,
    primary key (slug, version, solver_id, agent, agent_version)
);
insert into published_series (slug, version, solver_id, agent, agent_version, published_at)
    select slug, version, solver_id, coalesce(agent, ''), coalesce(agent_version, ''), min(published_at)
    from benchmark_runs
    where published_at is not null and slug is not null and version is not null and solver_id is not null
    group by slug, version, solver_id, coalesce(agent, ''), coalesce(agent_version, '');
alter table benchmark_runs drop column published_at;
