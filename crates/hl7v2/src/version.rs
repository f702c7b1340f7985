//! The HL7 versions of MSH-12 (table 0104).

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    V2_1,
    V2_2,
    V2_3,
    V2_3_1,
    V2_4,
    V2_5,
    V2_5_1,
    V2_6,
    V2_7,
    V2_7_1,
    V2_8,
    V2_8_1,
    V2_8_2,
}

const NAMES: [(&str, Version); 13] = [
    ("2.1", Version::V2_1),
    ("2.2", Version::V2_2),
    ("2.3", Version::V2_3),
    ("2.3.1", Version::V2_3_1),
    ("2.4", Version::V2_4),
    ("2.5", Version::V2_5),
    ("2.5.1", Version::V2_5_1),
    ("2.6", Version::V2_6),
    ("2.7", Version::V2_7),
    ("2.7.1", Version::V2_7_1),
    ("2.8", Version::V2_8),
    ("2.8.1", Version::V2_8_1),
    ("2.8.2", Version::V2_8_2),
];

impl Version {
    pub fn read(text: &str) -> Option<Self> {
        NAMES.iter().find(|(name, _)| *name == text).map(|(_, version)| *version)
    }

    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, version)| *version == self).map_or("", |(name, _)| name)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_round_trip() {
        assert!(NAMES.windows(2).all(|pair| pair[0].1 < pair[1].1));
        for (name, version) in NAMES {
            assert_eq!(Version::read(name), Some(version));
            assert_eq!(version.to_string(), name);
        }
        for unknown in ["", "2", "2.0", "2.10", "3.0", " 2.5", "2.9"] {
            assert_eq!(Version::read(unknown), None, "{unknown}");
        }
    }
}
