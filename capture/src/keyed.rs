//! Values by number. A list, because its code is a fifth of a tree's; in short stretches, so that no order in which the
//! numbers come makes an insertion dear.

use alloc::vec::Vec;
use core::mem;

/// Numbers of one stretch; a full one is halved.
const STRETCH_LEN_MAX: usize = 256;

/// A value for each number that has one.
#[derive(Debug)]
pub(crate) struct Keyed<V> {
    places: Places,
    values: Vec<V>,
    /// Places in `values` that are free again.
    free: Vec<u32>,
    /// The number found last and its place: what is asked for is most often the same again.
    last: Option<(u64, usize)>,
}

impl<V> Default for Keyed<V> {
    fn default() -> Self {
        Self { places: Places::default(), values: Vec::new(), free: Vec::new(), last: None }
    }
}

impl<V> Keyed<V> {
    /// How many numbers have a value.
    pub(crate) fn len(&self) -> usize {
        self.values.len().saturating_sub(self.free.len())
    }

    /// Every value, and an empty one for every place that is free.
    pub(crate) fn values_mut(&mut self) -> &mut [V] {
        &mut self.values
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The value of `key`.
    pub(crate) fn find(&mut self, key: u64) -> Option<&mut V> {
        let place = self.place_of(key)?;
        self.values.get_mut(place)
    }

    fn place_of(&mut self, key: u64) -> Option<usize> {
        if let Some((last, place)) = self.last
            && last == key
        {
            return Some(place);
        }
        let place = self.places.find(key)?;
        self.last = Some((key, place));
        Some(place)
    }

    /// The value of `key`, which is `fresh` where it had none. `None` beyond 2^32 values.
    pub(crate) fn find_or(&mut self, key: u64, fresh: V) -> Option<&mut V> {
        let place = match self.place_of(key) {
            Some(place) => place,
            None => {
                let place = self.put(fresh)?;
                self.places.insert(key, place);
                usize::try_from(place).ok()?
            }
        };
        self.values.get_mut(place)
    }

    /// The place of `value`, which is put where one is free.
    fn put(&mut self, value: V) -> Option<u32> {
        if let Some(place) = self.free.pop() {
            *self.values.get_mut(usize::try_from(place).ok()?)? = value;
            return Some(place);
        }
        let place = u32::try_from(self.values.len()).ok()?;
        self.values.push(value);
        Some(place)
    }
}

impl<V: Default> Keyed<V> {
    /// Takes the value of `key` away.
    pub(crate) fn remove(&mut self, key: u64) {
        let Some(place) = self.places.remove(key) else { return };
        self.last = None;
        if let Some(value) = usize::try_from(place).ok().and_then(|place| self.values.get_mut(place)) {
            drop(mem::take(value));
            self.free.push(place);
        }
    }
}

/// Numbers in order, each with its place in a list.
#[derive(Debug, Default)]
struct Places {
    /// None is empty.
    stretches: Vec<Vec<(u64, u32)>>,
}

impl Places {
    fn find(&self, key: u64) -> Option<usize> {
        let stretch = self.stretches.get(self.stretch_of(key))?;
        let at = stretch.binary_search_by_key(&key, |(key, _)| *key).ok()?;
        stretch.get(at).and_then(|(_, place)| usize::try_from(*place).ok())
    }

    /// Adds a number that is not there yet.
    fn insert(&mut self, key: u64, place: u32) {
        let nth = self.stretch_of(key);
        let Some(stretch) = self.stretches.get_mut(nth) else {
            self.stretches.push(Vec::from([(key, place)]));
            return;
        };
        let at = stretch.partition_point(|(before, _)| *before < key);
        stretch.insert(at, (key, place));
        if stretch.len() >= STRETCH_LEN_MAX {
            let upper = stretch.split_off(STRETCH_LEN_MAX / 2);
            self.stretches.insert(nth.saturating_add(1), upper);
        }
    }

    fn remove(&mut self, key: u64) -> Option<u32> {
        let nth = self.stretch_of(key);
        let stretch = self.stretches.get_mut(nth)?;
        let at = stretch.binary_search_by_key(&key, |(key, _)| *key).ok()?;
        let (_, place) = stretch.remove(at);
        if stretch.is_empty() {
            self.stretches.remove(nth);
        }
        Some(place)
    }

    /// The stretch in which `key` is, or would be.
    fn stretch_of(&self, key: u64) -> usize {
        let behind =
            self.stretches.partition_point(|stretch| stretch.first().is_some_and(|(first, _)| *first <= key));
        behind.saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use super::*;

    /// Numbers in every order: rising, falling, and far apart.
    fn numbers() -> impl Iterator<Item = u64> {
        let scattered = (0..5000_u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50);
        (0..600).chain((20_000..20_600).rev()).chain(scattered)
    }

    #[test]
    fn values_are_found_as_in_a_map_of_the_standard_library() {
        let (mut ours, mut theirs) = (Keyed::default(), BTreeMap::new());
        for (value, key) in (1_u32..).zip(numbers()) {
            if value % 3 == 0 {
                ours.remove(key);
                theirs.remove(&key);
            } else {
                let found = *ours.find_or(key, value).unwrap();
                assert_eq!(found, *theirs.entry(key).or_insert(value), "{key}");
            }
            assert_eq!(ours.len(), theirs.len());
        }
        for key in 0..25_000 {
            assert_eq!(ours.find(key).copied(), theirs.get(&key).copied(), "{key}");
        }
    }

    #[test]
    fn a_place_that_is_free_is_used_again() {
        let mut keyed = Keyed::default();
        for key in 0..10_000 {
            keyed.find_or(key, key);
            assert_eq!(keyed.find(key).copied(), Some(key));
            keyed.remove(key);
            assert_eq!(keyed.find(key), None);
        }
        assert_eq!((keyed.len(), keyed.values.len()), (0, 1));
        assert!(keyed.places.stretches.is_empty());
    }
}
