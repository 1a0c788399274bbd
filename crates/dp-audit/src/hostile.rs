//! Records that a mechanism may not expect.

/// Integers: small, large, and the ends, whose sums and differences do not fit.
pub fn integers() -> Vec<i64> {
    vec![0, 1, -1, 2, 7, -1_000, 1_000_000, 1 << 40, i64::MAX, i64::MIN]
}

/// Odd floats: zeros of both signs, infinities, no number at all, the smallest and very large ones.
pub fn floats() -> Vec<f64> {
    vec![
        0.0,
        -0.0,
        1.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::from_bits(1),
        -f64::MIN_POSITIVE,
        1e300,
        -1e300,
    ]
}

/// Points for a box: its corners, centre and border, points that agree in all coordinates or in none, points far
/// outside, and one for each odd float in each of the first two coordinates.
///
/// A box that is far from the origin is up to the caller, and worth a try: there neighbouring floats are far
/// apart.
///
/// # Panics
/// If the ends have different lengths.
pub fn points(low: &[f64], high: &[f64]) -> Vec<Vec<f64>> {
    assert_eq!(low.len(), high.len(), "a box has as many lower ends as upper ones");
    let between = |share: f64| -> Vec<f64> {
        low.iter().zip(high).map(|(low, high)| low + share * (high - low)).collect()
    };
    let centre = between(0.5);
    let mixed = |odd: bool| -> Vec<f64> {
        let ends = low.iter().zip(high).enumerate();
        ends.map(|(i, (low, high))| if (i % 2 == 1) == odd { *low } else { *high }).collect()
    };
    let mut points = vec![
        low.to_vec(),
        high.to_vec(),
        centre.clone(),
        mixed(true),
        mixed(false),
        between(1.0 - f64::EPSILON),
        between(0.25),
        between(-1e9),
        between(1e9),
        vec![low.first().copied().unwrap_or(0.0); low.len()],
    ];
    for odd in floats() {
        for coordinate in 0..low.len().min(2) {
            let mut point = centre.clone();
            point[coordinate] = odd;
            points.push(point);
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_go_to_the_ends_of_the_box_and_beyond() {
        let points = points(&[1e6, -1.0], &[1e6 + 1.0, 1.0]);
        assert!(points.iter().all(|point| point.len() == 2));
        for wanted in [[1e6, -1.0], [1e6 + 1.0, 1.0], [1e6, 1.0], [1e6 + 0.5, 0.0]] {
            assert!(points.iter().any(|point| point == &wanted), "{wanted:?}");
        }
        assert!(points.iter().any(|point| point[0] < 0.0) && points.iter().any(|p| p[1].is_nan()));
        assert!(points.iter().any(|point| point[1] == 0.0 && point[1].is_sign_negative()));
    }
}
