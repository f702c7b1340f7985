//! Colour, where there is an eye for it.

use std::io::IsTerminal;

/// Whether to colour, decided once for a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    is_coloured: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Good,
    Warning,
    Bad,
    Dim,
    Strong,
}

impl Style {
    #[cfg(test)]
    pub(crate) const PLAIN: Self = Self { is_coloured: false };

    pub(crate) fn of_stdout() -> Self {
        Self::of(&std::io::stdout())
    }

    pub(crate) fn of_stderr() -> Self {
        Self::of(&std::io::stderr())
    }

    pub(crate) fn is_coloured(self) -> bool {
        self.is_coloured
    }

    /// Colour on a terminal only, and never against `NO_COLOR` (any value that is not empty).
    #[expect(clippy::disallowed_methods, reason = "NO_COLOR is a convention of all programs, see no-color.org")]
    fn of(stream: &impl IsTerminal) -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let forced = set("CLICOLOR_FORCE");
        Self { is_coloured: !set("NO_COLOR") && !dumb && (forced || stream.is_terminal()) }
    }

    pub(crate) fn paint(self, colour: Colour, text: &str) -> String {
        if !self.is_coloured || text.is_empty() {
            return text.to_owned();
        }
        let code = match colour {
            Colour::Good => "32",
            Colour::Warning => "33",
            Colour::Bad => "31",
            Colour::Dim => "2",
            Colour::Strong => "1",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_is_plain() {
        assert_eq!(Style::PLAIN.paint(Colour::Bad, "no"), "no");
        assert_eq!(Style { is_coloured: true }.paint(Colour::Bad, "no"), "\u{1b}[31mno\u{1b}[0m");
    }
}
