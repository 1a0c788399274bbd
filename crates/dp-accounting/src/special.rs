//! The scaled complementary error function `erfcx(t) = exp(t^2) erfc(t)` and its decrease, without cancellation.

use std::f64::consts::FRAC_2_SQRT_PI;

use crate::outward::{least, sum};

/// From here on the continued fraction needs at most 72 levels; below, `erfc` is far from underflow.
const FRACTION_FROM: f64 = 2.0;

/// `r` in `erfcx(t) = (1 / sqrt(pi)) / (t + r)`, for `t >= FRACTION_FROM`.
///
/// `r = (1/2) / (t + (2/2) / (t + (3/2) / (t + ..)))`, cut where the rest is below the rounding. The number of levels that
/// this takes was found by trial in high precision (66 at t = 2, 36 at 3, 19 at 5, 11 at 10, 5 at 100); the formula
/// stays above it.
fn fraction(t: f64) -> f64 {
    let [rest] = fractions([t]);
    rest
}

/// [`fraction`] of several numbers, with as many levels as the least of them needs: the divisions of one level do not wait for each other.
fn fractions<const N: usize>(t: [f64; N]) -> [f64; N] {
    let least = least(t);
    let mut rest = [0.0; N];
    let mut numerator = (10.0 + 250.0 / (least * least)).floor() / 2.0;
    while numerator > 0.0 {
        for (rest, t) in rest.iter_mut().zip(&t) {
            *rest = numerator / (t + *rest);
        }
        numerator -= 0.5;
    }
    rest
}

/// `exp(t^2) erfc(t)`, for `t > -26`, where it does not overflow.
pub(crate) fn erfcx(t: f64) -> f64 {
    if t < FRACTION_FROM {
        libm::exp(t * t) * libm::erfc(t)
    } else {
        FRAC_2_SQRT_PI / 2.0 / (t + fraction(t))
    }
}

/// `-erfcx'(t) = 2 / sqrt(pi) - 2 t erfcx(t)`, which is positive.
fn descent(t: f64) -> f64 {
    if t < FRACTION_FROM {
        FRAC_2_SQRT_PI - 2.0 * t * erfcx(t)
    } else {
        descent_by_fraction(t, fraction(t))
    }
}

fn descent_by_fraction(t: f64, r: f64) -> f64 {
    // 1 - t / (t + r) without the subtraction.
    FRAC_2_SQRT_PI * (r / (t + r))
}

/// Positive nodes and weights of the Gauss-Legendre rule with ten points on [-1, 1].
const LEGENDRE: [(f64, f64); 5] = [
    (0.148_874_338_981_631_21, 0.295_524_224_714_752_87),
    (0.433_395_394_129_247_2, 0.269_266_719_309_996_36),
    (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
    (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
    (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
];

/// `erfcx(t) - erfcx(t + width)` for `t >= -width / 2`, `width >= 0`.
///
/// A short step integrates the descent, so that a tiny difference keeps all its digits; the rule is exact to rounding
/// there, since `erfcx` is entire and changes on the scale of 1.
pub(crate) fn erfcx_drop(t: f64, width: f64) -> f64 {
    if width >= 1.0 {
        return erfcx(t) - erfcx(t + width);
    }
    let half = width / 2.0;
    let middle = t + half;
    if t >= FRACTION_FROM {
        let nodes: [f64; 10] = std::array::from_fn(|i| {
            let node = half * LEGENDRE[i / 2].0;
            if i % 2 == 0 { middle - node } else { middle + node }
        });
        let rests = fractions(nodes);
        let descents = nodes.iter().zip(&rests).map(|(t, r)| descent_by_fraction(*t, *r));
        return half * sum(descents.enumerate().map(|(i, d)| LEGENDRE[i / 2].1 * d));
    }
    let both = |&(node, weight): &(f64, f64)| {
        weight * (descent(middle - half * node) + descent(middle + half * node))
    };
    half * sum(LEGENDRE.iter().map(both))
}

#[cfg(test)]
#[allow(clippy::unreadable_literal, reason = "reference values as they were computed")]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::*;

    #[track_caller]
    fn close(got: f64, want: f64, relative: f64) {
        assert_abs_diff_eq!(got, want, epsilon = relative * want);
    }

    // Independent multi-precision evaluation (60 digits).
    const ERFCX: [(f64, f64); 8] = [
        (-1.0, 5.008980080762283),
        (0.0, 1.0),
        (0.5, 0.6156903441929259),
        (1.999, 0.2555025145905779),
        (2.0, 0.25539567631050575),
        (5.0, 0.11070463773306863),
        (26.0, 0.021683584850562907),
        (1000.0, 0.0005641893014533876),
    ];
    const DROP: [(f64, f64, f64); 5] = [
        (-0.25, 0.5, 0.5882958223737254),
        (0.5, 1e-12, 5.126888229022273e-13),
        (7.0, 0.001, 1.1176855491720932e-05),
        (26.0, 0.015625, 1.3003997131100139e-05),
        (3.0, 2.0, 0.06829651344832133),
    ];

    #[test]
    fn spot_values() {
        for (t, want) in ERFCX {
            close(erfcx(t), want, 2e-15);
        }
        for (t, width, want) in DROP {
            close(erfcx_drop(t, width), want, 5e-15);
        }
    }

    #[test]
    fn both_forms_agree_where_they_meet() {
        for t in [-0.4, 0.0, 0.9, 1.9, 2.0, 3.0, 8.0] {
            let direct = erfcx(t) - erfcx(t + 0.999);
            close(erfcx_drop(t, 0.999), direct, 1e-13);
        }
        close(descent(FRACTION_FROM), descent(FRACTION_FROM.next_down()), 1e-14);
        close(erfcx(FRACTION_FROM), erfcx(FRACTION_FROM.next_down()), 2e-15);
    }

    #[test]
    fn extremes_stay_finite() {
        for t in [26.0, 1e5, 1e150, f64::MAX] {
            assert!(erfcx(t).is_finite() && descent(t) >= 0.0, "{t:e}");
            assert!(erfcx_drop(t, 1e-300) >= 0.0, "{t:e}");
        }
    }
}
