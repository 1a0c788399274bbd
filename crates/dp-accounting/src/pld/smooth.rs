//! The continuous part of a pair, integrated cell by cell with positive terms only.
//!
//! A coordinate `z` carries the base pair `(N1, N0)` with log-ratio `g = slope z + shift` and density `w(z)` of `N0`. Sampling at rate
//! `q` gives the pair `(q N1 + (1 - q) N0, N0)` with loss `L = ln(1 + q (e^g - 1))`.

use super::event::Direction;
use crate::outward::{larger, smaller, within};
use crate::rounding::UNIT;

/// Nodes and weights on `[-1, 1]`, exact for polynomials of degree 5, 9 and 19.
const LEGENDRE_3: [(f64, f64); 3] =
    [(-0.774_596_669_241_483_4, 5.0 / 9.0), (0.0, 8.0 / 9.0), (0.774_596_669_241_483_4, 5.0 / 9.0)];
const LEGENDRE_5: [(f64, f64); 5] = [
    (-0.906_179_845_938_664, 0.236_926_885_056_189_08),
    (-0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (0.0, 0.568_888_888_888_888_9),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (0.906_179_845_938_664, 0.236_926_885_056_189_08),
];
pub(crate) const LEGENDRE_10: [(f64, f64); 10] = [
    (-0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
    (-0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
    (-0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
    (-0.433_395_394_129_247_2, 0.269_266_719_309_996_36),
    (-0.148_874_338_981_631_21, 0.295_524_224_714_752_87),
    (0.148_874_338_981_631_21, 0.295_524_224_714_752_87),
    (0.433_395_394_129_247_2, 0.269_266_719_309_996_36),
    (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
    (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
    (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
];

/// `1 / sqrt(2 pi)`.
const PEAK: f64 = 0.398_942_280_401_432_7;
const LOG_PEAK: f64 = -0.918_938_533_204_672_8;

/// Beyond this the 1 in `1 + q (e^g - 1)` is below all rounding, and `e^g` about to overflow.
const LARGE: f64 = 500.0;

/// The density of `N0` over the coordinate.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Density {
    Normal,
    /// `scale * e^(-(z + end) / 2)` on `[-end, end]`: Laplace noise between its two atoms, and bounded range.
    Falling {
        scale: f64,
        end: f64,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Smooth {
    pub(crate) density: Density,
    pub(crate) slope: f64,
    pub(crate) shift: f64,
    /// Where the integrals are cut.
    low: f64,
    high: f64,
    pub(crate) rate: f64,
    pub(crate) direction: Direction,
    /// The mass that the cut leaves out, on both sides together, rounded up.
    pub(crate) cut: f64,
}

/// What a cell `[a, b]` of losses holds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cell {
    /// The mass of the first law.
    pub(crate) mass: f64,
    /// The integral of `1 - e^(a - loss)`.
    pub(crate) rise: f64,
}

/// The loss `ln(1 + q (e^g - 1))` of a sample at rate `q`, in the `Remove` direction at log-ratio `g`.
///
/// Where less than half of the 1 is left, `q (e^g - 1)` would take the rounding of a number near 1 with it, however little is left: for rates
/// near 1 that is far more than units of the loss. `1 - q` is exact there, and the sum of two positive numbers keeps what they know.
pub(crate) fn sampled_loss(q: f64, g: f64) -> f64 {
    if q >= 1.0 {
        return g;
    }
    if g > LARGE {
        return g + libm::log(q);
    }
    let change = q * libm::expm1(g);
    if change < -0.5 { libm::log((1.0 - q) + q * libm::exp(g)) } else { libm::log1p(change) }
}

impl Smooth {
    /// Gaussian noise, cut so that the mass outside is about `e^(-log_cut)`.
    pub(crate) fn gaussian(
        noise_multiplier: f64,
        rate: f64,
        direction: Direction,
        log_cut: f64,
    ) -> Self {
        let slope = 1.0 / noise_multiplier;
        let reach = within((2.0 * log_cut).sqrt(), 4.0, 37.0);
        let cut = 1.01 * libm::erfc(reach * std::f64::consts::FRAC_1_SQRT_2);
        let (low, high) = (-reach, reach + slope);
        Self {
            density: Density::Normal,
            slope,
            shift: -slope * slope / 2.0,
            low,
            high,
            rate,
            direction,
            cut,
        }
    }

    /// Laplace noise without its atoms.
    pub(crate) fn laplace(epsilon: f64, rate: f64, direction: Direction) -> Self {
        Self::falling(0.25, epsilon, rate, direction)
    }

    /// The worst pair of bounded range `eta`.
    pub(crate) fn bounded_range(eta: f64) -> Self {
        Self::falling(-0.5 / libm::expm1(-eta), eta, 1.0, Direction::Remove)
    }

    fn falling(scale: f64, end: f64, rate: f64, direction: Direction) -> Self {
        let density = Density::Falling { scale, end };
        Self { density, slope: 1.0, shift: 0.0, low: -end, high: end, rate, direction, cut: 0.0 }
    }

    /// Relative error of the mass of a cell: the rule, see [`Self::each_node`], and the rounding of exponents and sums.
    pub(crate) fn slack(&self) -> f64 {
        let far = larger(self.low.abs(), self.high.abs());
        let exponent = match self.density {
            Density::Normal => 2.0 * far * far,
            Density::Falling { .. } => 2.0 * far,
        };
        UNIT * (64.0 + exponent + 8.0 * self.largest_ratio())
    }

    /// How far the loss at the end of a cell may be off.
    pub(crate) fn blur(&self) -> f64 {
        16.0 * UNIT * (1.0 + self.largest_ratio())
    }

    fn largest_ratio(&self) -> f64 {
        self.slope * larger(self.low.abs(), self.high.abs()) + self.shift.abs()
    }

    fn ratio(&self, z: f64) -> f64 {
        self.slope * z + self.shift
    }

    /// The loss at coordinate `z`, in the direction of the pair.
    pub(crate) fn loss(&self, z: f64) -> f64 {
        let loss = sampled_loss(self.rate, self.ratio(z));
        if self.direction == Direction::Remove { loss } else { -loss }
    }

    /// The smallest and the largest loss.
    pub(crate) fn range(&self) -> (f64, f64) {
        let (a, b) = (self.loss(self.low), self.loss(self.high));
        (smaller(a, b), larger(a, b))
    }

    /// Losses at `n` places spread evenly over the coordinate, in rising order.
    pub(crate) fn spread(&self, n: usize) -> Vec<f64> {
        let at = |i: usize| self.low + (self.high - self.low) * (i as f64 / n as f64);
        let mut losses: Vec<f64> = (0..=n).map(|i| self.loss(at(i))).collect();
        if self.direction == Direction::Add {
            losses.reverse();
        }
        losses
    }

    /// The coordinate at which the `Remove` loss is `loss`, within the cut.
    pub(crate) fn coordinate(&self, loss: f64) -> f64 {
        let g = if self.rate >= 1.0 {
            loss
        } else if loss > LARGE {
            loss - libm::log(self.rate)
        } else {
            // Like `sampled_loss`: near the least loss, from what is left of the 1.
            let change = libm::expm1(loss);
            let more = change / self.rate;
            let left = (libm::exp(loss) - (1.0 - self.rate)) / self.rate;
            if change < -0.5 && left > 0.0 {
                libm::log(left)
            } else if change >= -0.5 && more > -1.0 {
                libm::log1p(more)
            } else {
                return self.low;
            }
        };
        within((g - self.shift) / self.slope, self.low, self.high)
    }

    fn weight(&self, z: f64) -> f64 {
        match self.density {
            Density::Normal => PEAK * libm::exp(-0.5 * z * z),
            Density::Falling { scale, end } => scale * libm::exp(-0.5 * (z + end)),
        }
    }

    /// The cell between losses `a < b`. Relative error: a few units, by positivity and the order of the rule.
    pub(crate) fn cell(&self, a: f64, b: f64) -> Cell {
        match self.direction {
            Direction::Remove => self.cell_remove(a, b),
            Direction::Add => self.cell_add(a, b),
        }
    }

    fn cell_remove(&self, a: f64, b: f64) -> Cell {
        let (from, to) = (self.coordinate(a), self.coordinate(b));
        let q = self.rate;
        let mut cell = Cell::default();
        // Below the smallest loss the cell starts outside of the support: the rise is then direct.
        let outside = a < sampled_loss(q, self.ratio(from)) && from <= self.low;
        if outside {
            let base = libm::exp(a);
            self.each_node(from, to, |z, w, width, _, _| {
                let mass = w * (1.0 - q) + q * width * self.heavy(z);
                cell.mass += mass;
                cell.rise += larger(mass - w * base, 0.0);
            });
            return cell;
        }
        self.each_node(from, to, |z, w, width, past, _| {
            let heavy = q * width * self.heavy(z);
            cell.mass += w * (1.0 - q) + heavy;
            // e^g less its value at the start.
            cell.rise += heavy * -libm::expm1(-self.slope * past);
        });
        cell
    }

    fn cell_add(&self, a: f64, b: f64) -> Cell {
        // Losses are negated: the cell starts at the upper end of the coordinate.
        let (from, to) = (self.coordinate(-b), self.coordinate(-a));
        let q = self.rate;
        let mut cell = Cell::default();
        let top = self.ratio(to);
        let share = if q >= 1.0 { 1.0 } else { q / (q + (1.0 - q) * libm::exp(-top)) };
        // Past the cut the cell starts outside: its start is lower than the loss at `to` by a factor.
        let down = if to < self.high {
            1.0
        } else {
            libm::exp(smaller(a + sampled_loss(q, self.ratio(to)), 0.0))
        };
        self.each_node(from, to, |_, w, _, _, left| {
            cell.mass += w;
            let inside = share * -libm::expm1(-self.slope * left);
            cell.rise += w * (inside * down + (1.0 - down));
        });
        cell
    }

    /// `ln` of the density at `z`.
    pub(crate) fn log_weight(&self, z: f64) -> f64 {
        match self.density {
            Density::Normal => LOG_PEAK - 0.5 * z * z,
            Density::Falling { scale, end } => libm::log(scale) - 0.5 * (z + end),
        }
    }

    /// The density of `N1` at `z`. The ratio alone overflows where the noise is a few hundredths of the sensitivity.
    fn heavy(&self, z: f64) -> f64 {
        libm::exp(self.log_weight(z) + self.ratio(z))
    }

    /// Calls `visit(z, weight, width, z - from, to - z)`, the weight being the density times the width, for the nodes of a composite rule of `N0` over `[from, to]`.
    ///
    /// The integrands are entire: the density, times 1 or `e^g` or `e^g - 1` with `g` taken from one end. Within `d` of the panel, also off
    /// the real axis, the logarithm of a density grows by at most `steepness d`. A rule with `n` nodes is off by at most `64/15 M r^(-2n) / (1 - r^-2)`,
    /// `M` being the largest magnitude on the ellipse with parameter `r`, of size `r` times the half-width `h`; an integrand that starts at
    /// 0 loses one more factor `r`. With `r = 2 (2n - 1) / (2 steepness h)` and the widths below that is at most 14 units.
    fn each_node(&self, from: f64, to: f64, mut visit: impl FnMut(f64, f64, f64, f64, f64)) {
        let mut left = from;
        while left < to {
            let steepness = match self.density {
                Density::Normal => left.abs() + self.slope + 9.0,
                Density::Falling { .. } => 2.5,
            };
            let right = smaller(left + 4.0 / steepness, to);
            let (middle, half) = (f64::midpoint(left, right), (right - left) / 2.0);
            let spread = (right - left) * steepness;
            let rule: &[(f64, f64)] = if spread < 0.006 {
                &LEGENDRE_3
            } else if spread < 0.2 {
                &LEGENDRE_5
            } else {
                &LEGENDRE_10
            };
            for (node, weight) in rule {
                let z = middle + half * node;
                // The distances to the ends keep their digits even where the cell is narrow.
                let past = (left - from) + half * (1.0 + node);
                let ahead = (to - right) + half * (1.0 - node);
                let width = half * weight;
                visit(z, width * self.weight(z), width, past, ahead);
            }
            left = right;
        }
    }

    /// How many nodes the whole has, at most. The squared slope decides: many uses of a Gaussian are one with a slope of thousands.
    pub(crate) fn nodes_at_most(&self) -> f64 {
        let steepness = match self.density {
            Density::Normal => larger(self.low.abs(), self.high.abs()) + self.slope + 9.0,
            Density::Falling { .. } => 2.5,
        };
        LEGENDRE_10.len() as f64 * (1.0 + 0.25 * steepness * (self.high - self.low))
    }

    /// Losses and masses that stand for the whole, roughly.
    pub(crate) fn nodes(&self) -> Vec<(f64, f64)> {
        let mut nodes = Vec::new();
        self.each_node(self.low, self.high, |z, w, width, _, _| {
            let mass = match self.direction {
                Direction::Remove => w * (1.0 - self.rate) + self.rate * width * self.heavy(z),
                Direction::Add => w,
            };
            nodes.push((self.loss(z), mass));
        });
        nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cell holds what its halves hold, however wide it is, and where it starts before the first loss.
    #[test]
    fn cells_are_the_sums_of_their_halves() {
        for direction in [Direction::Remove, Direction::Add] {
            let gaussian = |rate| Smooth::gaussian(0.5, rate, direction, 60.0);
            for smooth in [gaussian(1.0), gaussian(0.2), Smooth::laplace(3.0, 0.4, direction)] {
                let (low, high) = smooth.range();
                for (a, b) in
                    [(0.0, 0.3), (0.2, 0.5), (0.5, 0.9), (0.1, 1.0), (-0.1, 0.3), (-0.3, 0.1)]
                {
                    let (a, b) = (low + a * (high - low), low + b * (high - low));
                    let half = (b - a) / 2.0;
                    let (one, two) = (smooth.cell(a, a + half), smooth.cell(a + half, b));
                    let mass = one.mass + two.mass;
                    let keep = libm::exp(-half);
                    let rise = one.rise + two.mass * -libm::expm1(-half) + keep * two.rise;
                    let whole = smooth.cell(a, b);
                    assert!((whole.mass - mass).abs() <= 1e-12 * mass, "{smooth:?} {a} {b}");
                    assert!((whole.rise - rise).abs() <= 1e-12 * rise, "{smooth:?} {a} {b}");
                }
            }
        }
    }

    /// `e^g` alone overflows here at most coordinates.
    #[test]
    fn cells_of_little_noise_hold_the_whole_mass() {
        for direction in [Direction::Remove, Direction::Add] {
            for rate in [1.0, 0.5] {
                let smooth = Smooth::gaussian(0.01, rate, direction, 60.0);
                let (low, high) = smooth.range();
                let width = (high - low) / 1000.0;
                let (mut mass, mut rise) = (0.0, 0.0);
                for i in 0..1000 {
                    let a = low + f64::from(i) * width;
                    let cell = smooth.cell(a, a + width);
                    assert!(cell.rise <= cell.mass * (1.0 + 1e-12), "{a}: {cell:?}");
                    mass += cell.mass;
                    rise += cell.rise;
                }
                assert!((mass - 1.0).abs() < 1e-12 && rise > 0.3, "{direction:?} {mass} {rise}");
            }
        }
    }
}
