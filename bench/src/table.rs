//! Figures of one run, each as a ratio to the first row of its group.

#[derive(Default)]
pub struct Table {
    rows: Vec<(String, String, f64)>,
}

impl Table {
    /// Rows of one group are compared with the group's first row.
    pub fn add(&mut self, group: &str, case: &str, per_second: f64) {
        self.rows.push((group.to_owned(), case.to_owned(), per_second));
    }

    pub fn print(&self) {
        println!("{:<16} {:<44} {:>12} {:>8}", "", "", "per second", "ratio");
        for (group, case, per_second) in &self.rows {
            let base = self.rows.iter().find(|row| row.0 == *group).map_or(1.0, |row| row.2);
            println!("{group:<16} {case:<44} {per_second:>12.0} {:>8.3}", per_second / base);
        }
    }
}

/// The middle of an odd number of measurements.
pub fn median(values: Vec<f64>) -> f64 {
    percentile(values, 50)
}

/// So many of a hundred measurements are below it.
pub fn percentile(mut values: Vec<f64>, percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() * percent / 100).copied().unwrap_or_default()
}
