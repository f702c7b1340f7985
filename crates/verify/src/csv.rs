//! CSV (RFC 4180) as a list of rows, each an object from the first line's column names to text.

use serde_json::{Map, Value};

/// Rows of another length than the first line are a fault, as are columns of one name.
pub(crate) fn read(text: &str) -> Result<Value, String> {
    let mut lines = records(text.strip_prefix('\u{feff}').unwrap_or(text))?.into_iter();
    let names = lines.next().ok_or("is not CSV: it is empty")?;
    let rows = lines.enumerate().map(|(index, line)| {
        if line.len() != names.len() {
            return Err(format!("is not CSV: row {} has {} columns, not {}", index + 1, line.len(), names.len()));
        }
        let row: Map<String, Value> = names.iter().cloned().zip(line.into_iter().map(Value::from)).collect();
        if row.len() == names.len() {
            Ok(Value::Object(row))
        } else {
            Err("is not CSV: two columns have one name".to_owned())
        }
    });
    rows.collect::<Result<_, _>>().map(Value::Array)
}

fn records(text: &str) -> Result<Vec<Vec<String>>, String> {
    let mut records = Vec::new();
    let mut record = Vec::new();
    let mut characters = text.chars().peekable();
    while characters.peek().is_some() {
        let field = if characters.next_if_eq(&'"').is_some() {
            let mut field = String::new();
            loop {
                match characters.next().ok_or("is not CSV: a quote is not closed")? {
                    '"' if characters.next_if_eq(&'"').is_none() => break field,
                    c => field.push(c),
                }
            }
        } else {
            let mut field = String::new();
            while let Some(c) = characters.next_if(|c| !matches!(c, ',' | '\r' | '\n')) {
                field.push(c);
            }
            field
        };
        record.push(field);
        match characters.next() {
            Some(',') if characters.peek().is_some() => continue,
            Some(',') => record.push(String::new()),
            Some('\r') => drop(characters.next_if_eq(&'\n')),
            Some('\n') | None => {}
            Some(_) => return Err("is not CSV: text follows a quote".to_owned()),
        }
        let is_blank = record.len() == 1 && record[0].is_empty();
        let line = std::mem::take(&mut record);
        if !is_blank {
            records.push(line);
        }
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_are_objects_of_text() {
        let rows = json!([{"mrn": "1", "note": "a, \"b\"\nc"}, {"mrn": "2", "note": ""}]);
        assert_eq!(read("mrn,note\r\n1,\"a, \"\"b\"\"\nc\"\r\n2,\r\n\r\n"), Ok(rows));
        assert_eq!(read("a\n1"), Ok(json!([{"a": "1"}])));
        for text in ["", "a,b\n1", "a,a\n1,2", "\"a", "\"a\"b"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "[a,\"\r\n]{0,20}") {
            drop(read(&text));
        }
    }
}
