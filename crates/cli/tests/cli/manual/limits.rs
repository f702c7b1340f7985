//! Compares the tables of limits and timeouts in the manual with the code.

use std::collections::BTreeMap;

use super::read;

/// Name and value of each limit, from the debug output of the struct.
fn limits() -> BTreeMap<String, u64> {
    let documented = format!("{:?}", app::Limits::default());
    let (_, members) = documented.trim_end_matches([' ', '}']).split_once('{').unwrap();
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
fn the_table_of_limits_is_up_to_date() {
    let page = read("docs/api.md");
    let section = page.split("\n## Limits\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut documented = BTreeMap::new();
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let names: Vec<&str> = cells[1].split(", ").map(|name| name.trim_matches('`')).collect();
        let amounts: Vec<u64> = cells[2].split(", ").map(amount).collect();
        assert_eq!(names.len(), amounts.len(), "{row}");
        documented.extend(names.into_iter().map(str::to_owned).zip(amounts));
    }
    assert_eq!(documented, limits());
}

/// Fixed timeouts: the file and name of the constant, the start of the row in the manual, and the index of the value in it.
const TIMEOUTS: [(&str, &str, &str, usize); 13] = [
    ("cli/src/serve.rs", "MAX_DRAIN", "Shutdown", 0),
    ("store/src/postgres.rs", "DEFAULT_TIMEOUT", "Database", 0),
    ("store/src/sqlite.rs", "BUSY_TIMEOUT", "Database", 1),
    ("sftp/src/lib.rs", "LOGIN_TIMEOUT", "SFTP", 0),
    ("sftp/src/lib.rs", "IDLE_TIMEOUT", "SFTP", 1),
    ("server/src/mllp/connection.rs", "FRAME_TIMEOUT", "MLLP connection", 0),
    ("server/src/routes/voice/stream.rs", "WRITE_TIMEOUT", "Phone line WebSocket", 0),
    ("app/src/outbound/mod.rs", "CONNECT_TIMEOUT", "Call to a remote FHIR server", 0),
    ("app/src/outbound/mod.rs", "TIMEOUT", "Call to a remote FHIR server", 1),
    ("app/src/outbound/mllp.rs", "CONNECT_TIMEOUT", "MLLP push", 0),
    ("app/src/outbound/mllp.rs", "ACKNOWLEDGMENT_TIMEOUT", "MLLP push", 1),
    ("app/src/ocr.rs", "TIMEOUT", "`tesseract`", 0),
    ("app/src/sandboxes/fax/paper.rs", "OCR_TIMEOUT", "`tesseract`", 1),
];

/// `const NAME: Duration = Duration::from_secs(30);`
fn seconds(source: &str, name: &str) -> Option<u64> {
    let line = source.lines().find(|line| line.contains(&format!("const {name}: ")))?;
    line.split("from_secs(").nth(1)?.split(')').next()?.parse().ok()
}

#[test]
fn the_table_of_timeouts_is_up_to_date() {
    let page = read("docs/operations.md");
    for (file, name, row_start, index) in TIMEOUTS {
        let row = page
            .lines()
            .find(|line| line.starts_with(&format!("| {row_start}")))
            .unwrap_or_else(|| panic!("{row_start}"));
        let cell_text = row.split('|').nth(2).and_then(|cell| cell.split(", ").nth(index)).unwrap().trim();
        let (number, unit) = cell_text.split_once(' ').unwrap();
        let documented = number.parse::<u64>().unwrap() * if unit == "minutes" { 60 } else { 1 };
        assert_eq!(seconds(&read(&format!("crates/{file}")), name), Some(documented), "{row}: {file} {name}");
    }
}
