//! The lightness of colors (ISO 32000-1, 8.6). Pages are evaluated in gray.

use std::rc::Rc;

use super::function::{Function, numbers};
use crate::error::DocumentError;
use crate::read::pdf::file::File;
use crate::read::pdf::object::{Dictionary, Object};

const DEEPEST: usize = 4;
/// The maximum difference between the ends of a shading that counts as one shade.
const WIDEST_SHADING: f32 = 110.0;

#[derive(Clone, Debug)]
pub(in crate::read::pdf) enum ColorSpace {
    Gray,
    Rgb,
    Cmyk,
    Lab,
    Indexed {
        base: Rc<ColorSpace>,
        table: Rc<Vec<u8>>,
    },
    /// `Separation` and `DeviceN`. Without a function that can be evaluated the color is unknown.
    Tint {
        components: usize,
        base: Rc<ColorSpace>,
        function: Option<Rc<Function>>,
    },
    Pattern,
    Unknown,
}

impl ColorSpace {
    pub(in crate::read::pdf) fn read(
        file: &File<'_>,
        resources: &Dictionary,
        object: &Object,
        depth: usize,
    ) -> Result<Self, DocumentError> {
        if depth > DEEPEST {
            return Ok(Self::Unknown);
        }
        let object = file.resolve(object)?;
        if let Some(name) = object.name() {
            let listed = file.resolve(resources.get("ColorSpace"))?;
            let named = listed.dictionary().map_or(&Object::Null, |spaces| spaces.get(name));
            return match name {
                "DeviceGray" | "G" | "CalGray" => Ok(Self::Gray),
                "DeviceRGB" | "RGB" | "CalRGB" => Ok(Self::Rgb),
                "DeviceCMYK" | "CMYK" => Ok(Self::Cmyk),
                "Pattern" => Ok(Self::Pattern),
                _ if matches!(named, Object::Null) => Ok(Self::Unknown),
                _ => Self::read(file, resources, named, depth + 1),
            };
        }
        let [name, parameters @ ..] = object.array() else { return Ok(Self::Unknown) };
        let parameter = |index: usize| parameters.get(index).unwrap_or(&Object::Null);
        let name = file.resolve(name)?;
        Ok(match name.name().unwrap_or_default() {
            "CalGray" | "DeviceGray" | "G" => Self::Gray,
            "CalRGB" | "DeviceRGB" | "RGB" => Self::Rgb,
            "DeviceCMYK" | "CMYK" => Self::Cmyk,
            "Lab" => Self::Lab,
            "Pattern" => Self::Pattern,
            "ICCBased" => {
                let profile = file.resolve(parameter(0))?;
                let count = profile.dictionary().map_or(&Object::Null, |profile| profile.get("N"));
                match file.resolve(count)?.whole() {
                    Some(1) => Self::Gray,
                    Some(3) => Self::Rgb,
                    Some(4) => Self::Cmyk,
                    _ => Self::Unknown,
                }
            }
            "Indexed" | "I" => {
                let base = Rc::new(Self::read(file, resources, parameter(0), depth + 1)?);
                let table = match file.resolve(parameter(2))?.as_ref() {
                    Object::Text(bytes) => bytes.clone(),
                    Object::Stream(stream) => file.content(stream)?,
                    _ => Vec::new(),
                };
                Self::Indexed { base, table: Rc::new(table) }
            }
            "Separation" | "DeviceN" => {
                let names = file.resolve(parameter(0))?;
                let components = names.array().len().clamp(1, 32);
                let base = Rc::new(Self::read(file, resources, parameter(1), depth + 1)?);
                let function = if components == 1 { Function::read(file, parameter(2), 0)?.map(Rc::new) } else { None };
                Self::Tint { components, base, function }
            }
            _ => Self::Unknown,
        })
    }

    /// The number of components of a color.
    pub(in crate::read::pdf) fn components(&self) -> usize {
        match self {
            Self::Gray | Self::Indexed { .. } => 1,
            Self::Rgb | Self::Lab => 3,
            Self::Cmyk => 4,
            Self::Tint { components, .. } => *components,
            Self::Pattern | Self::Unknown => 0,
        }
    }

    /// The color before one is chosen.
    pub(in crate::read::pdf) fn initial(&self) -> Option<f32> {
        match self {
            Self::Cmyk => Some(0.0),
            Self::Tint { components, .. } => self.luma(&vec![1.0; *components]),
            _ => self.luma(&vec![0.0; self.components()]),
        }
    }

    /// From 0, black, to 255, white. Each component is from 0 to 1, but an index and those of `Lab` are as written.
    pub(in crate::read::pdf) fn luma(&self, color: &[f32]) -> Option<f32> {
        let at = |index: usize| color.get(index).copied().unwrap_or(0.0).clamp(0.0, 1.0);
        match self {
            Self::Gray => Some(at(0) * 255.0),
            Self::Rgb => Some(of_rgb(at(0), at(1), at(2))),
            Self::Cmyk => {
                let light = 1.0 - at(3);
                Some(of_rgb((1.0 - at(0)) * light, (1.0 - at(1)) * light, (1.0 - at(2)) * light))
            }
            Self::Lab => color.first().map(|lightness| lightness.clamp(0.0, 100.0) * 2.55),
            Self::Indexed { base, table } => {
                let count = base.components();
                let start = (color.first().copied().unwrap_or(0.0).max(0.0) as usize).checked_mul(count)?;
                let entry = table.get(start..start.checked_add(count)?)?;
                let color: Vec<f32> = entry.iter().map(|part| f32::from(*part) / 255.0).collect();
                match base.as_ref() {
                    Self::Lab => color.first().map(|lightness| lightness * 255.0),
                    base => base.luma(&color),
                }
            }
            Self::Tint { base, function, .. } => base.luma(&function.as_ref()?.at(at(0))),
            Self::Pattern | Self::Unknown => None,
        }
    }
}

fn of_rgb(red: f32, green: f32, blue: f32) -> f32 {
    // In this order white is exactly 255.
    (red * 299.0 + green * 587.0 + blue * 114.0) / 1000.0 * 255.0
}

/// The approximate lightness of a shading. None if it varies too much, or cannot be evaluated.
pub(in crate::read::pdf) fn shading(
    file: &File<'_>,
    resources: &Dictionary,
    object: &Object,
) -> Result<Option<f32>, DocumentError> {
    let object = file.resolve(object)?;
    let Some(dictionary) = object.dictionary() else { return Ok(None) };
    if !matches!(file.resolve(dictionary.get("ShadingType"))?.whole(), Some(2 | 3)) {
        return Ok(None);
    }
    let space = ColorSpace::read(file, resources, dictionary.get("ColorSpace"), 0)?;
    let Some(function) = Function::read(file, dictionary.get("Function"), 0)? else { return Ok(None) };
    let domain = numbers(file, dictionary.get("Domain"), 2)?;
    let (low, high) = if let [low, high] = domain.as_slice() { (*low, *high) } else { (0.0, 1.0) };
    let shades: Option<Vec<f32>> =
        (0..=8).map(|step| space.luma(&function.at(low + (high - low) * step as f32 / 8.0))).collect();
    let Some(shades) = shades else { return Ok(None) };
    let darkest = shades.iter().copied().fold(255.0_f32, f32::min);
    let lightest = shades.iter().copied().fold(0.0_f32, f32::max);
    Ok((lightest - darkest <= WIDEST_SHADING).then_some((lightest + darkest) / 2.0))
}
