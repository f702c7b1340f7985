//! Validation of the templates in prompts: `{{field.…}}` is a value from the caller, `{{record.…}}` is from the record of a
//! lookup.

use std::collections::BTreeSet;

use model::reading::shortened;
use model::template;

/// Checks the templates of a prompt. `has_record` says whether the graph has a lookup node.
pub(crate) fn check(text: &str, fields: &BTreeSet<&str>, has_record: bool) -> Result<(), String> {
    template::insides(text)?.into_iter().try_for_each(|inside| check_one(inside, fields, has_record))
}

fn check_one(inside: &str, fields: &BTreeSet<&str>, has_record: bool) -> Result<(), String> {
    let (root, path) = inside.split_once('.').unwrap_or((inside, ""));
    match root {
        "field" if fields.contains(path) => Ok(()),
        "field" => Err(format!("names the field `{}`, which no node collects", shortened(path, 60))),
        "record" if has_record => template::names(inside, path).map(drop),
        "record" => Err("names the record, which no node looks up".to_owned()),
        _ => Err(format!("template `{{{{{}}}}}` must start with `field.` or `record.`", shortened(inside, 60))),
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
