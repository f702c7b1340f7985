//! Terminal colors.

use std::io::IsTerminal;

/// Whether to use colors on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    is_colored: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Color {
    Good,
    Warning,
    Bad,
    Dim,
    Strong,
}

impl Style {
    #[cfg(test)]
    pub(crate) const PLAIN: Self = Self { is_colored: false };

    pub(crate) fn of_stdout() -> Self {
        Self::of(&std::io::stdout())
    }

    pub(crate) fn of_stderr() -> Self {
        Self::of(&std::io::stderr())
    }

    pub(crate) fn is_colored(self) -> bool {
        self.is_colored
    }

    /// Colors are only used on a terminal, and not if `NO_COLOR` is set (to any non-empty value).
    #[expect(clippy::disallowed_methods, reason = "NO_COLOR is a common convention, see no-color.org")]
    fn of(stream: &impl IsTerminal) -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let forced = set("CLICOLOR_FORCE");
        Self { is_colored: !set("NO_COLOR") && !dumb && (forced || stream.is_terminal()) }
    }

    pub(crate) fn paint(self, color: Color, text: &str) -> String {
        if !self.is_colored || text.is_empty() {
            return text.to_owned();
        }
        let code = match color {
            Color::Good => "32",
            Color::Warning => "33",
            Color::Bad => "31",
            Color::Dim => "2",
            Color::Strong => "1",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_style_adds_no_escape_codes() {
        assert_eq!(Style::PLAIN.paint(Color::Bad, "no"), "no");
        assert_eq!(Style { is_colored: true }.paint(Color::Bad, "no"), "\u{1b}[31mno\u{1b}[0m");
    }
}
