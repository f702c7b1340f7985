//! Ordered rules in authored configs: the first rule that matches is used.

use model::FieldErrors;

/// The conditions of one rule, as names and expected values. All must be true.
pub(crate) type Conditions<'a> = Vec<(&'static str, &'a str)>;

/// Drops the conditions without an expected value.
pub(crate) fn conditions<'a>(optional: &[(&'static str, &'a Option<String>)]) -> Conditions<'a> {
    optional.iter().filter_map(|(name, expected)| Some((*name, expected.as_deref()?))).collect()
}

pub(crate) fn check_conditions(errors: &mut FieldErrors, conditions: &Conditions<'_>) {
    for (name, expected) in conditions {
        errors.length(name, expected, 1..=200);
        if !expected.is_empty() && expected.trim() != *expected {
            errors.add(*name, "must not begin or end with a space");
        }
    }
}

/// Reports rules that are never used because an earlier rule matches everything that they match.
pub(crate) fn check_reachable(errors: &mut FieldErrors, field: &str, rules: &[Conditions<'_>]) {
    for (later, rule) in rules.iter().enumerate() {
        let covers = |earlier: &&Conditions<'_>| earlier.iter().all(|condition| rule.contains(condition));
        if let Some(earlier) = rules[..later].iter().position(|earlier| covers(&earlier)) {
            errors.add(
                format!("{field}.{later}"),
                format!("is never used: {field}.{earlier} matches everything that this rule matches"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_after_a_more_general_one_are_rejected() {
        let rules = vec![
            vec![("code", "1"), ("member", "a")],
            vec![("code", "1")],
            vec![("member", "a"), ("code", "1"), ("drug", "x")],
            vec![("code", "2")],
            vec![],
            vec![("code", "3")],
        ];
        let mut errors = FieldErrors::new();
        check_reachable(&mut errors, "rules", &rules);
        let fields: Vec<&str> = errors.iter().map(|(field, _)| field).collect();
        assert_eq!(fields, ["rules.2", "rules.5"]);
    }
}
