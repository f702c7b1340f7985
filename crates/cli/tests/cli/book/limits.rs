//! The table of limits in the manual is what the server has.

use std::collections::BTreeMap;

use super::read;

/// Name and value of each limit, as its own struct tells them.
fn limits() -> BTreeMap<String, u64> {
    let told = format!("{:?}", app::Limits::default());
    let (_, members) = told.trim_end_matches([' ', '}']).split_once('{').unwrap();
    let read = |member: &str| {
        let (name, value) = member.trim().split_once(": ").unwrap();
        (name.to_owned(), value.parse().unwrap_or_else(|_| panic!("{member}")))
    };
    members.split(',').map(read).collect()
}

/// `64 MiB`, `10 000`, `300`.
fn amount(text: &str) -> u64 {
    let (digits, unit): (String, String) = text.chars().partition(char::is_ascii_digit);
    let factor = match unit.trim() {
        "" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        other => panic!("{other}"),
    };
    digits.parse::<u64>().unwrap() * factor
}

#[test]
fn the_table_of_limits_is_true() {
    let page = read("docs/api.md");
    let section = page.split("\n## Limits\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut told = BTreeMap::new();
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let names: Vec<&str> = cells[1].split(", ").map(|name| name.trim_matches('`')).collect();
        let amounts: Vec<u64> = cells[2].split(", ").map(amount).collect();
        assert_eq!(names.len(), amounts.len(), "{row}");
        told.extend(names.into_iter().map(str::to_owned).zip(amounts));
    }
    assert_eq!(told, limits());
}
