//! Figures side by side: one row for each step, one column for each size.

pub struct Grid {
    head: Vec<String>,
    rows: Vec<(String, Vec<String>)>,
}

impl Grid {
    pub fn new(head: Vec<String>) -> Self {
        Self { head, rows: Vec::new() }
    }

    pub fn add(&mut self, step: &str, cells: Vec<String>) {
        self.rows.push((step.to_owned(), cells));
    }

    pub fn print(&self) {
        line("", &self.head);
        self.rows.iter().for_each(|(step, cells)| line(step, cells));
    }
}

fn line(step: &str, cells: &[String]) {
    let cells: String = cells.iter().map(|cell| format!(" {cell:>12}")).collect();
    println!("{step:<52}{cells}");
}

/// `1 000 000`
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap_or_default()).collect();
    groups.join(" ")
}
