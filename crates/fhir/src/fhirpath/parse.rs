//! Expressions from their text (<https://hl7.org/fhirpath/N1/grammar.html>), by how tightly operators bind.

use super::PathFault;
use super::function::Function;
use super::names::is_element_name;
use super::quantity::{CalendarUnit, Quantity, Unit};
use super::syntax::{
    Call, CallArguments, Expression, Literal, Operator, PathStep, Start, TYPE_POWER, TypeName, TypeOperator, Variable,
};
use super::temporal::Temporal;
use super::token::{Token, TokenKind, tokens};
use super::value::decimal;

/// The longest expression, in bytes.
pub const LONGEST: usize = 16_384;
/// How deep parentheses and arguments may nest.
pub const DEEPEST: usize = 64;

pub(super) fn parse(text: &str) -> Result<Expression, PathFault> {
    if text.len() > LONGEST {
        return Err(PathFault { place: LONGEST, reason: format!("longer than {LONGEST} bytes") });
    }
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0, end: text.len() };
    let expression = parser.expression(0)?;
    if parser.peek().is_some() {
        return Err(parser.fault("expected an operator or the end"));
    }
    Ok(expression)
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    end: usize,
}

impl Parser {
    /// Reads as long as operators bind at least this tightly.
    fn expression(&mut self, power: u8) -> Result<Expression, PathFault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.fault(&format!("nested deeper than {DEEPEST}")));
        }
        let mut left = self.operand()?;
        // What binds more tightly than a type test cannot follow it: a tree would grow to the left without end.
        let mut tightest = u8::MAX;
        loop {
            if let Some(operator) = self.type_operator().filter(|_| TYPE_POWER >= power) {
                self.at += 1;
                let wanted = self.type_name()?;
                left = typed(left, operator, wanted);
                tightest = TYPE_POWER;
                continue;
            }
            let follows = |operator: &Operator| (power..=tightest).contains(&operator.power());
            let Some(operator) = self.operator().filter(follows) else { break };
            self.at += 1;
            let right = self.expression(operator.power() + 1)?;
            left = chained(left, operator, right);
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Expression, PathFault> {
        let is_negative = self.is_sign("-");
        if is_negative || self.is_sign("+") {
            self.at += 1;
            self.depth += 1;
            if self.depth > DEEPEST {
                return Err(self.fault(&format!("nested deeper than {DEEPEST}")));
            }
            let operand = Box::new(self.operand()?);
            self.depth -= 1;
            return Ok(Expression::Sign { is_negative, operand });
        }
        let start = self.start()?;
        let mut steps = Vec::new();
        loop {
            if self.takes(".") {
                let place = self.place();
                let name = self.identifier()?;
                steps.push(match self.call(&name, place)? {
                    Some(call) => PathStep::Call(call),
                    None => PathStep::Member(known_member(name, place)?),
                });
            } else if self.takes("[") {
                steps.push(PathStep::At(self.expression(0)?));
                self.expect("]")?;
            } else {
                return Ok(Expression::Path { start, steps });
            }
        }
    }

    fn start(&mut self) -> Result<Start, PathFault> {
        let place = self.place();
        let Some(kind) = self.peek().cloned() else { return Err(self.fault("expected an expression")) };
        match kind {
            TokenKind::Sign("(") => {
                self.at += 1;
                let inner = self.expression(0)?;
                self.expect(")")?;
                Ok(Start::Nested(Box::new(inner)))
            }
            TokenKind::Sign("{") => {
                self.at += 1;
                self.expect("}").map(|()| Start::Empty)
            }
            TokenKind::Sign("%") => {
                self.at += 1;
                self.constant().map(Start::Constant)
            }
            TokenKind::Variable(name) => {
                let variable = variable(&name).ok_or_else(|| self.fault(&format!("unknown variable ${name}")))?;
                self.at += 1;
                Ok(Start::Variable(variable))
            }
            TokenKind::Text(text) => {
                self.at += 1;
                Ok(Start::Literal(Literal::Text(text)))
            }
            TokenKind::Number(number) => self.number(&number).map(Start::Literal),
            TokenKind::Temporal(text) => {
                let temporal = Temporal::parse_literal(&text)
                    .ok_or_else(|| self.fault(&format!("no such date or time: @{text}")))?;
                self.at += 1;
                Ok(Start::Literal(Literal::Temporal(temporal)))
            }
            TokenKind::Word(word) if word == "true" || word == "false" => {
                self.at += 1;
                Ok(Start::Literal(Literal::Boolean(word == "true")))
            }
            _ => {
                let name = self.identifier()?;
                match self.call(&name, place)? {
                    Some(call) => Ok(Start::Call(call)),
                    None => Ok(Start::Member(known_start(name, place)?)),
                }
            }
        }
    }

    /// A number, or a quantity if a unit follows.
    fn number(&mut self, text: &str) -> Result<Literal, PathFault> {
        let value = decimal(text).ok_or_else(|| self.fault("a number of more digits than can be kept"))?;
        let integer = (!text.contains('.')).then(|| text.parse::<i64>());
        let integer = integer.transpose().map_err(|_| self.fault("an integer that is too great"))?;
        self.at += 1;
        let unit = match self.peek() {
            Some(TokenKind::Text(unit)) => Some(Unit::Ucum(unit.clone())),
            Some(TokenKind::Word(word)) => CalendarUnit::named(word).map(Unit::Calendar),
            _ => None,
        };
        Ok(match (unit, integer) {
            (Some(unit), _) => {
                self.at += 1;
                Literal::Quantity(Quantity { value, unit })
            }
            (None, Some(integer)) => Literal::Integer(integer),
            (None, None) => Literal::Decimal(value),
        })
    }

    fn constant(&mut self) -> Result<String, PathFault> {
        let place = self.place();
        let name = match self.peek() {
            Some(TokenKind::Word(name) | TokenKind::Name(name) | TokenKind::Text(name)) => name.clone(),
            _ => return Err(self.fault("expected the name of a constant")),
        };
        if !super::constant::is_known(&name) {
            return Err(PathFault { place, reason: format!("unknown constant %{name}") });
        }
        self.at += 1;
        Ok(name)
    }

    /// The arguments, if the name is a function's.
    fn call(&mut self, name: &str, place: usize) -> Result<Option<Call>, PathFault> {
        if !self.takes("(") {
            return Ok(None);
        }
        let function =
            Function::named(name).ok_or_else(|| PathFault { place, reason: format!("unknown function {name}()") })?;
        if let Some(reason) = function.refusal() {
            return Err(PathFault { place, reason: format!("{name}() is not supported: {reason}") });
        }
        if function.takes_type() {
            let arguments = CallArguments::Type(self.type_name()?);
            self.expect(")")?;
            return Ok(Some(Call { function, arguments }));
        }
        let mut arguments = Vec::new();
        while !self.takes(")") {
            if !arguments.is_empty() {
                self.expect(",")?;
            }
            arguments.push(self.expression(0)?);
        }
        let (least, most) = function.arity();
        if !(least..=most).contains(&arguments.len()) {
            let reason = format!("{name}() takes {least} to {most} arguments, not {}", arguments.len());
            return Err(PathFault { place, reason });
        }
        Ok(Some(Call { function, arguments: CallArguments::Expressions(arguments) }))
    }

    fn type_name(&mut self) -> Result<TypeName, PathFault> {
        let place = self.place();
        let first = self.identifier()?;
        let wanted = if self.takes(".") {
            TypeName { namespace: Some(first), name: self.identifier()? }
        } else {
            TypeName { namespace: None, name: first }
        };
        if super::types::is_known(&wanted) {
            Ok(wanted)
        } else {
            Err(PathFault { place, reason: format!("unknown type {}", wanted.name) })
        }
    }

    fn identifier(&mut self) -> Result<String, PathFault> {
        let name = match self.peek() {
            Some(TokenKind::Name(name)) => name.clone(),
            Some(TokenKind::Word(word)) if !RESERVED.contains(&word.as_str()) => word.clone(),
            _ => return Err(self.fault("expected a name")),
        };
        self.at += 1;
        Ok(name)
    }

    fn operator(&self) -> Option<Operator> {
        match self.peek()? {
            TokenKind::Sign(sign) => Operator::written(sign),
            TokenKind::Word(word) => Operator::written(word),
            _ => None,
        }
    }

    fn type_operator(&self) -> Option<TypeOperator> {
        match self.peek()? {
            TokenKind::Word(word) if word == "is" => Some(TypeOperator::Is),
            TokenKind::Word(word) if word == "as" => Some(TypeOperator::As),
            _ => None,
        }
    }

    fn peek(&self) -> Option<&TokenKind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    fn place(&self) -> usize {
        self.tokens.get(self.at).map_or(self.end, |token| token.place)
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(TokenKind::Sign(found)) if *found == sign)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let takes = self.is_sign(sign);
        self.at += usize::from(takes);
        takes
    }

    fn expect(&mut self, sign: &str) -> Result<(), PathFault> {
        if self.takes(sign) { Ok(()) } else { Err(self.fault(&format!("expected {sign}"))) }
    }

    fn fault(&self, reason: &str) -> PathFault {
        PathFault { place: self.place(), reason: reason.to_owned() }
    }
}

/// Words that are no names unless between backticks.
const RESERVED: [&str; 8] = ["and", "or", "xor", "implies", "div", "mod", "true", "false"];

fn variable(name: &str) -> Option<Variable> {
    Some(match name {
        "this" => Variable::This,
        "index" => Variable::Index,
        "total" => Variable::Total,
        _ => return None,
    })
}

/// A name that no element of R4 has is a slip of the pen, which would pass silently as nothing found.
fn known_member(name: String, place: usize) -> Result<String, PathFault> {
    if is_element_name(&name) {
        return Ok(name);
    }
    let hint = match super::names::choice_of(&name) {
        Some((element, used)) => format!("; write {element}.ofType({used})"),
        None => String::new(),
    };
    Err(PathFault { place, reason: format!("no element of R4 is named {name}{hint}") })
}

fn known_start(name: String, place: usize) -> Result<String, PathFault> {
    let wanted = TypeName { namespace: None, name };
    if super::types::is_known(&wanted) { Ok(wanted.name) } else { known_member(wanted.name, place) }
}

fn typed(left: Expression, operator: TypeOperator, wanted: TypeName) -> Expression {
    match left {
        Expression::Typed { operand, mut tests } => {
            tests.push((operator, wanted));
            Expression::Typed { operand, tests }
        }
        left => Expression::Typed { operand: Box::new(left), tests: vec![(operator, wanted)] },
    }
}

fn chained(left: Expression, operator: Operator, right: Expression) -> Expression {
    match left {
        Expression::Chain { first, mut rest }
            if rest.last().is_some_and(|(last, _)| last.power() == operator.power()) =>
        {
            rest.push((operator, right));
            Expression::Chain { first, rest }
        }
        left => Expression::Chain { first: Box::new(left), rest: vec![(operator, right)] },
    }
}
