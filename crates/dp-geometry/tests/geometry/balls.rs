use std::cmp::Ordering;

use dp_geometry::{GeometryError, PublicBall, PublicBox};
use proptest::prelude::*;

use crate::BOUNDARY;

/// An exact number `mantissa * 2^exponent`, for a norm without rounding. Big integers are lists of
/// 32-bit limbs, lowest first: enough for one addition, one product and one comparison.
mod exact {
    use std::cmp::Ordering;

    type Limbs = Vec<u64>;

    /// All inputs are multiples of 2^-1074.
    fn shift_to_common_exponent(x: f64) -> (bool, Limbs) {
        let bits = x.to_bits();
        let biased = (bits >> 52) & 0x7ff;
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, shift) =
            if biased == 0 { (fraction, 0) } else { (fraction | 1 << 52, biased - 1) };
        let mut limbs = vec![0; usize::try_from(shift / 32).unwrap()];
        let wide = u128::from(mantissa) << (shift % 32);
        limbs.extend((0..3).map(|i| u64::try_from((wide >> (32 * i)) & 0xffff_ffff).unwrap()));
        (x < 0.0, limbs)
    }

    fn add(a: &mut Limbs, b: &[u64]) {
        a.resize(a.len().max(b.len()) + 1, 0);
        let mut carry = 0;
        for (i, limb) in a.iter_mut().enumerate() {
            let sum = *limb + b.get(i).unwrap_or(&0) + carry;
            (*limb, carry) = (sum & 0xffff_ffff, sum >> 32);
        }
    }

    fn difference(a: &[u64], b: &[u64]) -> Limbs {
        let (large, small) = if compare(a, b) == Ordering::Less { (b, a) } else { (a, b) };
        let mut borrow = 0;
        (0..large.len())
            .map(|i| {
                let sub = small.get(i).unwrap_or(&0) + borrow;
                let limb = large[i] + (1 << 32) - sub;
                borrow = 1 - (limb >> 32);
                limb & 0xffff_ffff
            })
            .collect()
    }

    fn square(a: &[u64]) -> Limbs {
        let mut out = vec![0; 2 * a.len() + 1];
        for (i, &x) in a.iter().enumerate() {
            let mut carry = 0;
            for (j, &y) in a.iter().enumerate() {
                let sum = out[i + j] + x * y + carry;
                (out[i + j], carry) = (sum & 0xffff_ffff, sum >> 32);
            }
            out[i + a.len()] += carry;
        }
        out
    }

    fn compare(a: &[u64], b: &[u64]) -> Ordering {
        (0..a.len().max(b.len()))
            .rev()
            .map(|i| a.get(i).unwrap_or(&0).cmp(b.get(i).unwrap_or(&0)))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    pub(super) fn norm_against(point: &[f64], centre: &[f64], radius: f64) -> Ordering {
        let mut sum = Limbs::new();
        for (&x, &c) in point.iter().zip(centre) {
            let ((x_negative, mut x), (c_negative, c)) =
                (shift_to_common_exponent(x), shift_to_common_exponent(c));
            let residual = if x_negative == c_negative {
                difference(&x, &c)
            } else {
                add(&mut x, &c);
                x
            };
            add(&mut sum, &square(&residual));
        }
        compare(&sum, &square(&shift_to_common_exponent(radius).1))
    }
}

fn assert_clip_is_sound(ball: &PublicBall, point: &[f64]) {
    let mut clipped = point.to_vec();
    ball.clip(&mut clipped).unwrap();
    assert!(clipped.iter().all(|x| x.is_finite()), "{point:?} -> {clipped:?}");
    assert!(ball.contains(&clipped), "{point:?} -> {clipped:?}");
    let order = exact::norm_against(&clipped, ball.centre(), ball.radius());
    assert_ne!(order, Ordering::Greater, "{ball:?}: {point:?} -> {clipped:?}");
    let mut again = clipped.clone();
    ball.clip(&mut again).unwrap();
    assert_eq!(again, clipped, "clipping is idempotent");
}

#[test]
fn exact_norm_is_right_on_known_triangles() {
    let order = |x: [f64; 2], r| exact::norm_against(&x, &[0.0, 0.0], r);
    assert_eq!(order([3.0, -4.0], 5.0), Ordering::Equal);
    assert_eq!(order([3.0, 4.0], 5f64.next_down()), Ordering::Greater);
    assert_eq!(order([3.0, 4f64.next_down()], 5.0), Ordering::Less);
    assert_eq!(exact::norm_against(&[-1.0, 9.0], &[2.0, 5.0], 5.0), Ordering::Equal);
    assert_eq!(exact::norm_against(&[1.0], &[-1e-300], 1.0), Ordering::Greater);
}

#[test]
fn bad_settings_are_refused() {
    use GeometryError as E;
    assert_eq!(PublicBall::new(vec![], 1.0), Err(E::ZeroDimension));
    for x in BOUNDARY.into_iter().filter(|x| !x.is_finite()) {
        let error = PublicBall::new(vec![0.0, x], 1.0).unwrap_err();
        assert!(matches!(error, E::NonFiniteCentre { dimension: 1, .. }));
    }
    for radius in BOUNDARY.into_iter().filter(|&r| !(0.1..2.0).contains(&r)) {
        assert!(matches!(PublicBall::new(vec![0.0], radius), Err(E::Radius { .. })));
    }
    for radius in [PublicBall::MIN_RADIUS, PublicBall::MAX_RADIUS] {
        assert!(PublicBall::new(vec![f64::MAX, 0.0], radius).is_ok());
    }
}

#[test]
fn inside_is_untouched_and_outside_keeps_its_direction() {
    let ball = PublicBall::new(vec![1.0, 1.0], 5.0).unwrap();
    let mut inside = [3.0, -2.0];
    ball.clip(&mut inside).unwrap();
    assert_eq!(inside, [3.0, -2.0]);
    let mut outside = [1.0 + 30.0, 1.0 - 40.0];
    ball.clip(&mut outside).unwrap();
    assert!((outside[0] - 4.0).abs() < 1e-12 && (outside[1] + 3.0).abs() < 1e-12);
}

#[test]
fn rules_for_nan_and_infinities() {
    let ball = PublicBall::new(vec![1.0, 2.0, 3.0], 2.0).unwrap();
    let clip = |mut x: [f64; 3]| {
        ball.clip(&mut x).unwrap();
        x
    };
    assert_eq!(clip([f64::NAN, 2.5, f64::NAN]), [1.0, 2.5, 3.0]);
    let [a, b, c] = clip([f64::INFINITY, 1e300, f64::NEG_INFINITY]);
    let leg = 2.0 / 2f64.sqrt();
    assert!((a - 1.0 - leg).abs() < 1e-12 && b == 2.0 && (c - 3.0 + leg).abs() < 1e-12);
    assert!(!ball.contains(&[f64::NAN, 2.0, 3.0]) && !ball.contains(&[f64::INFINITY, 2.0, 3.0]));
    assert!(ball.contains(&[3.0, 2.0, 3.0]) && !ball.contains(&[3.1, 2.0, 3.0]));
}

#[test]
fn boundary_list_stays_inside() {
    for c in BOUNDARY.into_iter().filter(|c| c.is_finite()) {
        for radius in [1e-150, 1e-8, 1.0, 3.7, 1e150] {
            let ball = PublicBall::new(vec![c, 1.0], radius).unwrap();
            for x in BOUNDARY {
                for y in BOUNDARY {
                    assert_clip_is_sound(&ball, &[x, y]);
                }
            }
        }
    }
}

/// Sides of one size, of very different ones, and so far from the origin that the middle is rounded up, and down.
#[test]
fn a_ball_around_a_box_holds_all_corners_and_hardly_more() {
    let far = [(1e16, 1e16 + 6.0), (1e16 + 2.0, 1e16 + 4.0), (1e16, 1e16 + 2.0)];
    let near = [(-1.0, 1.0), (0.1, 0.7), (-3e-9, 5e8)];
    for [x, y, z] in near.map(|side| [near[0], near[1], side]).into_iter().chain([far]) {
        let sides = PublicBox::new(vec![x.0, y.0, z.0], vec![x.1, y.1, z.1]).unwrap();
        let ball = PublicBall::around(&sides).unwrap();
        for corner in 0..8_u8 {
            let end =
                |bit: u8, side: (f64, f64)| if corner >> bit & 1 == 0 { side.0 } else { side.1 };
            let corner = [end(0, x), end(1, y), end(2, z)];
            let order = exact::norm_against(&corner, ball.centre(), ball.radius());
            assert_ne!(order, Ordering::Greater, "{ball:?} leaves {corner:?} out");
        }
        if x.0 < 1e9 {
            assert!(ball.radius() <= sides.diagonal() / 2.0 * (1.0 + 1e-12), "{ball:?}");
        }
    }
}

/// The norm of a point that is just outside may be computed as the radius, or less: it is moved all the same.
#[test]
fn a_norm_that_was_rounded_down_leaves_no_point_outside() {
    let mut outside = 0;
    for i in 1..2_000_u32 {
        let point = [0.37, 0.71, 0.93].map(|x| (f64::from(i) * x).sin());
        let largest = point.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let squares: f64 = point.iter().map(|x| (x / largest).powi(2)).sum();
        let ball = PublicBall::new(vec![0.0; 3], largest * squares.sqrt()).unwrap();
        let order = exact::norm_against(&point, ball.centre(), ball.radius());
        outside += u32::from(order == Ordering::Greater);
        assert_clip_is_sound(&ball, &point);
    }
    assert!(outside > 500, "{outside} of these are outside");
}

/// In thousands of dimensions a sum may lose every square but the first, so that a point is much farther out than its norm says.
#[test]
fn a_norm_that_lost_thousands_of_squares_leaves_no_point_outside() {
    let mut point = vec![1.05e-8; 4_000];
    point[0] = 1.0;
    let ball = PublicBall::new(vec![0.0; 4_000], 1.0 + 400.0 * f64::EPSILON).unwrap();
    let order = exact::norm_against(&point, ball.centre(), ball.radius());
    assert_eq!(order, Ordering::Greater, "it is outside");
    assert_clip_is_sound(&ball, &point);
}

#[test]
fn serde_checks_the_settings_again() {
    let ball = PublicBall::new(vec![0.5], 2.0).unwrap();
    let json = serde_json::to_string(&ball).unwrap();
    assert_eq!(serde_json::from_str::<PublicBall>(&json).unwrap(), ball);
    assert!(serde_json::from_str::<PublicBall>(r#"{"centre":[0.5],"radius":-2.0}"#).is_err());
}

fn any_f64() -> impl Strategy<Value = f64> {
    prop_oneof![-10.0..10.0f64, -1e9..1e9f64, prop::num::f64::ANY]
}

proptest! {
    #[test]
    fn clipped_never_exceeds_the_radius(
        pairs in prop::collection::vec((any_f64(), -1e3..1e3f64), 1..12),
        radius in prop_oneof![1e-9..1e3f64, 0.5..2.0f64],
    ) {
        let (point, centre): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        assert_clip_is_sound(&PublicBall::new(centre, radius).unwrap(), &point);
    }

    #[test]
    fn points_near_the_surface_never_exceed_the_radius(
        direction in prop::collection::vec(-1.0..1.0f64, 1..40),
        stretch in -40..40i32,
        centred in any::<bool>(),
    ) {
        let norm = direction.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-9);
        let scale = (1.0 + f64::from(stretch) * f64::EPSILON) / norm;
        let c = if centred { 0.0 } else { 0.3 };
        let point: Vec<f64> = direction.iter().map(|x| c + x * scale).collect();
        assert_clip_is_sound(&PublicBall::new(vec![c; point.len()], 1.0).unwrap(), &point);
    }

    #[test]
    fn little_is_lost(direction in prop::collection::vec(-1.0..1.0f64, 1..40)) {
        let ball = PublicBall::new(vec![0.0; direction.len()], 1e-3).unwrap();
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        prop_assume!(norm(&direction) > 2e-3);
        let mut clipped = direction.clone();
        ball.clip(&mut clipped).unwrap();
        prop_assert!(norm(&clipped) >= 1e-3 * (1.0 - 1e-12));
        let cosine: f64 = direction.iter().zip(&clipped).map(|(x, y)| x * y).sum::<f64>()
            / norm(&direction) / norm(&clipped);
        prop_assert!(cosine > 1.0 - 1e-12);
    }
}
