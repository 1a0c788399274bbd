use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{CensusError, RegionTree};

/// Named regions inside each other: a nation, its states, their counties. Public.
///
/// Regions are numbered level by level, in the order of their parents and then in the order given.
///
/// A hierarchy may have any number of levels, but plans and solvers take at most [`MAX_LEVELS`](crate::solve::MAX_LEVELS), which is 16:
/// [`Census::new`](crate::Census::new) refuses a deeper one.
///
/// ```
/// use dp_census::Hierarchy;
///
/// let nation = Hierarchy::new([("US", None), ("GA", Some("US")), ("NY", Some("US"))])?;
/// assert_eq!(nation.region("NY"), Some(2));
/// assert_eq!(nation.name(1), "GA");
/// # Ok::<(), dp_census::CensusError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Rows", into = "Rows")]
pub struct Hierarchy {
    names: Vec<String>,
    by_name: BTreeMap<String, usize>,
    tree: RegionTree,
}

impl Hierarchy {
    /// From each region's name and the name of the region that it lies in, in any order; `None` for the one at the top.
    ///
    /// A row that is there twice is taken once.
    ///
    /// # Errors
    /// A region in two others, a parent that is not a region, a circle, none or several at the top, or a region without parts
    /// above the lowest level. All of that is public, and the message names the region.
    pub fn new<'a>(
        rows: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
    ) -> Result<Self, CensusError> {
        let mut parent_of: BTreeMap<&str, Option<&str>> = BTreeMap::new();
        let mut order = Vec::new();
        for (name, parent) in rows {
            match parent_of.insert(name, parent) {
                None => order.push(name),
                Some(before) if before == parent => {}
                Some(_) => return Err(CensusError::TwoParents { region: name.to_owned() }),
            }
        }
        let mut parts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut names: Vec<&str> = Vec::new();
        for &name in &order {
            match parent_of[name] {
                Some(parent) if !parent_of.contains_key(parent) => {
                    let (region, parent) = (name.to_owned(), parent.to_owned());
                    return Err(CensusError::UnknownParent { region, parent });
                }
                Some(parent) => parts.entry(parent).or_default().push(name),
                None => names.push(name),
            }
        }
        if names.len() > 1 {
            return Err(CensusError::TwoRoots { first: names[0].into(), second: names[1].into() });
        }
        let mut parents: Vec<Option<u32>> = vec![None; names.len()];
        let mut next = 0;
        while next < names.len() {
            let index = u32::try_from(next).expect("fewer regions than a u32 counts");
            for &part in parts.get(names[next]).into_iter().flatten() {
                names.push(part);
                parents.push(Some(index));
            }
            next += 1;
        }
        if names.len() < order.len() {
            // Whoever cannot be reached from the top goes round in a circle, or hangs from one.
            let reached: std::collections::BTreeSet<&str> = names.iter().copied().collect();
            let lost = order.iter().find(|name| !reached.contains(**name)).copied();
            let region = lost.expect("there are more regions than were reached").to_owned();
            return Err(CensusError::Circle { region });
        }
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let tree = RegionTree::from_parents(&parents).map_err(|error| match error {
            CensusError::LeafAboveLowestLevel { region } => {
                CensusError::NoParts { region: names[region].clone() }
            }
            other => other,
        })?;
        let by_name = names.iter().cloned().zip(0..).collect();
        Ok(Self { names, by_name, tree })
    }

    /// The shape without the names.
    pub fn tree(&self) -> &RegionTree {
        &self.tree
    }

    /// The name of a region.
    pub fn name(&self, region: usize) -> &str {
        &self.names[region]
    }

    /// The number of the region of this name.
    pub fn region(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The number of the region of this name among those of the lowest level, which hold the groups.
    ///
    /// # Errors
    /// [`CensusError::UnknownRegion`] if it is not one of them.
    pub fn leaf(&self, name: &str) -> Result<usize, CensusError> {
        self.region(name)
            .and_then(|region| region.checked_sub(self.tree.leaves().start))
            .ok_or_else(|| CensusError::UnknownRegion { region: name.to_owned() })
    }
}

/// The file form: a name and the name above it. Reading it checks everything again.
#[derive(Serialize, Deserialize)]
struct Rows(Vec<(String, Option<String>)>);

impl TryFrom<Rows> for Hierarchy {
    type Error = CensusError;
    fn try_from(Rows(rows): Rows) -> Result<Self, CensusError> {
        Self::new(rows.iter().map(|(name, parent)| (name.as_str(), parent.as_deref())))
    }
}

impl From<Hierarchy> for Rows {
    fn from(hierarchy: Hierarchy) -> Self {
        let parent = |region| hierarchy.tree.parent(region).map(|p| hierarchy.names[p].clone());
        let parents: Vec<_> = (0..hierarchy.names.len()).map(parent).collect();
        Self(hierarchy.names.into_iter().zip(parents).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(rows: &[(&str, Option<&str>)]) -> String {
        Hierarchy::new(rows.iter().copied()).expect_err("refused").to_string()
    }

    #[test]
    fn rows_in_any_order_are_numbered_level_by_level() {
        let rows = [
            ("c", Some("b")),
            ("b", Some("top")),
            ("a", Some("top")),
            ("top", None),
            ("d", Some("a")),
            ("e", Some("b")),
            ("a", Some("top")),
        ];
        let hierarchy = Hierarchy::new(rows).expect("valid");
        let names: Vec<&str> = (0..6).map(|region| hierarchy.name(region)).collect();
        assert_eq!(names, ["top", "b", "a", "c", "e", "d"]);
        assert_eq!(hierarchy.tree().children(1), 3..5);
        assert_eq!((hierarchy.leaf("d"), hierarchy.region("d")), (Ok(2), Some(5)));
        assert_eq!(
            hierarchy.leaf("a").expect_err("not a leaf").to_string(),
            "`a` is not a region of the lowest level"
        );
    }

    #[test]
    fn what_is_no_hierarchy_is_refused_by_name() {
        for (rows, want) in [
            (&[][..], "the number of regions must be between 1 and 2^32 - 2, got 0"),
            (
                &[("a", None), ("b", None)],
                "`a` and `b` both have no parent, but only one region may",
            ),
            (&[("a", None), ("b", Some("x"))], "the parent `x` of region `b` is not a region"),
            (
                &[
                    ("t", None),
                    ("a", Some("t")),
                    ("b", Some("t")),
                    ("c", Some("a")),
                    ("c", Some("b")),
                ],
                "region `c` has two parents",
            ),
            (
                &[("t", None), ("a", Some("b")), ("b", Some("a"))],
                "region `a` does not lie in the top region: its parents go round in a circle",
            ),
            (
                &[("a", Some("a"))],
                "region `a` does not lie in the top region: its parents go round in a circle",
            ),
            (
                &[("t", None), ("a", Some("t")), ("b", Some("t")), ("c", Some("a"))],
                "region `b` has no parts although it is above the lowest level",
            ),
        ] {
            assert_eq!(message(rows), want);
        }
    }

    #[test]
    fn a_file_is_checked_like_any_other_input() {
        let hierarchy =
            Hierarchy::new([("t", None), ("b", Some("t")), ("a", Some("t"))]).expect("valid");
        let text = serde_json::to_string(&hierarchy).expect("plain data");
        assert_eq!(text, r#"[["t",null],["b","t"],["a","t"]]"#);
        assert_eq!(serde_json::from_str::<Hierarchy>(&text).expect("valid"), hierarchy);
        assert!(serde_json::from_str::<Hierarchy>(r#"[["t","t"]]"#).is_err());
    }
}
