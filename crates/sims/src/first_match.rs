//! Lists of rules of which the first that matches is used.

use model::FieldErrors;

/// One rule's conditions, all of which must hold: name and wanted value.
pub(crate) type Conditions<'a> = Vec<(&'static str, &'a str)>;

/// Keeps the conditions that are given.
pub(crate) fn conditions<'a>(given: &[(&'static str, &'a Option<String>)]) -> Conditions<'a> {
    given.iter().filter_map(|(name, wanted)| Some((*name, wanted.as_deref()?))).collect()
}

pub(crate) fn check_conditions(errors: &mut FieldErrors, conditions: &Conditions<'_>) {
    for (name, wanted) in conditions {
        errors.length(name, wanted, 1..=200);
        if !wanted.is_empty() && wanted.trim() != *wanted {
            errors.add(*name, "must not begin or end with a space");
        }
    }
}

/// A rule that only matches where an earlier one already did is never used: surely a mistake.
pub(crate) fn refuse_unused(errors: &mut FieldErrors, field: &str, rules: &[Conditions<'_>]) {
    for (later, rule) in rules.iter().enumerate() {
        let covers = |earlier: &&Conditions<'_>| earlier.iter().all(|condition| rule.contains(condition));
        if let Some(earlier) = rules[..later].iter().position(|earlier| covers(&earlier)) {
            errors.add(
                format!("{field}.{later}"),
                format!("is never used: {field}.{earlier} matches all that this one does"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_behind_a_wider_one_is_refused() {
        let rules = vec![
            vec![("code", "1"), ("member", "a")],
            vec![("code", "1")],
            vec![("member", "a"), ("code", "1"), ("drug", "x")],
            vec![("code", "2")],
            vec![],
            vec![("code", "3")],
        ];
        let mut errors = FieldErrors::new();
        refuse_unused(&mut errors, "rules", &rules);
        let places: Vec<&str> = errors.iter().map(|(place, _)| place).collect();
        assert_eq!(places, ["rules.2", "rules.5"]);
    }
}
