-- Secrets of the server itself, which all of its nodes share: the seed of its SSH host key.
create table server_secrets (
    name text primary key,
    secret text not null,
    created_at bigint not null
);
