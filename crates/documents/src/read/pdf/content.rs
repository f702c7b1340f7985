//! Goes through what a page does (ISO 32000-1, 7.8.2 and 9.4) and keeps what it says.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::file::File;
use super::font::Font;
use super::lexer::Lexer;
use super::lines::{Lines, Piece, Spot};
use super::matrix::Matrix;
use super::object::{Dictionary, Object, Stream};
use crate::fault::Fault;

/// Forms within forms.
const DEEPEST: usize = 12;
const MOST_STATES: usize = 200;

/// What is remembered from page to page.
#[derive(Default)]
pub(super) struct Fonts(BTreeMap<u32, Rc<Font>>);

/// What was found on a page.
pub(super) struct Seen {
    pub(super) text: String,
    pub(super) pieces: Vec<Piece>,
    pub(super) pictures: Vec<Shown>,
}

/// A picture that a page shows.
pub(super) struct Shown {
    pub(super) stream: Stream,
    /// In points.
    pub(super) width: f32,
    /// In square points.
    pub(super) area: f32,
}

pub(super) struct Reader<'a, 'f> {
    file: &'a File<'a>,
    fonts: &'f mut Fonts,
    lines: Lines<'a>,
    pub(super) pictures: Vec<Shown>,
    depth: usize,
}

#[derive(Clone)]
struct State {
    page: Matrix,
    font: Option<Rc<Font>>,
    size: f32,
    letter_space: f32,
    word_space: f32,
    stretch: f32,
    leading: f32,
    rise: f32,
}

impl<'a, 'f> Reader<'a, 'f> {
    pub(super) fn new(file: &'a File<'a>, fonts: &'f mut Fonts) -> Self {
        Self { file, fonts, lines: Lines::new(file.budget), pictures: Vec::new(), depth: 0 }
    }

    pub(super) fn finish(self) -> Seen {
        let (text, pieces) = self.lines.finish();
        Seen { text, pieces, pictures: self.pictures }
    }

    pub(super) fn read(&mut self, content: &[u8], resources: &Dictionary, page: Matrix) -> Result<(), Fault> {
        let state = State {
            page,
            font: None,
            size: 0.0,
            letter_space: 0.0,
            word_space: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
        };
        let mut scene = Scene {
            state,
            states: Vec::new(),
            text: Matrix::IDENTITY,
            line: Matrix::IDENTITY,
            local: BTreeMap::new(),
            resources,
        };
        let mut lexer = Lexer::new(content, 0, self.file.budget);
        let mut operands: Vec<Object> = Vec::new();
        while let Some(object) = lexer.object()? {
            match object {
                Object::Word(word) if word == "ID" => {
                    skip_inline_picture(&mut lexer, content);
                    operands.clear();
                }
                Object::Word(word) => {
                    self.operate(&mut scene, &word, &operands)?;
                    operands.clear();
                }
                operand if operands.len() < 64 => operands.push(operand),
                _ => {}
            }
        }
        Ok(())
    }

    fn operate(&mut self, scene: &mut Scene<'_>, word: &str, operands: &[Object]) -> Result<(), Fault> {
        let number = |index: usize| operands.get(index).and_then(Object::number).unwrap_or(0.0) as f32;
        match word {
            "Tj" | "'" | "\"" => {
                if word == "\"" {
                    (scene.state.word_space, scene.state.letter_space) = (number(0), number(1));
                }
                if word != "Tj" {
                    scene.next_line(0.0, -scene.state.leading);
                }
                if let Some(Object::Text(string)) = operands.last() {
                    self.show(scene, string)?;
                }
            }
            "TJ" => {
                for item in operands.last().map(Object::array).unwrap_or_default() {
                    match item {
                        Object::Text(string) => self.show(scene, string)?,
                        Object::Number(back) => scene.advance(-*back as f32 / 1000.0 * scene.state.size),
                        _ => {}
                    }
                }
            }
            "Tf" => {
                scene.state.size = number(1);
                scene.state.font = match operands.first() {
                    Some(Object::Name(name)) => self.font(scene, name)?,
                    _ => None,
                };
            }
            "Do" => {
                if let Some(Object::Name(name)) = operands.first() {
                    self.run(scene, name)?;
                }
            }
            _ => scene.set(word, number),
        }
        Ok(())
    }

    fn show(&mut self, scene: &mut Scene<'_>, string: &[u8]) -> Result<(), Fault> {
        let Some(font) = scene.state.font.clone() else { return Ok(()) };
        self.file.budget.spend(string.len() * 20)?;
        for glyph in font.glyphs(string) {
            let start = scene.spot();
            let state = &scene.state;
            let space = if glyph.is_space { state.word_space } else { 0.0 };
            let width = glyph.width * state.size + state.letter_space + space;
            scene.advance(width);
            self.lines.add(&glyph.text, start, scene.spot())?;
        }
        Ok(())
    }

    fn font(&mut self, scene: &mut Scene<'_>, name: &str) -> Result<Option<Rc<Font>>, Fault> {
        if let Some(font) = scene.local.get(name) {
            return Ok(font.clone());
        }
        let listed = self.file.resolve(scene.resources.get("Font"))?;
        let named = listed.dictionary().map_or(&Object::Null, |fonts| fonts.get(name));
        let number = named.reference();
        let known = number.and_then(|number| self.fonts.0.get(&number)).cloned();
        let font = match known {
            Some(font) => Some(font),
            None => match self.file.resolve(named)?.dictionary() {
                Some(dictionary) => Some(Rc::new(Font::read(self.file, dictionary)?)),
                None => None,
            },
        };
        if let (Some(number), Some(font)) = (number, &font) {
            if self.fonts.0.len() >= 200 {
                self.fonts.0.clear();
            }
            self.fonts.0.insert(number, Rc::clone(font));
        }
        if scene.local.len() < 200 {
            scene.local.insert(name.to_owned(), font.clone());
        }
        Ok(font)
    }

    /// A form is a page within the page; a picture is noted.
    fn run(&mut self, scene: &Scene<'_>, name: &str) -> Result<(), Fault> {
        self.file.budget.spend(1000)?;
        let listed = self.file.resolve(scene.resources.get("XObject"))?;
        let named = listed.dictionary().map_or(&Object::Null, |objects| objects.get(name));
        let object = self.file.resolve(named)?;
        let Object::Stream(stream) = object.as_ref() else { return Ok(()) };
        match stream.dictionary.get("Subtype").name() {
            Some("Image") if self.pictures.len() < 1000 => {
                let [a, b, c, d, ..] = scene.state.page.0;
                let (width, area) = ((a * a + b * b).sqrt(), (a * d - b * c).abs());
                self.pictures.push(Shown { stream: stream.clone(), width, area });
                Ok(())
            }
            Some("Form") => self.form(stream, scene.resources, scene.state.page),
            _ => Ok(()),
        }
    }

    fn form(&mut self, stream: &Stream, resources: &Dictionary, page: Matrix) -> Result<(), Fault> {
        if self.depth >= DEEPEST {
            return Ok(());
        }
        let own = self.file.resolve(stream.dictionary.get("Resources"))?;
        let matrix = self.numbers(stream.dictionary.get("Matrix"))?;
        let matrix = <[f32; 6]>::try_from(matrix).map_or(Matrix::IDENTITY, Matrix);
        let content = self.file.content(stream)?;
        self.depth += 1;
        let result = self.read(&content, own.dictionary().unwrap_or(resources), matrix.then(page));
        self.depth -= 1;
        result
    }

    fn numbers(&self, object: &Object) -> Result<Vec<f32>, Fault> {
        let listed = self.file.resolve(object)?;
        Ok(listed.array().iter().take(6).filter_map(Object::number).map(|number| number as f32).collect())
    }

    /// What a field shows (ISO 32000-1, 12.5.5), at the corner of its rectangle.
    pub(super) fn annotation(&mut self, annotation: &Object, resources: &Dictionary) -> Result<(), Fault> {
        self.file.budget.spend(200)?;
        let annotation = self.file.resolve(annotation)?;
        let Some(dictionary) = annotation.dictionary() else { return Ok(()) };
        let appearance = self.file.resolve(dictionary.get("AP"))?;
        let Some(appearance) = appearance.dictionary() else { return Ok(()) };
        let mut normal = self.file.resolve(appearance.get("N"))?.into_owned();
        // One for each state, as a box has that is ticked or not.
        if let (Object::Dictionary(states), Some(state)) = (&normal, dictionary.get("AS").name()) {
            normal = self.file.resolve(states.get(state))?.into_owned();
        }
        let Object::Stream(stream) = normal else { return Ok(()) };
        let corner = self.numbers(dictionary.get("Rect"))?;
        let at = |index: usize| corner.get(index).copied().unwrap_or(0.0);
        self.form(&stream, resources, Matrix::moved(at(0), at(1)))
    }
}

/// One content stream as it is gone through.
struct Scene<'r> {
    state: State,
    states: Vec<State>,
    text: Matrix,
    line: Matrix,
    local: BTreeMap<String, Option<Rc<Font>>>,
    resources: &'r Dictionary,
}

impl Scene<'_> {
    /// The operators that only set something.
    fn set(&mut self, word: &str, number: impl Fn(usize) -> f32) {
        let matrix = || Matrix([number(0), number(1), number(2), number(3), number(4), number(5)]);
        match word {
            "q" if self.states.len() < MOST_STATES => self.states.push(self.state.clone()),
            "Q" => {
                if let Some(state) = self.states.pop() {
                    self.state = state;
                }
            }
            "cm" => self.state.page = matrix().then(self.state.page),
            "BT" => (self.text, self.line) = (Matrix::IDENTITY, Matrix::IDENTITY),
            "Tm" => (self.text, self.line) = (matrix(), matrix()),
            "Td" => self.next_line(number(0), number(1)),
            "TD" => {
                self.state.leading = -number(1);
                self.next_line(number(0), number(1));
            }
            "T*" => self.next_line(0.0, -self.state.leading),
            "Tc" => self.state.letter_space = number(0),
            "Tw" => self.state.word_space = number(0),
            "Tz" => self.state.stretch = number(0) / 100.0,
            "TL" => self.state.leading = number(0),
            "Ts" => self.state.rise = number(0),
            _ => {}
        }
    }

    fn next_line(&mut self, x: f32, y: f32) {
        self.line = Matrix::moved(x, y).then(self.line);
        self.text = self.line;
    }

    /// In the units of the text, before it is stretched.
    fn advance(&mut self, width: f32) {
        self.text = Matrix::moved(width * self.state.stretch, 0.0).then(self.text);
    }

    fn spot(&self) -> Spot {
        let placed = self.text.then(self.state.page);
        let (x, y) = placed.along();
        let length = (x * x + y * y).sqrt().max(f32::MIN_POSITIVE);
        let size = (self.state.size * placed.height()).abs();
        Spot { at: placed.origin(), direction: (x / length, y / length), size }
    }
}

/// To the `EI` that ends the bytes of a picture in the middle of operators.
fn skip_inline_picture(lexer: &mut Lexer<'_>, content: &[u8]) {
    let rest = content.get(lexer.at..).unwrap_or_default();
    let is_end = |window: &[u8]| matches!(window, [before, b'E', b'I', after] if super::lexer::is_space(*before) && super::lexer::is_space(*after));
    let end = rest.windows(4).position(is_end).map_or(rest.len(), |at| at + 3);
    lexer.at += end;
}
