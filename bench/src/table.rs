//! Figures of one run, each as a ratio to the first row of its group.

#[derive(Default)]
pub struct Table {
    rows: Vec<(String, String, Rate)>,
}

/// How fast, and what it cost.
#[derive(Clone, Copy)]
pub struct Rate {
    pub per_second: f64,
    /// Processor time of server and client together. Neighbours on the machine change it less than they change the clock.
    pub cpu_microseconds: f64,
}

impl Rate {
    /// The middle of several measurements.
    pub fn median(rates: &[Rate]) -> Self {
        let middle = |pick: fn(&Rate) -> f64| median(rates.iter().map(pick).collect());
        Self { per_second: middle(|rate| rate.per_second), cpu_microseconds: middle(|rate| rate.cpu_microseconds) }
    }
}

impl Table {
    /// Rows of one group are compared with the group's first row.
    pub fn add(&mut self, group: &str, case: &str, rate: Rate) {
        self.rows.push((group.to_owned(), case.to_owned(), rate));
    }

    pub fn print(&self) {
        println!("{:<16} {:<30} {:>12} {:>8} {:>14} {:>8}", "", "", "per second", "ratio", "CPU µs each", "ratio");
        for (group, case, rate) in &self.rows {
            let base = self.rows.iter().find(|row| row.0 == *group).map_or(*rate, |row| row.2);
            let (ratio, cpu) = (rate.per_second / base.per_second, base.cpu_microseconds / rate.cpu_microseconds);
            let Rate { per_second, cpu_microseconds } = rate;
            println!("{group:<16} {case:<30} {per_second:>12.0} {ratio:>8.3} {cpu_microseconds:>14.1} {cpu:>8.3}");
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
