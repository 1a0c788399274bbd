//! Capacities on sets of which any two are nested or disjoint.

use serde::{Deserialize, Serialize};

use super::Matroid;
use crate::CombinatorialError;

/// Sets with at most `capacity` elements of each listed group, where any two groups are nested or
/// disjoint: regions within countries, for example.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked", into = "Unchecked")]
pub struct Laminar {
    elements: usize,
    groups: Vec<(Vec<usize>, usize)>,
    /// The smallest group around each element.
    innermost: Vec<Option<usize>>,
    /// The next larger group around each group.
    parent: Vec<Option<usize>>,
}

impl Laminar {
    /// Groups of elements, each with the most that may be chosen of it. Repetitions within a group
    /// are dropped.
    ///
    /// # Errors
    /// [`CombinatorialError::OutOfRange`] if there are more than `2^24` elements, or one of a group is not below their number;
    /// [`CombinatorialError::NotNested`] if two groups overlap without one holding the other.
    pub fn new(
        elements: usize,
        mut groups: Vec<(Vec<usize>, usize)>,
    ) -> Result<Self, CombinatorialError> {
        super::check_size("elements", elements)?;
        for (group, _) in &mut groups {
            group.sort_unstable();
            group.dedup();
            if let Some(&last) = group.last().filter(|&&last| last >= elements) {
                let of = "the number of elements";
                return Err(CombinatorialError::index("element", last, of, elements));
            }
        }
        groups.sort_by_key(|(group, _)| group.len());
        let mut innermost = vec![None; elements];
        let mut outermost: Vec<Option<usize>> = vec![None; elements];
        let mut parent = vec![None; groups.len()];
        for (index, (group, _)) in groups.iter().enumerate() {
            for &element in group {
                if let Some(inside) = outermost[element] {
                    let nested = |inner: &usize| group.binary_search(inner).is_ok();
                    let members: &Vec<usize> = &groups[inside].0;
                    if parent[inside].is_none() && !members.iter().all(nested) {
                        return Err(CombinatorialError::NotNested { element });
                    }
                    parent[inside] = Some(index);
                } else {
                    innermost[element] = Some(index);
                }
                outermost[element] = Some(index);
            }
        }
        Ok(Self { elements, groups, innermost, parent })
    }

    /// The groups around an element, from the inside.
    fn around(&self, element: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.innermost[element], |&group| self.parent[group])
    }

    fn used(&self, set: &[usize]) -> Vec<usize> {
        let mut used = vec![0; self.groups.len()];
        for &element in set {
            for group in self.around(element) {
                used[group] += 1;
            }
        }
        used
    }

    fn has_room(&self, used: &[usize], element: usize) -> bool {
        self.around(element).all(|group| used[group] < self.groups[group].1)
    }
}

impl Matroid for Laminar {
    fn elements(&self) -> usize {
        self.elements
    }

    fn can_add(&self, set: &[usize], element: usize) -> bool {
        !set.contains(&element) && self.has_room(&self.used(set), element)
    }

    fn addable(&self, set: &[usize]) -> Vec<usize> {
        let (members, used) = (super::members(self.elements, set), self.used(set));
        let fits = |&element: &usize| !members[element] && self.has_room(&used, element);
        (0..self.elements).filter(fits).collect()
    }
}

/// The file form; reading it goes through [`Laminar::new`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    elements: usize,
    groups: Vec<(Vec<usize>, usize)>,
}

impl TryFrom<Unchecked> for Laminar {
    type Error = CombinatorialError;

    fn try_from(raw: Unchecked) -> Result<Self, CombinatorialError> {
        Self::new(raw.elements, raw.groups)
    }
}

impl From<Laminar> for Unchecked {
    fn from(matroid: Laminar) -> Self {
        Self { elements: matroid.elements, groups: matroid.groups }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_cross_are_refused() {
        for crossing in
            [vec![(vec![0, 1], 1), (vec![1, 2], 1)], vec![(vec![0, 1], 1), (vec![1, 2, 3], 1)]]
        {
            let error = Laminar::new(4, crossing).expect_err("they cross");
            assert!(error.to_string().contains("nested or disjoint"), "{error}");
        }
        assert!(Laminar::new(3, vec![(vec![3], 1)]).is_err());
        // Nested, disjoint, equal and empty groups are fine.
        let groups = vec![(vec![0, 1, 2], 2), (vec![0], 1), (vec![2, 1], 1), (vec![1, 2, 2], 1)];
        let matroid = Laminar::new(5, [groups, vec![(vec![], 0)]].concat()).expect("laminar");
        assert_eq!(matroid.rank(), 4);
    }
}
