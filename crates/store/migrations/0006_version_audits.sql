-- What an audit found of a published version, as JSON. Beside the version: its content and its hash stay as they are.
create table version_audits (
    slug text not null,
    version bigint not null,
    audit text not null,
    primary key (slug, version),
    foreign key (slug, version) references benchmark_versions (slug, version)
);
