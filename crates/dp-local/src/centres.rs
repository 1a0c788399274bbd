//! The protocol that Stemmer and Kaplan sketch: buckets at several radii, sums of those that are heavy, votes for candidates.
//!
//! A baseline: [`LocalKMeans`](crate::LocalKMeans) finds more with less. All clients are played through from records in hand, each with one
//! answer by one of this crate's randomisers, whose laws are what is claimed and audited; there is no server to send them to.

use dp_accounting::Epsilon;
use dp_geometry::{Points, PointsView, PublicBox};
use dp_mechanism::{CryptoRng, Mechanism};

use crate::{CellAnswer, CodebookVector, FrequencyOracle, LocalError, Oracle, Part, PublicCoins};

/// Deviations of noise above which a bucket or a candidate is heavy.
const HEAVY: f64 = 3.0;
/// Cells along each axis, by radius: geometric, and as fine as can be decoded.
const CELLS: [u32; 4] = [2, 4, 8, 16];
/// No histogram has more cells.
const MOST_CELLS: u64 = 1 << 17;

/// How often clients are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CentresForm {
    /// For their bucket, for the mean of a heavy one, and twice for the nearest candidate.
    FourRounds,
    /// All clients name their bucket, and that is all.
    OneRound,
}

impl CentresForm {
    /// How many rounds that takes; each client answers in one of them.
    pub fn rounds(self) -> usize {
        if self == Self::OneRound { 1 } else { 4 }
    }

    /// Of a hundred clients so many are in each round.
    fn shares(self) -> [u32; 4] {
        if self == Self::OneRound { [100, 0, 0, 0] } else { [40, 20, 20, 20] }
    }
}

/// A bucket that many clients named.
struct Bucket {
    radius: usize,
    cell: u32,
    middle: Vec<f64>,
    /// Of those who were asked about this radius.
    share: f64,
}

/// The clients of a session, and public coins.
struct Survey<'d> {
    records: PointsView<'d>,
    domain: &'d PublicBox,
    epsilon: Epsilon,
    coins: PublicCoins,
    shares: [u32; 4],
}

/// Candidates for centres: released values.
#[derive(Clone, Debug, PartialEq)]
pub struct CentreCandidates {
    /// At least one.
    pub points: Points,
    /// How many clients are near to each, as shares of those who were asked.
    pub weights: Vec<f64>,
}

/// A plan of the protocol.
///
/// ```
/// use dp_local::{CentresForm, Epsilon, LocalPrivateCentres, Points, PublicBox, chacha_from_os};
///
/// let coords = (0..20_000).map(|i| if i % 4 < 2 { -0.6 } else { 0.5 }).collect();
/// let records = Points::new(coords, 2)?;
/// let square = PublicBox::cube(2, -1.0, 1.0)?;
/// let plan = LocalPrivateCentres::new(square, 2, Epsilon::new(4.0)?, CentresForm::FourRounds)?;
/// let found = plan.simulate(7, records.view(), &mut chacha_from_os()?)?;
/// println!("{} candidates; k-means on them is free", found.points.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
/// Each client sends one symbol, by an `epsilon`-randomiser, whatever its record and in whichever round. What is asked later follows from
/// what was sent before.
///
/// # Utility
/// Where `LocalKMeans` loses a hundredth, this multiplies the cost several times: the evaluation has both, side by side.
///
/// # Complexity
/// `O(n)` per round and candidate; at most `2^17` cells per histogram.
///
/// # Source
/// Stemmer, Kaplan (2018), their locally private algorithm, by shifted grids in place of their hash functions, at four radii.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalPrivateCentres {
    public_box: PublicBox,
    k: usize,
    epsilon: Epsilon,
    form: CentresForm,
}

impl LocalPrivateCentres {
    /// Most centres: for each, four buckets per radius are looked at.
    pub const MAX_CENTRES: usize = 4096;

    /// For `k` centres of records in this box.
    ///
    /// # Errors
    /// [`LocalError::OutOfRange`] for no centre, or more than [`MAX_CENTRES`](Self::MAX_CENTRES).
    pub fn new(
        public_box: PublicBox,
        k: usize,
        epsilon: Epsilon,
        form: CentresForm,
    ) -> Result<Self, LocalError> {
        if !(1..=Self::MAX_CENTRES).contains(&k) {
            let (name, got) = ("the number of clusters", k as i128);
            return Err(LocalError::OutOfRange { name, got, want: "between 1 and 4096" });
        }
        Ok(Self { public_box, k, epsilon, form })
    }

    /// A whole session on records that may be published, one client each; all public coins follow from `session`.
    ///
    /// # Errors
    /// [`LocalError::Dimension`] if the records do not have the dimension of the box; those of the randomisers, for an epsilon or a number of
    /// dimensions that they refuse.
    pub fn simulate<R: CryptoRng + ?Sized>(
        &self,
        session: u64,
        records: PointsView<'_>,
        rng: &mut R,
    ) -> Result<CentreCandidates, LocalError> {
        let &Self { ref public_box, k, epsilon, form } = self;
        let dim = public_box.dim();
        if records.dim() != dim {
            return Err(LocalError::Dimension { expected: dim, got: records.dim() });
        }
        let (domain, coins) = (public_box, PublicCoins::new(session));
        let survey = Survey { records, domain, epsilon, coins, shares: form.shares() };
        let buckets = survey.buckets(k, rng)?;
        let (points, weights): (Vec<f64>, Vec<f64>) = if form == CentresForm::OneRound {
            // The finest radius whose buckets hold half of all clients.
            let held = |radius: usize| -> f64 {
                buckets.iter().filter(|one| one.radius == radius).map(|one| one.share).sum()
            };
            let most = (0..CELLS.len()).map(held).fold(0.0, f64::max);
            let radius =
                (0..CELLS.len()).rev().find(|radius| held(*radius) >= 0.5 * most).unwrap_or(0);
            let of = || buckets.iter().filter(|one| one.radius == radius);
            (of().flat_map(|one| one.middle.clone()).collect(), of().map(|one| one.share).collect())
        } else {
            let candidates = survey.means(&buckets, rng)?;
            let votes = survey.votes(2, &candidates, rng)?;
            let mut order: Vec<usize> = (0..votes.len()).collect();
            order.sort_by(|a, b| votes[*b].total_cmp(&votes[*a]));
            let noise = survey.noise(2)? * HEAVY;
            let kept =
                order.iter().take(4 * k).filter(|at| votes[**at] > noise || **at == order[0]);
            let kept: Vec<f64> =
                kept.flat_map(|at| candidates[at * dim..(at + 1) * dim].to_vec()).collect();
            let weights = survey.votes(3, &kept, rng)?;
            let seen = || kept.chunks_exact(dim).zip(&weights).filter(|(_, weight)| **weight > 0.0);
            (seen().flat_map(|(at, _)| at.to_vec()).collect(), seen().map(|(_, w)| *w).collect())
        };
        let middle = || (0..dim).map(|axis| domain.middle(axis)).collect();
        let (points, weights) =
            if points.is_empty() { (middle(), vec![1.0]) } else { (points, weights) };
        Ok(CentreCandidates { points: Points::new(points, dim)?, weights })
    }
}

impl Survey<'_> {
    /// Clients of a round, each of whom is in one.
    fn clients(&self, round: usize) -> impl Iterator<Item = (u32, &[f64])> {
        let first: u32 = self.shares[..round].iter().sum();
        let here = first..first + self.shares[round];
        let groups = self.coins.of(0);
        (0..)
            .zip(self.records.rows())
            .filter(move |(client, _)| here.contains(&groups.below(u64::from(*client), 100)))
    }

    /// Those of them who are asked about this radius of so many: coins say about which one, so each is in one.
    fn clients_of(
        &self,
        round: usize,
        purpose: u64,
        radius: usize,
        radii: u32,
    ) -> impl Iterator<Item = (u32, &[f64])> {
        let coins = self.coins.of(purpose);
        self.clients(round)
            .filter(move |(client, _)| coins.below(u64::from(*client), radii) as usize == radius)
    }

    fn expected(&self, round: usize) -> u32 {
        let n = u32::try_from(self.records.len()).unwrap_or(u32::MAX);
        (n / 100 * self.shares[round]).max(1)
    }

    fn oracle(&self, cells: u32, clients: u32, purpose: u64) -> Result<Oracle, LocalError> {
        let coins = self.coins.of(10 + purpose);
        Oracle::best(self.epsilon, cells, clients, coins)
    }

    /// The deviation of the count of an empty cell in a round.
    fn noise(&self, round: usize) -> Result<f64, LocalError> {
        let clients = self.expected(round);
        Ok((f64::from(clients) * self.oracle(64, clients, 9)?.variance(0.0, 0.0)).sqrt())
    }

    /// Heavy buckets of randomly shifted grids, at most `4 k` of each radius. A client is asked about one radius.
    fn buckets<R: CryptoRng + ?Sized>(
        &self,
        k: usize,
        rng: &mut R,
    ) -> Result<Vec<Bucket>, LocalError> {
        let axes = u32::try_from(self.records.dim()).unwrap_or(u32::MAX);
        let radii: Vec<u32> = CELLS
            .into_iter()
            .filter(|cells| (u64::from(*cells) + 1).saturating_pow(axes) <= MOST_CELLS)
            .collect();
        let asked = u32::try_from(radii.len()).unwrap_or(1);
        let mut buckets = Vec::new();
        for (radius, &along) in radii.iter().enumerate() {
            let cells = (along + 1).pow(axes);
            let clients = (self.expected(0) / asked).max(1);
            let oracle = self.oracle(cells, clients, radius as u64)?;
            let mut counts = oracle.no_answers();
            for (client, record) in self.clients_of(0, 1, radius, asked) {
                let cell = self.cell(radius, along, record);
                let class = self.coins.of(2).below(client.into(), oracle.classes());
                let answer = CellAnswer::new(&oracle, class).simulate(cell, rng);
                let symbol = answer?.output;
                counts.add(class, symbol)?;
            }
            let estimates = oracle.estimate(&counts)?;
            let sd = (counts.total() as f64 * oracle.variance(0.0, 0.0)).sqrt();
            let heavy = (0..cells).zip(estimates).filter(|(_, count)| *count > HEAVY * sd);
            let mut found: Vec<Bucket> = heavy
                .map(|(cell, count)| {
                    let middle = self.middle(radius, along, cell);
                    Bucket { radius, cell, middle, share: count / counts.total() as f64 }
                })
                .collect();
            found.sort_by(|a, b| b.share.total_cmp(&a.share));
            found.truncate(4 * k);
            buckets.extend(found);
        }
        Ok(buckets)
    }

    /// By what part of a cell a radius' grid is shifted along an axis.
    fn shift(&self, radius: usize, axis: usize) -> f64 {
        (self.coins.of(3).word((radius * 64 + axis) as u64) >> 11) as f64 / 2_f64.powi(53)
    }

    fn cell(&self, radius: usize, along: u32, record: &[f64]) -> u32 {
        record.iter().enumerate().rev().fold(0, |cell, (axis, &x)| {
            let width = self.domain.width(axis) / f64::from(along);
            let at = (x - self.domain.min(axis)) / width + self.shift(radius, axis);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
            let at = at.clamp(0.0, f64::from(along)) as u32;
            cell * (along + 1) + at
        })
    }

    fn middle(&self, radius: usize, along: u32, mut cell: u32) -> Vec<f64> {
        let axis = |axis: usize| {
            let at = cell % (along + 1);
            cell /= along + 1;
            let width = self.domain.width(axis) / f64::from(along);
            let x =
                self.domain.min(axis) + (f64::from(at) + 0.5 - self.shift(radius, axis)) * width;
            self.domain.clip_coordinate(axis, x)
        };
        (0..self.records.dim()).map(axis).collect()
    }

    /// The mean record of each bucket, and its middle. A client is asked about one radius, and has a vector in the slot of its bucket.
    fn means<R: CryptoRng + ?Sized>(
        &self,
        buckets: &[Bucket],
        rng: &mut R,
    ) -> Result<Vec<f64>, LocalError> {
        let dim = self.records.dim();
        let mut candidates: Vec<f64> = buckets.iter().flat_map(|one| one.middle.clone()).collect();
        for (radius, along) in CELLS.into_iter().enumerate() {
            let here: Vec<&Bucket> = buckets.iter().filter(|one| one.radius == radius).collect();
            if here.is_empty() {
                continue;
            }
            let reach = 0.5 * self.domain.diagonal() / f64::from(along);
            let clients = self.expected(1);
            let books = (clients / 64).clamp(1, 1 << 12);
            let coins = self.coins.of(30 + radius as u64);
            let question = CodebookVector::new(self.epsilon, here.len() * dim, 256, books, coins)?;
            let mut counts = question.no_answers();
            for (client, record) in self.clients_of(1, 4, radius, 4) {
                let cell = self.cell(radius, along, record);
                let slot = here.iter().position(|one| one.cell == cell);
                let away: Vec<f64> = slot.map_or_else(Vec::new, |slot| {
                    let middle = &here[slot].middle;
                    record.iter().zip(middle).map(|(x, z)| (x - z) / reach).collect()
                });
                let part = Part { first: slot.unwrap_or(0) * dim, values: &away };
                let book = self.coins.of(5).below(client.into(), books);
                let answer = question.answer(book).simulate(part, rng);
                let symbol = answer?.output;
                counts.add(book, symbol)?;
            }
            let asked = counts.total() as f64;
            let sums = question.estimate(&counts)?.map(|sum| sum);
            for (bucket, sum) in here.iter().zip(sums.chunks_exact(dim)) {
                let clients = (bucket.share * asked).max(1.0);
                let mean = bucket.middle.iter().zip(sum).enumerate().map(|(axis, (z, sum))| {
                    self.domain.clip_coordinate(axis, z + reach * sum / clients)
                });
                candidates.extend(mean);
            }
        }
        Ok(candidates)
    }

    /// How many clients are nearest to each candidate.
    fn votes<R: CryptoRng + ?Sized>(
        &self,
        round: usize,
        candidates: &[f64],
        rng: &mut R,
    ) -> Result<Vec<f64>, LocalError> {
        let dim = self.records.dim();
        let cells = u32::try_from(candidates.len() / dim).unwrap_or(u32::MAX);
        if cells == 0 {
            return Ok(Vec::new());
        }
        let oracle = self.oracle(cells, self.expected(round), 20 + round as u64)?;
        let mut counts = oracle.no_answers();
        for (client, record) in self.clients(round) {
            let squared =
                |at: &[f64]| -> f64 { at.iter().zip(record).map(|(x, y)| (x - y) * (x - y)).sum() };
            let nearest = (0..cells).zip(candidates.chunks_exact(dim));
            let nearest = nearest.min_by(|a, b| squared(a.1).total_cmp(&squared(b.1)));
            let cell = nearest.map_or(0, |(cell, _)| cell);
            let class = self.coins.of(6).below(client.into(), oracle.classes());
            let symbol = CellAnswer::new(&oracle, class).simulate(cell, rng)?.output;
            counts.add(class, symbol)?;
        }
        oracle.estimate(&counts)
    }
}

#[cfg(test)]
mod tests {
    use dp_mechanism::ChaCha20Rng;
    use rand::SeedableRng;

    use super::*;

    fn plan(dim: usize, k: usize, form: CentresForm) -> Result<LocalPrivateCentres, LocalError> {
        let cube = PublicBox::cube(dim, -1.0, 1.0)?;
        LocalPrivateCentres::new(cube, k, Epsilon::new(4.0)?, form)
    }

    const FORMS: [CentresForm; 2] = [CentresForm::FourRounds, CentresForm::OneRound];

    #[test]
    fn what_makes_no_sense_is_refused() {
        for k in [0, 4097, usize::MAX] {
            let error = plan(2, k, CentresForm::OneRound).expect_err("refused").to_string();
            assert!(error.contains("between 1 and 4096") && error.contains(&k.to_string()));
        }
        let flat = Points::new(vec![0.0; 3], 3).expect("a row");
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        for form in FORMS {
            let error = plan(2, 2, form).expect("valid").simulate(0, flat.view(), &mut rng);
            assert_eq!(error, Err(LocalError::Dimension { expected: 2, got: 3 }));
        }
    }

    /// Who answered in two rounds, or about two radii, would pay twice.
    #[test]
    fn each_client_is_asked_once() {
        let records = Points::new(vec![0.0; 5_000], 1).expect("whole rows");
        let domain = PublicBox::cube(1, -1.0, 1.0).expect("a box");
        let epsilon = Epsilon::new(1.0).expect("valid");
        for form in FORMS {
            let (coins, shares) = (PublicCoins::new(11), form.shares());
            let survey =
                Survey { records: records.view(), domain: &domain, epsilon, coins, shares };
            let mut asked = vec![0; records.len()];
            for (round, purpose) in [(0, 1), (1, 4)] {
                for radius in 0..CELLS.len() {
                    let here = survey.clients_of(round, purpose, radius, 4);
                    here.for_each(|(client, _)| asked[client as usize] += 1);
                }
            }
            for round in [2, 3] {
                survey.clients(round).for_each(|(client, _)| asked[client as usize] += 1);
            }
            assert!(asked.iter().all(|times| *times == 1), "{form:?}");
        }
    }

    /// Nobody, one client, records that are no numbers, more dimensions than have cells: centres in the box, at least one.
    #[test]
    fn odd_clients_leave_centres_in_the_box() {
        let odd = [f64::NAN, f64::INFINITY, -1e300, 0.5];
        for (dim, coords) in
            [(2, vec![]), (2, vec![0.1, 0.2]), (2, odd.repeat(100)), (20, vec![0.0; 4000])]
        {
            let records = Points::new(coords, dim).expect("whole rows");
            for form in FORMS {
                let mut rng = ChaCha20Rng::seed_from_u64(2);
                let found =
                    plan(dim, 3, form).expect("valid").simulate(5, records.view(), &mut rng);
                let found = found.expect("centres");
                assert!(!found.points.is_empty() && found.points.len() == found.weights.len());
                assert!(found.points.view().coords().iter().all(|x| (-1.0..=1.0).contains(x)));
                assert!(found.weights.iter().all(|weight| *weight > 0.0));
            }
        }
    }

    #[test]
    fn clusters_that_are_apart_have_candidates() {
        let coords = (0..60_000).map(|i| if i % 4 < 2 { -0.6 } else { 0.5 }).collect();
        let records = Points::new(coords, 2).expect("whole rows");
        for form in FORMS {
            let mut rng = ChaCha20Rng::seed_from_u64(3);
            let found = plan(2, 2, form).expect("valid").simulate(5, records.view(), &mut rng);
            let found = found.expect("centres");
            for centre in [-0.6, 0.5] {
                let far = |row: &[f64]| row.iter().map(|x| (x - centre).abs()).fold(0.0, f64::max);
                let nearest = found.points.view().rows().map(far).fold(f64::INFINITY, f64::min);
                assert!(nearest < 0.5, "{form:?}: {nearest}");
            }
        }
    }
}
