//! UUIDs for CDS Hooks.

use world::Context;

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// A new UUID of version 7 (RFC 9562, 5.7). Like our own ids, it is 48 bits of time followed by random bits.
pub(super) fn new_uuid(context: &Context<'_>) -> String {
    let digit = |byte: u8| ALPHABET.iter().position(|known| *known == byte).unwrap_or_default() as u128;
    let number = (context.new_id)().bytes().fold(0u128, |number, byte| (number << 5) | digit(byte));
    let version = (number & !(0xf << 76)) | (7 << 76);
    let variant = (version & !(0b11 << 62)) | (0b10 << 62);
    let text = format!("{variant:032x}");
    let parts = [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)];
    let parts: Vec<&str> = parts.into_iter().filter_map(|(start, end)| text.get(start..end)).collect();
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Timestamp;

    #[test]
    fn an_id_becomes_a_uuid() {
        let of = |id: &str| {
            let id = id.to_owned();
            new_uuid(&Context { now: Timestamp(0), new_id: &move || id.clone() })
        };
        assert_eq!(of("01K9Z3T5Q8W7N4M2R6V0XBHCDE"), "019a7e3d-16e8-71ea-8a0b-06d83ab8b1ae");
        assert_ne!(of("01K9Z3T5Q8W7N4M2R6V0XBHCDE"), of("01K9Z3T5Q8W7N4M2R6V0XBHCDF"));
        assert_eq!(of("00000000000000000000000000"), "00000000-0000-7000-8000-000000000000");
    }
}
