//! The types that describe a resource. Commands, API calls and tables are generated from these descriptions.

/// A resource of the API and its commands.
pub(crate) struct Resource {
    /// The name of the command group.
    pub(crate) name: &'static str,
    /// The singular noun.
    pub(crate) singular: &'static str,
    pub(crate) about: &'static str,
    pub(crate) path: &'static str,
    /// The format of its id, for help texts.
    pub(crate) id: &'static str,
    /// The columns of lists.
    pub(crate) columns: &'static [Column],
    /// The fields that can be set on creation; empty if it cannot be created.
    pub(crate) create: &'static [Field],
    /// The fields that can be changed; empty if it cannot be changed.
    pub(crate) update: &'static [Field],
    /// The filters of its list.
    pub(crate) filters: &'static [Field],
    /// Whether there is a `get` command.
    pub(crate) has_get: bool,
    pub(crate) has_delete: bool,
    pub(crate) verbs: &'static [Verb],
}

/// A table column: its title, and the path of its value.
pub(crate) struct Column(pub(crate) &'static str, pub(crate) &'static str);

/// A flag, and the member of the body or the query that it sets.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    pub(crate) flag: &'static str,
    pub(crate) member: &'static str,
    pub(crate) kind: FieldType,
    pub(crate) about: &'static str,
    /// Required, unless the body comes from a file.
    pub(crate) required: bool,
    /// Can be removed with `--clear`.
    pub(crate) nullable: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FieldType {
    Text,
    Integer,
    Number,
    /// A flag without a value.
    Flag,
    /// Repeatable.
    Texts,
    /// JSON, or `@FILE` to read JSON from a file.
    Json,
}

/// Another operation on a resource.
#[derive(Clone, Copy)]
pub(crate) struct Verb {
    pub(crate) name: &'static str,
    /// An alternative name.
    pub(crate) alias: Option<&'static str>,
    pub(crate) about: &'static str,
    pub(crate) method: HttpMethod,
    /// The path, with `{}` for each argument in order.
    pub(crate) path: &'static str,
    /// The id format of each argument.
    pub(crate) arguments: &'static [&'static str],
    /// Members of the body, or of the query for a GET.
    pub(crate) fields: &'static [Field],
    pub(crate) response: ResponseShape,
}

/// The HTTP method of a verb.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HttpMethod {
    Get,
    Post,
    Delete,
}

/// The shape of a response.
#[derive(Clone, Copy)]
pub(crate) enum ResponseShape {
    One,
    /// A paginated list with these columns.
    List(&'static [Column]),
    /// No content: this message is printed.
    Done(&'static str),
}

impl Field {
    pub(crate) const fn new(flag: &'static str, member: &'static str, kind: FieldType, about: &'static str) -> Self {
        Self { flag, member, kind, about, required: false, nullable: false }
    }

    pub(crate) const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    pub(crate) const fn nullable(self) -> Self {
        Self { nullable: true, ..self }
    }
}

impl Field {
    /// The member's name, with underscores instead of hyphens.
    pub(crate) fn member(&self) -> String {
        self.member.replace('-', "_")
    }
}

/// A text field whose flag and member have the same name.
pub(crate) const fn text(name: &'static str, about: &'static str) -> Field {
    Field::new(name, name, FieldType::Text, about)
}

impl Verb {
    pub(crate) const fn get(
        name: &'static str,
        about: &'static str,
        path: &'static str,
        arguments: &'static [&'static str],
        response: ResponseShape,
    ) -> Self {
        Self { name, alias: None, about, method: HttpMethod::Get, path, arguments, fields: &[], response }
    }

    pub(crate) const fn post(
        name: &'static str,
        about: &'static str,
        path: &'static str,
        arguments: &'static [&'static str],
    ) -> Self {
        Self {
            name,
            alias: None,
            about,
            method: HttpMethod::Post,
            path,
            arguments,
            fields: &[],
            response: ResponseShape::One,
        }
    }

    pub(crate) const fn delete(
        name: &'static str,
        about: &'static str,
        path: &'static str,
        arguments: &'static [&'static str],
        message: &'static str,
    ) -> Self {
        let response = ResponseShape::Done(message);
        Self { name, alias: None, about, method: HttpMethod::Delete, path, arguments, fields: &[], response }
    }

    pub(crate) const fn with(self, fields: &'static [Field]) -> Self {
        Self { fields, ..self }
    }

    pub(crate) const fn with_alias(self, alias: &'static str) -> Self {
        Self { alias: Some(alias), ..self }
    }
}
