//! A table that fits the terminal: the widest columns are truncated first.

use super::style::Color;
use super::text::{pad, sanitize, truncate, width, wrap};
use super::{Style, table_columns};

const GAP: &str = "  ";
/// The indentation of notes.
const NOTE_INDENT: &str = "      ";
/// Columns are truncated to this width; if that is not enough, the last columns are omitted.
const MIN_COLUMN: usize = 16;
/// The minimum width when only two columns are left.
const MIN_SECOND_COLUMN: usize = 8;

pub(crate) struct Table {
    titles: Vec<String>,
    rows: Vec<Row>,
    /// Columns that are never truncated, such as ids.
    is_fixed: Vec<bool>,
}

enum Row {
    Cells(Vec<Cell>),
    /// A line across all columns, for the rows below it.
    Heading(String),
    /// Wrapped text that belongs to the row above.
    Note(String),
}

#[derive(Clone)]
pub(crate) struct Cell {
    text: String,
    color: Option<Color>,
}

impl Cell {
    /// Sanitizes the text.
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        Self { text: sanitize(text.as_ref()), color: None }
    }

    pub(crate) fn colored(text: impl AsRef<str>, color: Color) -> Self {
        Self { color: Some(color), ..Self::new(text) }
    }
}

impl Table {
    pub(crate) fn new<'a>(titles: impl IntoIterator<Item = &'a str>) -> Self {
        let titles: Vec<String> = titles.into_iter().map(ToOwned::to_owned).collect();
        Self { is_fixed: vec![false; titles.len()], titles, rows: Vec::new() }
    }

    /// Marks a column as never truncated.
    pub(crate) fn never_truncate(mut self, column: usize) -> Self {
        if let Some(is_fixed) = self.is_fixed.get_mut(column) {
            *is_fixed = true;
        }
        self
    }

    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(Row::Cells(cells));
    }

    /// Adds a heading for the rows below it.
    pub(crate) fn heading(&mut self, text: &str) {
        self.rows.push(Row::Heading(sanitize(text)));
    }

    /// Adds a note to the row above.
    pub(crate) fn note(&mut self, text: &str) {
        self.rows.push(Row::Note(sanitize(text)));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn render(&self, style: Style) -> String {
        self.render_with_width(style, table_columns())
    }

    pub(crate) fn render_with_width(&self, style: Style, max_width: usize) -> String {
        let widths = self.widths(max_width);
        let mut lines = Vec::new();
        if self.titles.iter().any(|title| !title.is_empty()) {
            let titles: Vec<Cell> = self.titles.iter().map(|title| Cell::colored(title, Color::Dim)).collect();
            lines.push(render_line(&titles, &widths, style));
        }
        for row in &self.rows {
            match row {
                Row::Cells(cells) => lines.push(render_line(cells, &widths, style)),
                Row::Heading(text) => lines.push(style.paint(Color::Strong, &truncate(text, max_width))),
                Row::Note(text) => {
                    let wrapped = wrap(text, max_width.saturating_sub(NOTE_INDENT.len()));
                    lines.extend(wrapped.into_iter().map(|line| format!("{NOTE_INDENT}{line}")));
                }
            }
        }
        lines.join("\n")
    }

    /// The column widths: those of the content, reduced at the widest column until the table fits. When all columns have
    /// their minimum width, the last one is omitted.
    fn widths(&self, max_width: usize) -> Vec<usize> {
        let mut natural: Vec<usize> = self.titles.iter().map(|title| width(title)).collect();
        for row in &self.rows {
            if let Row::Cells(cells) = row {
                for (natural, cell) in natural.iter_mut().zip(cells) {
                    *natural = (*natural).max(width(&cell.text));
                }
            }
        }
        while natural.len() > 1 {
            let min_width = if natural.len() > 2 { MIN_COLUMN } else { MIN_SECOND_COLUMN };
            if let Some(widths) = self.shrink(&natural, max_width, min_width) {
                return widths;
            }
            natural.pop();
        }
        natural
    }

    fn shrink(&self, natural: &[usize], max_width: usize, min_width: usize) -> Option<Vec<usize>> {
        let min_widths: Vec<usize> = self
            .titles
            .iter()
            .zip(natural)
            .zip(&self.is_fixed)
            .map(
                |((title, natural), is_fixed)| {
                    if *is_fixed { *natural } else { width(title).max(min_width).min(*natural) }
                },
            )
            .collect();
        let mut widths = natural.to_vec();
        let gaps = GAP.len() * widths.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > max_width {
            let shrinkable = widths.iter_mut().zip(&min_widths).filter(|(width, min_width)| **width > **min_width);
            let (widest, _) = shrinkable.max_by_key(|(width, _)| **width)?;
            *widest -= 1;
        }
        Some(widths)
    }
}

fn render_line(cells: &[Cell], widths: &[usize], style: Style) -> String {
    let mut text = String::new();
    for (index, (cell, width)) in cells.iter().zip(widths).enumerate() {
        if index > 0 {
            text.push_str(GAP);
        }
        let is_last = index + 1 == widths.len();
        let shown = truncate(&cell.text, *width);
        let shown = if is_last { shown } else { pad(&shown, *width) };
        text.push_str(&match cell.color {
            Some(color) => style.paint(color, &shown),
            None => shown,
        });
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new(["ID", "NAME", "SCORE"]).never_truncate(0);
        table.row(vec![
            Cell::new("br_01M7GN1DPVSFN5NX7D5344505Z"),
            Cell::new("紹介状の受付 ".repeat(20)),
            Cell::new("0.5"),
        ]);
        table.row(vec![Cell::new("br_1"), Cell::new("\u{1b}[31mred"), Cell::new("1.0")]);
        table
    }

    #[test]
    fn every_line_fits_and_ids_are_not_truncated() {
        for max_width in [80, 200] {
            let shown = sample().render_with_width(Style::PLAIN, max_width);
            assert!(shown.lines().all(|line| width(line) <= max_width), "{shown}");
            assert!(shown.contains("br_01M7GN1DPVSFN5NX7D5344505Z") && shown.contains("SCORE"), "{shown}");
            assert!(!shown.contains('\u{1b}'), "{shown}");
        }
        let endless = sample().render_with_width(Style::PLAIN, usize::MAX);
        assert!(!endless.contains('…') && endless.contains(&"紹介状の受付 ".repeat(20)), "{endless}");
        let mut noted = sample();
        noted.note(&"every word of it ".repeat(20));
        let shown = noted.render_with_width(Style::PLAIN, 80);
        assert_eq!(shown.matches("every").count(), 20, "{shown}");
        assert!(shown.lines().all(|line| width(line) <= 80), "{shown}");
        let narrow = sample().render_with_width(Style::PLAIN, 40);
        assert!(narrow.contains("br_01M7GN1DPVSFN5NX7D5344505Z") && !narrow.contains("SCORE"), "{narrow}");
    }
}
