//! Remembers which resources a dataset already holds, at 16 bytes each and not the length of their ids.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, DefaultHasher, Hasher};

use crate::resource_type::ResourceType;

/// Hashes of 128 bits: among a million resources the chance that two share one by accident is about 10⁻²⁷.
///
/// They lie in shards because a set that grows holds its old table and its new one at once.
#[derive(Debug, Default)]
pub(super) struct Seen {
    shards: [HashSet<u128, BuildHasherDefault<DefaultHasher>>; 16],
}

impl Seen {
    /// Whether the resource is new.
    pub(super) fn insert(&mut self, resource_type: ResourceType, id: &str) -> bool {
        let [high, low] = [0, 1].map(|prefix| {
            let mut hasher = DefaultHasher::new();
            hasher.write_u8(prefix);
            hasher.write(resource_type.as_str().as_bytes());
            hasher.write_u8(b'/');
            hasher.write(id.as_bytes());
            hasher.finish()
        });
        let shard = high as usize % self.shards.len();
        self.shards[shard].insert(u128::from(high) << 64 | u128::from(low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource_type(name: &str) -> ResourceType {
        name.parse().unwrap()
    }

    #[test]
    fn type_and_id_together_are_the_identity() {
        let mut seen = Seen::default();
        assert!(seen.insert(resource_type("Patient"), "1"));
        assert!(seen.insert(resource_type("Group"), "1"));
        assert!(seen.insert(resource_type("Patient"), "2"));
        assert!(!seen.insert(resource_type("Patient"), "1"));
    }

    #[test]
    fn a_million_resources_cost_at_most_40_megabytes() {
        let mut seen = Seen::default();
        let patient = resource_type("Patient");
        assert!((0..1_000_000).all(|id| seen.insert(patient, &id.to_string())));
        let control_byte = 1;
        let slots: usize = seen.shards.iter().map(|shard| shard.capacity() * 8 / 7).sum();
        assert!(slots * (size_of::<u128>() + control_byte) <= 40_000_000, "{slots} slots");
    }
}
