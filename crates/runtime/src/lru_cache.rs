//! A cache that drops the least recently used values when all together are too heavy.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

pub struct LruCache<K, V> {
    entries: HashMap<K, Entry<V>>,
    /// The keys in the order of their last use.
    by_use: BTreeMap<u64, K>,
    /// Increases with every use.
    uses: u64,
    weight: usize,
    max_weight: usize,
}

struct Entry<V> {
    value: V,
    weight: usize,
    used: u64,
}

impl<K: Clone + Eq + Hash, V> LruCache<K, V> {
    pub fn new(max_weight: usize) -> Self {
        Self { entries: HashMap::new(), by_use: BTreeMap::new(), uses: 0, weight: 0, max_weight }
    }

    pub fn get<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let entry = self.entries.get_mut(key)?;
        let key = self.by_use.remove(&entry.used)?;
        self.uses += 1;
        entry.used = self.uses;
        self.by_use.insert(entry.used, key);
        Some(&mut entry.value)
    }

    /// A single value that is too heavy stays until the next.
    pub fn insert(&mut self, key: K, value: V, weight: usize) {
        self.remove(&key);
        self.uses += 1;
        self.by_use.insert(self.uses, key.clone());
        self.entries.insert(key, Entry { value, weight, used: self.uses });
        self.weight += weight;
        while self.weight > self.max_weight && self.entries.len() > 1 {
            let Some(oldest) = self.by_use.values().next().cloned() else { break };
            self.remove(&oldest);
        }
    }

    pub fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
    {
        if let Some(entry) = self.entries.remove(key) {
            self.by_use.remove(&entry.used);
            self.weight -= entry.weight;
        }
    }

    pub fn clear(&mut self) {
        *self = Self::new(self.max_weight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_are_dropped_first() {
        let mut cache = LruCache::new(10);
        for (key, weight) in [("a", 4), ("b", 4), ("c", 2)] {
            cache.insert(key, key.to_uppercase(), weight);
        }
        assert_eq!(cache.get("a").cloned().as_deref(), Some("A"));
        cache.insert("d", "D".to_owned(), 5);
        let left: Vec<&str> = ["a", "b", "c", "d"].into_iter().filter(|key| cache.get(*key).is_some()).collect();
        assert_eq!(left, ["a", "d"]);
        cache.insert("d", "small".to_owned(), 1);
        cache.insert("e", "E".to_owned(), 5);
        assert!(cache.get("a").is_some() && cache.get("d").is_some() && cache.get("e").is_some());
    }

    #[test]
    fn a_value_that_is_too_heavy_stays_alone() {
        let mut cache = LruCache::new(10);
        cache.insert(1, "light", 1);
        cache.insert(2, "heavy", 100);
        assert_eq!([1, 2].map(|key| cache.get(&key).copied()), [None, Some("heavy")]);
        cache.insert(3, "light", 1);
        assert_eq!([2, 3].map(|key| cache.get(&key).copied()), [None, Some("light")]);
        cache.clear();
        assert_eq!(cache.get(&3).copied(), None);
    }
}
