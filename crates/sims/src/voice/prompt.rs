//! `{{field.…}}` (what the caller gave) and `{{record.…}}` (what a look-up found) in what the line says.

use std::collections::BTreeSet;

use crate::authored::shortened;

/// Checks one prompt's templates; a record is known when some node looks one up.
pub(crate) fn check(text: &str, fields: &BTreeSet<&str>, has_record: bool) -> Result<(), String> {
    let mut rest = text;
    while let Some((_, inside)) = rest.split_once("{{") {
        let (template, after) = inside.split_once("}}").ok_or("has `{{` without `}}`")?;
        check_one(template.trim(), fields, has_record)?;
        rest = after;
    }
    Ok(())
}

fn check_one(template: &str, fields: &BTreeSet<&str>, has_record: bool) -> Result<(), String> {
    let shown = shortened(template, 60);
    let (root, path) = template.split_once('.').unwrap_or((template, ""));
    let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    match root {
        "field" if fields.contains(path) => Ok(()),
        "field" => Err(format!("names the field `{}`, which no node collects", shortened(path, 60))),
        "record" if path.split('.').count() > 16 || !path.split('.').all(is_name) => {
            Err(format!("template `{{{{{shown}}}}}` must be a dotted path of names"))
        }
        "record" if has_record => Ok(()),
        "record" => Err("names the record, which no node looks up".to_owned()),
        _ => Err(format!("template `{{{{{shown}}}}}` must start with `field.` or `record.`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_checked() {
        let fields = BTreeSet::from(["member_id"]);
        for good in ["", "plain { text }", "{{field.member_id}}", "{{ record.name.0.family }} and {{field.member_id}}"]
        {
            assert_eq!(check(good, &fields, true), Ok(()), "{good}");
        }
        for bad in
            ["{{", "{{}}", "{{field}}", "{{field.}}", "{{field.dob}}", "{{record}}", "{{record.a b}}", "{{task.name}}"]
        {
            assert!(check(bad, &fields, true).is_err(), "{bad}");
        }
        assert!(check("{{record.name}}", &fields, false).is_err());
    }
}
