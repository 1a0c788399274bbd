//! A first look at what a mechanism draws.

use dp_mechanism::{DiscreteGaussian, Geometric, Law, Noise, Source};

use crate::Window;
use crate::noise_law::{noise_scale, report_scale};
use crate::numbers::ratio_to_f64;

/// Passes draws on and notes what they were like.
pub(super) struct Probe<'a> {
    outcomes: &'a mut dyn Source,
    seen: Seen,
}

/// What a run drew.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Whether there were secret coins, which cannot be compared.
    pub(super) coins: bool,
    /// Whether there were noisy integers, and between which values.
    ends: Option<(i64, i64)>,
    scale: f64,
}

/// How many scales around its values noise is followed in an exact law: beyond lie five in a billion.
const REACH: f64 = 19.0;

/// Wider windows have too many outcomes.
const WIDEST: i64 = 4_000;

impl<'a> Probe<'a> {
    pub(super) fn new(outcomes: &'a mut dyn Source) -> Self {
        Self { outcomes, seen: Seen { coins: false, ends: None, scale: 0.0 } }
    }

    pub(super) fn seen(&self) -> Seen {
        self.seen
    }

    fn note(&mut self, values: impl IntoIterator<Item = i64>, scale: f64) {
        self.seen.scale = self.seen.scale.max(scale);
        for value in values {
            let (low, high) = self.seen.ends.unwrap_or((value, value));
            self.seen.ends = Some((low.min(value), high.max(value)));
        }
    }
}

impl Seen {
    /// Both runs together.
    pub(super) fn and(self, other: Self) -> Self {
        let ends = match (self.ends, other.ends) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        Self { coins: self.coins || other.coins, ends, scale: self.scale.max(other.scale) }
    }

    /// Wide enough for the noisy integers, or `None` if that is too wide.
    pub(super) fn window(self) -> Option<Window> {
        let Some((low, high)) = self.ends else { return Some(Window::none()) };
        #[allow(clippy::cast_possible_truncation, reason = "saturates")]
        let reach = (REACH * self.scale).ceil() as i64;
        let (low, high) = (low.checked_sub(reach)?, high.checked_add(reach)?);
        (high.checked_sub(low)? <= WIDEST && low.abs().max(high.abs()) < 1 << 60)
            .then(|| Window::new(low, high))
    }
}

impl Source for Probe<'_> {
    fn draw(&mut self, law: Law<'_>) -> i64 {
        match law {
            Law::Noisy { value, noise } => self.note([value], width(noise)),
            Law::Report { value, threshold, noise } => {
                self.note([value, threshold], report_scale(noise));
            }
            Law::Keep { .. } => self.seen.coins = true,
            _ => {}
        }
        self.outcomes.draw(law)
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.note(scores.iter().copied(), ratio_to_f64(noise.scale()));
        self.outcomes.noisy_max(scores, noise)
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.note(values.iter().copied(), width(Noise::Gaussian(noise)));
        self.outcomes.noisy_vector(values, noise);
    }
}

/// Gaussian noise thins out faster: six and a half standard deviations leave less than nineteen scales do.
fn width(noise: Noise) -> f64 {
    match noise {
        Noise::Laplace(_) => noise_scale(noise),
        Noise::Gaussian(_) | Noise::Rounded(_) => 0.7 * noise_scale(noise),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The window of a draw holds its values and its threshold, so that there is a law of it.
    #[test]
    fn a_window_holds_all_that_is_drawn() {
        use dp_mechanism::{ChaCha20Rng, DiscreteLaplace, Ratio, ReportNoise, SecureSource};
        use rand::SeedableRng;
        type Run<'a> = &'a dyn Fn(&mut dyn Source) -> i64;
        let scale = Ratio::new(2, 1).expect("valid");
        let geometric = Geometric::new(scale).expect("positive");
        let laplace = DiscreteLaplace::new(scale).expect("positive");
        let gaussian = DiscreteGaussian::new(scale).expect("positive");
        let report = |noise| {
            move |source: &mut dyn Source| {
                source.draw(Law::Report { value: 5, threshold: 500, noise })
            }
        };
        let (one_sided, two_sided) =
            (report(ReportNoise::OneSided(geometric)), report(ReportNoise::TwoSided(laplace)));
        let runs: [Run<'_>; 5] = [
            &|source| source.noisy(500, Noise::Laplace(laplace)),
            &|source| source.noisy_max(&[500, -3], geometric).1,
            &|source| {
                let mut vector = [500];
                source.noisy_vector(&mut vector, gaussian);
                vector[0]
            },
            &one_sided,
            &two_sided,
        ];
        for (number, run) in runs.iter().enumerate() {
            let mut rng = ChaCha20Rng::seed_from_u64(1);
            let mut outcomes = SecureSource::new(&mut rng);
            let mut probe = Probe::new(&mut outcomes);
            run(&mut probe);
            let window = probe.seen().window().expect("narrow enough");
            assert!(window.holds(500), "draw {number}: {window:?}");
        }
    }

    /// An exact law follows both runs: what one of them alone draws is in the window, too.
    #[test]
    fn a_window_is_wide_enough_for_both_runs() {
        let seen = |ends, scale| Seen { coins: false, ends, scale };
        let of = |a: Seen, b: Seen| a.and(b).window().map(|window| format!("{window:?}"));
        let expected = |low, high| Some(format!("{:?}", Window::new(low, high)));
        let (a, b) = (seen(Some((0, 50)), 1.0), seen(Some((-30, 20)), 2.0));
        let nothing = seen(None, 0.0);
        for (a, b, expected) in [(a, b, expected(-68, 88)), (a, nothing, expected(-19, 69))] {
            assert_eq!(of(a, b), expected);
            assert_eq!(of(b, a), expected);
        }
        assert!(of(a, seen(Some((0, 4_000)), 1.0)).is_none());
        assert!(a.and(Seen { coins: true, ..b }).coins && Seen { coins: true, ..a }.and(b).coins);
    }
}
