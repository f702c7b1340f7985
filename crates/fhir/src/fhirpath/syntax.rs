//! Expressions as they are written (<https://hl7.org/fhirpath/N1/grammar.html>). Paths and chains of operators of one
//! precedence are lists, so that only parentheses and arguments nest.

use std::fmt::{self, Display, Formatter, Write};

use rust_decimal::Decimal;

use super::function::Function;
use super::quantity::Quantity;
use super::temporal::Temporal;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expression {
    Path {
        start: Start,
        steps: Vec<PathStep>,
    },
    Sign {
        is_negative: bool,
        operand: Box<Self>,
    },
    /// `first op second op third`, from the left.
    Chain {
        first: Box<Self>,
        rest: Vec<(Operator, Self)>,
    },
    Typed {
        operand: Box<Self>,
        tests: Vec<(TypeOperator, TypeName)>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Start {
    Variable(Variable),
    Empty,
    Literal(Literal),
    /// `%name`.
    Constant(String),
    Nested(Box<Expression>),
    /// A member of `$this`, or the type that `$this` must have.
    Member(String),
    Call(Call),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variable {
    This,
    Index,
    Total,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Literal {
    Boolean(bool),
    Integer(i64),
    Decimal(Decimal),
    Text(String),
    Temporal(Temporal),
    Quantity(Quantity),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PathStep {
    Member(String),
    Call(Call),
    At(Expression),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) function: Function,
    pub(crate) arguments: CallArguments,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CallArguments {
    Expressions(Vec<Expression>),
    /// For `is`, `as` and `ofType`.
    Type(TypeName),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TypeName {
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TypeOperator {
    Is,
    As,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Times,
    Over,
    Div,
    Mod,
    Plus,
    Minus,
    Join,
    Union,
    LessOrEqual,
    Less,
    GreaterOrEqual,
    Greater,
    Equal,
    Equivalent,
    Unequal,
    Inequivalent,
    In,
    Contains,
    And,
    Or,
    Xor,
    Implies,
}

/// How tightly `is` and `as` bind, on the scale of [`Operator::power`].
pub(crate) const TYPE_POWER: u8 = 8;

impl Operator {
    /// With how tightly each binds.
    const ALL: [(Self, &'static str, u8); 22] = [
        (Self::Times, "*", 10),
        (Self::Over, "/", 10),
        (Self::Div, "div", 10),
        (Self::Mod, "mod", 10),
        (Self::Plus, "+", 9),
        (Self::Minus, "-", 9),
        (Self::Join, "&", 9),
        (Self::Union, "|", 7),
        (Self::LessOrEqual, "<=", 6),
        (Self::Less, "<", 6),
        (Self::GreaterOrEqual, ">=", 6),
        (Self::Greater, ">", 6),
        (Self::Equal, "=", 5),
        (Self::Equivalent, "~", 5),
        (Self::Unequal, "!=", 5),
        (Self::Inequivalent, "!~", 5),
        (Self::In, "in", 4),
        (Self::Contains, "contains", 4),
        (Self::And, "and", 3),
        (Self::Or, "or", 2),
        (Self::Xor, "xor", 2),
        (Self::Implies, "implies", 1),
    ];

    pub(crate) fn written(text: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, written, _)| *written == text).map(|(operator, ..)| *operator)
    }

    pub(crate) fn text(self) -> &'static str {
        Self::ALL.iter().find(|(operator, ..)| *operator == self).map_or("", |(_, text, _)| text)
    }

    pub(crate) fn power(self) -> u8 {
        Self::ALL.iter().find(|(operator, ..)| *operator == self).map_or(0, |(.., power)| *power)
    }
}

impl Display for Expression {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path { start, steps } => {
                start.fmt(f)?;
                steps.iter().try_for_each(|step| step.fmt(f))
            }
            Self::Sign { is_negative, operand } => {
                f.write_char(if *is_negative { '-' } else { '+' })?;
                operand.fmt(f)
            }
            Self::Chain { first, rest } => {
                first.fmt(f)?;
                rest.iter().try_for_each(|(operator, operand)| write!(f, " {} {operand}", operator.text()))
            }
            Self::Typed { operand, tests } => {
                operand.fmt(f)?;
                tests.iter().try_for_each(|(operator, wanted)| match operator {
                    TypeOperator::Is => write!(f, " is {wanted}"),
                    TypeOperator::As => write!(f, " as {wanted}"),
                })
            }
        }
    }
}

impl Display for Start {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(Variable::This) => f.write_str("$this"),
            Self::Variable(Variable::Index) => f.write_str("$index"),
            Self::Variable(Variable::Total) => f.write_str("$total"),
            Self::Empty => f.write_str("{}"),
            Self::Literal(literal) => literal.fmt(f),
            Self::Constant(name) => write!(f, "%{}", Delimited(name, '`')),
            Self::Nested(inner) => write!(f, "({inner})"),
            Self::Member(name) => write!(f, "{}", Delimited(name, '`')),
            Self::Call(call) => call.fmt(f),
        }
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Decimal(value) => value.fmt(f),
            Self::Text(text) => Delimited(text, '\'').fmt(f),
            Self::Temporal(temporal) => temporal.literal(f),
            Self::Quantity(quantity) => quantity.fmt(f),
        }
    }
}

impl Display for PathStep {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Member(name) => write!(f, ".{}", Delimited(name, '`')),
            Self::Call(call) => write!(f, ".{call}"),
            Self::At(index) => write!(f, "[{index}]"),
        }
    }
}

impl Display for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.function.name())?;
        match &self.arguments {
            CallArguments::Type(wanted) => wanted.fmt(f)?,
            CallArguments::Expressions(arguments) => {
                for (at, argument) in arguments.iter().enumerate() {
                    f.write_str(if at == 0 { "" } else { ", " })?;
                    argument.fmt(f)?;
                }
            }
        }
        f.write_char(')')
    }
}

impl Display for TypeName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.namespace {
            write!(f, "{}.", Delimited(namespace, '`'))?;
        }
        Delimited(&self.name, '`').fmt(f)
    }
}

/// A text between quotes, with what it must escape.
pub(super) struct Delimited<'t>(pub(super) &'t str, pub(super) char);

impl Display for Delimited<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self(text, quote) = self;
        f.write_char(*quote)?;
        for letter in text.chars() {
            match letter {
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                '\u{c}' => f.write_str("\\f")?,
                letter if letter == *quote || letter == '\\' => write!(f, "\\{letter}")?,
                letter => f.write_char(letter)?,
            }
        }
        f.write_char(*quote)
    }
}
