//! Two places for the state of a part: the older one is overwritten, so a write that is cut short leaves the other.

use dp_stream::ChaCha20Rng;
use rand::RngExt;
use serde::Serialize;
use serde::de::DeserializeOwned;

#[derive(Default)]
pub(super) struct Disk {
    places: [Vec<u8>; 2],
    next: usize,
    /// Writes that were cut short.
    pub(super) torn: usize,
}

impl Disk {
    pub(super) fn write<T: Serialize>(&mut self, state: &T) {
        self.places[self.next] = serde_json::to_vec(state).expect("plain data");
        self.next = 1 - self.next;
    }

    /// Over the place of an older state, whose end may still be there.
    pub(super) fn write_torn<T: Serialize>(&mut self, state: &T, rng: &mut ChaCha20Rng) {
        let bytes = serde_json::to_vec(state).expect("plain data");
        let cut = rng.random_range(0..bytes.len());
        let place = &mut self.places[self.next];
        let rest = place.get(cut..).unwrap_or_default().to_vec();
        *place = [&bytes[..cut], &rest].concat();
        self.torn += 1;
    }

    /// The newest state that is whole.
    pub(super) fn newest<T: DeserializeOwned, K: Ord>(&self, age: impl Fn(&T) -> K) -> T {
        let whole = |bytes: &Vec<u8>| serde_json::from_slice(bytes).ok();
        self.places
            .iter()
            .filter_map(whole)
            .max_by_key(age)
            .expect("one write at a time is cut short")
    }
}
