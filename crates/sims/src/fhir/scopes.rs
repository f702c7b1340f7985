//! SMART scopes of a system client (<https://hl7.org/fhir/smart-app-launch/scopes-and-launch-context.html>).

use std::collections::BTreeSet;

use fhir::ResourceType;

/// The granted scopes of a token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes {
    granted: Vec<Scope>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Scope {
    text: String,
    /// None for every type.
    resource_type: Option<ResourceType>,
    permissions: BTreeSet<Permission>,
}

/// One letter of a scope's `cruds`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    Create,
    /// Includes versions and the history of one resource.
    Read,
    Update,
    Delete,
    /// Includes the history of a type.
    Search,
}

impl Permission {
    /// In the order that scopes require.
    const LETTERS: [(char, Self); 5] =
        [('c', Self::Create), ('r', Self::Read), ('u', Self::Update), ('d', Self::Delete), ('s', Self::Search)];

    pub fn letter(self) -> char {
        Self::LETTERS.iter().find(|(_, known)| *known == self).map_or(' ', |(letter, _)| *letter)
    }
}

impl Scopes {
    /// Parses a space-separated list of scopes, version 1 (`system/Patient.read`) or 2 (`system/Patient.rs`). Unknown scopes
    /// and those that are not for system clients are ignored.
    pub fn parse(text: &str) -> Self {
        let mut granted: Vec<Scope> = Vec::new();
        for scope in text.split_ascii_whitespace().filter_map(Scope::parse) {
            if !granted.contains(&scope) {
                granted.push(scope);
            }
        }
        Self { granted }
    }

    /// The granted scopes, space-separated, as requested.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.granted.iter().map(|scope| scope.text.as_str()).collect();
        texts.join(" ")
    }

    pub fn is_empty(&self) -> bool {
        self.granted.is_empty()
    }

    pub fn allow(&self, permission: Permission, resource_type: ResourceType) -> bool {
        self.granted.iter().any(|scope| {
            scope.resource_type.is_none_or(|only| only == resource_type) && scope.permissions.contains(&permission)
        })
    }
}

impl Scope {
    fn parse(text: &str) -> Option<Self> {
        let (name, permissions) = text.strip_prefix("system/")?.rsplit_once('.')?;
        let resource_type = if name == "*" { None } else { Some(name.parse().ok()?) };
        Some(Self { text: text.to_owned(), resource_type, permissions: parse_permissions(permissions)? })
    }
}

fn parse_permissions(text: &str) -> Option<BTreeSet<Permission>> {
    let of = |letters: &str| {
        Permission::LETTERS
            .into_iter()
            .filter(|(letter, _)| letters.contains(*letter))
            .map(|(_, found)| found)
            .collect()
    };
    match text {
        "read" => Some(of("rs")),
        "write" => Some(of("cud")),
        "*" => Some(of("cruds")),
        "" => None,
        letters => {
            let mut order = "cruds".chars();
            letters.chars().all(|letter| order.any(|known| known == letter)).then(|| of(letters))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(scopes: &str, resource_type: &str) -> String {
        let scopes = Scopes::parse(scopes);
        let resource_type = resource_type.parse().unwrap();
        let letters = Permission::LETTERS.into_iter().filter(|(_, found)| scopes.allow(*found, resource_type));
        letters.map(|(letter, _)| letter).collect()
    }

    #[test]
    fn both_versions_are_supported() {
        for (scopes, resource_type, letters) in [
            ("system/*.rs", "Patient", "rs"),
            ("system/*.*", "Patient", "cruds"),
            ("system/Patient.read", "Patient", "rs"),
            ("system/Patient.read", "Observation", ""),
            ("system/Patient.write", "Patient", "cud"),
            ("system/Observation.cruds", "Observation", "cruds"),
            ("system/Observation.c system/*.r", "Observation", "cr"),
            ("system/Observation.s", "Observation", "s"),
        ] {
            assert_eq!(allowed(scopes, resource_type), letters, "{scopes}");
        }
    }

    #[test]
    fn unknown_scopes_are_ignored() {
        let requested = "openid system/Patient.rs user/*.rs patient/Patient.read system/Pateint.rs system/Patient.sr \
                     system/Patient. system/Patient system/Observation.rs?category=lab system/*.read system/Patient.rs";
        let granted = Scopes::parse(requested);
        assert_eq!(granted.text(), "system/Patient.rs system/*.read");
        assert_eq!(Scopes::parse(&granted.text()), granted);
        assert!(Scopes::parse("user/*.*").is_empty() && !granted.is_empty());
    }
}
