//! Functions of a PDF file (ISO 32000-1, 7.10): sampled, exponential and stitched ones. Programs (type 4) are not run.

use crate::error::DocumentError;
use crate::read::pdf::file::File;
use crate::read::pdf::object::Object;

const DEEPEST: usize = 4;
const MOST_PARTS: usize = 64;
const MOST_OUTPUTS: usize = 8;
const LARGEST_TABLE: usize = 1 << 20;

#[derive(Debug)]
pub(in crate::read::pdf) enum Function {
    /// Of one input: evenly spaced outputs.
    Sampled {
        domain: (f32, f32),
        samples: Vec<Vec<f32>>,
    },
    /// From the first outputs to the second. The exponent counts as 1.
    Between {
        domain: (f32, f32),
        from: Vec<f32>,
        to: Vec<f32>,
    },
    Stitched {
        domain: (f32, f32),
        parts: Vec<Function>,
        bounds: Vec<f32>,
        encode: Vec<f32>,
    },
    /// One function for each output.
    Several(Vec<Function>),
}

impl Function {
    /// None if it cannot be evaluated.
    pub(in crate::read::pdf) fn read(
        file: &File<'_>,
        object: &Object,
        depth: usize,
    ) -> Result<Option<Self>, DocumentError> {
        if depth > DEEPEST {
            return Ok(None);
        }
        let object = file.resolve(object)?;
        if let Object::Array(items) = object.as_ref() {
            let functions = items.iter().take(MOST_OUTPUTS).map(|item| Self::read(file, item, depth + 1));
            let functions: Option<Vec<Self>> = functions.collect::<Result<Vec<_>, _>>()?.into_iter().collect();
            return Ok(functions.map(Self::Several));
        }
        let Some(dictionary) = object.dictionary() else { return Ok(None) };
        let numbers = |name: &str| numbers(file, dictionary.get(name), 2 * MOST_PARTS);
        let domain = pair(&numbers("Domain")?, 0);
        match file.resolve(dictionary.get("FunctionType"))?.whole() {
            Some(0) => Self::sampled(file, &object, domain),
            Some(2) => {
                let usual = |values: Vec<f32>, value: f32| if values.is_empty() { vec![value] } else { values };
                let (from, to) = (usual(numbers("C0")?, 0.0), usual(numbers("C1")?, 1.0));
                Ok(Some(Self::Between { domain, from, to }))
            }
            Some(3) => {
                let listed = file.resolve(dictionary.get("Functions"))?.into_owned();
                let parts = listed.array().iter().take(MOST_PARTS).map(|part| Self::read(file, part, depth + 1));
                let parts: Option<Vec<Self>> = parts.collect::<Result<Vec<_>, _>>()?.into_iter().collect();
                let (bounds, encode) = (numbers("Bounds")?, numbers("Encode")?);
                Ok(parts.map(|parts| Self::Stitched { domain, parts, bounds, encode }))
            }
            _ => Ok(None),
        }
    }

    fn sampled(file: &File<'_>, object: &Object, domain: (f32, f32)) -> Result<Option<Self>, DocumentError> {
        let Object::Stream(stream) = object else { return Ok(None) };
        let dictionary = &stream.dictionary;
        let sizes = numbers(file, dictionary.get("Size"), 4)?;
        let range = numbers(file, dictionary.get("Range"), 2 * MOST_OUTPUTS)?;
        let outputs = range.len() / 2;
        let bits = file.resolve(dictionary.get("BitsPerSample"))?.whole().unwrap_or(8);
        let ([size], 8, 1..) = (sizes.as_slice(), bits, outputs) else { return Ok(None) };
        let size = (*size as usize).clamp(1, LARGEST_TABLE / outputs);
        let content = file.content(stream)?;
        let decode = numbers(file, dictionary.get("Decode"), 2 * MOST_OUTPUTS)?;
        let decode = if decode.len() == range.len() { decode } else { range };
        let samples = content.chunks_exact(outputs).take(size).map(|chunk| {
            let scaled = chunk.iter().enumerate().map(|(index, sample)| {
                let (low, high) = pair(&decode, index);
                low + (high - low) * f32::from(*sample) / 255.0
            });
            scaled.collect()
        });
        Ok(Some(Self::Sampled { domain, samples: samples.collect() }))
    }

    pub(in crate::read::pdf) fn at(&self, input: f32) -> Vec<f32> {
        let share = |(low, high): (f32, f32)| {
            if high > low { ((input - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 }
        };
        match self {
            Self::Sampled { domain, samples } => {
                let last = samples.len().saturating_sub(1);
                samples.get((share(*domain) * last as f32).round() as usize).cloned().unwrap_or_default()
            }
            Self::Between { domain, from, to } => {
                let share = share(*domain);
                from.iter().zip(to).map(|(from, to)| from + (to - from) * share).collect()
            }
            Self::Stitched { domain, parts, bounds, encode } => {
                let input = input.clamp(domain.0.min(domain.1), domain.1.max(domain.0));
                let index = bounds.iter().take_while(|bound| input >= **bound).count();
                let index = index.min(parts.len().saturating_sub(1));
                let Some(part) = parts.get(index) else { return Vec::new() };
                let low = index.checked_sub(1).and_then(|before| bounds.get(before)).copied().unwrap_or(domain.0);
                let high = bounds.get(index).copied().unwrap_or(domain.1);
                let (from, to) = pair(encode, index);
                let share = if high > low { (input - low) / (high - low) } else { 0.0 };
                part.at(from + (to - from) * share)
            }
            Self::Several(functions) => functions.iter().flat_map(|function| function.at(input)).collect(),
        }
    }
}

fn pair(values: &[f32], index: usize) -> (f32, f32) {
    let at = |index: usize, usual: f32| values.get(index).copied().unwrap_or(usual);
    (at(2 * index, 0.0), at(2 * index + 1, 1.0))
}

pub(in crate::read::pdf) fn numbers(file: &File<'_>, object: &Object, max: usize) -> Result<Vec<f32>, DocumentError> {
    let listed = file.resolve(object)?;
    let mut numbers = Vec::new();
    for item in listed.array().iter().take(max) {
        if let Some(number) = file.resolve(item)?.number() {
            numbers.push(number as f32);
        }
    }
    Ok(numbers)
}
