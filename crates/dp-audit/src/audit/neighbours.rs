//! Pairs of neighbours, made from the relation that a receipt names.

use std::fmt::Debug;

use dp_accounting::{AnyRelation, Relation};
use dp_mechanism::ChaCha20Rng;
use rand::RngExt;

/// What a record may become in a neighbouring data set.
pub(super) type Moves<R> = Box<dyn Fn(&R) -> Vec<R> + Send + Sync>;

/// Two neighbours in the order of the relation, and how they came about.
pub(super) struct Pair<R> {
    pub(super) first: Vec<R>,
    pub(super) second: Vec<R>,
    pub(super) how: String,
}

/// How neighbours differ.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    /// One record more.
    Add,
    /// Another record in the place of one.
    Replace,
    /// A record that has become another, by the caller's rule.
    Move,
}

/// # Panics
/// If this relation needs to be told how records move: an audit under another one would prove nothing.
fn change<L: Relation, R>(relation: L, moves: Option<&Moves<R>>) -> Change {
    match relation.any() {
        AnyRelation::AddRemove | AnyRelation::AddOnly => Change::Add,
        AnyRelation::ReplaceOne => Change::Replace,
        AnyRelation::Within(_) | AnyRelation::MemberOfGroup | AnyRelation::FurtherMemberOfGroup => {
            assert!(moves.is_some(), "under {relation}, say with `moves` what a record may become");
            Change::Move
        }
    }
}

/// The data sets to start from, of this size, and what a neighbour of each may be.
///
/// All sequences if they are few; otherwise copies of one record, copies with an outlier, and mixtures.
pub(super) fn pairs<L: Relation, R: Clone + Debug>(
    relation: L,
    records: &[R],
    moves: Option<&Moves<R>>,
    (size, most): (usize, usize),
    rng: &mut ChaCha20Rng,
) -> Vec<Pair<R>> {
    let change = change(relation, moves);
    let any = |rng: &mut ChaCha20Rng| records[rng.random_range(0..records.len())].clone();
    let mut pairs = Vec::new();
    let mut bases = sequences(records, size, most);
    if bases.is_empty() {
        for i in 0..most.div_ceil(4) {
            let mut base = vec![any(rng); size];
            match i % 3 {
                0 => {}
                1 => base[size / 2] = any(rng),
                _ => base.iter_mut().for_each(|record| *record = any(rng)),
            }
            bases.push(base);
        }
    }
    // Each base gets its share, so that no size is left with the first few only.
    let each = most.div_ceil(bases.len().max(1)).max(1);
    for base in bases {
        let places = if change == Change::Add { size + 1 } else { size };
        let all = places * records.len();
        for i in 0..each.min(all) {
            // All of them if there is room, else any.
            let pick = if each >= all { i } else { rng.random_range(0..all) };
            let (place, record) = (pick / records.len(), &records[pick % records.len()]);
            let mut other = base.clone();
            match change {
                Change::Add => other.insert(place, record.clone()),
                Change::Replace => other[place] = record.clone(),
                Change::Move => {
                    let become_ = moves.map(|moves| moves(&base[place])).unwrap_or_default();
                    if become_.is_empty() {
                        continue;
                    }
                    other[place] = become_[rng.random_range(0..become_.len())].clone();
                }
            }
            let how = format!("{base:.3?} and {other:.3?}");
            // In its own order: the data set with the record is the first.
            pairs.push(Pair { first: other.clone(), second: base.clone(), how: how.clone() });
            if L::TWO_SIDED {
                pairs.push(Pair { first: base.clone(), second: other, how });
            }
        }
    }
    pairs
}

/// All sequences of this length, or none if there are more than `most`.
fn sequences<R: Clone>(records: &[R], size: usize, most: usize) -> Vec<Vec<R>> {
    let mut all = vec![Vec::new()];
    for _ in 0..size {
        if all.len() * records.len() > most {
            return Vec::new();
        }
        let longer = |head: &Vec<R>| {
            let head = head.clone();
            records
                .iter()
                .map(move |record| [head.as_slice(), std::slice::from_ref(record)].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use dp_accounting::{AddOnly, AddRemove, ReplaceOne, Within};
    use rand::SeedableRng;

    use super::*;

    fn rng() -> ChaCha20Rng {
        ChaCha20Rng::seed_from_u64(1)
    }

    fn of<L: Relation>(relation: L, size: usize, moves: Option<&Moves<i64>>) -> Vec<[Vec<i64>; 2]> {
        let pairs = pairs(relation, &[1, 2, 3], moves, (size, 400), &mut rng());
        pairs.into_iter().map(|pair| [pair.first, pair.second]).collect()
    }

    #[test]
    fn a_record_comes_and_goes_at_any_place() {
        let found = of(AddRemove, 2, None);
        for with in [[3, 1, 2], [1, 3, 2], [1, 2, 3]] {
            for pair in [[with.to_vec(), vec![1, 2]], [vec![1, 2], with.to_vec()]] {
                assert!(found.contains(&pair), "{pair:?}");
            }
        }
        assert!(of(AddRemove, 0, None).contains(&[vec![], vec![2]]));
    }

    #[test]
    fn one_sided_relations_have_one_order() {
        let found = of(AddOnly, 1, None);
        assert!(
            !found.is_empty() && found.iter().all(|[with, without]| with.len() > without.len())
        );
    }

    #[test]
    fn replaced_and_moved_records_stay_in_their_place() {
        let found = of(ReplaceOne, 2, None);
        assert!(
            found.contains(&[vec![1, 3], vec![1, 2]]) && found.contains(&[vec![1, 2], vec![1, 3]])
        );
        let moves: Moves<i64> = Box::new(|record| vec![record + 10]);
        let found = of(Within::new(0.5).expect("valid"), 1, Some(&moves));
        assert!(found.contains(&[vec![12], vec![2]]) && found.contains(&[vec![2], vec![12]]));
        assert!(of(ReplaceOne, 0, None).is_empty(), "nobody to replace");
    }

    #[test]
    #[should_panic(expected = "say with `moves`")]
    fn how_records_move_must_be_said() {
        of(Within::new(0.5).expect("valid"), 1, None);
    }

    #[test]
    fn large_sets_are_copies_with_outliers_and_mixtures() {
        let found = of(AddRemove, 40, None);
        let copies = |set: &Vec<i64>| set.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(found.iter().any(|[a, b]| copies(a) + copies(b) <= 2));
        assert!(found.iter().any(|[_, b]| copies(b) > 10));
    }
}
