-- What the creator of a run wants to remember about it, as a JSON object of texts.
alter table benchmark_runs add column metadata text;
