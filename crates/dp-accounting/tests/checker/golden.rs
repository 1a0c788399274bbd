//! The reference values, and our answers to them, wherever the composition is small enough to be done again.

use dp_check::{Effort, Law, Side};

use crate::queries::{Truth, Verdict, composition, sides};

const TABLE: &str = include_str!("../data/golden.csv");

fn law(kind: &str, number: impl Fn(&str) -> f64) -> Option<(Law, u64)> {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small whole numbers"
    )]
    let whole = |name: &str| number(name) as u32;
    let law = match kind {
        "gaussian_kfold" => Law::Gaussian { multiplier: number("sigma") },
        "laplace_kfold" => Law::Laplace { scale: number("scale_over_sensitivity") },
        "randomized_response_kfold" => Law::RandomisedResponse { epsilon: number("eps0") },
        "discrete_laplace_kfold" => {
            Law::DiscreteLaplace { rate: number("a"), sensitivity: whole("sensitivity") }
        }
        "discrete_gaussian_kfold" => {
            Law::DiscreteGaussian { variance: number("sigma2"), sensitivity: whole("sensitivity") }
        }
        "poisson_subsampled_laplace" => {
            let of = Law::Laplace { scale: number("scale_over_sensitivity") };
            return Some((Law::Sampled { rate: number("q"), of: of.into() }, whole("T").into()));
        }
        _ => return None,
    };
    Some((law, whole("k").into()))
}

/// A value is right where the curve crosses delta within its tolerance; an answer where it crosses between the sides.
#[test]
fn reference_values_from_definitions() {
    let mut checked = 0;
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let [id, kind, parameters, value, tolerance] = line.split(',').collect::<Vec<_>>()[..]
        else {
            panic!("{line}")
        };
        let number = |name: &str| {
            let mut all = parameters.split(' ').filter_map(|p| p.split_once('='));
            let (_, text) =
                all.find(|(key, _)| *key == name).unwrap_or_else(|| panic!("{id}: {name}"));
            text.parse::<f64>().expect("a number")
        };
        let Some(part) = law(kind, number) else { continue };
        let effort = Effort { atoms: 40_000, cells: 100, terms: 3_000, places: 200 };
        let sides_of = [Side::Remove, Side::Add];
        let parts = [part];
        let Some(truth) = Truth::new(&parts, &sides_of, effort) else { continue };
        let (delta, value, tolerance) = (
            number("delta"),
            value.parse::<f64>().expect("a number"),
            tolerance.parse::<f64>().expect("a number"),
        );
        let near = [value * (1.0 - tolerance), value * (1.0 + tolerance)];
        assert_eq!(truth.check_epsilon(delta, near), Verdict::Holds, "{id}");
        let got = composition(&parts)
            .expect("in range")
            .epsilon(dp_accounting::Delta::new(delta).expect("in range"));
        assert_eq!(truth.check_epsilon(delta, sides(got)), Verdict::Holds, "{id}: {got}");
        checked += 1;
    }
    assert!(checked >= 80, "{checked} values were small enough");
}
