//! Lays out tables with rules. Columns fit their content, and headings are repeated on every page.

use super::flow::{Flow, LEFT, TEXT_WIDTH};
use super::mark::{Shade, Style};
use crate::error::DocumentError;
use crate::font::settable;
use crate::specification::{Table, plain};

const PADDING: f32 = 4.0;
const RULE: f32 = 0.6;

pub(super) fn set(flow: &mut Flow<'_>, table: &Table) -> Result<(), DocumentError> {
    let grid = Grid { widths: widths(flow, table) };
    let leading = Style::CELL.leading();
    flow.need(leading * 3.0 + PADDING * 4.0)?;
    let headings = grid.wrapped(flow, &table.columns, Style::CELL_HEADING);
    grid.row(flow, &headings, Style::CELL_HEADING);
    for row in &table.rows {
        let texts: Vec<String> = row.iter().map(plain).collect();
        let mut cells = grid.wrapped(flow, &texts, Style::CELL);
        // A row stays on one page if it fits. A larger one is split.
        while cells.iter().any(|lines| !lines.is_empty()) {
            let is_cut = height(&cells) > flow.whole_page() && flow.left_on_page() >= 60.0;
            if height(&cells) > flow.left_on_page() && !is_cut {
                flow.new_page()?;
                grid.row(flow, &headings, Style::CELL_HEADING);
            }
            let fitting = (((flow.left_on_page() - PADDING * 2.0) / leading) as usize).max(1);
            let rest = cells.iter_mut().map(|lines| lines.split_off(lines.len().min(fitting))).collect();
            grid.row(flow, &cells, Style::CELL);
            cells = rest;
        }
    }
    flow.bar(LEFT, flow.y, TEXT_WIDTH, RULE, Shade::Black);
    flow.y += RULE + 4.0;
    Ok(())
}

fn height(cells: &[Vec<String>]) -> f32 {
    let max = cells.iter().map(Vec::len).max().unwrap_or(0);
    max as f32 * Style::CELL.leading() + PADDING * 2.0
}

struct Grid {
    widths: Vec<f32>,
}

impl Grid {
    fn wrapped(&self, flow: &Flow<'_>, cells: &[String], style: Style) -> Vec<Vec<String>> {
        let inside = self.widths.iter().map(|width| (width - PADDING * 2.0).max(1.0));
        cells.iter().zip(inside).map(|(cell, width)| flow.lines(cell, style, width)).collect()
    }

    /// Draws a row, the rule above it, and the rules between its cells.
    fn row(&self, flow: &mut Flow<'_>, cells: &[Vec<String>], style: Style) {
        let (top, height) = (flow.y, height(cells));
        if style == Style::CELL_HEADING {
            flow.bar(LEFT, top, TEXT_WIDTH, height, Shade::Light);
        }
        flow.bar(LEFT, top, TEXT_WIDTH, RULE, Shade::Black);
        let mut x = LEFT;
        for (lines, width) in cells.iter().zip(&self.widths) {
            flow.bar(x, top, RULE, height, Shade::Black);
            for (index, line) in lines.iter().enumerate() {
                flow.put(x + PADDING, top + PADDING + style.leading() * index as f32, line, style);
            }
            x += width;
        }
        flow.bar(x - RULE, top, RULE, height, Shade::Black);
        flow.y += height;
        // The table has a rule at the end of a page.
        flow.bar(LEFT, flow.y, TEXT_WIDTH, RULE, Shade::Black);
    }
}

/// Each column gets the width of its widest cell. If the sum is too large, columns above a common bound get the bound. If it is
/// too small, all columns grow proportionally.
fn widths(flow: &Flow<'_>, table: &Table) -> Vec<f32> {
    let wish = |index: usize, column: &String| {
        let heading = flow.fonts.bold.width(&settable(column), Style::CELL.size);
        let cells = table.rows.iter().filter_map(|row| row.get(index));
        let widest = cells.map(|cell| {
            let text = plain(cell);
            text.lines().map(|line| flow.fonts.regular.width(&settable(line), Style::CELL.size)).fold(0.0, f32::max)
        });
        widest.fold(heading, f32::max) + PADDING * 2.0 + 1.0
    };
    let wishes: Vec<f32> = table.columns.iter().enumerate().map(|(index, column)| wish(index, column)).collect();
    let total: f32 = wishes.iter().sum();
    if total <= TEXT_WIDTH {
        return wishes.iter().map(|wish| wish * TEXT_WIDTH / total.max(1.0)).collect();
    }
    let mut bound = TEXT_WIDTH / wishes.len() as f32;
    // Narrow columns leave room for the wide ones, so the bound is found in a few rounds.
    for _ in 0..30 {
        let taken: f32 = wishes.iter().map(|wish| wish.min(bound)).sum();
        let capped = wishes.iter().filter(|wish| **wish > bound).count();
        bound += (TEXT_WIDTH - taken) / capped.max(1) as f32;
    }
    wishes.iter().map(|wish| wish.min(bound)).collect()
}
