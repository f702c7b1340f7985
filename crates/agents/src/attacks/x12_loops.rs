//! Extracts, changes and inserts loops of an X12 inquiry, with correct segment counts.

/// The transaction set, such as `276`.
pub(super) fn set(text: &str) -> Option<String> {
    segments(text).into_iter().find(|one| one.starts_with("ST*"))?.split('*').nth(1).map(str::to_owned)
}

pub(super) fn segments(text: &str) -> Vec<String> {
    text.split('~').map(|segment| segment.trim().to_owned()).filter(|segment| !segment.is_empty()).collect()
}

/// The segments of the last subscriber or dependent, starting with its HL segment.
pub(super) fn subject(text: &str) -> Option<Vec<String>> {
    let all = segments(text);
    let start = all.iter().rposition(|one| one.starts_with("HL*"))?;
    let end = all.iter().position(|one| one.starts_with("SE*"))?;
    all.get(start..end).map(<[String]>::to_vec)
}

/// The interchange with its last loop replaced by these.
pub(super) fn with_subjects(text: &str, loops: &[Vec<String>]) -> Option<String> {
    let all = segments(text);
    let start = all.iter().rposition(|one| one.starts_with("HL*"))?;
    let end = all.iter().position(|one| one.starts_with("SE*"))?;
    let first: Vec<String> = all.get(start)?.split('*').map(str::to_owned).collect();
    let number: usize = first.get(1)?.parse().ok()?;
    let mut segments = all.get(..start)?.to_vec();
    for (index, one) in loops.iter().enumerate() {
        let mut head = first.clone();
        if let Some(id) = head.get_mut(1) {
            *id = (number + index).to_string();
        }
        segments.push(head.join("*"));
        segments.extend(one.iter().skip(1).cloned());
    }
    let transaction = segments.iter().position(|one| one.starts_with("ST*"))?;
    let control = all.get(end)?.split('*').nth(2)?.to_owned();
    segments.push(format!("SE*{}*{control}", segments.len() - transaction + 1));
    segments.extend(all.get(end + 1..)?.iter().cloned());
    Some(format!("{}~", segments.join("~")))
}

/// An element of the first segment with this prefix.
pub(super) fn element<'a>(segments: &'a [String], start: &str, number: usize) -> Option<&'a str> {
    segments.iter().find(|one| one.starts_with(start))?.split('*').nth(number)
}

/// Sets an element of all segments with this prefix.
pub(super) fn with_element(segments: &[String], start: &str, number: usize, value: &str) -> Vec<String> {
    let change = |segment: &String| {
        if !segment.starts_with(start) {
            return segment.clone();
        }
        let parts = segment.split('*').enumerate();
        parts.map(|(index, part)| if index == number { value } else { part }).collect::<Vec<_>>().join("*")
    };
    segments.iter().map(change).collect()
}

/// The loop with its segments of these names taken from another loop.
pub(super) fn with_segments_of(own: &[String], other: &[String], names: &[&str]) -> Vec<String> {
    let is_named = |segment: &String| names.iter().any(|name| segment.starts_with(name));
    let mut replacements = other.iter().filter(|segment| is_named(segment));
    own.iter()
        .map(|segment| if is_named(segment) { replacements.next().unwrap_or(segment) } else { segment }.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segment_counts_include_a_second_loop() {
        let text = "ISA*00~GS*HR~ST*276*0001*X~BHT*1~HL*1**20*1~HL*2*1*22*0~NM1*IL*1*STONE*ADA****MI*W1~REF*EJ*C1~SE*6*0001~GE*1*1~IEA*1*1~";
        let own = subject(text).unwrap();
        let other = with_element(&own, "NM1*IL", 9, "W2");
        let both = with_subjects(text, &[own, other]).unwrap();
        assert!(
            both.contains("HL*2*1*22*0~NM1*IL*1*STONE*ADA****MI*W1~REF*EJ*C1~HL*3*1*22*0~NM1*IL*1*STONE*ADA****MI*W2")
        );
        assert!(both.contains("SE*10*0001~GE*1*1~IEA*1*1~"), "{both}");
        assert_eq!(set(text).as_deref(), Some("276"));
    }
}
