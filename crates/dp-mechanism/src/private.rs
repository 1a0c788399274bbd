//! Values that were computed from records: they can be computed with, not looked at.

use std::fmt;

/// What was computed from records.
///
/// It has no `Deref`, no comparison, no serialisation, and its `Debug` prints its name. It can be
/// [mapped](Self::map), [joined](Self::zip) and [changed in place](Self::update); what leaves, leaves through the primitives of this crate,
/// which add noise. So the size of a loop, a threshold, a branch or an error cannot depend on it.
///
/// Closures are `Fn + Sync`: one that may be called twice, from several threads, cannot assign to a variable outside of it nor draw
/// inside of it. Public values are captured as usual.
///
/// # What does not compile
/// A branch on a private value:
/// ```compile_fail,E0308
/// # use dp_mechanism::Private;
/// let users = Private::new(17_u64);
/// if users.map(|n| n > 10) { println!("many"); }
/// ```
/// A comparison with one:
/// ```compile_fail,E0369
/// # use dp_mechanism::Private;
/// let enough = Private::new(17_u64) == Private::new(18);
/// ```
/// To return one as a plain value:
/// ```compile_fail,E0308
/// # use dp_mechanism::Private;
/// fn total(costs: Private<&[i64]>) -> i64 { costs.map(|costs| costs.iter().sum()) }
/// ```
/// A length, or a loop as long as the data:
/// ```compile_fail,E0599
/// # use dp_mechanism::Private;
/// let records = [1_i64, 2, 3];
/// let n = Private::new(records.as_slice()).len();
/// ```
/// ```compile_fail,E0308
/// # use dp_mechanism::Private;
/// let users = Private::new(17_usize);
/// for round in 0..users {}
/// ```
/// A released value divided by an exact total:
/// ```compile_fail,E0277
/// # use dp_mechanism::Private;
/// let exact_total = Private::new(100_i64);
/// let mean = 1_234_i64 / exact_total;
/// ```
/// The best of several ways by their exact costs:
/// ```compile_fail,E0277
/// # use dp_mechanism::Private;
/// let cost = |way: &[i64]| Private::new(way.len());
/// let best = [vec![1, 2], vec![3]].iter().min_by_key(|way| cost(way));
/// ```
/// A threshold made from the exact number of users:
/// ```compile_fail,E0277
/// # use dp_mechanism::Private;
/// let users = Private::new(17_i64);
/// let passes = |noisy: i64| noisy > i64::from(users);
/// ```
/// To carry a value out of a closure, by assignment, through a `Cell`, or by a borrow that is private only in name:
/// ```compile_fail,E0594
/// # use dp_mechanism::Private;
/// let mut leaked = 0;
/// let _ = Private::new(17).map(|n| leaked = n);
/// ```
/// ```compile_fail,E0277
/// # use dp_mechanism::Private;
/// let leaked = std::cell::Cell::new(0);
/// let _ = Private::new(17).map(|n| leaked.set(n));
/// ```
/// ```compile_fail,E0277
/// # use dp_mechanism::Private;
/// let mut leaked = 0;
/// let way_out = Private::new(&mut leaked);
/// ```
/// A draw inside of a closure:
/// ```compile_fail,E0277
/// # use dp_mechanism::{Draws, NoisyCount, Private};
/// fn run(plan: &NoisyCount, counts: Private<&[u64]>, draws: &mut Draws<'_>) {
///     counts.map(|counts| counts.iter().map(|&count| plan.release(count, draws)).sum::<i64>());
/// }
/// ```
///
/// # What it does not protect
/// Sensitivities, clipping and the size of noise; panics, endless loops, time and memory inside of a closure; atomics, locks, statics and
/// printing, which `clippy.toml` keeps out of the mechanism crates; whoever calls [`exact`](Self::exact) with a bad reason.
#[derive(Clone, Copy)]
pub struct Private<T>(T);

impl<T> fmt::Debug for Private<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Private")
    }
}

impl<T> Private<T> {
    /// Numbers, and shared borrows of records.
    pub fn new(value: T) -> Self
    where
        T: Copy + Sync,
    {
        Self(value)
    }

    /// What was read from a file or received as a message.
    pub fn owned(value: T) -> Self
    where
        T: Send + 'static,
    {
        Self(value)
    }

    /// Computes with the value.
    pub fn map<U>(self, f: impl Fn(T) -> U + Sync) -> Private<U> {
        Private(f(self.0))
    }

    /// Changes the value in place.
    pub fn update(&mut self, f: impl Fn(&mut T) + Sync) {
        f(&mut self.0);
    }

    /// A shared borrow of the value, still private.
    pub fn as_ref(&self) -> Private<&T> {
        Private(&self.0)
    }

    /// A borrow to change the value through, still private.
    pub fn as_mut(&mut self) -> Private<&mut T> {
        Private(&mut self.0)
    }

    /// Both values together.
    pub fn zip<U>(self, other: Private<U>) -> Private<(T, U)> {
        Private((self.0, other.0))
    }

    /// The value itself: for what is not released, such as a file that is as confidential as the data. `clippy.toml` asks for a reason
    /// at every use.
    pub fn exact(self) -> T {
        self.0
    }

    /// A primitive computes with the value and draws.
    pub(crate) fn map_once<U>(self, f: impl FnOnce(T) -> U) -> Private<U> {
        Private(f(self.0))
    }

    /// What a primitive opens on the way to a draw.
    pub(crate) fn into_draw(self) -> T {
        self.0
    }
}

impl<A, B> Private<(A, B)> {
    /// Each of the two on its own.
    pub fn unzip(self) -> (Private<A>, Private<B>) {
        (Private(self.0.0), Private(self.0.1))
    }
}

impl<T: Send> Private<Vec<T>> {
    /// Private values, of which the number is public and follows from the plan or from what was released.
    ///
    /// A list of another length would be a mistake of the mechanism, and to fail on it an output: it is padded with zeros or cut.
    ///
    /// # Panics
    /// With debug assertions, where tests run, if the length is another one.
    pub fn cells(self, len: usize) -> Cells<T>
    where
        T: Default + Clone,
    {
        debug_assert_eq!(self.0.len(), len, "the number of cells is public");
        self.cells_of_any_list(len)
    }

    /// The same without the assertion, as in a release.
    fn cells_of_any_list(self, len: usize) -> Cells<T>
    where
        T: Default + Clone,
    {
        let mut values = self.0;
        values.resize(len, T::default());
        Cells(values)
    }
}

impl<T: Copy + Sync> From<T> for Private<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

/// Private values, public number of them.
#[derive(Clone, Default)]
pub struct Cells<T>(pub(crate) Vec<T>);

impl<T> Cells<T> {
    /// A table: one value for each of the public `items`, computed from private state.
    pub fn table<S, P>(
        state: &Private<S>,
        items: &[P],
        value: impl Fn(&S, &P) -> T + Sync,
    ) -> Self {
        Self(items.iter().map(|item| value(&state.0, item)).collect())
    }

    /// The same in the place of what was here, for tables that are made again and again.
    pub fn refill<S, P>(
        &mut self,
        state: &Private<S>,
        items: &[P],
        value: impl Fn(&S, &P) -> T + Sync,
    ) {
        self.0.clear();
        self.0.extend(items.iter().map(|item| value(&state.0, item)));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The values as one private list.
    pub fn into_private(self) -> Private<Vec<T>> {
        Private(self.0)
    }

    /// The value in one place.
    pub fn at(&self, place: usize) -> Private<&T> {
        Private(&self.0[place])
    }

    /// Some of the values, in a public range of places.
    pub fn range(&self, places: std::ops::Range<usize>) -> CellsRef<'_, T> {
        CellsRef(&self.0[places])
    }

    /// All of them, borrowed.
    pub fn view(&self) -> CellsRef<'_, T> {
        CellsRef(&self.0)
    }
}

impl<T> fmt::Debug for Cells<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cells").field("len", &self.0.len()).finish_non_exhaustive()
    }
}

/// A borrow of private values, public number of them. Primitives take it; lists in tests and of single numbers turn into it.
pub struct CellsRef<'a, T>(pub(crate) &'a [T]);

impl<T> Clone for CellsRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for CellsRef<'_, T> {}

impl<'a, T> CellsRef<'a, T> {
    /// How many there are.
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The values as one private slice.
    pub fn into_private(self) -> Private<&'a [T]> {
        Private(self.0)
    }

    /// One part after the other, each of `len` values.
    pub fn chunks(self, len: usize) -> impl ExactSizeIterator<Item = CellsRef<'a, T>> {
        self.0.chunks(len).map(CellsRef)
    }
}

impl<T> fmt::Debug for CellsRef<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cells").field("len", &self.0.len()).finish_non_exhaustive()
    }
}

impl<'a, T> From<&'a Cells<T>> for CellsRef<'a, T> {
    fn from(cells: &'a Cells<T>) -> Self {
        cells.view()
    }
}

impl<'a, T> From<&'a [T]> for CellsRef<'a, T> {
    fn from(values: &'a [T]) -> Self {
        Self(values)
    }
}

impl<'a, T> From<&'a Vec<T>> for CellsRef<'a, T> {
    fn from(values: &'a Vec<T>) -> Self {
        Self(values)
    }
}

impl<'a, T, const N: usize> From<&'a [T; N]> for CellsRef<'a, T> {
    fn from(values: &'a [T; N]) -> Self {
        Self(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_printed_but_public_numbers() {
        assert_eq!(format!("{:?}", Private::new(17)), "Private");
        let cells = Private::owned(vec![17, 4]).cells(2);
        assert_eq!(
            format!("{cells:?} {:?}", cells.view()),
            "Cells { len: 2, .. } Cells { len: 2, .. }"
        );
    }

    #[test]
    fn values_are_computed_with_in_place_and_together() {
        let records = [3, 4, 5];
        let mut sums = Private::new(records.as_slice()).map(<[i32]>::to_vec);
        sums.update(|sums| sums[0] += 10);
        let both = sums.as_ref().zip(Private::new(2)).map(|(sums, factor)| sums[0] * factor);
        assert_eq!(both.into_draw(), 26);
        let (one, two) = Private::new(1).zip(Private::new(2)).unzip();
        assert_eq!((one.into_draw(), two.into_draw()), (1, 2));
        assert_eq!(sums.cells(3).range(1..3).0, [4, 5]);
    }

    #[test]
    fn a_table_has_a_value_for_each_public_item() {
        let counts = [5, 0, 7];
        let mut table = Cells::table(&Private::new(&counts), &[2, 0], |counts, &at| counts[at]);
        assert_eq!(table.0, [7, 5]);
        table.refill(&Private::new(&counts), &[1, 1, 0], |counts, &at| counts[at] + 1);
        assert_eq!(table.0, [1, 1, 6]);
    }

    #[test]
    fn a_wrong_length_is_padded_or_cut() {
        assert_eq!(Private::owned(vec![1, 2]).cells_of_any_list(3).0, [1, 2, 0]);
        assert_eq!(Private::owned(vec![1, 2]).cells_of_any_list(1).0, [1]);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "the number of cells is public")]
    fn a_wrong_length_is_a_mistake_that_tests_find() {
        let _ = Private::owned(vec![1, 2]).cells(3);
    }
}
