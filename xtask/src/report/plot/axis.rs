//! Ticks at round numbers and the way from values to pixels.

/// A horizontal or vertical scale; `log` needs positive values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    low: f64,
    high: f64,
    log: bool,
    pixels: (f64, f64),
}

impl Axis {
    /// From zero, or from the lowest value if that is negative, to a little above the highest.
    pub(crate) fn linear(values: &[f64], pixels: (f64, f64)) -> Self {
        let (low, high) = extent(values).unwrap_or((0.0, 1.0));
        let (low, high) = (low.min(0.0), high.max(0.0));
        let room = if high > low { 0.05 * (high - low) } else { 1.0 };
        Self { low, high: high + room, log: false, pixels }
    }

    /// A little room on both sides; what is not positive cannot be shown and is left out.
    pub(crate) fn log(values: &[f64], pixels: (f64, f64)) -> Self {
        let positive: Vec<f64> = values.iter().copied().filter(|&value| value > 0.0).collect();
        let (low, high) = extent(&positive).unwrap_or((1.0, 10.0));
        let room = (high / low).powf(0.05).max(1.15);
        Self { low: low / room, high: high * room, log: true, pixels }
    }

    /// The pixel of a value; `None` for what a log scale cannot show.
    pub(crate) fn at(&self, value: f64) -> Option<f64> {
        let share = if self.log {
            if value <= 0.0 {
                return None;
            }
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        Some(self.pixels.0 + share * (self.pixels.1 - self.pixels.0))
    }

    /// Round values inside the scale, some four to eight of them.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        if self.log { self.log_ticks() } else { self.linear_ticks() }
    }

    fn log_ticks(&self) -> Vec<f64> {
        let decades = (self.high / self.low).log10();
        let steps: &[f64] = if decades > 3.4 {
            &[1.0]
        } else if decades > 1.5 {
            &[1.0, 3.0]
        } else if decades > 0.6 {
            &[1.0, 2.0, 3.0, 5.0, 7.0]
        } else {
            &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0]
        };
        let every = if decades > 8.0 { 2 } else { 1 };
        let first = power(self.low);
        (first..=power(self.high))
            .step_by(every)
            .flat_map(|exponent| steps.iter().map(move |step| step * 10f64.powi(exponent)))
            .filter(|&tick| (self.low..=self.high).contains(&tick))
            .collect()
    }

    fn linear_ticks(&self) -> Vec<f64> {
        let rough = (self.high - self.low) / 5.0;
        let unit = 10f64.powi(power(rough));
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .map(|factor| factor * unit)
            .into_iter()
            .find(|&step| step >= rough * 0.999)
            .unwrap_or(rough);
        let first = (self.low / step).ceil();
        (0..20)
            .map(|i| (first + f64::from(i)) * step)
            .take_while(|&tick| tick <= self.high)
            .collect()
    }
}

/// Smallest and largest finite value.
pub(crate) fn extent(values: &[f64]) -> Option<(f64, f64)> {
    values.iter().copied().filter(|value| value.is_finite()).fold(None, |found, value| {
        let (low, high) = found.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    })
}

#[allow(clippy::cast_possible_truncation, reason = "exponents of finite f64 fit")]
fn power(value: f64) -> i32 {
    value.log10().floor() as i32
}

#[cfg(test)]
mod tests {
    use super::{Axis, extent};
    use crate::report::number::tick;

    fn ticks(axis: &Axis) -> String {
        axis.ticks().into_iter().map(tick).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks(&Axis::linear(&[0.0, 0.0107], (0.0, 1.0))), "0 0.0025 0.005 0.0075 0.01");
        assert_eq!(ticks(&Axis::linear(&[0.0], (0.0, 1.0))), "0 0.2 0.4 0.6 0.8 1");
        assert_eq!(ticks(&Axis::log(&[1e6, 2.8e6], (0.0, 1.0))), "1e6 1.5e6 2e6 3e6");
        assert_eq!(ticks(&Axis::log(&[1e6, 6.2e8], (0.0, 1.0))), "1e6 3e6 1e7 3e7 1e8 3e8");
        assert_eq!(ticks(&Axis::log(&[5.0], (0.0, 1.0))), "5");
    }

    #[test]
    fn values_land_between_the_ends() {
        let axis = Axis::log(&[1.0, 100.0], (10.0, 20.0));
        assert!((axis.at(10.0).unwrap() - 15.0).abs() < 1e-9);
        assert_eq!(axis.at(0.0), None);
        assert_eq!(Axis::linear(&[0.0, 20.0], (0.0, 21.0)).at(10.0), Some(10.0));
    }

    #[test]
    fn what_is_not_finite_does_not_stretch_the_scale() {
        assert_eq!(extent(&[f64::NAN, 1.0, f64::INFINITY, -1.0]), Some((-1.0, 1.0)));
        assert_eq!(extent(&[]), None);
    }
}
