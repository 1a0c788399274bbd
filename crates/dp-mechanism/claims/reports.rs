//! Checks of threshold reports, the primitive below the monitors.

use dp_accounting::{AnyRelation, Epsilon};
use dp_audit::{Method, Window, exact_law, statistical};
use dp_mechanism::{
    DiscreteGaussian, Draws, Geometric, Grid, JumpSizes, Law, Private, Reported, SecureSource,
    Source, ThresholdReports, Touched,
};

use dp_audit::harness::toys::Jumping;
use dp_audit::harness::{Check, Effort, Found};

pub(super) fn checks() -> Vec<Check> {
    let one_sided = "ThresholdReports::one_sided";
    let jumping = "ThresholdReports, jumps against the loop";
    vec![
        Check::new("reports-one-sided", one_sided, "add-only", Method::Exact, self::one_sided),
        Check::new(
            "reports-two-sided",
            "ThresholdReports::two_sided",
            "add-remove",
            Method::Exact,
            two_sided,
        ),
        Check::new("reports-jumps", jumping, "none", Method::Sampler, jumps).resolution(1.1),
        Check::new("reports-jumps-law", jumping, "none", Method::Exact, law_of_jumps),
    ]
}

const THRESHOLD: i64 = 2;

fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).expect("valid")
}

/// The reports of cells with these counts, noisy counts followed to `more` above the threshold.
fn law(reports: &ThresholdReports, counts: [u32; 2], more: i64) -> dp_audit::Law<Vec<Reported>> {
    exact_law(Window::new(0, THRESHOLD + more), |draws| {
        let touched = Touched { cells: &[0, 2], counts: &counts };
        reports.release(Private::new(touched), 1, THRESHOLD, &mut Draws::unplanned(draws))
    })
    .without_receipt()
}

/// An added record costs what it is charged for: one report, however high the noisy count.
fn one_sided(effort: Effort) -> Found {
    let reports = ThresholdReports::one_sided(epsilon(0.6), Grid::Cells(3), 1).expect("in range");
    let mut found = Found::claim(reports.each().get());
    let more = effort.of(4, 12);
    for other in 0..4 {
        for count in 0..5 {
            let (without, with) = ([other, count], [other, count + 1]);
            let loss = law(&reports, with, more).pure_loss(&law(&reports, without, more));
            found.see(loss, || format!("counts {without:?} and one more in the second"));
        }
    }
    found
}

fn two_sided(effort: Effort) -> Found {
    let reports = ThresholdReports::two_sided(epsilon(0.6), Grid::Cells(3), 1).expect("in range");
    let mut found = Found::claim(reports.each().get());
    let more = effort.of(4, 12);
    for count in 0..6 {
        let (a, b) = (law(&reports, [1, count], more), law(&reports, [1, count + 1], more));
        let loss = a.pure_loss(&b).max(b.pure_loss(&a));
        found.see(loss, || format!("counts {count} and {}", count + 1));
    }
    found
}

/// Goes through the grid cell by cell, as the definition does.
struct CellByCell<'a>(&'a mut dyn Source);

impl Source for CellByCell<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.0.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        self.0.draw(law)
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.0.noisy_vector(values, noise);
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.0.noisy_max(scores, noise)
    }
}

/// Number of reports, and the first cell reported, on a grid of 50 items and 4 steps: both ways of drawing
/// against each other, as a share of what chance may do except with probability 1e-6 on either side.
fn jumps(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let runs = effort.of(2_000, 200_000);
    let touched = Touched { cells: &[49, 7, 30], counts: &[1, 6, 2] };
    let each = epsilon(0.9);
    for (name, reports) in [
        ("one-sided", ThresholdReports::one_sided(each, Grid::Cells(50), 4)),
        ("two-sided", ThresholdReports::two_sided(each, Grid::Cells(50), 4)),
    ] {
        let reports = reports.expect("in range");
        let mut rng = effort.rng(71);
        let mut sample = |by_cell: bool| -> [Vec<i64>; 2] {
            let mut seen = [Vec::new(), Vec::new()];
            for _ in 0..runs {
                let mut source = SecureSource::new(&mut rng);
                let found = if by_cell {
                    let mut cells = CellByCell(&mut source);
                    reports.release(Private::new(touched), 4, 5, &mut Draws::unplanned(&mut cells))
                } else {
                    reports.release(Private::new(touched), 4, 5, &mut Draws::unplanned(&mut source))
                };
                let place = |r: &Reported| i64::try_from(r.step * 50 + r.cell).expect("small");
                seen[0].push(i64::try_from(found.len()).expect("at most 200"));
                seen[1].push(found.first().map_or(-1, place));
            }
            seen
        };
        let (plain, fast) = (sample(true), sample(false));
        for (mut plain, mut fast) in plain.into_iter().zip(fast) {
            plain.sort_unstable();
            let below = |x: i64| plain.partition_point(|&y| y <= x) as f64 / plain.len() as f64;
            let distance = statistical::largest_cdf_distance(&mut fast, below);
            // Both are samples: each may stray from the truth by the bound.
            let chance = 2.0 * statistical::dkw_bound(runs, statistical::ALPHA);
            found.see(distance / chance, || name.to_owned());
        }
    }
    found
}

/// Which cells are reported together and with what noisy counts: the code of a release, all of whose coins are gone through, against the
/// loop over cells, to eleven digits. For thresholds on both sides of the reach of the skeleton, counts on both sides of the threshold, with
/// the usual skeleton and one of its own for the steps before the last, with counts put in order or not. The control, one count more,
/// has another law.
fn law_of_jumps(effort: Effort) -> Found {
    let mut found = Found::claim(1e-11);
    let sides = [ThresholdReports::one_sided, ThresholdReports::two_sided];
    for (least, threshold) in [(0, 0), (1, 1), (1, 3), (3, 3), (4, 5)] {
        for reports in sides {
            let reports = reports(epsilon(0.75), Grid::Cells(2), least).expect("in range");
            for counts in [[1, 1], [1, 2], [2, 3], [4, 1], [6, 2]] {
                let law = |counts: &[u32], sizes: Option<JumpSizes>| {
                    exact_law(Window::new(0, threshold + effort.of(1, 3)), |source| {
                        let touched = Private::new(Touched { cells: &[1, 0], counts });
                        let release = |source: &mut dyn Source| {
                            reports.release(touched, 2, threshold, &mut Draws::unplanned(source))
                        };
                        match sizes {
                            Some(sizes) => release(&mut Jumping { source, sizes }),
                            None => release(source),
                        }
                    })
                    .without_receipt()
                };
                let truth = law(&counts, None);
                for (own_skeleton, scans) in
                    [(0, 0), (0, 1), (1, 2), (u128::MAX, 0), (u128::MAX, 64)]
                {
                    let jumps = law(&counts, Some(JumpSizes { own_skeleton, scans }));
                    let case = || format!("{counts:?} at {threshold}, {own_skeleton} and {scans}");
                    found.see(distance(&jumps, &truth), case);
                }
                // Far above the threshold, all that is told apart is certain.
                if i64::from(counts[1]) <= threshold {
                    let more = law(&[counts[0], counts[1] + 1], Some(JumpSizes::default()));
                    let blind = distance(&more, &truth) < 1e-3;
                    found.see(if blind { f64::INFINITY } else { 0.0 }, || "no power".to_owned());
                }
            }
        }
    }
    found
}

fn distance(a: &dp_audit::Law<Vec<Reported>>, b: &dp_audit::Law<Vec<Reported>>) -> f64 {
    let here: f64 = a.iter().map(|(output, p)| (p - b.probability(output)).abs()).sum();
    let elsewhere = b.iter().filter(|(output, _)| a.probability(output) == 0.0);
    here + elsewhere.map(|(_, p)| p).sum::<f64>()
}
