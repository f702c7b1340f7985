//! The elements that an expression mentions, from its text alone.

use std::collections::BTreeSet;

use super::FhirPath;
use super::constant::is_resource_constant;
use super::syntax::{Call, CallArguments, Expression, Literal, PathStep, Start, Variable};

/// Names from the resource down, as FHIRPath has them: `value` for `valueQuantity`.
pub type MemberPath = Vec<String>;

/// What an expression mentions.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    /// Every element on the way: for `code.coding.code` also `code` and `code.coding`.
    pub paths: BTreeSet<MemberPath>,
    /// The text literals.
    pub literals: BTreeSet<String>,
}

impl FhirPath {
    /// The elements of the resource that the expression names. What lies behind `resolve()`, and what `children()` and
    /// `descendants()` find, is not named.
    pub fn mentions(&self) -> Mentions {
        let mut mentions = Mentions::default();
        mentions.expression(&self.expression, &[Vec::new()]);
        mentions
    }
}

impl Mentions {
    /// Adds what the expression mentions and gives the paths of what it finds, from elements at the paths `here`.
    fn expression(&mut self, expression: &Expression, here: &[MemberPath]) -> Vec<MemberPath> {
        match expression {
            Expression::Path { start, steps } => {
                let mut current = self.start(start, here);
                for step in steps {
                    current = match step {
                        PathStep::Member(name) => self.member(&current, name),
                        PathStep::Call(call) => self.call(call, &current),
                        PathStep::At(index) => {
                            self.expression(index, &current);
                            current
                        }
                    };
                }
                current
            }
            Expression::Sign { operand, .. } | Expression::Typed { operand, .. } => self.expression(operand, here),
            Expression::Chain { first, rest } => {
                let mut found = self.expression(first, here);
                for (_, operand) in rest {
                    found.extend(self.expression(operand, here));
                }
                found
            }
        }
    }

    fn start(&mut self, start: &Start, here: &[MemberPath]) -> Vec<MemberPath> {
        match start {
            Start::Variable(Variable::This) => here.to_vec(),
            Start::Variable(Variable::Index | Variable::Total) | Start::Empty => Vec::new(),
            Start::Literal(literal) => {
                if let Literal::Text(text) = literal {
                    self.literals.insert(text.clone());
                }
                Vec::new()
            }
            Start::Constant(name) if is_resource_constant(name) => {
                vec![Vec::new()]
            }
            Start::Constant(_) => Vec::new(),
            Start::Nested(inner) => self.expression(inner, here),
            Start::Member(name) if name.starts_with(|first: char| first.is_ascii_uppercase()) => here.to_vec(),
            Start::Member(name) => self.member(here, name),
            Start::Call(call) => self.call(call, here),
        }
    }

    fn member(&mut self, paths: &[MemberPath], name: &str) -> Vec<MemberPath> {
        let mut found = Vec::with_capacity(paths.len());
        for path in paths {
            let mut path = path.clone();
            path.push(name.to_owned());
            self.paths.insert(path.clone());
            found.push(path);
        }
        found
    }

    fn call(&mut self, call: &Call, current: &[MemberPath]) -> Vec<MemberPath> {
        let arguments = match &call.arguments {
            CallArguments::Expressions(arguments) => arguments.as_slice(),
            CallArguments::Type(_) => &[],
        };
        let mut found: Vec<MemberPath> = Vec::new();
        for argument in arguments {
            found.extend(self.expression(argument, current));
        }
        match call.function.name() {
            "select" | "repeat" | "iif" => found,
            "union" | "combine" => [current.to_vec(), found].concat(),
            "resolve" | "children" | "descendants" => Vec::new(),
            "extension" | "hasExtension" => self.member(current, "extension"),
            _ => current.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_collected_through_functions_and_operators() {
        for (expression, paths, literals) in [
            ("status", vec!["status"], vec![]),
            ("Appointment.status = 'booked'", vec!["status"], vec!["booked"]),
            (
                "code.coding.where(system = 'http://loinc.org' and code = '718-7').exists()",
                vec!["code", "code.coding", "code.coding.code", "code.coding.system"],
                vec!["718-7", "http://loinc.org"],
            ),
            ("participant.actor.resolve().name.family", vec!["participant", "participant.actor"], vec![]),
            ("(value as Quantity).value > 5", vec!["value", "value.value"], vec![]),
            ("name.select(given | family)", vec!["name", "name.family", "name.given"], vec![]),
            ("%resource.entry[0].item", vec!["entry", "entry.item"], vec![]),
            ("dosageInstruction.all($this.text.exists())", vec!["dosageInstruction", "dosageInstruction.text"], vec![]),
            ("1 + 1", vec![], vec![]),
        ] {
            let mentions = FhirPath::parse(expression).expect(expression).mentions();
            let found: Vec<String> = mentions.paths.iter().map(|path| path.join(".")).collect();
            assert_eq!(found, paths, "{expression}");
            assert_eq!(mentions.literals.iter().map(String::as_str).collect::<Vec<_>>(), literals, "{expression}");
        }
    }
}
