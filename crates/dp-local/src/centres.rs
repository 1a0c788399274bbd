//! The protocol that Stemmer and Kaplan sketch: buckets at several radii, sums of those that are heavy, votes for candidates.
//!
//! A baseline: [`LocalKMeans`](crate::LocalKMeans) finds more with less. All clients are played through from records in hand, each with one
//! answer by one of this crate's randomisers, whose laws are what is claimed and audited; there is no server to send them to.

use dp_accounting::Epsilon;
use dp_geometry::{Points, PointsView, PublicBox};
use dp_mechanism::{CryptoRng, Mechanism, SubsetResponse};

use crate::{
    CellAnswer, CodebookVector, FrequencyOracle, LocalError, Oracle, Part, PublicCoins,
    SymbolCounts,
};

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

/// The clients who answer one question, by its number. Asking uses it up, and there is one of each, so that nobody is asked twice.
struct Panel(usize);

/// Those of all questions.
struct Panels {
    /// Each client of the first round names its bucket at one radius,
    buckets: [Panel; CELLS.len()],
    /// each of the second has a vector at one,
    means: [Panel; CELLS.len()],
    /// and those of the last two vote.
    votes: [Panel; 2],
}

impl Panels {
    fn all() -> Self {
        let first = CELLS.len();
        Self {
            buckets: std::array::from_fn(Panel),
            means: std::array::from_fn(|radius| Panel(first + radius)),
            votes: std::array::from_fn(|vote| Panel(2 * first + vote)),
        }
    }
}

/// The clients of a session, and public coins.
struct Survey<'d> {
    records: PointsView<'d>,
    domain: &'d PublicBox,
    epsilon: Epsilon,
    coins: PublicCoins,
    shares: [u32; 4],
    /// Cells along each axis of every radius at which a histogram has room.
    radii: Vec<u32>,
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
        let &Self { public_box: ref domain, k, form, .. } = self;
        let dim = domain.dim();
        if records.dim() != dim {
            return Err(LocalError::Dimension { expected: dim, got: records.dim() });
        }
        let survey = Survey::new(self, session, records);
        let Panels { buckets, means, votes: [first, second] } = Panels::all();
        let buckets = survey.buckets(buckets, k, rng)?;
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
            let candidates = survey.means(means, &buckets, rng)?;
            let votes = survey.votes((first, 2), &candidates, rng)?;
            let mut order: Vec<usize> = (0..votes.len()).collect();
            order.sort_by(|a, b| votes[*b].total_cmp(&votes[*a]));
            let noise = survey.noise(2)? * HEAVY;
            let kept =
                order.iter().take(4 * k).filter(|at| votes[**at] > noise || **at == order[0]);
            let kept: Vec<f64> =
                kept.flat_map(|at| candidates[at * dim..(at + 1) * dim].to_vec()).collect();
            let weights = survey.votes((second, 3), &kept, rng)?;
            let seen = || kept.chunks_exact(dim).zip(&weights).filter(|(_, weight)| **weight > 0.0);
            (seen().flat_map(|(at, _)| at.to_vec()).collect(), seen().map(|(_, w)| *w).collect())
        };
        let middle = || (0..dim).map(|axis| domain.middle(axis)).collect();
        let (points, weights) =
            if points.is_empty() { (middle(), vec![1.0]) } else { (points, weights) };
        Ok(CentreCandidates { points: Points::new(points, dim)?, weights })
    }
}

impl<'d> Survey<'d> {
    fn new(plan: &'d LocalPrivateCentres, session: u64, records: PointsView<'d>) -> Self {
        let &LocalPrivateCentres { public_box: ref domain, epsilon, form, .. } = plan;
        let axes = u32::try_from(domain.dim()).unwrap_or(u32::MAX);
        let has_room = |cells: &u32| (u64::from(*cells) + 1).saturating_pow(axes) <= MOST_CELLS;
        let radii = CELLS.into_iter().filter(has_room).collect();
        let coins = PublicCoins::new(session);
        Self { records, domain, epsilon, coins, shares: form.shares(), radii }
    }

    /// The number of the panel that a client is on: by public coins and its own number, so that all clients are on one.
    fn panel_of(&self, client: u32) -> usize {
        let place = u64::from(client);
        let at = self.coins.of(0).below(place, 100);
        let radius = |purpose: u64, radii: usize| {
            let radii = u32::try_from(radii).unwrap_or(u32::MAX).max(1);
            self.coins.of(purpose).below(place, radii) as usize
        };
        let mut ends = self.shares.iter().scan(0, |end, share| {
            *end += share;
            Some(*end)
        });
        match ends.position(|end| at < end) {
            Some(0) => radius(1, self.radii.len()),
            Some(1) => CELLS.len() + radius(4, CELLS.len()),
            Some(2) => 2 * CELLS.len(),
            _ => 2 * CELLS.len() + 1,
        }
    }

    fn clients(&self, Panel(number): Panel) -> impl Iterator<Item = (u32, &[f64])> {
        let all = (0..).zip(self.records.rows());
        all.filter(move |(client, _)| self.panel_of(*client) == number)
    }

    /// No answer costs more than what the plan promises.
    fn check_loss(&self, response: &SubsetResponse) -> Result<(), LocalError> {
        let loss = response.loss().pure().map_or(f64::INFINITY, Epsilon::get);
        if loss <= self.epsilon.get() {
            return Ok(());
        }
        Err(LocalError::real("epsilon of an answer", loss, "at most that of the plan"))
    }

    /// Which cell the record of each client of a panel is in: one answer from each, whatever its record, in a class that follows from its number.
    fn ask_cells<R: CryptoRng + ?Sized>(
        &self,
        panel: Panel,
        (oracle, classes): (&Oracle, PublicCoins),
        rng: &mut R,
        cell_of: impl Fn(&[f64]) -> u32,
    ) -> Result<SymbolCounts, LocalError> {
        self.check_loss(oracle.response())?;
        let mut counts = oracle.no_answers();
        for (client, record) in self.clients(panel) {
            let class = classes.below(client.into(), oracle.classes());
            let answer = CellAnswer::new(oracle, class).simulate(cell_of(record), rng)?;
            counts.add(class, answer.output)?;
        }
        Ok(counts)
    }

    /// The vectors of all clients of a panel, and the first coordinate of each, in the same way.
    fn ask_vectors<R: CryptoRng + ?Sized>(
        &self,
        panel: Panel,
        (question, books): (&CodebookVector, PublicCoins),
        rng: &mut R,
        part_of: impl Fn(&[f64]) -> (usize, Vec<f64>),
    ) -> Result<SymbolCounts, LocalError> {
        self.check_loss(question.response())?;
        let mut counts = question.no_answers();
        for (client, record) in self.clients(panel) {
            let (first, values) = part_of(record);
            let book = books.below(client.into(), question.books());
            let answer = question.answer(book).simulate(Part { first, values: &values }, rng)?;
            counts.add(book, answer.output)?;
        }
        Ok(counts)
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

    /// Heavy buckets of randomly shifted grids, at most `4 k` of each radius.
    fn buckets<R: CryptoRng + ?Sized>(
        &self,
        panels: [Panel; CELLS.len()],
        k: usize,
        rng: &mut R,
    ) -> Result<Vec<Bucket>, LocalError> {
        let axes = u32::try_from(self.records.dim()).unwrap_or(u32::MAX);
        let asked = u32::try_from(self.radii.len()).unwrap_or(1).max(1);
        let mut buckets = Vec::new();
        for ((radius, &along), panel) in self.radii.iter().enumerate().zip(panels) {
            let cells = (along + 1).pow(axes);
            let clients = (self.expected(0) / asked).max(1);
            let oracle = self.oracle(cells, clients, radius as u64)?;
            let question = (&oracle, self.coins.of(2));
            let counts =
                self.ask_cells(panel, question, rng, |record| self.cell(radius, along, record))?;
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

    /// The mean record of each bucket, and its middle. A client has a vector in the slot of its bucket.
    fn means<R: CryptoRng + ?Sized>(
        &self,
        panels: [Panel; CELLS.len()],
        buckets: &[Bucket],
        rng: &mut R,
    ) -> Result<Vec<f64>, LocalError> {
        let dim = self.records.dim();
        let mut candidates: Vec<f64> = buckets.iter().flat_map(|one| one.middle.clone()).collect();
        for ((radius, along), panel) in CELLS.into_iter().enumerate().zip(panels) {
            let here: Vec<&Bucket> = buckets.iter().filter(|one| one.radius == radius).collect();
            if here.is_empty() {
                continue;
            }
            let reach = 0.5 * self.domain.diagonal() / f64::from(along);
            let clients = self.expected(1);
            let books = (clients / 64).clamp(1, 1 << 12);
            let coins = self.coins.of(30 + radius as u64);
            let question = CodebookVector::new(self.epsilon, here.len() * dim, 256, books, coins)?;
            let asked = (&question, self.coins.of(5));
            let counts = self.ask_vectors(panel, asked, rng, |record| {
                let cell = self.cell(radius, along, record);
                let Some(slot) = here.iter().position(|one| one.cell == cell) else {
                    return (0, Vec::new());
                };
                let away = record.iter().zip(&here[slot].middle).map(|(x, z)| (x - z) / reach);
                (slot * dim, away.collect())
            })?;
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
        (panel, round): (Panel, usize),
        candidates: &[f64],
        rng: &mut R,
    ) -> Result<Vec<f64>, LocalError> {
        let dim = self.records.dim();
        let cells = u32::try_from(candidates.len() / dim).unwrap_or(u32::MAX);
        if cells == 0 {
            return Ok(Vec::new());
        }
        let oracle = self.oracle(cells, self.expected(round), 20 + round as u64)?;
        let counts = self.ask_cells(panel, (&oracle, self.coins.of(6)), rng, |record| {
            let squared =
                |at: &[f64]| -> f64 { at.iter().zip(record).map(|(x, y)| (x - y) * (x - y)).sum() };
            let nearest = (0..cells).zip(candidates.chunks_exact(dim));
            let nearest = nearest.min_by(|a, b| squared(a.1).total_cmp(&squared(b.1)));
            nearest.map_or(0, |(cell, _)| cell)
        })?;
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

    fn survey<'d>(plan: &'d LocalPrivateCentres, records: &'d Points) -> Survey<'d> {
        Survey::new(plan, 11, records.view())
    }

    /// Who were on two panels would pay twice; who is on none says nothing. Where histograms have no room at some radii, nobody is asked about these.
    #[test]
    fn each_client_is_on_one_panel() {
        for (dim, radii) in [(1, 4), (5, 3), (20, 0)] {
            let records = Points::new(vec![0.0; 4_000 * dim], dim).expect("whole rows");
            for form in FORMS {
                let plan = plan(dim, 3, form).expect("valid");
                let survey = survey(&plan, &records);
                let Panels { buckets, means, votes } = Panels::all();
                let panels = buckets.into_iter().chain(means).chain(votes);
                let sizes: Vec<usize> = panels.map(|panel| survey.clients(panel).count()).collect();
                assert_eq!(sizes.iter().sum::<usize>(), records.len(), "{form:?}");
                let asked = sizes[..4].iter().filter(|size| **size > 0).count();
                assert_eq!(asked, radii.max(1), "{form:?} in {dim} dimensions: {sizes:?}");
                if form == CentresForm::OneRound {
                    assert_eq!(sizes[4..], [0; 6]);
                } else {
                    assert!(sizes[4..].iter().all(|size| *size > 100), "{sizes:?}");
                }
            }
        }
    }

    /// How many answers of each class there are.
    fn classes(counts: &SymbolCounts) -> Vec<u32> {
        counts.rows().map(|row| row.iter().sum()).collect()
    }

    /// Whether, and in which class, a client answers has nothing to do with its record: it could be where nobody is, or no number.
    #[test]
    fn all_clients_of_a_panel_answer_and_records_do_not_say_how() {
        let plan = plan(2, 3, CentresForm::FourRounds).expect("valid");
        let coords: Vec<f64> = (0..6_000).map(|i| f64::from(i % 97) / 97.0).collect();
        let odd = [f64::NAN, 2.0, -0.9, 0.9, f64::NEG_INFINITY, 0.0].repeat(1_000);
        let [one, other] = [coords, odd].map(|coords| Points::new(coords, 2).expect("whole rows"));
        let buckets: Vec<Bucket> = (0..3)
            .map(|cell| Bucket { radius: 0, cell, middle: vec![0.0; 2], share: 0.1 })
            .collect();
        let of = |records: &Points| {
            let survey = survey(&plan, records);
            let mut rng = ChaCha20Rng::seed_from_u64(1);
            let Panels { buckets: [first, ..], means: [second, ..], votes: [third, _] } =
                Panels::all();
            let sizes =
                [&first, &second, &third].map(|panel| survey.clients(Panel(panel.0)).count());
            let coins = survey.coins;
            let oracle = survey.oracle(300, 100, 0).expect("valid");
            assert!(oracle.classes() > 1);
            let cells = |panel, rng: &mut _| {
                let found = survey.ask_cells(panel, (&oracle, coins.of(2)), rng, |record| {
                    survey.cell(3, 16, record)
                });
                classes(&found.expect("answers"))
            };
            let question =
                CodebookVector::new(survey.epsilon, 6, 256, 8, coins.of(30)).expect("valid");
            let asked = (&question, coins.of(5));
            let vectors = survey.ask_vectors(second, asked, &mut rng, |record| {
                match buckets.iter().find(|one| one.cell == survey.cell(0, 2, record)) {
                    Some(one) => (2 * one.cell as usize, record.to_vec()),
                    None => (0, Vec::new()),
                }
            });
            let all = [
                cells(first, &mut rng),
                classes(&vectors.expect("answers")),
                cells(third, &mut rng),
            ];
            for (classes, size) in all.iter().zip(sizes) {
                assert_eq!(classes.iter().sum::<u32>() as usize, size);
            }
            all
        };
        assert_eq!(of(&one), of(&other));
    }

    /// What a question costs is what its answers are drawn with, and no question of a run costs more than the plan.
    #[test]
    fn no_answer_costs_more_than_is_promised() {
        let plan = plan(1, 2, CentresForm::FourRounds).expect("valid");
        let records = Points::new(vec![0.3; 3_000], 1).expect("whole rows");
        let survey = survey(&plan, &records);
        let dearer = Survey {
            epsilon: Epsilon::new(4.1).expect("valid"),
            ..Survey::new(&plan, 1, records.view())
        };
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let refused = |error: LocalError| {
            let said = error.to_string();
            assert!(
                said.starts_with("epsilon of an answer must be at most that of the plan"),
                "{said}"
            );
        };
        let Panels { buckets: [first, ..], means: [second, ..], .. } = Panels::all();
        let oracle = dearer.oracle(8, 100, 0).expect("valid");
        let asked = survey.ask_cells(first, (&oracle, survey.coins), &mut rng, |_| 0);
        refused(asked.expect_err("dearer"));
        let question = CodebookVector::new(dearer.epsilon, 2, 256, 2, survey.coins).expect("valid");
        let asked =
            survey.ask_vectors(second, (&question, survey.coins), &mut rng, |_| (0, vec![]));
        refused(asked.expect_err("dearer"));
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
