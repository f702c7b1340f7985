//! A table that fits the terminal: the widest columns give way first, and nothing is wider than the window.

use super::style::Colour;
use super::text::{cut, harmless, pad, width, wrap};
use super::{Style, table_columns};

const GAP: &str = "  ";
/// Before the lines of a note.
const NOTE: &str = "      ";
/// A column gives way down to this; then the last ones are left out, as a row of stumps tells nothing.
const COMFORTABLE: usize = 16;
/// When two columns are left, the second gives way down to this.
const NARROWEST: usize = 8;

pub(crate) struct Table {
    titles: Vec<String>,
    rows: Vec<Row>,
    /// Columns that are never cut: an id that is cut is of no use.
    whole: Vec<bool>,
}

enum Row {
    Cells(Vec<Cell>),
    /// A line over the whole width, for the rows below it.
    Heading(String),
    /// Sentences that belong to the row above, whole.
    Note(String),
}

#[derive(Clone)]
pub(crate) struct Cell {
    text: String,
    colour: Option<Colour>,
}

impl Cell {
    /// What others wrote is made harmless here.
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        Self { text: harmless(text.as_ref()), colour: None }
    }

    pub(crate) fn coloured(text: impl AsRef<str>, colour: Colour) -> Self {
        Self { colour: Some(colour), ..Self::new(text) }
    }
}

impl Table {
    pub(crate) fn new<'a>(titles: impl IntoIterator<Item = &'a str>) -> Self {
        let titles: Vec<String> = titles.into_iter().map(ToOwned::to_owned).collect();
        Self { whole: vec![false; titles.len()], titles, rows: Vec::new() }
    }

    /// This column is shown in full.
    pub(crate) fn keep_whole(mut self, column: usize) -> Self {
        if let Some(whole) = self.whole.get_mut(column) {
            *whole = true;
        }
        self
    }

    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(Row::Cells(cells));
    }

    /// What the rows below it belong to.
    pub(crate) fn heading(&mut self, text: &str) {
        self.rows.push(Row::Heading(harmless(text)));
    }

    /// What is to be read in full of the row above.
    pub(crate) fn note(&mut self, text: &str) {
        self.rows.push(Row::Note(harmless(text)));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn render(&self, style: Style) -> String {
        self.render_in(style, table_columns())
    }

    pub(crate) fn render_in(&self, style: Style, most: usize) -> String {
        let widths = self.widths(most);
        let mut lines = Vec::new();
        if self.titles.iter().any(|title| !title.is_empty()) {
            let titles: Vec<Cell> = self.titles.iter().map(|title| Cell::coloured(title, Colour::Dim)).collect();
            lines.push(line(&titles, &widths, style));
        }
        for row in &self.rows {
            match row {
                Row::Cells(cells) => lines.push(line(cells, &widths, style)),
                Row::Heading(text) => lines.push(style.paint(Colour::Strong, &cut(text, most))),
                Row::Note(text) => {
                    let told = wrap(text, most.saturating_sub(NOTE.len()));
                    lines.extend(told.into_iter().map(|line| format!("{NOTE}{line}")));
                }
            }
        }
        lines.join("\n")
    }

    /// As wide as the content wants, less what does not fit, taken from the widest column each time. When every column is
    /// as narrow as one likes to read it, the last one is left out, and so on.
    fn widths(&self, most: usize) -> Vec<usize> {
        let mut wanted: Vec<usize> = self.titles.iter().map(|title| width(title)).collect();
        for row in &self.rows {
            if let Row::Cells(cells) = row {
                for (wanted, cell) in wanted.iter_mut().zip(cells) {
                    *wanted = (*wanted).max(width(&cell.text));
                }
            }
        }
        while wanted.len() > 1 {
            let least = if wanted.len() > 2 { COMFORTABLE } else { NARROWEST };
            if let Some(widths) = self.fitted(&wanted, most, least) {
                return widths;
            }
            wanted.pop();
        }
        wanted
    }

    fn fitted(&self, wanted: &[usize], most: usize, least: usize) -> Option<Vec<usize>> {
        let least: Vec<usize> = self
            .titles
            .iter()
            .zip(wanted)
            .zip(&self.whole)
            .map(|((title, wanted), is_whole)| if *is_whole { *wanted } else { width(title).max(least).min(*wanted) })
            .collect();
        let mut widths = wanted.to_vec();
        let gaps = GAP.len() * widths.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > most {
            let may_give = widths.iter_mut().zip(&least).filter(|(width, least)| **width > **least);
            let (widest, _) = may_give.max_by_key(|(width, _)| **width)?;
            *widest -= 1;
        }
        Some(widths)
    }
}

fn line(cells: &[Cell], widths: &[usize], style: Style) -> String {
    let mut text = String::new();
    for (place, (cell, width)) in cells.iter().zip(widths).enumerate() {
        if place > 0 {
            text.push_str(GAP);
        }
        let is_last = place + 1 == widths.len();
        let shown = cut(&cell.text, *width);
        let shown = if is_last { shown } else { pad(&shown, *width) };
        text.push_str(&match cell.colour {
            Some(colour) => style.paint(colour, &shown),
            None => shown,
        });
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new(["ID", "NAME", "SCORE"]).keep_whole(0);
        table.row(vec![
            Cell::new("br_01M7GN1DPVSFN5NX7D5344505Z"),
            Cell::new("紹介状の受付 ".repeat(20)),
            Cell::new("0.5"),
        ]);
        table.row(vec![Cell::new("br_1"), Cell::new("\u{1b}[31mred"), Cell::new("1.0")]);
        table
    }

    #[test]
    fn every_line_fits_and_ids_stay_whole() {
        for most in [80, 200] {
            let shown = sample().render_in(Style::PLAIN, most);
            assert!(shown.lines().all(|line| width(line) <= most), "{shown}");
            assert!(shown.contains("br_01M7GN1DPVSFN5NX7D5344505Z") && shown.contains("SCORE"), "{shown}");
            assert!(!shown.contains('\u{1b}'), "{shown}");
        }
        let endless = sample().render_in(Style::PLAIN, usize::MAX);
        assert!(!endless.contains('…') && endless.contains(&"紹介状の受付 ".repeat(20)), "{endless}");
        let mut noted = sample();
        noted.note(&"every word of it ".repeat(20));
        let shown = noted.render_in(Style::PLAIN, 80);
        assert_eq!(shown.matches("every").count(), 20, "{shown}");
        assert!(shown.lines().all(|line| width(line) <= 80), "{shown}");
        let narrow = sample().render_in(Style::PLAIN, 40);
        assert!(narrow.contains("br_01M7GN1DPVSFN5NX7D5344505Z") && !narrow.contains("SCORE"), "{narrow}");
    }
}
