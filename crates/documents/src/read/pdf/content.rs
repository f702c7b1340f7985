//! Interprets the content of a page (ISO 32000-1, 7.8.2 and 9.4) and collects its text.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::drawing::Path;
use super::file::File;
use super::font::{Font, Glyph};
use super::lexer::Lexer;
use super::lines::{Lines, TextPosition, TextRun};
use super::matrix::Matrix;
use super::object::{Dictionary, Object, Stream};
use super::paint::raster::{Area, Bounds, Contour, FillRule};
use super::paint::{Canvas, GlyphMark, Graphics, Painter};
use crate::error::DocumentError;

/// Forms within forms.
const DEEPEST: usize = 12;
const MOST_STATES: usize = 200;
/// The operands of one operator. Only the last ones are kept.
const MOST_OPERANDS: usize = 64;
/// Operators without operands, or whose operands do not change the appearance.
const WITHOUT_OPERANDS: &[&str] = &[
    "q", "Q", "h", "f", "F", "f*", "B", "B*", "b", "b*", "S", "s", "n", "W", "W*", "BT", "ET", "T*", "EMC", "BX", "EX",
    "BI", "EI", "MP", "DP", "i", "ri", "d0", "d1", "sc", "scn", "SC", "SCN",
];
pub(super) const NOT_UNDERSTOOD: &str = "an operator that is not understood";
/// Contours of glyphs that clip.
const MOST_CLIPPING: usize = 50_000;
/// The smallest legible font size, in points.
const SMALLEST_PRINT: f32 = 3.9;

/// The fonts that are cached across pages.
#[derive(Default)]
pub(super) struct Fonts(BTreeMap<u32, Rc<Font>>);

/// The text and pictures of a page.
pub(super) struct PageContent {
    pub(super) text: String,
    pub(super) pieces: Vec<TextRun>,
    pub(super) pictures: Vec<PagePicture>,
    /// The approximate positions of glyphs.
    pub(super) cells: Vec<Bounds>,
}

/// A picture that a page shows.
pub(super) struct PagePicture {
    pub(super) stream: Stream,
    /// In points.
    pub(super) width: f32,
    /// In square points.
    pub(super) area: f32,
}

pub(super) struct Reader<'a, 'f> {
    pub(super) file: &'a File<'a>,
    fonts: &'f mut Fonts,
    lines: Lines<'a>,
    pub(super) pictures: Vec<PagePicture>,
    cells: Vec<Bounds>,
    depth: usize,
    /// Present if the page is painted, to determine its visible text.
    pub(super) painter: Option<Painter>,
    /// The remaining number of picture pixels that may be decoded.
    pub(super) image_pixels: usize,
}

#[derive(Clone)]
pub(super) struct State {
    pub(super) page: Matrix,
    pub(super) graphics: Graphics,
    pub(super) font: Option<Rc<Font>>,
    pub(super) size: f32,
    letter_space: f32,
    word_space: f32,
    stretch: f32,
    leading: f32,
    rise: f32,
}

impl<'a, 'f> Reader<'a, 'f> {
    pub(super) fn new(file: &'a File<'a>, fonts: &'f mut Fonts) -> Self {
        let (lines, pictures, cells) = (Lines::new(file.budget), Vec::new(), Vec::new());
        Self { file, fonts, lines, pictures, cells, depth: 0, painter: None, image_pixels: 0 }
    }

    /// A reader that also paints the page.
    pub(super) fn painting(file: &'a File<'a>, fonts: &'f mut Fonts, painter: Painter, image_pixels: usize) -> Self {
        Self { painter: Some(painter), image_pixels, ..Self::new(file, fonts) }
    }

    pub(super) fn finish(self) -> PageContent {
        let (text, pieces) = self.lines.finish();
        PageContent { text, pieces, pictures: self.pictures, cells: self.cells }
    }

    /// The visible text of the page, and the remaining number of picture pixels that may be decoded.
    pub(super) fn finish_visible(mut self) -> Result<(String, usize), DocumentError> {
        let (text, _) = self.visible_and_canvas()?;
        Ok((text, self.image_pixels))
    }

    /// The visible text of the page, and the painted page.
    pub(super) fn visible_and_canvas(&mut self) -> Result<(String, Option<Canvas>), DocumentError> {
        let (glyphs, canvas) = self.painter.take().map(Painter::finish).unzip();
        for (glyph, is_visible) in glyphs.unwrap_or_default() {
            if is_visible {
                self.lines.add(&glyph.text, glyph.start, glyph.end)?;
            }
        }
        let lines = std::mem::replace(&mut self.lines, Lines::new(self.file.budget));
        Ok((lines.finish().0, canvas))
    }

    /// Reports content that is not text, or that is not interpreted.
    pub(super) fn note(&mut self, what: &'static str) {
        if let Some(painter) = &mut self.painter {
            painter.note(what);
        }
    }

    /// Reports content that cannot be painted as PDF readers do.
    pub(super) fn note_unread(&mut self, what: &'static str) {
        if let Some(painter) = &mut self.painter {
            painter.note_unread(what);
        }
    }

    /// The state at the start of a page.
    pub(super) fn graphics(&self) -> Graphics {
        Graphics::new(self.painter.as_ref().map_or(Area::EMPTY, Painter::area))
    }

    pub(super) fn read(
        &mut self,
        content: &[u8],
        resources: &Dictionary,
        page: Matrix,
        graphics: Graphics,
    ) -> Result<(), DocumentError> {
        let hidden = self.painter.as_ref().map_or(0, |painter| painter.hidden);
        let mut context = StreamContext::new(resources, page, graphics);
        let mut lexer = Lexer::new(content, 0, self.file.budget);
        let mut operands: Vec<Object> = Vec::new();
        while let Some(object) = lexer.object()? {
            match object {
                Object::Word(word) if word == "ID" => {
                    let bytes = inline_picture(&mut lexer, content);
                    self.inline(&context, &operands, bytes)?;
                    operands.clear();
                }
                Object::Word(word) => {
                    self.operate(&mut context, &word, &operands)?;
                    operands.clear();
                }
                operand => {
                    if operands.len() >= MOST_OPERANDS {
                        self.note_unread(NOT_UNDERSTOOD);
                        operands.remove(0);
                    }
                    operands.push(operand);
                }
            }
        }
        // Layers that are not closed end with the content.
        if let Some(painter) = &mut self.painter {
            painter.hidden = hidden;
        }
        Ok(())
    }

    fn operate(
        &mut self,
        context: &mut StreamContext<'_>,
        word: &str,
        operands: &[Object],
    ) -> Result<(), DocumentError> {
        let operands = self.last_operands(word, operands);
        let number = |index: usize| operands.get(index).and_then(Object::number).unwrap_or(0.0) as f32;
        match word {
            "Tj" | "'" | "\"" => {
                if word == "\"" {
                    (context.state.word_space, context.state.letter_space) = (number(0), number(1));
                }
                if word != "Tj" {
                    context.next_line(0.0, -context.state.leading);
                }
                match operands.last() {
                    Some(Object::Text(string)) => self.show(context, string)?,
                    _ => self.note_unread(NOT_UNDERSTOOD),
                }
            }
            "TJ" => self.show_array(context, operands)?,
            "Tf" => {
                context.state.size = number(1);
                context.state.font = match operands.first() {
                    Some(Object::Name(name)) => self.font(context, name)?,
                    _ => None,
                };
            }
            "Do" => match operands.first() {
                Some(Object::Name(name)) => self.run(context, name)?,
                _ => self.note_unread(NOT_UNDERSTOOD),
            },
            "Tr" => match operands.first().and_then(Object::whole) {
                Some(mode @ 0..=7) => context.state.graphics.text_mode = mode as u8,
                // Readers ignore modes that do not exist.
                _ => self.note_unread(NOT_UNDERSTOOD),
            },
            "q" if context.states.len() >= MOST_STATES => {
                return Err(DocumentError::TooLarge("its graphics states are nested too deeply"));
            }
            _ => {
                context.set(word, number);
                if self.painter.is_some() {
                    self.draw(context, word, operands)?;
                }
            }
        }
        Ok(())
    }

    /// `TJ`: shows strings, with adjustments of the position between them.
    fn show_array(&mut self, context: &mut StreamContext<'_>, operands: &[Object]) -> Result<(), DocumentError> {
        if !matches!(operands.last(), Some(Object::Array(_))) {
            self.note_unread(NOT_UNDERSTOOD);
        }
        for item in operands.last().map(Object::array).unwrap_or_default() {
            match item {
                Object::Text(string) => self.show(context, string)?,
                Object::Number(back) => context.advance(-*back as f32 / 1000.0 * context.state.size),
                _ => {}
            }
        }
        Ok(())
    }

    /// The operands of an operator. Readers use the last ones and ignore others.
    fn last_operands<'o>(&mut self, word: &str, operands: &'o [Object]) -> &'o [Object] {
        let (count, has_numbers) = match word {
            "c" | "cm" | "Tm" => (6, true),
            "re" | "v" | "y" | "k" | "K" => (4, true),
            "rg" | "RG" => (3, true),
            "m" | "l" | "Td" | "TD" => (2, true),
            "g" | "G" | "w" | "J" | "j" | "M" | "Tc" | "Tw" | "Tz" | "TL" | "Ts" | "Tr" => (1, true),
            "\"" => (3, false),
            "Tf" | "BDC" | "d" => (2, false),
            "Tj" | "'" | "TJ" | "Do" | "gs" | "sh" | "cs" | "CS" | "BMC" => (1, false),
            "sc" | "scn" | "SC" | "SCN" => (operands.len(), false),
            _ => (0, false),
        };
        let last = operands.get(operands.len().saturating_sub(count)..).unwrap_or_default();
        let is_complete = last.len() == count && (!has_numbers || last.iter().all(|last| last.number().is_some()));
        if !is_complete || !(count > 0 || WITHOUT_OPERANDS.contains(&word)) {
            self.note_unread(NOT_UNDERSTOOD);
        }
        last
    }

    fn show(&mut self, context: &mut StreamContext<'_>, string: &[u8]) -> Result<(), DocumentError> {
        let Some(font) = context.state.font.clone() else {
            self.note_unread("text in a font that is not there");
            return Ok(());
        };
        self.file.budget.spend(string.len() * 20)?;
        for glyph in font.glyphs(string) {
            let start = context.spot();
            let state = &context.state;
            let space = if glyph.is_space { state.word_space } else { 0.0 };
            let width = glyph.width * state.size + state.letter_space + space;
            let placed = context.glyph_matrix();
            context.advance(width);
            let end = context.spot();
            if self.painter.is_some() {
                self.draw_glyph(context, &font, &glyph, placed, (start, end))?;
                continue;
            }
            if !matches!(context.state.graphics.text_mode, 3 | 7) {
                self.cells.push(cell(&font, start, end));
            }
            self.lines.add(&glyph.text, start, end)?;
        }
        Ok(())
    }

    /// Draws a glyph and records its text.
    fn draw_glyph(
        &mut self,
        context: &mut StreamContext<'_>,
        font: &Font,
        glyph: &Glyph,
        placed: Matrix,
        (start, end): (TextPosition, TextPosition),
    ) -> Result<(), DocumentError> {
        self.file.budget.spend(150)?;
        match font.type3() {
            Some(dictionary) => self.draw_type3(context, (font, dictionary), glyph, placed, (start, end)),
            None => self.draw_outline(context, font, glyph, placed, (start, end)),
        }
    }

    /// Runs the content stream that draws a glyph.
    fn draw_type3(
        &mut self,
        context: &StreamContext<'_>,
        (font, dictionary): (&Font, &Dictionary),
        glyph: &Glyph,
        placed: Matrix,
        (start, end): (TextPosition, TextPosition),
    ) -> Result<(), DocumentError> {
        let state = &context.state;
        self.note("text in a font that is drawn");
        let Some(owner) = self.begin_glyph(&glyph.text, (start, end), None)? else { return Ok(()) };
        let Some(name) = font.glyph_name(self.file, glyph)? else { return Ok(()) };
        let procedures = self.file.resolve(dictionary.get("CharProcs"))?;
        let procedure = procedures.dictionary().map_or(&Object::Null, |procedures| procedures.get(&name));
        let Object::Stream(stream) = self.file.resolve(procedure)?.into_owned() else { return Ok(()) };
        if self.depth >= DEEPEST || matches!(state.graphics.text_mode, 3 | 7) {
            return Ok(());
        }
        let matrix = self.numbers(dictionary.get("FontMatrix"))?;
        let matrix = <[f32; 6]>::try_from(matrix).map_or(Matrix([0.001, 0.0, 0.0, 0.001, 0.0, 0.0]), Matrix);
        let own = self.file.resolve(dictionary.get("Resources"))?;
        let content = self.file.content(&stream)?;
        let outer = self.painter.as_mut().map_or(0, |painter| std::mem::replace(&mut painter.owner, owner));
        self.depth += 1;
        let resources = own.dictionary().unwrap_or(context.resources);
        let result = self.read(&content, resources, matrix.then(placed), state.graphics.clone());
        self.depth -= 1;
        if let Some(painter) = &mut self.painter {
            painter.owner = outer;
        }
        result
    }

    fn draw_outline(
        &mut self,
        context: &mut StreamContext<'_>,
        font: &Font,
        glyph: &Glyph,
        placed: Matrix,
        (start, end): (TextPosition, TextPosition),
    ) -> Result<(), DocumentError> {
        let (outline, text) = font.shape(self.file, glyph)?;
        let is_shown = !matches!(context.state.graphics.text_mode, 3 | 7);
        if is_shown && text.is_none() {
            self.note("a symbol without text");
        }
        if is_shown && context.state.graphics.has_soft_mask {
            self.note("text below a mask");
        }
        let Some(owner) = self.begin_glyph(text.as_deref().unwrap_or_default(), (start, end), Some(placed))? else {
            return Ok(());
        };
        let (budget, graphics) = (self.file.budget, &context.state.graphics);
        let Some(painter) = &mut self.painter else { return Ok(()) };
        let placed = placed.then(painter.device);
        budget.spend(outline.iter().map(Vec::len).sum())?;
        let contour = |contour: &Contour| -> Contour { contour.iter().map(|point| placed.apply(*point)).collect() };
        let contours: Vec<Contour> = outline.iter().map(contour).collect();
        if matches!(graphics.text_mode, 0 | 2 | 4 | 6) {
            painter.fill(&contours, FillRule::NonZero, graphics, owner, budget)?;
        }
        if matches!(graphics.text_mode, 1 | 2 | 5 | 6) {
            let closed = |contour: &Contour| contour.iter().chain(contour.first()).copied().collect();
            let closed: Vec<Contour> = contours.iter().map(closed).collect();
            let width = graphics.line_width * context.state.page.then(painter.device).scale();
            painter.stroke(&closed, width, graphics, owner, budget)?;
        }
        if graphics.text_mode >= 4 {
            if context.text_clip.len() >= MOST_CLIPPING {
                return Err(DocumentError::TooLarge("too many letters clip what is painted"));
            }
            context.text_clip.extend(contours);
        }
        Ok(())
    }

    /// The number of the next glyph. None if the page is not painted.
    fn begin_glyph(
        &mut self,
        text: &str,
        (start, end): (TextPosition, TextPosition),
        em: Option<Matrix>,
    ) -> Result<Option<u32>, DocumentError> {
        let Some(painter) = &mut self.painter else { return Ok(None) };
        // Text within a glyph is part of that glyph.
        if painter.owner != 0 {
            return Ok(Some(painter.owner));
        }
        let size = em.map(|em| em.smaller_side() * painter.points_per_unit);
        let is_large_enough = size.is_none_or(|size| size >= SMALLEST_PRINT);
        let pixels = start.size * painter.device.scale();
        painter.begin(GlyphMark::new(text.to_owned(), start, end, is_large_enough, pixels)).map(Some)
    }

    fn font(&mut self, context: &mut StreamContext<'_>, name: &str) -> Result<Option<Rc<Font>>, DocumentError> {
        if let Some(font) = context.local.get(name) {
            return Ok(font.clone());
        }
        let listed = self.file.resolve(context.resources.get("Font"))?;
        let named = listed.dictionary().map_or(&Object::Null, |fonts| fonts.get(name));
        let font = self.font_object(named)?;
        if context.local.len() < 200 {
            context.local.insert(name.to_owned(), font.clone());
        }
        Ok(font)
    }

    pub(super) fn font_object(&mut self, named: &Object) -> Result<Option<Rc<Font>>, DocumentError> {
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
        Ok(font)
    }

    /// Interprets a form XObject like a page, and records a picture.
    fn run(&mut self, context: &StreamContext<'_>, name: &str) -> Result<(), DocumentError> {
        self.file.budget.spend(1000)?;
        let listed = self.file.resolve(context.resources.get("XObject"))?;
        let named = listed.dictionary().map_or(&Object::Null, |objects| objects.get(name));
        let object = self.file.resolve(named)?;
        let Object::Stream(stream) = object.as_ref() else {
            self.note_unread(NOT_UNDERSTOOD);
            return Ok(());
        };
        match self.file.resolve(stream.dictionary.get("Subtype"))?.name() {
            Some("Image" | "Form") if !self.shows_layer(stream.dictionary.get("OC"))? => Ok(()),
            Some("Image") if self.painter.is_some() => self.picture(context, stream),
            Some("Image") if self.pictures.len() < 1000 => {
                let [a, b, c, d, ..] = context.state.page.0;
                let (width, area) = ((a * a + b * b).sqrt(), (a * d - b * c).abs());
                self.pictures.push(PagePicture { stream: stream.clone(), width, area });
                Ok(())
            }
            Some("Image") => Ok(()),
            Some("Form") => self.form(stream, context.resources, context.state.page, context.state.graphics.clone()),
            _ => {
                self.note_unread(NOT_UNDERSTOOD);
                Ok(())
            }
        }
    }

    fn form(
        &mut self,
        stream: &Stream,
        resources: &Dictionary,
        page: Matrix,
        graphics: Graphics,
    ) -> Result<(), DocumentError> {
        if self.depth >= DEEPEST {
            self.note_unread("forms within forms");
            return Ok(());
        }
        let own = self.file.resolve(stream.dictionary.get("Resources"))?;
        let matrix = self.numbers(stream.dictionary.get("Matrix"))?;
        let matrix = <[f32; 6]>::try_from(matrix).map_or(Matrix::IDENTITY, Matrix);
        let graphics = self.within_form(stream, matrix.then(page), graphics)?;
        let content = self.file.content(stream)?;
        self.depth += 1;
        let result = self.read(&content, own.dictionary().unwrap_or(resources), matrix.then(page), graphics);
        self.depth -= 1;
        result
    }

    pub(super) fn numbers(&self, object: &Object) -> Result<Vec<f32>, DocumentError> {
        let listed = self.file.resolve(object)?;
        Ok(listed.array().iter().take(6).filter_map(Object::number).map(|number| number as f32).collect())
    }

    /// The appearance of a field (ISO 32000-1, 12.5.5), at the corner of its rectangle.
    pub(super) fn annotation(&mut self, annotation: &Object, resources: &Dictionary) -> Result<(), DocumentError> {
        self.file.budget.spend(200)?;
        let annotation = self.file.resolve(annotation)?;
        let Some(dictionary) = annotation.dictionary() else { return Ok(()) };
        let appearance = self.file.resolve(dictionary.get("AP"))?;
        let Some(appearance) = appearance.dictionary() else { return Ok(()) };
        let mut normal = self.file.resolve(appearance.get("N"))?.into_owned();
        // One for each state, such as a checked or unchecked box.
        let state = self.file.resolve(dictionary.get("AS"))?;
        if let (Object::Dictionary(states), Some(state)) = (&normal, state.name()) {
            normal = self.file.resolve(states.get(state))?.into_owned();
        }
        let Object::Stream(stream) = normal else { return Ok(()) };
        if self.painter.is_some() && !self.shows_annotation(dictionary)? {
            return Ok(());
        }
        let placed = self.annotation_matrix(dictionary, &stream)?;
        let graphics = self.graphics();
        self.form(&stream, resources, placed, graphics)
    }

    /// Maps the transformed box of the appearance to the rectangle of the annotation (ISO 32000-1, 12.5.5).
    fn annotation_matrix(&self, annotation: &Dictionary, appearance: &Stream) -> Result<Matrix, DocumentError> {
        let rectangle = self.numbers(annotation.get("Rect"))?;
        let at = |index: usize| rectangle.get(index).copied().unwrap_or(0.0);
        let corner = Matrix::moved(at(0).min(at(2)), at(1).min(at(3)));
        let matrix = self.numbers(appearance.dictionary.get("Matrix"))?;
        let matrix = <[f32; 6]>::try_from(matrix).map_or(Matrix::IDENTITY, Matrix);
        let Ok([x0, y0, x1, y1]) = <[f32; 4]>::try_from(self.numbers(appearance.dictionary.get("BBox"))?) else {
            return Ok(corner);
        };
        let corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)].map(|point| matrix.apply(point));
        let Some(bounds) = Bounds::of(corners.into_iter()) else { return Ok(corner) };
        let factor = |wanted: f32, own: f32| if own > 0.0 { wanted.abs() / own } else { 1.0 };
        let (across, up) = (factor(at(2) - at(0), bounds.width()), factor(at(3) - at(1), bounds.height()));
        Ok(Matrix([across, 0.0, 0.0, up, -bounds.left * across, -bounds.top * up]).then(corner))
    }
}

/// The approximate area of a glyph, with room for accents and descenders.
fn cell(font: &Font, start: TextPosition, end: TextPosition) -> Bounds {
    const ANYWHERE: f32 = 10_000_000.0;
    // The glyphs of such a font may be of any size.
    if font.type3().is_some() {
        return Bounds { left: -ANYWHERE, top: -ANYWHERE, right: ANYWHERE, bottom: ANYWHERE };
    }
    let room = start.size.max(end.size) * 1.5;
    Bounds {
        left: start.at.0.min(end.at.0) - room,
        top: start.at.1.min(end.at.1) - room,
        right: start.at.0.max(end.at.0) + room,
        bottom: start.at.1.max(end.at.1) + room,
    }
}

/// The state of the interpretation of one content stream.
pub(super) struct StreamContext<'r> {
    pub(super) state: State,
    states: Vec<State>,
    text: Matrix,
    line: Matrix,
    local: BTreeMap<String, Option<Rc<Font>>>,
    pub(super) resources: &'r Dictionary,
    pub(super) path: Path,
    /// The enclosing marked parts, and whether each is a hidden layer.
    pub(super) layers: Vec<bool>,
    /// Glyphs that are added to the clip at the end of the text.
    pub(super) text_clip: Vec<Contour>,
}

impl<'r> StreamContext<'r> {
    fn new(resources: &'r Dictionary, page: Matrix, graphics: Graphics) -> Self {
        let state = State {
            page,
            graphics,
            font: None,
            size: 0.0,
            letter_space: 0.0,
            word_space: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
        };
        Self {
            state,
            states: Vec::new(),
            text: Matrix::IDENTITY,
            line: Matrix::IDENTITY,
            local: BTreeMap::new(),
            resources,
            path: Path::default(),
            layers: Vec::new(),
            text_clip: Vec::new(),
        }
    }
}

impl StreamContext<'_> {
    /// Operators that only change the state.
    fn set(&mut self, word: &str, number: impl Fn(usize) -> f32) {
        let matrix = || Matrix([number(0), number(1), number(2), number(3), number(4), number(5)]);
        match word {
            "q" => self.states.push(self.state.clone()),
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

    /// From ems to the units of the page.
    fn glyph_matrix(&self) -> Matrix {
        let state = &self.state;
        Matrix([state.size * state.stretch, 0.0, 0.0, state.size, 0.0, state.rise]).then(self.text).then(state.page)
    }

    fn spot(&self) -> TextPosition {
        let placed = self.text.then(self.state.page);
        let (x, y) = placed.along();
        let length = (x * x + y * y).sqrt().max(f32::MIN_POSITIVE);
        let size = (self.state.size * placed.height()).abs();
        TextPosition { at: placed.origin(), direction: (x / length, y / length), size }
    }
}

/// The bytes of an inline picture, up to its `EI`.
fn inline_picture<'c>(lexer: &mut Lexer<'_>, content: &'c [u8]) -> &'c [u8] {
    let rest = content.get(lexer.at..).unwrap_or_default();
    let is_end = |window: &[u8]| matches!(window, [before, b'E', b'I', after] if super::lexer::is_space(*before) && super::lexer::is_space(*after));
    let end = rest.windows(4).position(is_end);
    lexer.at += end.map_or(rest.len(), |at| at + 3);
    rest.get(1..end.unwrap_or(rest.len())).unwrap_or_default()
}
