//! One call that audits a mechanism: neighbours from its relation, claims from its receipt.

mod neighbours;
mod probe;
mod report;
mod totals;

use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dp_mechanism::{ChaCha20Rng, Mechanism, SecureSource, Source, Usage};
use rand::SeedableRng;
use serde::Serialize;

use crate::bits::bytes;
use crate::harness::{Effort, panic_message};
use crate::tape::exact_law_within;
use crate::transcript::SECRET;
use crate::{Law, Neighbours, Steered, compare};

use neighbours::{Moves, Pair};
use probe::{Probe, Seen};
pub use report::{Finding, Findings};
use totals::Totals;

/// Audits mechanisms on data sets made of hostile records.
///
/// It takes a mechanism at its word: neighbours are those of its [`Relation`](dp_accounting::Relation), from
/// empty data up, with the records that are given here, in all places; the claims are those of its receipt, as pure
/// DP, zCDP, Gaussian DP or `(epsilon, delta)`. Where there are few outcomes the exact laws of the outputs are compared,
/// bit for bit; at all sizes, transcripts are: what each draw of a run gives away, by chance and [steered](Steered)
/// into branches that no run took before. A run that depends on the data in any way but through its draws loses
/// everything, and so does one that panics.
///
/// Passing is evidence about the data sets that were tried. Failing by an exact law is proof. Failing by a transcript is
/// proof that the draws, one by one, cost more than the receipt says.
///
/// # A mechanism of your own
/// A count per town, one private and one that spares towns where nobody lives:
/// ```
/// use dp_accounting::{AddRemove, Budget, Receipt, Step};
/// use dp_audit::Audit;
/// use dp_mechanism::{Algorithm, Draws, MechanismError, NoisyCount, Private};
///
/// struct Towns { count: NoisyCount, spared: bool }
///
/// impl Algorithm for Towns {
///     type Relation = AddRemove;
///     type Data<'a> = &'a [u8]; // in which of the three towns each person lives
///     type Shape = ();
///     type Output = Vec<i64>;
///     type Error = MechanismError;
///
///     fn cost(&self) -> Receipt<AddRemove> {
///         let budget = Budget::new(0.5, 0.0).expect("valid");
///         let town = Step::spend("count of a town", self.count.loss());
///         Receipt::new("towns", AddRemove, budget, Step::parallel("towns", vec![town]))
///     }
///     fn shape(_: &&[u8]) {}
///     fn check(&self, (): &()) -> Result<(), MechanismError> { Ok(()) }
///     fn run(&self, people: Private<&[u8]>, draws: &mut Draws<'_>) -> Vec<i64> {
///         let count = |town: u8| people.map(move |p| p.iter().filter(|at| **at == town).count() as u64);
///         (0..3).map(|town| {
///             if self.spared && count(town).exact() == 0 {
///                 return 0;
///             }
///             self.count.release(count(town), &mut draws.part("count of a town", 0, town.into()))
///         }).collect()
///     }
/// }
///
/// let count = NoisyCount::geometric(dp_accounting::Epsilon::new(0.5)?)?;
/// let audit = Audit::new([0_u8, 1, 2]);
/// let right = audit.run(&Towns { count, spared: false }, |people, run| run(people));
/// assert!(right.stands(), "{right}");
/// let broken = audit.run(&Towns { count, spared: true }, |people, run| run(people));
/// assert!(!broken.stands(), "{broken}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Audit<R> {
    records: Vec<R>,
    moves: Option<Moves<R>>,
    sizes: Vec<usize>,
    effort: Effort,
}

impl<R: Debug> Debug for Audit<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Audit");
        shown.field("records", &self.records).field("sizes", &self.sizes).finish_non_exhaustive()
    }
}

impl<R: Clone + Debug> Audit<R> {
    /// Data sets of these records, of 0, 1, 2, 3 and 20 of them, at quick effort.
    ///
    /// # Panics
    /// If there are none.
    pub fn new(records: impl IntoIterator<Item = R>) -> Self {
        let records: Vec<R> = records.into_iter().collect();
        assert!(!records.is_empty(), "an audit needs records");
        Self { records, moves: None, sizes: vec![0, 1, 2, 3, 20], effort: Effort::quick() }
    }

    /// Sizes of data sets: both sides of every threshold at which the mechanism does something else.
    #[must_use]
    pub fn sizes(self, sizes: impl IntoIterator<Item = usize>) -> Self {
        Self { sizes: sizes.into_iter().collect(), ..self }
    }

    /// What a record may become in a neighbour, for relations that say how far it may move.
    #[must_use]
    pub fn moves(self, moves: impl Fn(&R) -> Vec<R> + Send + Sync + 'static) -> Self {
        Self { moves: Some(Box::new(moves)), ..self }
    }

    /// How much to try.
    #[must_use]
    pub fn effort(self, effort: Effort) -> Self {
        Self { effort, ..self }
    }

    /// Audits one mechanism. `data` makes its input of records, and hands it over once.
    ///
    /// # Panics
    /// If the relation needs [`moves`](Self::moves) and there are none.
    pub fn run<M>(
        &self,
        mechanism: &M,
        data: impl Fn(&[R], &mut dyn FnMut(M::Data<'_>)),
    ) -> Findings
    where
        M: Mechanism,
        M::Output: PartialEq + Serialize,
    {
        let mut findings = Findings::default();
        self.one("", mechanism, &data, &mut findings);
        findings
    }

    /// Audits a mechanism in each of its settings, which have names. A setting in which nothing was compared has not passed.
    ///
    /// # Panics
    /// As [`run`](Self::run).
    pub fn settings<M>(
        &self,
        settings: impl IntoIterator<Item = (String, M)>,
        data: impl Fn(&[R], &mut dyn FnMut(M::Data<'_>)),
    ) -> Findings
    where
        M: Mechanism,
        M::Output: PartialEq + Serialize,
    {
        let mut findings = Findings::default();
        for (name, mechanism) in settings {
            self.one(&name, &mechanism, &data, &mut findings);
        }
        findings
    }

    fn one<M, D>(&self, setting: &str, mechanism: &M, data: &D, findings: &mut Findings)
    where
        M: Mechanism,
        M::Output: PartialEq + Serialize,
        D: Fn(&[R], &mut dyn FnMut(M::Data<'_>)),
    {
        let receipt = mechanism.receipt();
        receipt.mechanism().clone_into(&mut findings.mechanism);
        findings.relation = receipt.relation().to_string();
        let mut run = Run {
            mechanism,
            data,
            usage: RefCell::new(Usage::default()),
            steered: Steered::new(self.effort.seed),
            rng: self.effort.rng(90),
            paths_left: self.effort.of(60_000, 5_000_000),
            totals: Totals::of(&receipt),
        };
        let mut rng = self.effort.rng(91);
        let mut compared = false;
        for &size in &self.sizes {
            let most = self.effort.of(60, 3_000);
            let moves = self.moves.as_ref();
            let pairs =
                neighbours::pairs(receipt.relation(), &self.records, moves, (size, most), &mut rng);
            let mut unseen = 0_u64;
            for pair in &pairs {
                match run.pair(pair, self.effort.of(4, 24)) {
                    Looked::Compared => compared = true,
                    Looked::Refused => {}
                    Looked::Blind => unseen += 1,
                }
            }
            if unseen > 0 {
                findings.unreached_settings.push(format!(
                    "{setting} with {size} records: secret coins, and too many outcomes for an exact law ({unseen} pairs)"
                ));
            }
        }
        if !compared {
            findings.unreached_settings.push(format!("{setting}: nothing was compared"));
        }
        let Run { usage, totals, .. } = run;
        let usage = usage.into_inner();
        let named = |step: &str| format!("{setting} {step}").trim().to_owned();
        findings.unreached_steps.extend(usage.unreached().map(named));
        let (more, remark) = totals.into_findings(setting);
        // Less than rounding makes of nothing.
        let nothing = |finding: &Finding| finding.found.worst <= 1e-9 * finding.found.claimed;
        if compared && more.iter().all(nothing) {
            let why =
                "no two data sets differed in what was drawn: are these records in its domain?";
            findings.unreached_settings.push(format!("{setting}: {why}"));
        }
        findings.findings.extend(more);
        findings.remarks.extend(remark);
    }
}

/// What came of a pair.
enum Looked {
    Compared,
    /// The input did not have the shape that the plan wants.
    Refused,
    /// It could not be looked at.
    Blind,
}

/// How much a law may take.
const MOST_PATHS: u64 = 20_000;

struct Run<'a, M: Mechanism, D> {
    mechanism: &'a M,
    data: &'a D,
    usage: RefCell<Usage>,
    steered: Steered,
    rng: ChaCha20Rng,
    paths_left: u64,
    totals: Totals,
}

impl<M, D> Run<'_, M, D>
where
    M: Mechanism,
    M::Output: PartialEq + Serialize,
{
    /// What a run on these records releases; `None` if the plan refuses their shape.
    fn output<R>(&self, records: &[R], source: &mut dyn Source) -> Option<M::Output>
    where
        D: Fn(&[R], &mut dyn FnMut(M::Data<'_>)),
    {
        let (mut output, handed) = (None, Cell::new(0));
        (self.data)(records, &mut |data| {
            handed.set(handed.get() + 1);
            if self.mechanism.check(&M::shape(&data)).is_ok() {
                let (released, usage) = self.mechanism.replay(data, source);
                self.usage.borrow_mut().merge(&usage);
                output = Some(released);
            }
        });
        assert_eq!(handed.get(), 1, "hand the data over once");
        output
    }

    fn pair<R>(&mut self, pair: &Pair<R>, steered_runs: u32) -> Looked
    where
        D: Fn(&[R], &mut dyn FnMut(M::Data<'_>)),
    {
        let looked = catch_unwind(AssertUnwindSafe(|| self.looked_at(pair, steered_runs)));
        looked.unwrap_or_else(|panic| {
            let why = panic_message(&*panic);
            if why == SECRET {
                return Looked::Blind;
            }
            self.totals.see_failure(&format!("{}: panicked: {why}", pair.how));
            Looked::Compared
        })
    }

    fn looked_at<R>(&mut self, pair: &Pair<R>, steered_runs: u32) -> Looked
    where
        D: Fn(&[R], &mut dyn FnMut(M::Data<'_>)),
    {
        let (Some(a), Some(b)) = (self.probed(&pair.first), self.probed(&pair.second)) else {
            let refused = [&pair.first, &pair.second].map(|records| self.probed(records).is_none());
            if refused[0] != refused[1] {
                self.totals.see_failure(&format!("{}: one of them is refused", pair.how));
                return Looked::Compared;
            }
            return Looked::Refused;
        };
        let seen = a.and(b);
        let by_law = self.laws(pair, seen);
        if let Some((p, q)) = &by_law {
            self.totals.see_laws(p, q, &pair.how);
        }
        if seen.coins {
            return if by_law.is_some() { Looked::Compared } else { Looked::Blind };
        }
        let mut rng = ChaCha20Rng::from_rng(&mut self.rng);
        let mut steered = std::mem::replace(&mut self.steered, Steered::new(0));
        let run = |records: &[R], source: &mut dyn Source| self.output(records, source);
        let neighbours = Neighbours::made_from(self.mechanism.receipt().relation());
        let [first, second] = [&pair.first[..], &pair.second[..]];
        let mut secure = SecureSource::new(&mut rng);
        let mut comparisons = vec![compare(&neighbours, run, first, second, &mut secure)];
        for _ in 0..steered_runs {
            steered.restart();
            comparisons.push(compare(&neighbours, run, first, second, &mut steered));
        }
        self.steered = steered;
        for comparison in &comparisons {
            self.totals.see_transcript(comparison, &pair.how);
        }
        Looked::Compared
    }

    /// A run by chance, and what it drew; `None` if the shape is refused.
    fn probed<R>(&mut self, records: &[R]) -> Option<Seen>
    where
        D: Fn(&[R], &mut dyn FnMut(M::Data<'_>)),
    {
        let mut rng = ChaCha20Rng::from_rng(&mut self.rng);
        let mut secure = SecureSource::new(&mut rng);
        let mut probe = Probe::new(&mut secure);
        let output = self.output(records, &mut probe);
        let seen = probe.seen();
        output.map(|_| seen)
    }

    /// The exact laws of both outputs, if there are few enough of them.
    #[expect(clippy::type_complexity, reason = "two laws of bytes")]
    fn laws<R>(&mut self, pair: &Pair<R>, seen: Seen) -> Option<(Law<Vec<u8>>, Law<Vec<u8>>)>
    where
        D: Fn(&[R], &mut dyn FnMut(M::Data<'_>)),
    {
        let window = seen.window()?;
        let relation = self.mechanism.receipt().relation();
        let mut law = |records: &[R]| {
            let most = MOST_PATHS.min(self.paths_left);
            let law = exact_law_within(window, most, |source| bytes(&self.output(records, source)));
            self.paths_left -= law.as_ref().map_or(most, Law::paths);
            law.map(|law| law.under(relation))
        };
        Some((law(&pair.first)?, law(&pair.second)?))
    }
}
