//! Paths in a sandbox's virtual file tree. A path is the key of a row and never refers to a file of the host.

use model::dataset::is_file_path;

/// The canonical path of a file or directory, or the root.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(String);

impl TreePath {
    pub fn root() -> Self {
        Self::default()
    }

    /// Parses a canonical path, such as in a URL.
    pub fn exact(text: &str) -> Option<Self> {
        is_canonical(text).then(|| Self(text.to_owned()))
    }

    /// Resolves a path from the root that may contain `.`, `..` and repeated slashes. The parent of the root is the root.
    pub fn resolve(text: &str) -> Option<Self> {
        let mut segments: Vec<&str> = Vec::new();
        for segment in text.split('/') {
            match segment {
                "" | "." => {}
                ".." => drop(segments.pop()),
                name => segments.push(name),
            }
        }
        let path = segments.join("/");
        (path.is_empty() || is_canonical(&path)).then_some(Self(path))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The last segment; empty for the root.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// The parent directory.
    pub fn parent(&self) -> Self {
        Self(self.0.rsplit_once('/').map(|(parent, _)| parent.to_owned()).unwrap_or_default())
    }

    /// All parent directories except the root, outermost first.
    pub fn ancestors(&self) -> impl Iterator<Item = &str> {
        self.0.match_indices('/').map(|(end, _)| &self.0[..end])
    }

    /// The prefix of all paths inside this directory.
    pub fn prefix(&self) -> String {
        if self.is_root() { String::new() } else { format!("{}/", self.0) }
    }

    /// The path of an entry of this directory. None if the name is not valid.
    pub fn child(&self, name: &str) -> Option<Self> {
        Self::exact(&format!("{}{name}", self.prefix()))
    }

    /// Whether this path is inside `directory`.
    pub fn is_below(&self, directory: &Self) -> bool {
        self != directory && self.0.starts_with(&directory.prefix())
    }
}

/// The replacement character is rejected: it stands for invalid UTF-8, so different names could become equal.
fn is_canonical(path: &str) -> bool {
    is_file_path(path) && !path.contains(char::REPLACEMENT_CHARACTER)
}

impl std::fmt::Display for TreePath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "/{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_inside_the_root() {
        for (written, path) in [
            ("", Some("")),
            ("/", Some("")),
            (".", Some("")),
            ("..", Some("")),
            ("/../../etc/passwd", Some("etc/passwd")),
            ("inbox/../../../a", Some("a")),
            ("//inbox//./a.pdf", Some("inbox/a.pdf")),
            ("inbox/", Some("inbox")),
            ("Inbox", Some("Inbox")),
            ("...", Some("...")),
            ("‥/a", Some("‥/a")),
            ("．．/a", Some("．．/a")),
            ("a\0b", None),
            ("a\nb", None),
            ("..\\..\\a", None),
            ("a\u{fffd}", None),
        ] {
            assert_eq!(TreePath::resolve(written).as_ref().map(TreePath::as_str), path, "{written:?}");
        }
        assert_eq!(TreePath::resolve(&"x/".repeat(600)), None);
        assert_eq!(TreePath::resolve(&"x".repeat(256)), None);
        for written in ["", "/a", "a/../b", "a/", ".", "a//b"] {
            assert_eq!(TreePath::exact(written), None, "{written:?}");
        }
    }

    #[test]
    fn parents_and_children_of_a_path() {
        let path = TreePath::exact("a/b/c").unwrap();
        assert_eq!((path.name(), path.parent().as_str(), path.prefix().as_str()), ("c", "a/b", "a/b/c/"));
        assert_eq!(path.ancestors().collect::<Vec<_>>(), ["a", "a/b"]);
        assert_eq!(path.child("d").unwrap().as_str(), "a/b/c/d");
        assert_eq!(path.child("d/../../.."), None);
        assert!(path.is_below(&TreePath::root()) && path.is_below(&path.parent()) && !path.is_below(&path));
        assert!(!TreePath::exact("ab").unwrap().is_below(&TreePath::exact("a").unwrap()));
        assert!(TreePath::root().parent().is_root());
    }
}
