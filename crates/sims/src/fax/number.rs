//! The number of a fax line.

use clinical::normalized_phone_number;
use model::SandboxId;
use model::canonical::sha256_hex;
use serde_json::Value;

/// The configured number, or else a fictitious number (555-0100 to 555-0199) that is derived from the sandbox id.
pub fn own(config: &Value, sandbox: &SandboxId) -> String {
    match config.get("fax_number").and_then(Value::as_str) {
        Some(number) => normalized_phone_number(number),
        None => fictitious(sandbox),
    }
}

fn fictitious(sandbox: &SandboxId) -> String {
    let hash = sha256_hex(sandbox.to_string().as_bytes());
    let part = |range: std::ops::Range<usize>| hash.get(range).and_then(|part| u64::from_str_radix(part, 16).ok());
    let (area, line) = (part(0..8).unwrap_or(0) % 700, part(8..16).unwrap_or(0) % 100);
    format!("+1{}55501{line:02}", area + 212)
}
