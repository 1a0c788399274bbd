//! Scores of far more candidates than could be listed.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZero;

use dp_noise::{Bits, Level, Ratio, choose_level};

/// Scores of the candidates `0..candidates`, all zero but for those listed.
///
/// How many are listed is private: a choice among them looks at the number of candidates, which is
/// public, and at scores. `Debug` prints that number and nothing else.
#[derive(Clone, PartialEq)]
pub struct SparseScores {
    candidates: u64,
    /// Ascending, with their scores.
    ids: Vec<u64>,
    scores: Vec<u64>,
    /// Positions in `ids` by score, without those that have come down to zero.
    positions: BTreeMap<u64, Vec<usize>>,
    /// Where each of them is in its entry of `positions`.
    places: Vec<usize>,
    positive: u64,
}

/// Scores stay out of logs, and so does how many are listed.
impl fmt::Debug for SparseScores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SparseScores").field("candidates", &self.candidates).finish_non_exhaustive()
    }
}

impl SparseScores {
    /// Candidates are below this.
    pub const MAX_CANDIDATES: u64 = 1 << 62;

    /// Takes `(candidate, score)`; all others of `0..candidates` have score zero.
    ///
    /// What is listed comes from records, so nothing of it is refused: candidates are put in order where they are not, one that is
    /// listed again keeps its first score, those out of range do not count, and scores stop at `2^62`. So does the number of
    /// candidates, a public one, at 1 and just below [`MAX_CANDIDATES`](Self::MAX_CANDIDATES).
    pub fn new(candidates: u64, listed: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let candidates = candidates.clamp(1, Self::MAX_CANDIDATES - 1);
        let in_range = listed.into_iter().filter(|(id, _)| *id < candidates);
        let mut listed: Vec<(u64, u64)> =
            in_range.map(|(id, score)| (id, score.min(Self::MAX_CANDIDATES))).collect();
        if !listed.is_sorted_by(|a, b| a.0 < b.0) {
            listed.sort_by_key(|entry| entry.0);
            listed.dedup_by_key(|entry| entry.0);
        }
        let (ids, scores): (Vec<u64>, Vec<u64>) = listed.into_iter().unzip();
        let mut positions: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        let mut places = Vec::with_capacity(ids.len());
        let mut positive = 0;
        for (position, &score) in scores.iter().enumerate() {
            let of_score = positions.entry(score).or_default();
            places.push(of_score.len());
            of_score.push(position);
            positive += u64::from(score > 0);
        }
        positions.remove(&0);
        Self { candidates, ids, scores, positions, places, positive }
    }

    /// The number of all candidates.
    pub fn candidates(&self) -> u64 {
        self.candidates
    }

    /// Where a candidate is listed, if it is.
    pub fn position(&self, candidate: u64) -> Option<usize> {
        self.ids.binary_search(&candidate).ok()
    }

    /// The score of any candidate.
    pub fn score(&self, candidate: u64) -> u64 {
        self.position(candidate).map_or(0, |position| self.scores[position])
    }

    /// What is listed: candidates with their scores.
    pub fn listed(&self) -> impl Iterator<Item = (u64, u64)> {
        self.ids.iter().copied().zip(self.scores.iter().copied())
    }

    /// Lowers the score at a position of the list by one, but not below zero. Where there is no such position, nothing changes.
    pub fn lower(&mut self, position: usize) {
        let score = self.scores.get(position).copied().unwrap_or(0);
        if score == 0 {
            return;
        }
        let place = self.places[position];
        let of_score = self.positions.get_mut(&score).expect("a positive score is filed");
        of_score.swap_remove(place);
        if let Some(&moved) = of_score.get(place) {
            self.places[moved] = place;
        }
        if of_score.is_empty() {
            self.positions.remove(&score);
        }
        self.scores[position] = score - 1;
        if score == 1 {
            self.positive -= 1;
        } else {
            let of_score = self.positions.entry(score - 1).or_default();
            self.places[position] = of_score.len();
            of_score.push(position);
        }
    }

    /// A candidate with probability proportional to `exp(rate * score)`: first a score, then one of
    /// the candidates that have it.
    pub(crate) fn choose<B: Bits + ?Sized>(&self, bits: &mut B, rate: Ratio) -> u64 {
        let zero = Level { score: 0, candidates: self.candidates - self.positive };
        let positive = self.positions.iter().map(|(&score, of_score)| Level {
            score: score.cast_signed(),
            candidates: of_score.len() as u64,
        });
        let levels: Vec<Level> = std::iter::once(zero).chain(positive).collect();
        let level = choose_level(bits, &levels, rate).expect("candidates were counted");
        let below = |bits: &mut B, n: u64| {
            let n = NonZero::new(n.into()).expect("a level that was chosen has candidates");
            u64::try_from(bits.below(n)).expect("below a u64")
        };
        if level == 0 {
            return bits.retry(|bits| {
                let candidate = below(bits, self.candidates);
                (self.score(candidate) == 0).then_some(candidate)
            });
        }
        let of_score = self.positions.values().nth(level - 1).expect("as many as levels");
        let place = usize::try_from(below(bits, of_score.len() as u64)).expect("below a length");
        self.ids[of_score[place]]
    }
}

#[cfg(test)]
mod tests {
    use dp_noise::{ChaCha20Rng, SecureBits};
    use rand::{RngExt, SeedableRng};

    use super::*;

    #[test]
    fn neighbours_print_alike() {
        let text = |listed: &[(u64, u64)]| {
            format!("{:?}", SparseScores::new(1_000, listed.iter().copied()))
        };
        assert_eq!(text(&[(3, 2), (7, 1)]), "SparseScores { candidates: 1000, .. }");
        assert_eq!(text(&[(3, 2), (7, 1)]), text(&[(3, 2)]));
    }

    /// Lists come from records, and no record may break a release.
    #[test]
    fn whatever_is_listed_makes_scores() {
        let odd = SparseScores::new(9, [(7, 1), (2, u64::MAX), (9, 3), (7, 5), (u64::MAX, 1)]);
        let mut plain = SparseScores::new(9, [(2, 1 << 62), (7, 1)]);
        assert!(odd == plain);
        assert!(
            SparseScores::new(9, [(2, 1 << 62), (7, 1), (7, 1), (7, 0)]) == plain,
            "in order, but not once"
        );
        plain.lower(1);
        let once = plain.clone();
        plain.lower(1);
        plain.lower(2);
        assert!(plain == once && plain.score(7) == 0);
        assert_eq!(SparseScores::new(0, [(0, 4)]).score(0), 4);
        assert_eq!(SparseScores::new(u64::MAX, []).candidates(), SparseScores::MAX_CANDIDATES - 1);
    }

    #[test]
    fn scores_follow_their_changes() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut plain: BTreeMap<u64, u64> =
            (0..50).map(|i| (3 * i, rng.random_range(0..9))).collect();
        let mut scores = SparseScores::new(1_000, plain.clone());
        for _ in 0..150 {
            let position = rng.random_range(0..50_usize);
            let candidate = 3 * position as u64;
            if plain[&candidate] > 0 {
                *plain.get_mut(&candidate).expect("listed") -= 1;
                scores.lower(position);
            }
            assert!(scores.listed().eq(plain.iter().map(|(&c, &s)| (c, s))));
            assert_eq!(scores.positive, plain.values().filter(|&&s| s > 0).count() as u64);
            let filed: usize = scores.positions.values().map(Vec::len).sum();
            assert_eq!(filed as u64, scores.positive);
            for (score, of_score) in &scores.positions {
                for (place, &position) in of_score.iter().enumerate() {
                    assert_eq!(scores.scores[position], *score);
                    assert_eq!(scores.places[position], place);
                }
            }
        }
        assert_eq!((scores.score(1), scores.position(3)), (0, Some(1)));
    }

    /// 25 candidates, of which some listed: frequencies of 200,000 choices against `exp(rate score)`.
    #[test]
    fn choices_have_their_law() {
        let rate = Ratio::new(1, 2).expect("valid");
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        let mut bits = SecureBits::new(&mut rng);
        for listed in [vec![], vec![(3, 4), (7, 1), (8, 0), (9, 4), (24, 5)]] {
            let mut scores = SparseScores::new(25, listed.clone());
            if !listed.is_empty() {
                scores.lower(4); // candidate 24 has 4 left
            }
            let n = 200_000_u32;
            let mut hits = [0_u32; 25];
            for _ in 0..n {
                hits[usize::try_from(scores.choose(&mut bits, rate)).expect("small")] += 1;
            }
            let weight = |c: u64| (0.5 * scores.score(c) as f64).exp();
            let total: f64 = (0..25).map(weight).sum();
            for (candidate, hits) in (0..).zip(hits) {
                let p = weight(candidate) / total;
                let (mean, sd) = (f64::from(n) * p, (f64::from(n) * p * (1.0 - p)).sqrt());
                // 50 comparisons at 5.5 standard deviations: a false alarm in 2 of 10^6 seeds.
                assert!((f64::from(hits) - mean).abs() < 5.5 * sd, "{candidate}: {hits} of {mean}");
            }
        }
    }
}
