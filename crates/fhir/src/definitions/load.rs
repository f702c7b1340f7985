//! Reads `elements.txt` and `codes.txt` into structures that know their content by number.

use std::collections::HashMap;

use super::code_set::CodeSet;
use super::{Definitions, Element, ElementId, ElementType, Max, Primitive, Structure, StructureId, StructureKind};

/// A line of a table that cannot be understood.
#[derive(Debug, thiserror::Error)]
#[error("malformed definition: {0}")]
pub(super) struct Malformed(pub(super) &'static str);

pub(super) fn definitions(elements: &'static str, codes: &'static str) -> Result<Definitions, Malformed> {
    let code_sets = lines(codes).map(CodeSet::parse).collect::<Result<Vec<_>, _>>()?;
    if !code_sets.is_sorted_by(|left, right| left.name() < right.name()) {
        return Err(Malformed("value sets are not sorted"));
    }
    let mut loader = Loader::new(elements)?;
    for line in lines(elements).filter(|line| is_element(line)) {
        loader.element(line, &code_sets)?;
    }
    Ok(Definitions { structures: loader.inherit()?, elements: loader.elements, code_sets })
}

pub(crate) fn lines(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|line| !line.starts_with('#'))
}

fn is_element(line: &str) -> bool {
    first_word(line).contains('.')
}

fn first_word(line: &str) -> &str {
    line.split_once(' ').map_or(line, |(word, _)| word)
}

/// A structure whose inherited elements are still missing.
struct Draft {
    path: &'static str,
    kind: StructureKind,
    base: Option<StructureId>,
    own: Vec<ElementId>,
}

struct Loader {
    drafts: Vec<Draft>,
    ids: HashMap<&'static str, StructureId>,
    elements: Vec<Element>,
}

impl Loader {
    /// Numbers the structures: types, and paths that have elements below them, by path.
    fn new(table: &'static str) -> Result<Self, Malformed> {
        let mut heads = Vec::new();
        let mut last = "";
        for line in lines(table) {
            match first_word(line).rsplit_once('.') {
                None => heads.push((first_word(line), line)),
                // Elements below one path may come in two runs; the repetition is dropped below.
                Some((parent, _)) if parent.contains('.') && parent != last => heads.push((parent, "")),
                Some(_) => {}
            }
            last = first_word(line).rsplit_once('.').map_or("", |(parent, _)| parent);
        }
        heads.sort_unstable_by_key(|(path, _)| *path);
        heads.dedup_by_key(|(path, _)| *path);
        let ids: HashMap<_, _> = heads.iter().zip(0..).map(|((path, _), id)| (*path, id)).collect();
        let drafts = heads.into_iter().map(|(path, line)| draft(path, line, &ids)).collect::<Result<_, _>>()?;
        Ok(Self { drafts, ids, elements: Vec::new() })
    }

    /// Reads `path min..max flags types value-set`.
    fn element(&mut self, line: &'static str, code_sets: &[CodeSet]) -> Result<(), Malformed> {
        let malformed = || Malformed(line);
        let mut words = line.split(' ');
        let mut word = || words.next().ok_or_else(malformed);
        let (path, cardinality, flags, types) = (word()?, word()?, word()?, word()?);
        let (parent, last) = path.rsplit_once('.').ok_or_else(malformed)?;
        let name = last.trim_end_matches("[x]");
        let (is_required, max) = match cardinality {
            "0..0" => (false, Max::Zero),
            "0..1" => (false, Max::One),
            "0..*" => (false, Max::Many),
            "1..1" => (true, Max::One),
            "1..*" => (true, Max::Many),
            _ => return Err(malformed()),
        };
        let codes = match words.next() {
            Some(name) => Some(code_set_id(code_sets, name).ok_or_else(malformed)?),
            None => None,
        };
        if let Some(content) = self.ids.get(path) {
            self.drafts[usize::from(*content)].base = Some(*self.ids.get(types).ok_or_else(malformed)?);
        }
        let types = types.split('|').map(|text| self.element_type(path, text).ok_or_else(malformed));
        let element = Element {
            path,
            name,
            is_choice: name != last,
            is_required,
            max,
            is_summary: flags.contains('S'),
            is_modifier: flags.contains('M'),
            types: types.collect::<Result<_, _>>()?,
            codes,
        };
        let id = ElementId::try_from(self.elements.len()).map_err(|_| malformed())?;
        let owner = *self.ids.get(parent).ok_or_else(malformed)?;
        self.elements.push(element);
        self.drafts[usize::from(owner)].own.push(id);
        Ok(())
    }

    /// Reads `name`, `name(target,target)` or `#path`.
    fn element_type(&self, path: &'static str, text: &'static str) -> Option<ElementType> {
        if let Some(shared) = text.strip_prefix('#') {
            let content = *self.ids.get(shared)?;
            return Some(ElementType { name: self.base_name(content)?, content, targets: Box::default() });
        }
        let (name, targets) = match text.split_once('(') {
            Some((name, targets)) => (name, targets.strip_suffix(')')?.split(',').collect()),
            None => (text, Box::default()),
        };
        let content = self.ids.get(path).or_else(|| self.ids.get(name))?;
        Some(ElementType { name, content: *content, targets })
    }

    fn base_name(&self, id: StructureId) -> Option<&'static str> {
        Some(self.drafts[usize::from(self.drafts[usize::from(id)].base?)].path)
    }

    /// Gives every structure the elements of its bases; its own take the place of theirs.
    fn inherit(&self) -> Result<Vec<Structure>, Malformed> {
        self.drafts.iter().map(|draft| self.structure(draft)).collect()
    }

    fn structure(&self, draft: &Draft) -> Result<Structure, Malformed> {
        let mut found = draft.own.clone();
        let mut base = draft.base;
        while let Some(id) = base {
            let inherited = &self.drafts[usize::from(id)];
            for id in &inherited.own {
                if !found.iter().any(|own| self.name(*own) == self.name(*id)) {
                    found.push(*id);
                }
            }
            base = inherited.base;
        }
        found.sort_unstable_by_key(|id| self.name(*id));
        let is_sound = found.len() <= 64 && found.is_sorted_by(|left, right| self.name(*left) < self.name(*right));
        let elements = found.into_boxed_slice();
        is_sound
            .then_some(Structure { path: draft.path, kind: draft.kind, base: draft.base, elements })
            .ok_or(Malformed(draft.path))
    }

    fn name(&self, id: ElementId) -> &'static str {
        self.elements[usize::from(id)].name
    }
}

fn code_set_id(code_sets: &[CodeSet], name: &str) -> Option<u16> {
    let at = code_sets.binary_search_by(|set| set.name().cmp(name)).ok()?;
    u16::try_from(at).ok()
}

/// Reads `name kind base`, or makes the content of an element, which learns its base when the element is read.
fn draft(path: &'static str, line: &'static str, ids: &HashMap<&str, StructureId>) -> Result<Draft, Malformed> {
    let malformed = || Malformed(line);
    let mut words = line.split(' ').skip(1);
    let (kind, base) = match (words.next(), words.next()) {
        (Some("resource"), Some(base)) => (StructureKind::Resource, base),
        (Some("RESOURCE"), Some(base)) => (StructureKind::AbstractResource, base),
        (Some("complex" | "COMPLEX"), Some(base)) => (StructureKind::Complex, base),
        (Some("primitive"), Some(base)) => {
            (StructureKind::Primitive(Primitive::named(path).ok_or_else(malformed)?), base)
        }
        (None, None) => (StructureKind::Complex, "-"),
        _ => return Err(malformed()),
    };
    let base = match base {
        "-" => None,
        name => Some(*ids.get(name).ok_or_else(malformed)?),
    };
    Ok(Draft { path, kind, base, own: Vec::new() })
}
