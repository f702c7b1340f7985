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

/// Time-outs that nobody can set: where the code has them, the beginning of their row, and which of its amounts they are.
const TIME_OUTS: [(&str, &str, &str, usize); 13] = [
    ("cli/src/serve.rs", "LONGEST_DRAIN", "a stopping server", 0),
    ("store/src/postgres.rs", "PATIENCE", "trying a PostgreSQL transaction again", 0),
    ("store/src/sqlite.rs", "BUSY_TIMEOUT", "trying a PostgreSQL transaction again", 1),
    ("sftp/src/lib.rs", "LOGIN_WITHIN", "a client that has connected by SFTP", 0),
    ("sftp/src/lib.rs", "IDLE", "a client that has connected by SFTP", 1),
    ("server/src/mllp/connection.rs", "FRAME", "an MLLP frame", 0),
    ("server/src/routes/voice/stream.rs", "LONGEST_WRITE", "a message of a phone line's WebSocket", 0),
    ("app/src/outbound/mod.rs", "CONNECT", "a call to another FHIR server", 0),
    ("app/src/outbound/mod.rs", "WHOLE_CALL", "a call to another FHIR server", 1),
    ("app/src/mllp/push.rs", "CONNECT", "pushing a message", 0),
    ("app/src/mllp/push.rs", "ANSWER", "pushing a message", 1),
    ("app/src/ocr.rs", "LONGEST", "`tesseract` on a page", 0),
    ("app/src/sandboxes/fax/paper.rs", "LONGEST_OCR", "`tesseract` on a page", 1),
];

/// `const NAME: Duration = Duration::from_secs(30);`
fn seconds(source: &str, name: &str) -> Option<u64> {
    let line = source.lines().find(|line| line.contains(&format!("const {name}: ")))?;
    line.split("from_secs(").nth(1)?.split(')').next()?.parse().ok()
}

#[test]
fn the_table_of_time_outs_is_true() {
    let page = read("docs/operations.md");
    for (file, name, begins, place) in TIME_OUTS {
        let row =
            page.lines().find(|line| line.starts_with(&format!("| {begins}"))).unwrap_or_else(|| panic!("{begins}"));
        let shown = row.split('|').nth(2).and_then(|cell| cell.split(", ").nth(place)).unwrap().trim();
        let (number, unit) = shown.split_once(' ').unwrap();
        let told = number.parse::<u64>().unwrap() * if unit == "minutes" { 60 } else { 1 };
        assert_eq!(seconds(&read(&format!("crates/{file}")), name), Some(told), "{row}: {file} {name}");
    }
}
