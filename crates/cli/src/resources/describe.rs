//! What a group of commands is made of: one description per resource, from which commands, calls and tables come.

/// A resource of the API and its commands.
pub(crate) struct Resource {
    /// The group's name, as it is typed.
    pub(crate) name: &'static str,
    /// One of them, in words.
    pub(crate) one: &'static str,
    pub(crate) about: &'static str,
    pub(crate) path: &'static str,
    /// How its id looks, for help.
    pub(crate) id: &'static str,
    /// What lists show.
    pub(crate) columns: &'static [Column],
    /// What it can be made with.
    pub(crate) create: &'static [Field],
    /// What of it can be changed; empty when it cannot.
    pub(crate) update: &'static [Field],
    /// What its list can be narrowed to.
    pub(crate) filters: &'static [Field],
    /// Whether one can be asked for.
    pub(crate) gets: bool,
    pub(crate) deletes: bool,
    pub(crate) verbs: &'static [Verb],
}

/// A column: its title, and where its value is.
pub(crate) struct Column(pub(crate) &'static str, pub(crate) &'static str);

/// A flag, and the member of the body or the query that it becomes.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    pub(crate) flag: &'static str,
    pub(crate) member: &'static str,
    pub(crate) kind: Kind,
    pub(crate) about: &'static str,
    /// Must be given, unless the body comes from a file.
    pub(crate) required: bool,
    /// Can be taken away again with `--clear`.
    pub(crate) nullable: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Text,
    Integer,
    Number,
    /// Said by naming it.
    Flag,
    /// May be given several times.
    Texts,
    /// JSON, or `@FILE` with JSON in it.
    Json,
}

/// Something else that can be done with one of them.
#[derive(Clone, Copy)]
pub(crate) struct Verb {
    pub(crate) name: &'static str,
    /// Another name for it.
    pub(crate) alias: Option<&'static str>,
    pub(crate) about: &'static str,
    pub(crate) method: Call,
    /// With `{}` for each argument, in their order.
    pub(crate) path: &'static str,
    /// Arguments: how each looks.
    pub(crate) arguments: &'static [&'static str],
    /// Members of the body; of the query for a GET.
    pub(crate) fields: &'static [Field],
    pub(crate) answer: Answer,
}

/// How the server is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    Get,
    Post,
    Delete,
}

/// What comes back.
#[derive(Clone, Copy)]
pub(crate) enum Answer {
    One,
    /// Page by page.
    List(&'static [Column]),
    /// Nothing: these words are said.
    Done(&'static str),
}

impl Field {
    pub(crate) const fn new(flag: &'static str, member: &'static str, kind: Kind, about: &'static str) -> Self {
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
    /// Flags have hyphens where members have underscores.
    pub(crate) fn member(&self) -> String {
        self.member.replace('-', "_")
    }
}

/// A field whose flag is its member.
pub(crate) const fn text(name: &'static str, about: &'static str) -> Field {
    Field::new(name, name, Kind::Text, about)
}

impl Verb {
    pub(crate) const fn get(
        name: &'static str,
        about: &'static str,
        path: &'static str,
        arguments: &'static [&'static str],
        answer: Answer,
    ) -> Self {
        Self { name, alias: None, about, method: Call::Get, path, arguments, fields: &[], answer }
    }

    pub(crate) const fn post(
        name: &'static str,
        about: &'static str,
        path: &'static str,
        arguments: &'static [&'static str],
    ) -> Self {
        Self { name, alias: None, about, method: Call::Post, path, arguments, fields: &[], answer: Answer::One }
    }

    pub(crate) const fn delete(
        name: &'static str,
        about: &'static str,
        path: &'static str,
        arguments: &'static [&'static str],
        words: &'static str,
    ) -> Self {
        let answer = Answer::Done(words);
        Self { name, alias: None, about, method: Call::Delete, path, arguments, fields: &[], answer }
    }

    pub(crate) const fn with(self, fields: &'static [Field]) -> Self {
        Self { fields, ..self }
    }

    pub(crate) const fn known_as(self, alias: &'static str) -> Self {
        Self { alias: Some(alias), ..self }
    }
}
