//! What the server knows after a round, and what a round adds to it.

use super::message::{Ask, Question};
use super::projection::Anchors;
use super::session::{PRESENCE, RESIDUAL, SPREAD, Session};
use super::start::Start;
use crate::{CodebookVector, LocalError, SymbolCounts, VectorSum};

/// Centres, and how well they are known. All of it is computed from answers, so it is public.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fit {
    /// `(k, dim)`, row-major.
    pub(super) centres: Vec<f64>,
    /// Of a coordinate of each centre.
    pub(super) variances: Vec<f64>,
    /// The share of the clients that each centre has.
    pub(super) shares: Vec<f64>,
    pub(super) share_variances: Vec<f64>,
    /// Where residuals are cut off next.
    pub(super) radius: f64,
    /// Where the centres lie on the projection, as long as that is all that is known.
    pub(super) anchors: Option<Anchors>,
}

/// What earlier rounds knew counts less than it did then: clients were assigned to other centres.
const MEMORY: f64 = 0.8;

impl Fit {
    /// Nobody answered: all centres in the middle, and nothing known.
    pub(super) fn nothing(session: &Session) -> Self {
        let (public_box, k) = (session.plan().public_box(), session.plan().k());
        let middle: Vec<f64> = (0..public_box.dim()).map(|j| public_box.middle(j)).collect();
        let half = 0.5 * public_box.diagonal();
        let anchors = session
            .projections()
            .first()
            .map(|first| Anchors { projection: 0, places: first.of(&middle).repeat(k) });
        Self {
            centres: middle.repeat(k),
            variances: vec![half * half; k],
            shares: vec![1.0 / k as f64; k],
            share_variances: vec![1.0; k],
            radius: half,
            anchors,
        }
    }

    /// What cells say, and where residuals are cut off first.
    pub(super) fn from_start(session: &Session, start: Start) -> Self {
        let (plan, k) = (session.plan(), session.plan().k());
        let (grid, axes) = (plan.grid(), plan.grid().dim());
        let noise = start.variances.iter().sum::<f64>() / k as f64;
        let half = 0.5 * grid.public_box().diagonal();
        let smallest = 0.5 * half / f64::from(grid.cells());
        let radius = wanted_radius(start.squared_width, noise, axes).clamp(smallest, half);
        let Start { picture, centres, variances, shares, share_variances, .. } = start;
        match session.projections().get(usize::from(picture)) {
            None => Self { centres, variances, shares, share_variances, radius, anchors: None },
            Some(projection) => {
                let lifted: Vec<f64> =
                    centres.chunks_exact(axes).flat_map(|on| projection.lifted(on)).collect();
                let radius = projection.typical_distance();
                Self {
                    centres: lifted,
                    variances: vec![radius * radius; k],
                    shares,
                    share_variances,
                    radius,
                    anchors: Some(Anchors { projection: picture, places: centres }),
                }
            }
        }
    }

    /// That a server can have left this behind: what came from bytes may be any finite numbers.
    pub(super) fn check(&self, session: &Session) -> Result<(), LocalError> {
        let all = |what, list: &[f64], [least, most]: [f64; 2]| match list
            .iter()
            .find(|x| !(least..=most).contains(*x))
        {
            Some(&got) => Err(LocalError::State { what, got, least, most }),
            None => Ok(()),
        };
        let public_box = session.plan().public_box();
        let (half, dim) = (0.5 * public_box.diagonal(), public_box.dim());
        for (i, x) in self.centres.iter().enumerate() {
            // What is lifted from a projection lies within its reach of the box.
            let (i, far) = (i % dim, 4.0 * half);
            let sides = [public_box.min(i) - far, public_box.max(i) + far];
            all("a coordinate of a centre", &[*x], sides)?;
        }
        all("the variance of a centre", &self.variances, [0.0, f64::MAX])?;
        all("the variance of a share", &self.share_variances, [0.0, f64::MAX])?;
        all("the radius", &[self.radius], [f64::MIN_POSITIVE, 4.0 * half])
    }

    /// The question of the next round.
    pub(super) fn question(&self, session: &Session, round: u8) -> Question {
        let (centres, anchors) = (self.centres.clone(), self.anchors.clone());
        Question::new(session, round, Ask::Recentre { centres, radius: self.radius, anchors })
    }

    /// The most that one answer of so many, forged or not, moves a coordinate of each centre in a round.
    ///
    /// It adds at most `share` to a sum, which moves the mean of the residuals, and the number of clients that it is over; the mean is at
    /// most the radius.
    pub(super) fn largest_moves(&self, share: f64, clients: f64) -> Vec<f64> {
        let per_client = self.radius * share * (1.0 / RESIDUAL + 1.0 / PRESENCE);
        let here = self.shares.iter().map(|size| clients * size.max(1.0 / clients));
        here.map(|here| per_client / here).collect()
    }

    /// What is known after the answers of a round.
    pub(super) fn next(
        &self,
        session: &Session,
        vectors: &CodebookVector,
        counts: &SymbolCounts,
    ) -> Result<Self, LocalError> {
        let clients = counts.total() as f64;
        let sums = vectors.estimate(counts)?;
        if clients < 1.0 {
            return Ok(Self { anchors: None, ..self.clone() });
        }
        let alike = clients / f64::from(vectors.books()) / session.plan().k() as f64;
        let variance = clients * (vectors.variance() + vectors.shared_variance(alike));
        Ok(self.moved(session, &sums, clients, variance))
    }

    /// The same with sums whose coordinates have this variance.
    fn moved(&self, session: &Session, sums: &VectorSum, clients: f64, variance: f64) -> Self {
        let public_box = session.plan().public_box();
        let dim = public_box.dim();
        let sums = sums.map(|sum| sum);
        let mut next = self.clone();
        next.anchors = None;
        let (mut inside, mut weight) = (0.0, 0.0);
        for (at, slot) in sums.chunks_exact(dim + 2).enumerate() {
            // How many clients are here: what was known, and what they say now.
            let said = slot[dim] / PRESENCE / clients;
            let said_variance = variance / (PRESENCE * PRESENCE * clients * clients);
            let (share, share_variance) =
                joined((self.shares[at], self.share_variances[at]), (said, said_variance));
            (next.shares[at], next.share_variances[at]) = (share, share_variance);
            let least = 2.0 * share_variance.sqrt();
            let here = clients * share.max(least).max(1.0 / clients);
            // Their mean residual, and their mean squared one.
            let unit = self.radius / RESIDUAL / here;
            let noise = variance * unit * unit;
            let moved: Vec<f64> = slot[..dim].iter().map(|sum| sum * unit).collect();
            let squared = self.radius * self.radius * slot[dim + 1] / SPREAD;
            let shift: f64 = moved.iter().map(|x| x * x).sum();
            inside += squared - here * (shift - dim as f64 * noise).max(0.0);
            weight += here;
            let known = (self.variances[at] / MEMORY, noise);
            let trust = known.0 / (known.0 + known.1);
            next.variances[at] = known.0 * known.1 / (known.0 + known.1);
            let centre = &mut next.centres[at * dim..(at + 1) * dim];
            for (j, (x, step)) in centre.iter_mut().zip(&moved).enumerate() {
                *x = public_box.clip_coordinate(j, *x + trust * step);
            }
        }
        let k = self.shares.len() as f64;
        let spread_noise = self.radius * self.radius * (variance * k).sqrt() / SPREAD;
        let squared = inside.max(spread_noise) / weight / dim as f64;
        let wanted = wanted_radius(squared, next.variances.iter().sum::<f64>() / k, dim);
        next.radius = wanted.clamp(0.02 * self.radius, self.radius);
        next
    }
}

/// Residuals are cut off at twice their root mean square, and twice the error of a centre: few are, and hardly further from one side than
/// from the other. Both are given by coordinate and squared.
fn wanted_radius(squared: f64, variance: f64, dim: usize) -> f64 {
    2.0 * (dim as f64).sqrt() * (squared.sqrt() + variance.sqrt())
}

/// Two estimates of one number, the first of which has aged.
fn joined((old, old_variance): (f64, f64), (new, new_variance): (f64, f64)) -> (f64, f64) {
    let old_variance = old_variance / MEMORY;
    let trust = old_variance / (old_variance + new_variance);
    let variance = old_variance * new_variance / (old_variance + new_variance);
    (old + trust * (new - old), variance)
}
