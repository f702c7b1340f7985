//! Expressions from their text: operators by rising precedence `and or`, `= !=`, `|`, `is as`, `. []`.

/// An expression as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::search) enum Expression {
    /// What the expression is evaluated on: `$this`, or nothing before a member.
    Here,
    /// `%resource`.
    Resource,
    /// `Patient` at the start of a path.
    Type(String),
    Member(Box<Self>, String),
    Call(Box<Self>, String, Vec<Self>),
    /// `[0]`.
    At(Box<Self>, usize),
    As(Box<Self>, String),
    Is(Box<Self>, String),
    Union(Vec<Self>),
    Equal {
        left: Box<Self>,
        right: Box<Self>,
        negated: bool,
    },
    And(Vec<Self>),
    Or(Vec<Self>),
    /// `'phone'` or `false`.
    Literal(String),
}

/// Parentheses within each other.
const MAX_DEPTH: usize = 8;
/// Of one path.
const MAX_STEPS: usize = 32;

/// Reads a whole expression; nothing if it is not of the subset, or too deep.
pub(in crate::search) fn parse(text: &str) -> Option<Expression> {
    let mut reader = Reader { tokens: tokens(text)?, at: 0, depth: 0 };
    let expression = reader.either()?;
    reader.tokens.get(reader.at).is_none().then_some(expression)
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Text(String),
    Sign(&'static str),
}

const SIGNS: [&str; 11] = ["!=", "=", "|", ".", "(", ")", "[", "]", ",", "%", "$"];

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if first == '\'' {
            let (literal, after) = rest[1..].split_once('\'')?;
            found.push(Token::Text(literal.to_owned()));
            rest = after;
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            found.push(Token::Sign(sign));
            rest = &rest[sign.len()..];
        } else {
            let length = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            let (word, after) = rest.split_at(length.unwrap_or(rest.len()));
            if word.is_empty() {
                return None;
            }
            found.push(Token::Word(word.to_owned()));
            rest = after;
        }
        rest = rest.trim_start();
    }
    Some(found)
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
    /// How many parentheses are open.
    depth: usize,
}

impl Reader {
    fn either(&mut self) -> Option<Expression> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let either = self.list(Self::both, |reader| reader.takes_word("or"), Expression::Or);
        self.depth -= 1;
        either
    }

    fn both(&mut self) -> Option<Expression> {
        self.list(Self::equality, |reader| reader.takes_word("and"), Expression::And)
    }

    fn equality(&mut self) -> Option<Expression> {
        let left = self.union()?;
        let negated = self.takes("!=");
        if !negated && !self.takes("=") {
            return Some(left);
        }
        Some(Expression::Equal { left: Box::new(left), right: Box::new(self.union()?), negated })
    }

    fn union(&mut self) -> Option<Expression> {
        self.list(Self::typed, |reader| reader.takes("|"), Expression::Union)
    }

    fn typed(&mut self) -> Option<Expression> {
        let value = self.path()?;
        if self.takes_word("as") {
            return Some(Expression::As(Box::new(value), self.word()?));
        }
        if self.takes_word("is") {
            return Some(Expression::Is(Box::new(value), self.word()?));
        }
        Some(value)
    }

    fn path(&mut self) -> Option<Expression> {
        let mut value = self.start()?;
        for _ in 0..MAX_STEPS {
            if self.takes(".") {
                let name = self.word()?;
                value = self.step(value, name)?;
            } else if self.takes("[") {
                let at = self.word()?.parse().ok()?;
                value = Expression::At(Box::new(value), at);
                self.takes("]").then_some(())?;
            } else {
                return Some(value);
            }
        }
        let is_end = !self.takes(".") && !self.takes("[");
        is_end.then_some(value)
    }

    fn start(&mut self) -> Option<Expression> {
        if self.takes("(") {
            let inner = self.either()?;
            return self.takes(")").then_some(inner);
        }
        if self.takes("%") {
            return (self.word()? == "resource").then_some(Expression::Resource);
        }
        if self.takes("$") {
            return (self.word()? == "this").then_some(Expression::Here);
        }
        if let Some(Token::Text(literal)) = self.tokens.get(self.at) {
            self.at += 1;
            return Some(Expression::Literal(literal.clone()));
        }
        let name = self.word()?;
        if matches!(name.as_str(), "true" | "false") {
            return Some(Expression::Literal(name));
        }
        let is_type = name.starts_with(|first: char| first.is_ascii_uppercase());
        if is_type { Some(Expression::Type(name)) } else { self.step(Expression::Here, name) }
    }

    /// A member, or a function if its arguments follow.
    fn step(&mut self, value: Expression, name: String) -> Option<Expression> {
        let value = Box::new(value);
        if !self.takes("(") {
            return Some(Expression::Member(value, name));
        }
        let mut arguments = Vec::new();
        while !self.takes(")") {
            if !arguments.is_empty() {
                self.takes(",").then_some(())?;
            }
            arguments.push(self.either()?);
        }
        Some(match (name.as_str(), arguments.as_mut_slice()) {
            ("as" | "ofType", [Expression::Type(wanted)]) => Expression::As(value, std::mem::take(wanted)),
            ("is", [Expression::Type(wanted)]) => Expression::Is(value, std::mem::take(wanted)),
            // The primitive types are written like members.
            ("as" | "ofType", [Expression::Member(_, wanted)]) => Expression::As(value, std::mem::take(wanted)),
            ("is", [Expression::Member(_, wanted)]) => Expression::Is(value, std::mem::take(wanted)),
            _ => Expression::Call(value, name, arguments),
        })
    }

    fn list(
        &mut self,
        item: fn(&mut Self) -> Option<Expression>,
        separator: fn(&mut Self) -> bool,
        all: fn(Vec<Expression>) -> Expression,
    ) -> Option<Expression> {
        let first = item(self)?;
        let mut items = vec![first];
        while separator(self) {
            items.push(item(self)?);
        }
        if items.len() == 1 { items.pop() } else { Some(all(items)) }
    }

    fn takes(&mut self, sign: &str) -> bool {
        let takes = matches!(self.tokens.get(self.at), Some(Token::Sign(found)) if *found == sign);
        self.at += usize::from(takes);
        takes
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let takes = matches!(self.tokens.get(self.at), Some(Token::Word(found)) if found == word);
        self.at += usize::from(takes);
        takes
    }

    fn word(&mut self) -> Option<String> {
        let Some(Token::Word(word)) = self.tokens.get(self.at) else { return None };
        self.at += 1;
        Some(word.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::Expression::*;
    use super::*;
    use crate::definitions::SearchParameter;

    fn member(of: Expression, name: &str) -> Expression {
        Member(Box::new(of), name.to_owned())
    }

    #[test]
    fn operators_bind_as_in_fhirpath() {
        let name = member(Type("Patient".to_owned()), "name");
        assert_eq!(parse("Patient.name"), Some(name.clone()));
        assert_eq!(parse("(Patient.name as X)"), Some(As(Box::new(name.clone()), "X".to_owned())));
        assert_eq!(parse("Patient.name.ofType(X)"), parse("Patient.name as X"));
        assert_eq!(parse("Patient.name.as(string)"), parse("(Patient.name as string)"));
        assert_eq!(parse("Patient.name | Patient.name"), Some(Union(vec![name.clone(), name.clone()])));
        let differs =
            Equal { left: Box::new(name.clone()), right: Box::new(Literal("false".to_owned())), negated: true };
        let exists = Call(Box::new(name), "exists".to_owned(), Vec::new());
        assert_eq!(parse("Patient.name.exists() and Patient.name != false"), Some(And(vec![exists, differs])));
        assert_eq!(parse("$this.a[0]"), Some(At(Box::new(member(Here, "a")), 0)));
        assert_eq!(parse("%resource.a"), Some(member(Resource, "a")));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in
            ["", "a b", "a..b", "a.", "(a", "a)", "'a", "a[", "a[x]", "a + b", "%other", "$that", "a(,)", "ä", "a is"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn every_expression_of_r4_is_read() {
        for parameter in SearchParameter::all() {
            let parts = parameter.components().iter().map(|part| part.expression);
            for text in parts.chain(parameter.expression()) {
                assert!(parse(text).is_some(), "{}: {text}", parameter.id());
            }
        }
    }
}
