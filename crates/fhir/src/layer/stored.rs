//! The index of a layer as bytes, to be kept beside the segments of its text.

use super::codec::{Reader, Writer, checksum};
use super::documents::Documents;
use super::keys::Keys;
use super::parameter::{Index, is_indexed};
use super::{Layer, LayerError, Parameter};
use crate::ResourceType;
use crate::definitions::SearchParameter;

const SIGNATURE: &[u8; 4] = b"VFLI";

impl Layer {
    /// Raised by whatever changes the bytes or what they mean: the layout, the normal form of documents, the fold of
    /// strings, what parameters find. An index of another format must be built again.
    pub const FORMAT: u32 = 4;

    pub fn encode_index(&self) -> Vec<u8> {
        let mut body = Writer::default();
        self.keys.encode(&mut body);
        self.documents.encode(&mut body);
        body.u32(self.parameters.len() as u32);
        for Parameter { resource_type, code, index } in &self.parameters {
            body.bytes(resource_type.as_str().as_bytes());
            body.bytes(code.as_bytes());
            index.encode(&mut body);
        }
        let body = body.finish();
        let head = [&SIGNATURE[..], &Self::FORMAT.to_le_bytes(), &checksum(&body).to_le_bytes()].concat();
        [head, body].concat()
    }

    /// Takes what [`Layer::encode_index`] and [`Layer::segments`] gave.
    pub fn decode(index: &[u8], segments: Vec<Vec<u8>>) -> Result<Self, LayerError> {
        let (signature, rest) = index.split_first_chunk().ok_or(LayerError::Damaged("it is cut off"))?;
        if signature != SIGNATURE {
            return Err(LayerError::Damaged("its signature"));
        }
        let mut reader = Reader::new(rest);
        match reader.u32()? {
            Self::FORMAT => {}
            other => return Err(LayerError::Format(other)),
        }
        let sum = reader.u64()?;
        if checksum(reader.rest()) != sum {
            return Err(LayerError::Damaged("its checksum"));
        }
        Self::decode_body(&mut reader, segments)
    }

    fn decode_body(reader: &mut Reader<'_>, segments: Vec<Vec<u8>>) -> Result<Self, LayerError> {
        let keys = Keys::decode(reader)?;
        let documents = Documents::decode(reader, segments)?;
        let mut parameters: Vec<Parameter> = Vec::new();
        for _ in 0..reader.u32()? {
            let (resource_type, parameter) = name(reader)?;
            let code = parameter.code();
            if parameters.last().is_some_and(|last| (last.resource_type, last.code) >= (resource_type, code)) {
                return Err(LayerError::Damaged("the order of its parameters"));
            }
            let index = Index::decode(parameter.search_type(), reader, keys.of_type(resource_type))?;
            parameters.push(Parameter { resource_type, code, index });
        }
        let is_sound = reader.is_at_end() && documents.ends.len() == keys.len() as usize;
        is_sound.then_some(Self { keys, documents, parameters }).ok_or(LayerError::Damaged("it is too long"))
    }
}

fn name(reader: &mut Reader<'_>) -> Result<(ResourceType, &'static SearchParameter), LayerError> {
    let unknown = LayerError::Damaged("a parameter that there is not");
    let resource_type: ResourceType = reader.text()?.parse().map_err(|_| unknown.clone())?;
    let parameter = SearchParameter::find(resource_type, reader.text()?);
    Ok((resource_type, parameter.filter(|it| is_indexed(it)).ok_or(unknown)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::DocId;
    use crate::search::{Condition, Prefix, SearchValue, Span};

    const LINES: &str = r#"{"resourceType":"Patient","id":"1","name":[{"family":"Smith"}],"birthDate":"2020-02"}
{"resourceType":"Patient","id":"2","link":[{"other":{"reference":"Patient/1"}},{"other":{"reference":"Patient/9"}}]}
{"resourceType":"Patient","id":"3","identifier":[{"system":"urn:a","value":"7"}],"birthDate":"2021-03-01"}"#;

    fn use_all(layer: &Layer) {
        let patient: ResourceType = "Patient".parse().unwrap();
        let span = Span { first: 0, last: i64::MAX };
        let alternatives = vec![
            SearchValue::Token { system: Some("urn:a".to_owned()), code: None },
            SearchValue::String("s".to_owned()),
            SearchValue::Reference { resource_type: None, id: "1".to_owned(), version: None },
            SearchValue::Date { prefix: Prefix::GreaterOrEqual, span },
            SearchValue::Date { prefix: Prefix::Equal, span },
        ];
        for parameter in SearchParameter::of(patient) {
            let condition =
                Condition { parameter: parameter.into(), modifier: None, alternatives: alternatives.clone() };
            layer.estimate(patient, &condition);
            layer.candidates(patient, &condition);
            layer.referring(patient, parameter, patient, "1");
        }
        (0..layer.len() as u32 + 1).map(DocId::new).for_each(|doc| {
            layer.key(doc);
            layer.text(doc, "2024");
        });
    }

    /// Even where the checksum has been made to fit.
    #[test]
    fn no_bytes_make_it_panic() {
        let layer = Layer::build(vec![LINES], 1).unwrap();
        let segments: Vec<_> = layer.segments().map(<[u8]>::to_vec).collect();
        let mut index = layer.encode_index();
        for bit in 16 * 8..index.len() * 8 {
            index[bit / 8] ^= 1 << (bit % 8);
            let sum = checksum(&index[16..]).to_le_bytes();
            index[8..16].copy_from_slice(&sum);
            if let Ok(layer) = Layer::decode(&index, segments.clone()) {
                use_all(&layer);
            }
            index[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn other_formats_are_distinguished_from_damage() {
        let mut index = Layer::build(vec![LINES], 1).unwrap().encode_index();
        index[4] = 0xFF;
        assert_eq!(Layer::decode(&index, Vec::new()).unwrap_err(), LayerError::Format(0xFF));
    }
}
