//! The filters of a stream, one after the other (ISO 32000-1, 7.4).

use super::file::File;
use super::object::{Dictionary, Object};
use crate::error::DocumentError;
use crate::read::filter;

/// A stream after all filters other than those of pictures were decoded.
pub(super) struct Unpacked {
    pub(super) bytes: Vec<u8>,
    /// The remaining filter of a picture (`DCTDecode` and the like), with its parameters.
    pub(super) picture: Option<(String, Dictionary)>,
}

/// `max` limits the output of each filter.
pub(super) fn unpacked(
    file: &File<'_>,
    dictionary: &Dictionary,
    packed: &[u8],
    max: usize,
) -> Result<Unpacked, DocumentError> {
    let filters = listed(file, dictionary.either("Filter", "F"))?;
    let parameters = listed(file, dictionary.either("DecodeParms", "DP"))?;
    file.budget.spend(packed.len())?;
    let mut bytes = packed.to_vec();
    // Limits nested compression bombs. Ordinary files have fewer filters.
    for (index, filter) in filters.iter().take(6).enumerate() {
        let parameters = parameters.get(index).and_then(Object::dictionary).cloned().unwrap_or_default();
        let name = filter.name().unwrap_or_default();
        let max = max.min(file.budget.room());
        bytes = match name {
            "FlateDecode" | "Fl" => predicted(file, filter::flate(&bytes, max)?, &parameters)?,
            "LZWDecode" | "LZW" => {
                let early = parameters.get("EarlyChange").whole() != Some(0);
                predicted(file, filter::lzw(&bytes, early, max)?, &parameters)?
            }
            "ASCIIHexDecode" | "AHx" => filter::ascii_hex(&bytes),
            "ASCII85Decode" | "A85" => filter::ascii_85(&bytes),
            "RunLengthDecode" | "RL" => filter::run_length(&bytes, max)?,
            "Crypt" => return Err(DocumentError::Encrypted),
            _ => return Ok(Unpacked { bytes, picture: Some((name.to_owned(), parameters)) }),
        };
        file.budget.unpack(bytes.len())?;
        file.budget.spend(bytes.len())?;
    }
    Ok(Unpacked { bytes, picture: None })
}

/// One item, or a list of items.
fn listed(file: &File<'_>, object: &Object) -> Result<Vec<Object>, DocumentError> {
    match file.resolve(object)?.as_ref() {
        Object::Null => Ok(Vec::new()),
        Object::Array(items) => items.iter().take(8).map(|item| Ok(file.resolve(item)?.into_owned())).collect(),
        one => Ok(vec![one.clone()]),
    }
}

fn predicted(file: &File<'_>, bytes: Vec<u8>, parameters: &Dictionary) -> Result<Vec<u8>, DocumentError> {
    let number =
        |name: &str, usual: usize| file.resolve(parameters.get(name)).map(|value| value.whole().unwrap_or(usual));
    let predictor = number("Predictor", 1)? as i64;
    if predictor < 2 {
        return Ok(bytes);
    }
    let bits = number("BitsPerComponent", 8)?.clamp(1, 16);
    let pixel = number("Colors", 1)?.clamp(1, 32) * bits;
    Ok(filter::unpredicted(bytes, predictor, number("Columns", 1)?.clamp(1, 1 << 20), pixel))
}
