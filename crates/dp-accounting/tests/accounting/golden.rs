//! Every reference value, evaluated by our code.

use dp_accounting::{
    Bound, Composition, Direction, Event, advanced_composition_epsilon,
    bounded_range_composition_by_zcdp, bounded_range_optimal_delta, budget_to_zcdp,
    gaussian_epsilon, gaussian_log_delta, gaussian_noise_multiplier,
    near_optimal_composition_epsilon, one_sided_to_two_sided, optimal_composition_delta,
    optimal_composition_epsilon, pure_composition_by_zcdp, renyi_to_epsilon, zcdp_to_epsilon,
    zcdp_to_log_delta,
};

use crate::{budget, delta, epsilon, rho};

const TABLE: &str = include_str!("../data/golden.csv");

struct Entry<'a> {
    id: &'a str,
    kind: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
    value: &'a str,
    tolerance: f64,
}

impl Entry<'_> {
    fn text(&self, name: &str) -> &str {
        self.parameters
            .iter()
            .find(|(key, _)| *key == name)
            .unwrap_or_else(|| panic!("{} has no {name}", self.id))
            .1
    }

    fn number(&self, name: &str) -> f64 {
        self.text(name).parse().unwrap_or_else(|_| panic!("{}: {name}", self.id))
    }

    fn count(&self, name: &str) -> u64 {
        self.text(name).parse().unwrap_or_else(|_| panic!("{}: {name}", self.id))
    }

    fn value(&self) -> f64 {
        self.value.parse().unwrap()
    }
}

fn entries() -> Vec<Entry<'static>> {
    TABLE
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let [id, kind, parameters, value, tolerance] = line.split(',').collect::<Vec<_>>()[..]
            else {
                panic!("{line}")
            };
            let parameters = parameters.split(' ').filter_map(|p| p.split_once('=')).collect();
            Entry { id, kind, parameters, value, tolerance: tolerance.parse().unwrap() }
        })
        .collect()
}

fn repeated(event: Event, count: u64) -> Composition {
    Composition::new().with(event, count).unwrap()
}

/// `gaussian:20:100` and so on; `a..b/n` stands for `a, a + b, ..`.
fn mix(parts: &str) -> Composition {
    let mut all = Composition::new();
    for part in parts.split('+') {
        let words: Vec<&str> = part.split(':').collect();
        let (name, count) = (words[0], words[words.len() - 1].parse().unwrap());
        let values: Vec<f64> = match words[1].split_once("..") {
            Some((from, rest)) => {
                let (by, n) = rest.split_once('/').unwrap();
                let (from, by): (f64, f64) = (from.parse().unwrap(), by.parse().unwrap());
                (0..n.parse().unwrap()).map(|i| from + by * f64::from(i)).collect()
            }
            None => vec![words[1].parse().unwrap()],
        };
        for value in values {
            let event = match name {
                "gaussian" => Event::gaussian(value),
                "laplace" => Event::laplace(1.0 / value),
                "rr" => Event::randomised_response(epsilon(value)),
                "poisson_gaussian" => {
                    Event::gaussian(words[2].parse().unwrap()).unwrap().poisson_sampled(value)
                }
                other => panic!("{other}"),
            };
            all = all.with(event.unwrap(), count).unwrap();
        }
    }
    all
}

/// What our code says: a number, or both sides.
enum Answer {
    Number(f64),
    /// The logarithm of a delta.
    Log(f64),
    /// Exact up to rounding: the tolerance applies to both sides.
    Exact(Bound),
    /// The tolerance and the gap rule apply to both sides.
    Bounds(Bound),
}

fn evaluate(entry: &Entry<'_>) -> Option<Answer> {
    let number = |name: &str| entry.number(name);
    let composed = |event: Event, count: &str| {
        repeated(event, entry.count(count)).epsilon(delta(number("delta")))
    };
    Some(match entry.kind {
        "gaussian_kfold" => Answer::Exact(composed(Event::gaussian(number("sigma")).unwrap(), "k")),
        "laplace_kfold" => {
            Answer::Bounds(composed(Event::laplace(number("scale_over_sensitivity")).unwrap(), "k"))
        }
        "randomized_response_kfold" => Answer::Exact(composed(
            Event::randomised_response(epsilon(number("eps0"))).unwrap(),
            "k",
        )),
        "discrete_laplace_kfold" => {
            let sensitivity = u32::try_from(entry.count("sensitivity")).unwrap();
            Answer::Exact(composed(Event::discrete_laplace(number("a"), sensitivity).unwrap(), "k"))
        }
        "discrete_gaussian_kfold" => {
            let sensitivity = u32::try_from(entry.count("sensitivity")).unwrap();
            let event = Event::discrete_gaussian(number("sigma2"), sensitivity).unwrap();
            Answer::Exact(composed(event, "k"))
        }
        "poisson_subsampled_gaussian" => {
            let event = Event::gaussian(number("sigma")).unwrap();
            Answer::Bounds(composed(event.poisson_sampled(number("q")).unwrap(), "T"))
        }
        "poisson_subsampled_laplace" => {
            let event = Event::laplace(number("scale_over_sensitivity")).unwrap();
            Answer::Bounds(composed(event.poisson_sampled(number("q")).unwrap(), "T"))
        }
        "mix" => {
            let all = mix(entry.text("parts"));
            let delta = delta(number("delta"));
            let direction = entry.parameters.iter().find(|(key, _)| *key == "direction");
            Answer::Bounds(match direction.map(|(_, value)| *value) {
                Some("remove") => all.epsilon_in(Direction::Remove, delta),
                Some("add") => all.epsilon_in(Direction::Add, delta),
                _ => all.epsilon(delta),
            })
        }
        _ => return formula(entry),
    })
}

/// The formula entries; `None` for a kind that nobody knows.
fn formula(entry: &Entry<'_>) -> Option<Answer> {
    let number = |name: &str| entry.number(name);
    let small = |name: &str| u32::try_from(entry.count(name)).unwrap();
    let e = |name: &str| epsilon(number(name));
    let d = || delta(number("delta"));
    Some(Answer::Number(match entry.kind {
        "gaussian_sigma" => gaussian_noise_multiplier(budget(number("eps"), number("delta"))),
        "gaussian_eps" => gaussian_epsilon(number("sigma"), d())?.get(),
        "gaussian_delta" => {
            return Some(Answer::Log(gaussian_log_delta(number("sigma"), e("eps"))));
        }
        "zcdp_to_eps_cks20" => zcdp_to_epsilon(rho(number("rho")), d())?.get(),
        "zcdp_to_delta_cks20" => {
            return Some(Answer::Log(zcdp_to_log_delta(rho(number("rho")), e("eps"))));
        }
        "eps_to_zcdp_rho_cks20" => budget_to_zcdp(budget(number("eps"), number("delta")))?.get(),
        "rdp_to_eps_single_order" => {
            renyi_to_epsilon(number("alpha"), number("rdp"), d()).unwrap()?.get()
        }
        "kov_optimal_homogeneous" => {
            let each_delta = delta(number("delta0"));
            optimal_composition_epsilon(e("eps0"), each_delta, small("k"), d()).unwrap()?.get()
        }
        "kov_optimal_homogeneous_delta" => {
            let each_delta = delta(number("delta0"));
            optimal_composition_delta(e("eps0"), each_delta, small("k"), e("eps")).unwrap().get()
        }
        "advanced_drv10" => advanced_composition_epsilon(e("eps0"), entry.count("k"), d())?.get(),
        "kov_theorem_3_4" => {
            near_optimal_composition_epsilon(e("eps0"), entry.count("k"), d())?.get()
        }
        "pure_via_zcdp" => pure_composition_by_zcdp(e("eps0"), entry.count("k"), d())?.get(),
        "bounded_range_via_zcdp" => {
            bounded_range_composition_by_zcdp(e("eta"), entry.count("k"), d())?.get()
        }
        "bounded_range_optimal_homogeneous_nonadaptive_delta" => {
            bounded_range_optimal_delta(e("eta"), small("k"), e("eps")).unwrap().get()
        }
        "one_sided_to_two_sided_subsampling" => {
            one_sided_to_two_sided(e("eps0"), f64::INFINITY, number("p")).unwrap().get()
        }
        _ => return None,
    }))
}

/// `ln` of a decimal number that may be far below the smallest float.
fn log_of(text: &str) -> f64 {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (mantissa, exponent): (f64, f64) = (mantissa.parse().unwrap(), exponent.parse().unwrap());
    mantissa.ln() + exponent * std::f64::consts::LN_10
}

#[test]
fn all_reference_values() {
    let (mut passed, mut failures) = (0, Vec::new());
    for entry in entries() {
        let value = entry.value();
        let answer = evaluate(&entry).unwrap_or_else(|| panic!("{} is not known", entry.kind));
        let ok = match answer {
            Answer::Number(got) => {
                if (got - value).abs() <= entry.tolerance * value {
                    Ok(())
                } else {
                    Err(format!("{got:e}"))
                }
            }
            Answer::Log(got) => {
                let off = got - log_of(entry.value);
                if off.abs() <= entry.tolerance { Ok(()) } else { Err(format!("off by {off:e}")) }
            }
            Answer::Exact(bound) | Answer::Bounds(bound) => {
                let sound = bound.upper() >= value * (1.0 - 1e-12)
                    && bound.lower() <= value * (1.0 + 1e-12);
                let far = (bound.upper() - value).abs().max((bound.lower() - value).abs());
                let near = far <= entry.tolerance * value;
                let narrow = bound.gap() <= 1e-6_f64.max(1e-6 * value);
                let tight = near && (narrow || matches!(answer, Answer::Exact(_)));
                if sound && tight {
                    Ok(())
                } else {
                    Err(format!(
                        "{bound} sound {sound} gap {:e} low {:e} up {:e}",
                        bound.gap(),
                        bound.lower() - value,
                        bound.upper() - value
                    ))
                }
            }
        };
        match ok {
            Ok(()) => passed += 1,
            Err(got) => failures.push(format!("{}: want {value:e}, got {got}", entry.id)),
        }
    }
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(passed, 412);
}
