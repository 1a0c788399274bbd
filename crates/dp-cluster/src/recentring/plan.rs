//! All rounds in a row, on any private centres.

use dp_accounting::{Rho, Step};
use dp_geometry::{Points, PointsView, PublicBox};
use dp_mechanism::Draws;

use super::centres::Centres;
use super::locate::locate;
use super::merge::Until;
use super::round::{Round, radii};
use super::settings::Rounds;
use crate::ClusterError;
use crate::dpm::Clustering;

/// A checked and calibrated sequence of rounds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Recentring {
    public_box: PublicBox,
    settings: Rounds,
    clusters: Option<usize>,
    rounds: Vec<Round>,
    radii: Vec<f64>,
}

/// Where to start: released centres and counts.
pub(super) struct Start {
    pub(super) centres: Points,
    pub(super) counts: Vec<i64>,
    /// Private: the centre of each point in the first round, if that is not the nearest. A function
    /// of the point and released values.
    pub(super) labels: Option<Vec<u32>>,
}

impl Recentring {
    pub(super) fn new(
        public_box: PublicBox,
        settings: Rounds,
        clusters: Option<usize>,
        total: Rho,
    ) -> Result<Self, ClusterError> {
        settings.checked()?;
        let parts = total.split(&[settings.radii, 1.0 - settings.radii])?;
        let sums = parts[1].split(&settings.shares)?;
        let radius = parts[0].split(&vec![1.0; sums.len()])?;
        let rounds = radius.into_iter().zip(sums).map(|(radius, sums)| Round::new(radius, sums));
        let rounds = rounds.collect::<Result<_, _>>()?;
        let radii = radii(&public_box);
        Ok(Self { public_box, settings, clusters, rounds, radii })
    }

    pub(super) fn spent(&self) -> Step {
        let rounds = self.rounds.iter().enumerate();
        Step::sequential("re-centring", rounds.map(|(t, round)| round.spent(t + 1)).collect())
    }

    pub(super) fn run(
        &self,
        points: PointsView<'_>,
        start: Start,
        draws: &mut dyn Draws,
    ) -> Clustering {
        let mut centres = Centres::new(&start.centres, &start.counts, self.public_box.diagonal());
        let total: f64 = centres.others.iter().map(|other| other.count).sum();
        #[allow(clippy::cast_possible_truncation, reason = "saturates")]
        let target0 = (super::centres::knob("q0", 0.95) * total).round() as i64;
        let target1 = (self.settings.quantile * total).round() as i64;
        let mut search = start.labels.is_none();
        let mut labels = start.labels.unwrap_or_else(|| vec![0; points.len()]);
        let mut last_radius = 0.0;
        for (t, round) in self.rounds.iter().enumerate() {
            if t > 0 && t + self.settings.settle < self.rounds.len() {
                let wanted = self.clusters.unwrap_or(0);
                centres.split(wanted, 0.1 * last_radius, t, &self.public_box);
            }
            let target = if t < super::centres::knob("nq0", 1.0) as usize { target0 } else { target1 };
            let distances =
                locate(points, &self.public_box, centres.view(), &mut labels, search);
            let radius = round.choose_radius(&self.radii, &distances, target, draws);
            centres.set_radii(round, radius);
            let located = (&labels[..], &distances[..]);
            let vectors = round.sum(points, &self.public_box, &centres, located, draws);
            centres.update(round, &vectors, &self.public_box);
            last_radius = radius;
            if std::env::var("DBG").is_ok() {
                let lost = centres.others.iter().filter(|o| o.lost).count();
                let reach = centres.others.iter().map(|o| o.radius).fold(0.0, f64::max);
                let sd = { let mut v: Vec<f64> = centres.others.iter().map(|o| o.variance.sqrt()).collect(); v.sort_by(f64::total_cmp); (v[v.len()/2], v[v.len()-1]) };
                let small = centres.others.iter().filter(|o| o.count < 2.0 * round.count_noise()).count();
                let mut dd = distances.clone(); dd.sort_by(f64::total_cmp);
                eprintln!("t {t} m {} r {radius:.2} (med dist {:.2} max {:.2}) lost {lost} reach {reach} sd {sd:.3?} small {small} cnoise {:.0}", centres.len(), dd[dd.len()/2], dd[dd.len()-1], round.count_noise());
            }
            search = true;
            if t + 1 >= self.settings.merge_after || t + 1 == self.rounds.len() {
                let moved = centres.drop_below(2.0 * round.count_noise(), self.clusters.unwrap_or(1));
                follow(&mut labels, &moved);
                let until = self.clusters.map_or(Until::Apart(0.5 * radius), Until::Clusters);
                let moved = centres.merge(until);
                follow(&mut labels, &moved);
            }
        }
        #[allow(clippy::cast_possible_truncation, reason = "a noisy count of records")]
        let counts = centres.others.iter().map(|other| (other.count.round() as i64).max(1));
        Clustering { counts: counts.collect(), centres: centres.view().to_points() }
    }
}

fn follow(labels: &mut [u32], moved: &[u32]) {
    for label in labels {
        *label = moved[*label as usize];
    }
}
