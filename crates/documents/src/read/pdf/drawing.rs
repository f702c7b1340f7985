//! The operators that paint: paths, colors, clips, pictures, layers (ISO 32000-1, 8.4 to 8.11).

use super::content::{NOT_UNDERSTOOD, Reader, StreamContext};
use super::matrix::Matrix;
use super::object::{Dictionary, Object, Stream};
use super::paint::raster::{Contour, FillRule, Point};
use super::paint::{Blend, Color, ColorSpace, Graphics, Picture, color};
use crate::error::DocumentError;

/// Points of one path.
const MOST_POINTS: usize = 500_000;
/// The initial miter limit.
const LONGEST_MITER: f32 = 10.0;
/// Pieces of a curve.
const PIECES: usize = 8;

/// The path under construction, in pixels.
#[derive(Default)]
pub(super) struct Path {
    contours: Vec<Contour>,
    /// In the units of the content.
    last: Point,
    points: usize,
    /// A clip takes effect when the path is painted.
    clip: Option<FillRule>,
}

impl Path {
    fn start(&mut self, point: Point, placed: Matrix) {
        self.last = point;
        self.points += 1;
        self.contours.push(vec![placed.apply(point)]);
    }

    fn line(&mut self, point: Point, placed: Matrix) {
        match self.contours.last_mut() {
            Some(contour) => {
                self.points += 1;
                contour.push(placed.apply(point));
                self.last = point;
            }
            None => self.start(point, placed),
        }
    }

    fn curve(&mut self, first: Point, second: Point, end: Point, placed: Matrix) {
        let start = self.last;
        for piece in 1..=PIECES {
            let t = piece as f32 / PIECES as f32;
            let u = 1.0 - t;
            let blend = |a: f32, b: f32, c: f32, d: f32| {
                u * u * u * a + 3.0 * u * u * t * b + 3.0 * u * t * t * c + t * t * t * d
            };
            let point = (blend(start.0, first.0, second.0, end.0), blend(start.1, first.1, second.1, end.1));
            self.line(point, placed);
        }
        self.last = end;
    }

    fn close(&mut self) {
        if let Some(contour) = self.contours.last_mut() {
            contour.extend(contour.first().copied());
        }
    }

    fn rectangle(&mut self, (x, y): Point, (width, height): Point, placed: Matrix) {
        self.start((x, y), placed);
        for point in [(x + width, y), (x + width, y + height), (x, y + height), (x, y)] {
            self.line(point, placed);
        }
    }
}

impl Reader<'_, '_> {
    /// One operator that is not about text.
    pub(super) fn draw(
        &mut self,
        context: &mut StreamContext<'_>,
        word: &str,
        operands: &[Object],
    ) -> Result<(), DocumentError> {
        match word {
            "m" | "l" | "c" | "v" | "y" | "h" | "re" => self.extend_path(context, word, operands),
            "f" | "F" | "f*" | "B" | "B*" | "b" | "b*" | "S" | "s" | "n" => self.paint_path(context, word),
            "W" | "W*" => {
                context.path.clip = Some(if word == "W" { FillRule::NonZero } else { FillRule::EvenOdd });
                Ok(())
            }
            "ET" => self.clip_to_text(context),
            "BMC" => {
                self.enter(context, false);
                Ok(())
            }
            "BDC" => self.begin_marked(context, operands),
            "EMC" => {
                if context.layers.pop() == Some(true)
                    && let Some(painter) = &mut self.painter
                {
                    painter.hidden = painter.hidden.saturating_sub(1);
                }
                Ok(())
            }
            "gs" => self.set_graphics(context, operands),
            "sh" => self.paint_shading(context, operands),
            _ => self.set_color(context, word, operands),
        }
    }

    fn extend_path(
        &self,
        context: &mut StreamContext<'_>,
        word: &str,
        operands: &[Object],
    ) -> Result<(), DocumentError> {
        let Some(painter) = &self.painter else { return Ok(()) };
        let number = |index: usize| operands.get(index).and_then(Object::number).unwrap_or(0.0) as f32;
        let point = |index: usize| (number(index), number(index + 1));
        let placed = context.state.page.then(painter.device);
        let path = &mut context.path;
        match word {
            "m" => path.start(point(0), placed),
            "l" => path.line(point(0), placed),
            "c" => path.curve(point(0), point(2), point(4), placed),
            "v" => path.curve(path.last, point(0), point(2), placed),
            "y" => path.curve(point(0), point(2), point(2), placed),
            "re" => path.rectangle(point(0), point(2), placed),
            _ => path.close(),
        }
        if path.points > MOST_POINTS {
            return Err(DocumentError::TooLarge("a path has more than 500 000 points"));
        }
        Ok(())
    }

    fn paint_path(&mut self, context: &mut StreamContext<'_>, word: &str) -> Result<(), DocumentError> {
        let Some(painter) = &mut self.painter else { return Ok(()) };
        let budget = self.file.budget;
        let mut path = std::mem::take(&mut context.path);
        if matches!(word, "s" | "b" | "b*") {
            path.close();
        }
        let (owner, graphics) = (painter.owner, &mut context.state.graphics);
        let rule = if word.ends_with('*') { FillRule::EvenOdd } else { FillRule::NonZero };
        if matches!(word, "f" | "F" | "f*" | "B" | "B*" | "b" | "b*") {
            painter.fill(&path.contours, rule, graphics, owner, budget)?;
        }
        if matches!(word, "B" | "B*" | "b" | "b*" | "S" | "s") {
            let width = graphics.line_width * context.state.page.then(painter.device).scale();
            painter.stroke(&path.contours, width, graphics, owner, budget)?;
        }
        if let Some(rule) = path.clip {
            graphics.clip = graphics.clip.narrowed(&path.contours, rule, budget)?;
        }
        Ok(())
    }

    fn clip_to_text(&self, context: &mut StreamContext<'_>) -> Result<(), DocumentError> {
        let contours = std::mem::take(&mut context.text_clip);
        if !contours.is_empty() {
            let graphics = &mut context.state.graphics;
            graphics.clip = graphics.clip.narrowed(&contours, FillRule::NonZero, self.file.budget)?;
        }
        Ok(())
    }

    fn enter(&mut self, context: &mut StreamContext<'_>, is_hidden: bool) {
        if let Some(painter) = &mut self.painter {
            painter.hidden += usize::from(is_hidden);
        }
        context.layers.push(is_hidden);
    }

    /// `/OC /Layer1 BDC`.
    fn begin_marked(&mut self, context: &mut StreamContext<'_>, operands: &[Object]) -> Result<(), DocumentError> {
        let mut is_hidden = false;
        if let [Object::Name(tag), Object::Name(name)] = operands
            && tag == "OC"
        {
            let listed = self.file.resolve(context.resources.get("Properties"))?;
            let layer = listed.dictionary().map_or(&Object::Null, |listed| listed.get(name));
            is_hidden = !self.shows_layer(layer)?;
        }
        self.enter(context, is_hidden);
        Ok(())
    }

    /// Always true if the page is not painted, because then layers do not matter.
    pub(super) fn shows_layer(&self, layer: &Object) -> Result<bool, DocumentError> {
        match &self.painter {
            Some(painter) if !matches!(layer, Object::Null) => painter.layers.shows(self.file, layer),
            _ => Ok(true),
        }
    }

    /// Whether a reader shows an annotation (ISO 32000-1, 12.5.3).
    pub(super) fn shows_annotation(&self, annotation: &Dictionary) -> Result<bool, DocumentError> {
        const INVISIBLE: usize = 1;
        const HIDDEN: usize = 2;
        const NO_VIEW: usize = 32;
        let flags = self.file.resolve(annotation.get("F"))?.whole().unwrap_or(0);
        let is_popup = self.file.resolve(annotation.get("Subtype"))?.name() == Some("Popup");
        let is_hidden = flags & (INVISIBLE | HIDDEN | NO_VIEW) != 0;
        Ok(!is_popup && !is_hidden && self.shows_layer(annotation.get("OC"))?)
    }

    /// The state within a form: its box is a clip, and a group has the opacity of the enclosing state.
    pub(super) fn within_form(
        &self,
        stream: &Stream,
        placed: Matrix,
        mut graphics: Graphics,
    ) -> Result<Graphics, DocumentError> {
        let Some(painter) = &self.painter else { return Ok(graphics) };
        if let Ok([x0, y0, x1, y1]) = <[f32; 4]>::try_from(self.numbers(stream.dictionary.get("BBox"))?) {
            let placed = placed.then(painter.device);
            let corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)];
            let contour: Contour = corners.into_iter().map(|corner| placed.apply(corner)).collect();
            graphics.clip = graphics.clip.narrowed(&[contour], FillRule::NonZero, self.file.budget)?;
        }
        if self.file.resolve(stream.dictionary.get("Group"))?.dictionary().is_some() {
            graphics.group_opacity *= graphics.fill_opacity;
            (graphics.fill_opacity, graphics.stroke_opacity) = (1.0, 1.0);
        }
        Ok(graphics)
    }

    fn set_graphics(&mut self, context: &mut StreamContext<'_>, operands: &[Object]) -> Result<(), DocumentError> {
        let name = operands.last().and_then(Object::name).unwrap_or_default();
        let listed = self.file.resolve(context.resources.get("ExtGState"))?;
        let named = listed.dictionary().map_or(&Object::Null, |states| states.get(name));
        let settings = self.file.resolve(named)?;
        let Some(settings) = settings.dictionary() else {
            self.note_unread(NOT_UNDERSTOOD);
            return Ok(());
        };
        let graphics = &mut context.state.graphics;
        let number = |name: &str| -> Result<Option<f32>, DocumentError> {
            Ok(self.file.resolve(settings.get(name))?.number().map(|number| number as f32))
        };
        if let Some(opacity) = number("ca")? {
            graphics.fill_opacity = opacity.clamp(0.0, 1.0);
        }
        if let Some(opacity) = number("CA")? {
            graphics.stroke_opacity = opacity.clamp(0.0, 1.0);
        }
        if let Some(width) = number("LW")? {
            graphics.line_width = width;
        }
        if let Some(cap) = number("LC")? {
            graphics.has_caps = cap != 0.0;
        }
        if let [pattern, _] = self.file.resolve(settings.get("D"))?.array() {
            graphics.is_dashed = !self.file.resolve(pattern)?.array().is_empty();
        }
        let has_spikes = number("ML")?.is_some_and(|limit| limit > LONGEST_MITER);
        let blend = self.file.resolve(settings.get("BM"))?;
        if let Some(name) = blend.name().or_else(|| blend.array().first().and_then(Object::name)) {
            graphics.blend = Blend::named(name);
        }
        match self.file.resolve(settings.get("SMask"))?.as_ref() {
            Object::Null => {}
            Object::Name(_) => graphics.has_soft_mask = false,
            _ => graphics.has_soft_mask = true,
        }
        if graphics.has_soft_mask || graphics.blend != Blend::Normal || !is_plain_blend(&blend) {
            self.note_unread("a mask or a blend mode");
        }
        if has_spikes {
            self.note_unread(NOT_UNDERSTOOD);
        }
        let font = self.file.resolve(settings.get("Font"))?;
        if let [font, size] = font.array() {
            context.state.size = size.number().unwrap_or(0.0) as f32;
            context.state.font = self.font_object(font)?;
        }
        Ok(())
    }

    fn set_color(
        &mut self,
        context: &mut StreamContext<'_>,
        word: &str,
        operands: &[Object],
    ) -> Result<(), DocumentError> {
        let numbers: Vec<f32> = operands.iter().filter_map(Object::number).map(|number| number as f32).collect();
        let chosen = |space: ColorSpace| Color { luma: space.luma(&numbers), space };
        let resources = context.resources;
        let graphics = &mut context.state.graphics;
        match word {
            "w" => graphics.line_width = numbers.first().copied().unwrap_or(1.0),
            "J" => graphics.has_caps = numbers.first().is_some_and(|cap| *cap != 0.0),
            "d" => graphics.is_dashed = operands.first().is_some_and(|pattern| !pattern.array().is_empty()),
            "M" if numbers.first().is_some_and(|limit| *limit > LONGEST_MITER) => self.note_unread(NOT_UNDERSTOOD),
            "g" => graphics.fill = chosen(ColorSpace::Gray),
            "G" => graphics.stroke = chosen(ColorSpace::Gray),
            "rg" => graphics.fill = chosen(ColorSpace::Rgb),
            "RG" => graphics.stroke = chosen(ColorSpace::Rgb),
            "k" => graphics.fill = chosen(ColorSpace::Cmyk),
            "K" => graphics.stroke = chosen(ColorSpace::Cmyk),
            "cs" | "CS" => {
                let space = ColorSpace::read(self.file, resources, operands.first().unwrap_or(&Object::Null), 0)?;
                let color = Color { luma: space.initial(), space };
                *(if word == "cs" { &mut graphics.fill } else { &mut graphics.stroke }) = color;
            }
            "sc" | "scn" | "SC" | "SCN" => {
                let place = if word.starts_with('s') { &mut graphics.fill } else { &mut graphics.stroke };
                place.luma = match (&place.space, operands.last()) {
                    (ColorSpace::Pattern, Some(Object::Name(name))) => pattern(self, resources, name)?,
                    (space, _) if operands.len() != space.components() => None,
                    (space, _) => space.luma(&numbers),
                };
            }
            _ => {}
        }
        Ok(())
    }

    fn paint_shading(&mut self, context: &StreamContext<'_>, operands: &[Object]) -> Result<(), DocumentError> {
        let name = operands.last().and_then(Object::name).unwrap_or_default();
        self.note_unread("a gradient");
        let listed = self.file.resolve(context.resources.get("Shading"))?;
        let named = listed.dictionary().map_or(&Object::Null, |shadings| shadings.get(name));
        let luma = color::shading(self.file, context.resources, named)?;
        let graphics = &context.state.graphics;
        let ink = super::paint::Ink { luma, ..graphics.fill_ink() };
        let (budget, clip) = (self.file.budget, &graphics.clip);
        self.painter.as_mut().map_or(Ok(()), |painter| painter.flood(ink, clip, budget))
    }

    /// A picture of the file.
    pub(super) fn picture(&mut self, context: &StreamContext<'_>, stream: &Stream) -> Result<(), DocumentError> {
        let packed = self.file.packed(stream)?;
        self.paint_picture(context, &stream.dictionary, packed)
    }

    /// An inline picture.
    pub(super) fn inline(
        &mut self,
        context: &StreamContext<'_>,
        operands: &[Object],
        bytes: &[u8],
    ) -> Result<(), DocumentError> {
        let entries = operands.chunks_exact(2).filter_map(|pair| match pair {
            [Object::Name(name), value] => Some((name.clone(), value.clone())),
            _ => None,
        });
        self.paint_picture(context, &Dictionary(entries.collect()), bytes)
    }

    fn paint_picture(
        &mut self,
        context: &StreamContext<'_>,
        dictionary: &Dictionary,
        packed: &[u8],
    ) -> Result<(), DocumentError> {
        self.note("a picture");
        let Some(painter) = &mut self.painter else { return Ok(()) };
        let (owner, placed) = (painter.owner, context.state.page.then(painter.device));
        if !painter.shows_picture(placed, owner) {
            return Ok(());
        }
        let picture = Picture::read(self.file, context.resources, dictionary, packed, &mut self.image_pixels)?;
        painter.picture(&picture, placed, &context.state.graphics, owner, self.file.budget)
    }
}

/// Whether the paint only covers the content below it.
fn is_plain_blend(blend: &Object) -> bool {
    let names = blend.name().into_iter().chain(blend.array().iter().filter_map(Object::name));
    names.into_iter().all(|name| matches!(name, "Normal" | "Compatible"))
}

/// The lightness of a pattern. None for a pattern that is drawn.
fn pattern(reader: &Reader<'_, '_>, resources: &Dictionary, name: &str) -> Result<Option<f32>, DocumentError> {
    let listed = reader.file.resolve(resources.get("Pattern"))?;
    let named = listed.dictionary().map_or(&Object::Null, |patterns| patterns.get(name));
    let pattern = reader.file.resolve(named)?;
    let Some(dictionary) = pattern.dictionary() else { return Ok(None) };
    color::shading(reader.file, resources, dictionary.get("Shading"))
}
