//! A list to which more is written than stays.

use std::ops::{Deref, DerefMut};

/// A list whose last entries are written before it is known whether they stay.
///
/// To choose entries without a branch that could be guessed wrong: each is written behind those that stay so far, and the place to
/// write to goes on only if it stays, too.
#[derive(Default)]
pub(crate) struct Tail<T> {
    /// Of which the first `len` stay. What is behind them is left from before.
    entries: Vec<T>,
    len: usize,
}

impl<T: Copy + Default> Tail<T> {
    /// Places for so many entries more, for [`keep`](Self::keep).
    #[inline]
    pub(crate) fn room(&mut self, more: usize) -> &mut [T] {
        let needed = self.len + more;
        if needed > self.entries.len() {
            self.entries.resize(needed, T::default());
        }
        &mut self.entries[self.len..needed]
    }

    /// The first of the entries written to [`room`](Self::room) stay, so many of them.
    #[inline]
    pub(crate) fn keep(&mut self, written: usize) {
        self.len += written;
        debug_assert!(self.len <= self.entries.len(), "no more than was written");
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<T>()
    }
}

impl<T> Deref for Tail<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.entries[..self.len]
    }
}

impl<T> DerefMut for Tail<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.entries[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_stays_and_the_rest_is_written_over() {
        let mut tail = Tail::default();
        for written in [[1, 2, 3], [4, 5, 6]] {
            tail.room(3).copy_from_slice(&written);
            tail.keep(2);
        }
        assert_eq!(*tail, [1, 2, 4, 5]);
        tail.truncate(3);
        tail.truncate(9);
        tail.room(1)[0] = 7;
        assert_eq!(*tail, [1, 2, 4]);
        tail.keep(1);
        assert_eq!(*tail, [1, 2, 4, 7]);
        assert_eq!(tail.memory_bytes() % size_of::<i32>(), 0);
        assert!(tail.memory_bytes() >= 6 * size_of::<i32>());
    }
}
