//! Public settings of a k-means over clients, and what follows from them.

use dp_accounting::{Epsilon, Receipt, ReplaceOne};
use dp_geometry::{FixedPointGrid, GeometryError, PublicBox};
use serde::{Deserialize, Serialize};

use super::projection;
use super::session::Session;
use super::start;
use crate::bytes::Writer;
use crate::{CodebookVector, FrequencyOracle, LocalError, LocalHashing, Oracle, PublicCoins};

/// k-means of clients who trust nobody: one histogram, then rounds of re-centring, one byte per client.
///
/// Public coins put each client into one round. In the first, clients say in which cell they are of one of four shifted grids;
/// Gaussian clusters that explain the noisy histograms give the first centres. In each later round clients say how they lie from the nearest centre (residual,
/// presence, squared residual: a vector in one byte). The server moves each centre by what they say, as far as it knows better than before,
/// and asks the next clients with a smaller radius, so the noise shrinks with it. In more than five dimensions cells are those of three
/// public projections to four, of which that one counts on which clusters are furthest apart, and residuals have all dimensions.
///
/// # Guarantee
/// `epsilon`-DP for each client, pure, under [`ReplaceOne`] for a data set of its one record, or none: against the server, whoever reads
/// along, all other clients together, and a server that asks other questions than it should. Whether and when a client answers is public and
/// must not depend on its record. Nothing composes as long as a client answers in one session.
///
/// # Utility
/// See the crate's README for what was measured. A cluster is found if its clients stand out of the noise of the cells that it
/// covers: about `4 sqrt(cells x variance x n / 2)` clients of the first round, half of all. A centre that does
/// not stand out is a guess, and its error is half of the box. What is found comes with
/// [standard errors](super::LocalCentres::standard_errors), by noise alone: that k-means has no better solution is not promised.
///
/// # Complexity
/// A client: `symbols (d + 3)` multiplications. The server: counts; then hash values of all classes and cells, or one direction per message.
///
/// # Shapes and units
/// Records of the box's dimension, `k` centres.
///
/// # Bad records
/// Coordinates that are missing or not a number count as the middle of the box, those outside as the nearest inside. A client without a
/// record answers too, with a cell or a vector of its own.
///
/// # Liars
/// An answer can be any symbol, so one client adds a bounded share, see [`Server::largest_moves`](super::Server::largest_moves); as many as
/// collude add as many. Privacy makes that share larger than that of an honest collector's record: at epsilon 1 some tenfold. In the first round,
/// where no bound on a centre holds, a few per cent of the clients can make a cluster that is not there; the crate's README has a table.
///
/// # Source
/// The task: Stemmer and Kaplan (2018). The rounds: shrinking clipped means after Biswas et al. (2020), all clusters at once.
///
/// # Example
/// ```
/// use dp_local::{Client, LocalKMeans, LocalKMeansSettings, PublicBox, Question, Server, chacha_from_os};
///
/// let domain = PublicBox::cube(2, 0.0, 100.0)?;
/// let plan = LocalKMeans::new(domain, 3, 2.0, 3_000, LocalKMeansSettings::default())?;
/// let session = plan.session(20_261_122);
/// let mut server = Server::new(session.clone());
/// while !server.is_finished() {
///     let broadcast = server.question().to_bytes();
///     // On each client, which reads the broadcast for itself:
///     for number in 0..3_000 {
///         let client = Client::new(&session, number)?;
///         let question = Question::from_bytes(&session, &broadcast)?;
///         if client.round() == question.round() {
///             let record = [[20.0, 70.0], [50.0, 10.0], [80.0, 80.0]][number as usize % 3];
///             let mut rng = chacha_from_os()?;
///             if let Ok(message) = client.answer(&question, Some(&record), &mut rng) {
///                 server.receive(&message.to_bytes(&session))?;
///             }
///         }
///     }
///     server.finish_round()?;
/// }
/// println!("{:?}", server.centres());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Asked", into = "Asked")]
pub struct LocalKMeans {
    asked: Asked,
    epsilon: Epsilon,
    /// The cells of the box.
    grid: FixedPointGrid,
    /// How many pictures of the records there are, and grids of each.
    pictures: (u32, u32),
    /// Shifted grids, with one cell more along each axis.
    views: Vec<FixedPointGrid>,
    /// The codebook of a round; a session puts its own coins in.
    vectors: CodebookVector,
    hash: u64,
}

/// Settings of [`LocalKMeans`]. Nothing here depends on data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LocalKMeansSettings {
    /// Rounds of re-centring after the histogram. Default: 3. With 0, all clients answer at once and the cells alone decide.
    pub rounds: u8,
    /// Cells of the histogram along each axis. Default: what the noise allows, finer for more clients and a larger epsilon.
    pub cells_per_axis: Option<u32>,
    /// Directions in a codebook, 2 to 256. Default: 256, one byte. Audits take few.
    pub symbols: u32,
}

impl Default for LocalKMeansSettings {
    fn default() -> Self {
        Self { rounds: 3, cells_per_axis: None, symbols: CodebookVector::MAX_SYMBOLS }
    }
}

/// What was asked for. The file form of plans, which are read back through their checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    public_box: PublicBox,
    k: usize,
    epsilon: f64,
    clients: u32,
    settings: LocalKMeansSettings,
}

/// The share of the clients who say which cell they are in, if there are rounds after that.
const START_SHARE: f64 = 0.5;

/// Grids that divide the clients of the first round, each shifted along the diagonal by a part of a cell: a cluster that one divides among
/// many cells lies within few cells of another, and where it lies within a cell is known from all.
const VIEWS: u32 = 4;

/// The same with projections, of each.
const VIEWS_OF_PROJECTION: u32 = 2;

/// Projections that are tried: on all of three, two of eight clusters lie over each other in some ten of a hundred cases. Where noise is small, more
/// of them lose fewer clusters; where it is large, each of more has too few clients.
const PROJECTIONS: u32 = 3;
const MORE_PROJECTIONS: u32 = 5;
/// Below this share of all clients, the noise of a cell is small: that is between epsilon 1 and 2 for a million clients.
const SMALL_NOISE: f64 = 0.002;

impl Asked {
    /// Every message is compared with it, so it is computed once.
    fn hash(&self, cells: u32, pictures: u32) -> u64 {
        let mut bytes = Writer::default();
        for axis in 0..self.public_box.dim() {
            bytes.f64(self.public_box.min(axis));
            bytes.f64(self.public_box.max(axis));
        }
        bytes.u64(self.k as u64);
        bytes.f64(self.epsilon);
        bytes.u32(self.clients);
        bytes.u8(self.settings.rounds);
        bytes.u32(cells);
        if pictures > PROJECTIONS {
            // Earlier versions had no more.
            bytes.u32(pictures);
        }
        bytes.u32(self.settings.symbols);
        bytes.hash()
    }
}

/// How many pictures of records of this dimension there are, and grids of each.
fn pictures(dim: usize, noise: f64) -> (u32, u32) {
    match (projection::is_needed(dim), noise < SMALL_NOISE) {
        (false, _) => (1, VIEWS),
        (true, false) => (PROJECTIONS, VIEWS_OF_PROJECTION),
        (true, true) => (MORE_PROJECTIONS, VIEWS_OF_PROJECTION),
    }
}

/// The noise of a cell among these clients, as a share of them.
fn noise_of_cells(epsilon: Epsilon, clients: u32) -> Result<f64, LocalError> {
    let oracle = Oracle::best(epsilon, 1 << 10, clients, PublicCoins::new(0))?;
    Ok((oracle.variance(0.0, 0.0) / f64::from(clients)).sqrt())
}

fn share_of(clients: u32, share: f64) -> u32 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a u32")]
    let part = (f64::from(clients) * share).ceil() as u32;
    part.max(1)
}

fn round_clients(clients: u32, rounds: u8) -> u32 {
    share_of(clients, (1.0 - START_SHARE) / f64::from(rounds.max(1)))
}

/// The box of a grid with one cell more that begins below another one by this part of a cell.
fn shifted(grid: &FixedPointGrid, shift: f64) -> Result<PublicBox, GeometryError> {
    let ends = |axis: usize| {
        let (min, width) = (grid.public_box().min(axis), grid.cell_width(axis));
        let below = min - shift * width;
        (below, below + (f64::from(grid.cells()) + 1.0) * width)
    };
    let (mins, maxs): (Vec<f64>, Vec<f64>) = (0..grid.dim()).map(ends).unzip();
    PublicBox::new(mins, maxs)
}

/// As many cells as the noise allows: where a cell's noise is the share `s` of all clients, about `1.7 x 1.95^(d - 2) s^-.8` of them, which was
/// the best of a few on planted clusters. A few more or fewer matter little, since the grids are shifted. On a projection clusters take
/// up less of the box, and more cells tell more of them apart: as many as this factor.
fn best_cells(noise: f64, dim: usize) -> u32 {
    const OF_PROJECTION: f64 = 4.0;
    let axes = projection::grid_dim(dim);
    let more = if projection::is_needed(dim) { OF_PROJECTION } else { 1.0 };
    let total = more * 1.7 * 1.95_f64.powf(axes as f64 - 2.0) * noise.powf(-0.8);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    {
        total.powf(1.0 / axes as f64).round().clamp(2.0, 256.0) as u32
    }
}

impl LocalKMeans {
    /// For so many clients with records in a public box, `k` clusters, and the whole loss of each client.
    ///
    /// Checks the settings; afterwards nothing can fail but what arrives from outside.
    ///
    /// # Errors
    /// No cluster or more than 1024; a box whose squares would overflow or vanish; no clients, or more than `2^30`; more than 16 rounds; too many dimensions for so many clusters; cells,
    /// symbols or an epsilon out of range.
    pub fn new(
        public_box: PublicBox,
        k: usize,
        epsilon: f64,
        clients: u32,
        settings: LocalKMeansSettings,
    ) -> Result<Self, LocalError> {
        let limit = |name, got: i128, most, want| {
            if (1..=most).contains(&got) {
                Ok(())
            } else {
                Err(LocalError::OutOfRange { name, got, want })
            }
        };
        limit("k", k as i128, 1024, "at least 1 and at most 1024")?;
        limit("clients", clients.into(), 1 << 30, "at least 1 and at most 2^30")?;
        if settings.rounds > 16 {
            let got = settings.rounds.into();
            return Err(LocalError::OutOfRange { name: "rounds", got, want: "at most 16" });
        }
        let dim = public_box.dim();
        let diagonal = public_box.diagonal();
        if !(1e-60..=1e60).contains(&diagonal) {
            let (name, want) = ("diagonal of the box", "at least 1e-60 and at most 1e60");
            return Err(LocalError::real(name, diagonal, want));
        }
        let coordinates = (dim as i128 + 2) * k as i128;
        let want = "at most 65536";
        limit("k (dim + 2)", coordinates, CodebookVector::MAX_DIM as i128, want)?;
        let asked = Asked { public_box, k, epsilon, clients, settings };
        let epsilon = Epsilon::new(epsilon)?;
        let start_clients = share_of(clients, if settings.rounds == 0 { 1.0 } else { START_SHARE });
        let axes = projection::grid_dim(dim);
        let noise = noise_of_cells(epsilon, start_clients)?;
        let cells = settings.cells_per_axis.unwrap_or_else(|| best_cells(noise, dim));
        let most = u64::from(LocalHashing::MAX_CELLS - 1);
        let total = u64::from(cells) + 1;
        let total = total.checked_pow(u32::try_from(axes).unwrap_or(u32::MAX));
        if cells == 0 || total.is_none_or(|total| total > most) {
            let want = "at least 1, with fewer than 2^22 cells in all of one more";
            return Err(LocalError::OutOfRange { name: "cells per axis", got: cells.into(), want });
        }
        let grid = FixedPointGrid::new(projection::grid_box(&asked.public_box)?, cells)?;
        let pictures = pictures(dim, noise);
        let (number, each) = pictures;
        let views = (0..each)
            .map(|view| FixedPointGrid::new(shifted(&grid, start::shift(view, each))?, cells + 1))
            .collect::<Result<_, _>>()?;
        let round_clients = round_clients(clients, settings.rounds);
        let books = (round_clients / 16).clamp(1, CodebookVector::MAX_BOOKS).next_power_of_two();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
        let coordinates = coordinates as usize;
        let coins = PublicCoins::new(0);
        let vectors = CodebookVector::new(epsilon, coordinates, settings.symbols, books, coins)?;
        let hash = asked.hash(cells, number);
        let plan = LocalKMeans { asked, epsilon, grid, pictures, views, vectors, hash };
        plan.start(coins)?;
        Ok(plan)
    }

    /// What a client's answer costs it, in whichever round: all rounds cost the same, and a client is in one.
    pub fn receipt(&self) -> Receipt<ReplaceOne> {
        crate::oracle::receipt("local-k-means", self.vectors.response())
    }

    /// The public box.
    pub fn public_box(&self) -> &PublicBox {
        &self.asked.public_box
    }

    /// The number of clusters.
    pub fn k(&self) -> usize {
        self.asked.k
    }

    /// The number of clients that was planned for; theirs are the numbers below it.
    pub fn clients(&self) -> u32 {
        self.asked.clients
    }

    /// How many clients a round expects.
    pub fn clients_of(&self, round: u8) -> u32 {
        match (round, self.asked.settings.rounds) {
            (0, 0) => self.asked.clients,
            (0, _) => share_of(self.asked.clients, START_SHARE),
            (_, rounds) => round_clients(self.asked.clients, rounds),
        }
    }

    /// Rounds of re-centring.
    pub fn rounds(&self) -> u8 {
        self.asked.settings.rounds
    }

    /// Cells of the histogram along each of its axes.
    pub fn cells_per_axis(&self) -> u32 {
        self.grid.cells()
    }

    /// The number of bytes that carry an answer, the same for all records.
    pub fn answer_bytes(&self, round: u8) -> usize {
        let symbols = if round == 0 {
            self.start(PublicCoins::new(0)).map_or(2, |oracle| oracle.response().symbols())
        } else {
            self.vectors.response().symbols()
        };
        if symbols <= 256 { 1 } else { 2 }
    }

    /// A number that plans with other settings do not share.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// A session of this plan. Its number decides who is asked what; two surveys of the same clients need two, and cost twice.
    pub fn session(&self, session: u64) -> Session {
        Session::new(self.clone(), session)
    }

    pub(super) fn grid(&self) -> &FixedPointGrid {
        &self.grid
    }

    /// How many pictures of the records there are, and grids of each, that divide the clients of the first round.
    pub(super) fn pictures(&self) -> (u32, u32) {
        self.pictures
    }

    /// The number of all grids.
    pub(super) fn views(&self) -> u32 {
        let (pictures, each) = self.pictures();
        pictures * each
    }

    /// The grid of some clients of the first round, and of which picture it is.
    pub(super) fn view(&self, number: u32) -> (usize, &FixedPointGrid) {
        let (pictures, each) = self.pictures();
        ((number / each % pictures) as usize, &self.views[(number % each) as usize])
    }

    pub(super) fn vectors(&self, coins: PublicCoins) -> CodebookVector {
        self.vectors.with_coins(coins)
    }

    /// The histogram's cells, and one more for clients without a record.
    pub(super) fn start(&self, coins: PublicCoins) -> Result<Oracle, LocalError> {
        let axes = u32::try_from(self.grid.dim()).unwrap_or(u32::MAX);
        let cells = (self.grid.cells() + 1).saturating_pow(axes).saturating_add(1);
        Oracle::best(self.epsilon, cells, self.clients_of(0).div_ceil(self.views()), coins)
    }

    /// Where the shares of the clients in all rounds so far end, as parts of `2^32`.
    pub(super) fn round_at(&self, place: u32) -> u8 {
        let rounds = self.asked.settings.rounds;
        let place = f64::from(place) / 2_f64.powi(32);
        if rounds == 0 || place < START_SHARE {
            return 0;
        }
        let later = (place - START_SHARE) / (1.0 - START_SHARE) * f64::from(rounds);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below rounds")]
        let later = later as u8;
        later.min(rounds - 1) + 1
    }

    /// Whether cells are those of a projection.
    pub(super) fn is_projected(&self) -> bool {
        projection::is_needed(self.public_box().dim())
    }
}

impl TryFrom<Asked> for LocalKMeans {
    type Error = LocalError;

    fn try_from(asked: Asked) -> Result<Self, LocalError> {
        Self::new(asked.public_box, asked.k, asked.epsilon, asked.clients, asked.settings)
    }
}

impl From<LocalKMeans> for Asked {
    fn from(plan: LocalKMeans) -> Self {
        plan.asked
    }
}
