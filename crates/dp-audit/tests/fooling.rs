//! Broken mechanisms that are out to fool an audit, each beside an honest one that it must not accuse.

use approx::assert_abs_diff_eq;
use dp_accounting::{AddRemove, Budget, Epsilon, Receipt, Relation, ReplaceOne, Step};
use dp_audit::{
    Comparison, Law, Neighbours, NotNeighbours, Steered, Window, compare, exact_law, exact_laws,
    exact_rational_law,
};
use dp_mechanism::{
    Algorithm, ChaCha20Rng, DiscreteGaussian, DiscreteLaplace, Draws, Mechanism, Noise, NoisyCount,
    Private, Ratio, SecureSource, Source,
};
use rand::SeedableRng;

fn ratio(a: u128, b: u128) -> Ratio {
    Ratio::new(a, b).expect("valid")
}

fn laplace(scale: u128) -> Noise {
    Noise::Laplace(DiscreteLaplace::new(ratio(scale, 1)).expect("positive"))
}

/// Numbers of records, of which one has one more.
fn one_more<N: Copy + Into<i128>>() -> Neighbours<'static, N> {
    let apart = |a: &N, b: &N| ((*a).into() - (*b).into()).unsigned_abs() == 1;
    Neighbours::tested(AddRemove, apart).without_receipt()
}

fn compared<O: PartialEq + serde::Serialize>(
    run: impl Fn(&i64, &mut dyn Source) -> O,
) -> Comparison {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    compare(&one_more(), run, &0, &1, &mut SecureSource::new(&mut rng))
}

/// A mean of nothing is a zero whose sign tells which side it came from.
#[test]
fn the_sign_of_a_zero_is_part_of_an_output() {
    let with = |zero: fn(i64) -> f64| {
        compared(move |secret, source| {
            (source.noisy(*secret, laplace(1)), vec![Some(zero(*secret))])
        })
    };
    assert!(with(|secret| if secret == 1 { -0.0 } else { 0.0 }).pure_loss().is_infinite());
    let honest = with(|_| -0.0);
    assert!(honest.outputs_equal && (honest.pure_loss() - 1.0).abs() < 1e-12);
}

/// A NaN is equal to itself here, so an honest one is no difference; its payload is one.
#[test]
fn a_nan_is_compared_by_its_bits() {
    let with = |payload: fn(i64) -> u64| {
        compared(move |secret, source| {
            let bits = f64::NAN.to_bits() | payload(*secret);
            (source.noisy(*secret, laplace(1)), f64::from_bits(bits))
        })
    };
    assert!(with(|_| 5).outputs_equal);
    assert!(!with(i64::unsigned_abs).outputs_equal);
}

/// "If the noisy value is above 30, return the raw sum."
fn raw_above(limit: i64, secret: i64, source: &mut dyn Source) -> i64 {
    let noisy = source.noisy(secret, laplace(2));
    if noisy > limit { 1_000 + secret } else { noisy }
}

fn loss<O: Ord>(law: impl Fn(i64) -> Law<O>) -> f64 {
    let (a, b) = (law(0), law(1));
    a.pure_loss(&b).max(b.pure_loss(&a))
}

#[test]
fn code_for_draws_beyond_the_window_runs() {
    let window = Window::new(-30, 30);
    let law = |limit| {
        move |secret| exact_law(window, |source| raw_above(limit, secret, source)).without_receipt()
    };
    assert!(loss(law(30)).is_infinite());
    assert!(loss(law(50)).is_infinite());
    let honest =
        |secret| exact_law(window, |source| source.noisy(secret, laplace(2))).without_receipt();
    assert_abs_diff_eq!(loss(honest), 0.5, epsilon = 1e-9);
}

/// Whatever the code does with a value that nothing stands for, its mass can be charged to delta.
#[test]
fn draws_beyond_the_window_are_charged_to_delta() {
    let magic = |secret: i64, source: &mut dyn Source| {
        let noisy = source.noisy(secret, laplace(2));
        if noisy == 37 { 1_000 + secret } else { noisy }
    };
    let law = |window, secret| exact_law(window, |source| magic(secret, source)).without_receipt();
    let narrow = |secret| law(Window::new(-30, 30), secret);
    let charged = narrow(0).charged_delta(&narrow(1), 0.5);
    let wide = |secret| law(Window::new(-80, 80), secret);
    let delta = wide(0).delta(&wide(1), 0.5);
    // Twice the probability of more than 30, and that of 37.
    assert!((charged - narrow(0).outside()).abs() < 1e-12 && charged < 1e-6);
    assert!(delta > 0.0 && delta <= charged, "{delta} of {charged}");
}

/// Runs whose states are merged remember where they were.
#[test]
fn merged_states_charge_what_was_outside() {
    use dp_audit::{Progress, exact_law_of_steps};
    let window = Window::new(-3, 3);
    let merged = exact_law_of_steps(window, 0_u8, |&step, source| {
        source.noisy(0, laplace(1));
        if step == 1 { Progress::Done(()) } else { Progress::Continue(step + 1) }
    });
    let whole = exact_law(window, |source| {
        source.noisy(0, laplace(1));
        source.noisy(0, laplace(1));
    })
    .without_receipt();
    assert!((merged.outside() - whole.outside()).abs() < 1e-12 && whole.outside() > 0.01);
}

/// A branch that chance takes once in 10^17 runs, on the way of a mechanism of any size.
#[test]
fn draws_are_steered_into_branches_that_chance_does_not_take() {
    let broken = |secret: &i64, source: &mut dyn Source| {
        let first = source.noisy(*secret, laplace(1));
        let chosen = source.choose(&[0, 0, -200 + secret], ratio(1, 1));
        if first < -40 && chosen == 2 { *secret } else { 0 }
    };
    let honest = |secret: &i64, source: &mut dyn Source| {
        let first = source.noisy(*secret, laplace(1));
        let chosen = source.choose(&[0, 0, -200 + secret], ratio(1, 1));
        i64::from(first < -40 && chosen == 2)
    };
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let by_chance = (0..500).all(|_| {
        compare(&one_more(), broken, &0, &1, &mut SecureSource::new(&mut rng)).outputs_equal
    });
    assert!(by_chance, "it is rare");
    let run = |run: &dyn Fn(&i64, &mut dyn Source) -> i64| {
        let mut steered = Steered::new(1);
        (0..60).all(|_| {
            steered.restart();
            compare(&one_more(), run, &0, &1, &mut steered).outputs_equal
        })
    };
    assert!(!run(&broken) && run(&honest));
}

/// Steered outcomes are possible ones: an honest mechanism with every kind of draw shows its own loss, and no more.
#[test]
fn steering_accuses_nobody() {
    use dp_mechanism::{Geometric, Law, ReportNoise, SparseScores};
    let gaussian = DiscreteGaussian::new(ratio(9, 1)).expect("positive");
    let one_sided = Geometric::new(ratio(4, 1)).expect("positive");
    let two_sided = DiscreteLaplace::new(ratio(4, 1)).expect("positive");
    let run = |secret: &i64, source: &mut dyn Source| {
        let scores = [7, 3 + secret, 3];
        let sparse = SparseScores::new(9, [(2, 3 + secret.unsigned_abs())]);
        let mut vector = [*secret, 5];
        source.noisy_vector(&mut vector, gaussian);
        let numbers = [
            source.draw(Law::Report {
                value: 3 + secret,
                threshold: 9,
                noise: ReportNoise::TwoSided(two_sided),
            }),
            source.noisy(i64::MAX - 1 + secret, laplace(4)),
            source.noisy(i64::MIN + secret, laplace(4)),
            i64::from(source.exceeds(*secret, 40, laplace(4))),
        ];
        let places = [source.choose(&scores, ratio(1, 4)), source.flip(&scores, ratio(1, 4))];
        (
            vector,
            numbers,
            places,
            source.choose_sparse(&sparse, ratio(1, 4)),
            source.noisy_max(&[7, 3, 3], one_sided),
        )
    };
    let mut steered = Steered::new(2);
    for _ in 0..300 {
        for (a, b) in [(0, 1), (1, 0)] {
            steered.restart();
            let comparison = compare(&one_more(), run, &a, &b, &mut steered);
            assert!(comparison.outputs_equal && comparison.diverged.is_none(), "{comparison:?}");
            for step in comparison.steps.iter().skip(1) {
                let loss = step.forward.abs().max(step.backward.abs());
                assert!(loss <= 0.25 * (1.0 + 1e-9), "{step:?}");
            }
            assert_abs_diff_eq!(comparison.steps[0].rho, 1.0 / 18.0, epsilon = 1e-12);
        }
    }
}

/// At a large epsilon a choice is worth no more than randomised response, whatever the square of its range says.
#[test]
fn the_zcdp_of_a_choice_is_capped_by_its_pure_loss() {
    for (rate, cap) in [(1_u128, 1.0_f64), (20, 20.0), (100, 100.0)] {
        let run =
            |secret: &i64, source: &mut dyn Source| source.choose(&[*secret, 0], ratio(rate, 1));
        let comparison = compared(run);
        let limit = (cap * cap / 8.0).min(cap * (cap / 2.0).tanh());
        assert!(comparison.rho() <= limit * (1.0 + 1e-9), "{comparison:?}");
    }
    // And by no less than what the exact law shows.
    let law = |secret| {
        exact_law(Window::none(), |source| source.choose(&[secret, 0, -secret], ratio(6, 1)))
            .without_receipt()
    };
    let run =
        |secret: &i64, source: &mut dyn Source| source.choose(&[*secret, 0, -secret], ratio(6, 1));
    assert!(law(0).zcdp(&law(1)) <= compared(run).rho());
}

#[test]
fn a_count_that_saturates_is_compared_at_its_ends() {
    let count = NoisyCount::geometric(Epsilon::new(0.5).expect("valid")).expect("positive");
    let run = |n: &u64, source: &mut dyn Source| {
        count.release(*n, &mut dp_mechanism::Draws::unplanned(source))
    };
    let mut steered = Steered::new(3);
    for _ in 0..20 {
        steered.restart();
        let comparison = compare(&one_more(), run, &u64::MAX, &(u64::MAX - 1), &mut steered);
        assert!(comparison.pure_loss() <= 0.5);
    }
}

/// Two counts of one each, of which the first looks at its record twice and the second at none: their total is that of the receipt.
#[test]
fn what_one_leaf_overspends_another_cannot_make_up_for() {
    let count = NoisyCount::geometric(Epsilon::new(0.5).expect("valid")).expect("positive");
    let leaves = ["first", "second"].map(|name| Step::spend(name, count.loss()));
    let steps = Step::sequential("both", leaves.to_vec());
    let budget = Budget::new(1.0, 0.0).expect("valid");
    let receipt = Receipt::new("both", AddRemove, budget, steps);
    let run = |times: [u64; 2]| {
        let receipt = &receipt;
        move |records: &i64, source: &mut dyn Source| {
            let records = records.unsigned_abs();
            let of = |draws: &mut Draws<'_>| {
                ["first", "second"].map(|name| {
                    let times = times[usize::from(name == "second")];
                    count.release(times * records, &mut draws.leaf(name, 0))
                })
            };
            Draws::planned(source, receipt, of).0
        }
    };
    let honest = compared(run([1, 1]));
    assert!(honest.overdrawn.is_none() && (honest.pure_loss() - 1.0).abs() < 1e-9);
    let broken = compared(run([2, 0]));
    let leaf = broken.overdrawn.expect("the first");
    assert!(leaf.draw == 0 && (leaf.share - 2.0).abs() < 1e-9);
    assert_abs_diff_eq!(broken.pure_loss(), 2.0, epsilon = 1e-9);
}

/// Two counts, under either relation: a record that is replaced shows in both.
struct Halves<L> {
    count: NoisyCount,
    relation: L,
}

impl<L: Relation> Algorithm for Halves<L> {
    type Relation = L;
    type Data<'a> = &'a Vec<u8>;
    type Shape = ();
    type Output = [i64; 2];
    type Error = std::convert::Infallible;

    fn cost(&self) -> Receipt<L> {
        let half = Step::spend("half", self.count.loss());
        let halves = Step::parallel("halves", vec![half.clone(), half]);
        Receipt::new("halves", self.relation, Budget::new(2.0, 0.0).expect("valid"), halves)
    }

    fn shape(_: &&Vec<u8>) {}

    fn check(&self, (): &()) -> Result<(), std::convert::Infallible> {
        Ok(())
    }

    fn run(&self, people: Private<&Vec<u8>>, draws: &mut Draws<'_>) -> [i64; 2] {
        [0_u8, 1].map(|half| {
            let here =
                people.map(|people| people.iter().map(|at| u64::from(*at == half)).sum::<u64>());
            self.count.release(here, &mut draws.leaf("half", half.into()))
        })
    }
}

/// What a record that comes shows is half of what one that is replaced shows: held against the claim for those, it would look kept twice over.
#[test]
fn a_claim_is_checked_on_the_neighbours_it_is_about() {
    let count = NoisyCount::geometric(Epsilon::new(0.5).expect("valid")).expect("positive");
    let replace = Halves { count, relation: ReplaceOne };
    let add = Halves { count, relation: AddRemove };
    let records = |data: &Vec<u8>| data.clone();
    let (few, more, other) = (vec![0, 1], vec![0, 1, 1], vec![0, 0]);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut source = SecureSource::new(&mut rng);

    let one_more = Neighbours::of_records(AddRemove, records);
    let replaced = Neighbours::of_records(ReplaceOne, records);
    let run = |data: &Vec<u8>, source: &mut dyn Source| replace.replay(data, source).0;
    let seen = compare(&one_more, run, &few, &more, &mut source);
    let why = seen.refused.as_ref().map(ToString::to_string).unwrap_or_default();
    assert_eq!(why, "neighbours under add-remove, but the receipt is about replace-one");
    assert!(seen.failed() && seen.pure_loss().is_infinite() && seen.rho().is_infinite());
    assert!(seen.share_of(&replace.receipt()).is_infinite());
    // A lie about the relation is refused by the records.
    let lie = compare(&replaced, run, &few, &more, &mut source);
    assert!(matches!(lie.refused, Some(NotNeighbours::Records { first: 0, second: 1, .. })));
    assert!(exact_laws(&one_more, Window::new(-40, 40), run, &few, &more).is_err());
    // On the right neighbours, both halves lose.
    let seen = compare(&replaced, run, &few, &other, &mut source);
    assert!(seen.refused.is_none() && (seen.pure_loss() - 1.0).abs() < 1e-9);
    assert_abs_diff_eq!(seen.share_of(&replace.receipt()), 1.0, epsilon = 1e-9);

    let run = |data: &Vec<u8>, source: &mut dyn Source| add.replay(data, source).0;
    let seen = compare(&one_more, run, &few, &more, &mut source);
    assert_abs_diff_eq!(seen.share_of(&add.receipt()), 1.0, epsilon = 1e-9);
    // The same run, held against a claim for other neighbours.
    assert!(seen.share_of(&replace.receipt()).is_infinite());
    assert!(seen.share_of(&add.receipt().into_replace_one()).is_infinite());
    assert!(compare(&replaced, run, &few, &other, &mut source).failed());
    // Nobody says what the noise is for.
    let run = |data: &Vec<u8>, source: &mut dyn Source| {
        count.release(data.len() as u64, &mut Draws::unplanned(source))
    };
    let seen = compare(&one_more, run, &few, &more, &mut source);
    assert!(matches!(seen.refused, Some(NotNeighbours::NoReceipt { .. })));
    let raw = Neighbours::of_records(AddRemove, records).without_receipt();
    assert_abs_diff_eq!(
        compare(&raw, run, &few, &more, &mut source).pure_loss(),
        0.5,
        epsilon = 1e-9
    );
}

/// Nothing of the outcome is put out.
fn drop_it<T>(_: T) {}

/// Rates, noises, thresholds and numbers of candidates are public: a run that lets them depend on its data has no loss that could be added up.
#[test]
fn public_numbers_of_draws_must_be_the_same() {
    use dp_mechanism::{Geometric, Law, ReportNoise, SparseScores};
    type Run<'a> = &'a dyn Fn(i64, &mut dyn Source);
    let rate = |secret: i64| ratio(1 + u128::from(secret.unsigned_abs()), 4);
    let noise = |secret: i64| laplace(4 + u128::from(secret.unsigned_abs()));
    let two_sided = |scale: u128| {
        ReportNoise::TwoSided(DiscreteLaplace::new(ratio(scale, 1)).expect("positive"))
    };
    let report = |threshold: i64, scale: u128, source: &mut dyn Source| {
        source.draw(Law::Report { value: 0, threshold, noise: two_sided(scale) })
    };
    let of = |secret: i64| u128::from(secret.unsigned_abs()) + 4;
    let gaussian = |v: u128| DiscreteGaussian::new(ratio(v, 1)).expect("positive");
    let sparse = |candidates: i64| SparseScores::new(candidates.unsigned_abs(), [(1, 3)]);
    let geometric = |scale: u128| Geometric::new(ratio(scale, 1)).expect("positive");
    let zeros = |secret: i64| vec![0; 3 + usize::from(secret == 1)];
    let runs: [Run<'_>; 15] = [
        &|secret, source| drop_it(source.choose(&[0, 3], rate(secret))),
        &|secret, source| drop_it(source.choose(&zeros(secret), rate(0))),
        &|secret, source| drop_it(source.flip(&[0, 3], rate(secret))),
        &|secret, source| drop_it(source.flip(&zeros(secret), rate(0))),
        &|secret, source| drop_it(source.choose_sparse(&sparse(9), rate(secret))),
        &|secret, source| drop_it(source.choose_sparse(&sparse(9 + secret), rate(0))),
        &|secret, source| drop_it(source.noisy(0, noise(secret))),
        &|secret, source| drop_it(source.exceeds(0, secret, noise(0))),
        &|secret, source| drop_it(source.exceeds(0, 0, noise(secret))),
        &|secret, source| drop_it(report(3 + secret, 4, source)),
        &|secret, source| drop_it(report(3, of(secret), source)),
        &|secret, source| drop_it(source.noisy_max(&[0, 3], geometric(of(secret)))),
        &|secret, source| drop_it(source.noisy_max(&zeros(secret), geometric(4))),
        &|secret, source| source.noisy_vector(&mut [1, 2], gaussian(of(secret))),
        &|secret, source| source.noisy_vector(&mut zeros(secret), gaussian(4)),
    ];
    for (number, run) in runs.iter().enumerate() {
        let seen = compared(|secret, source| run(*secret, source));
        assert_eq!(seen.diverged, Some(0), "run {number}");
        assert!(seen.pure_loss().is_infinite() && seen.rho().is_infinite(), "run {number}");
    }
}

/// What changes in any coordinate of a vector counts.
#[test]
fn a_vector_is_compared_in_all_coordinates() {
    let gaussian = DiscreteGaussian::new(ratio(9, 1)).expect("positive");
    for place in 0..3 {
        let seen = compared(|secret, source| {
            let mut vector = [5, 6, 7];
            vector[place] += secret;
            source.noisy_vector(&mut vector, gaussian);
        });
        assert!((seen.rho() - 1.0 / 18.0).abs() < 1e-12, "{place}: {seen:?}");
        assert!(seen.pure_loss().is_infinite(), "{place}: {seen:?}");
    }
    // Nor is any Gaussian number of a pure loss, by however little it moves.
    let rounded = dp_mechanism::RoundedGaussian::new(ratio(9, 1)).expect("positive");
    for noise in [Noise::Gaussian(gaussian), Noise::Rounded(rounded)] {
        let moved = compared(|secret, source| source.noisy(*secret, noise));
        assert!(moved.pure_loss().is_infinite() && (moved.rho() - 1.0 / 18.0).abs() < 1e-12);
        let still = compared(|_, source| source.noisy(5, noise));
        assert!(still.pure_loss() <= 0.0 && still.rho() <= 0.0, "{still:?}");
    }
}

type RunOfTwo<'a> = &'a dyn Fn(&Vec<u8>, &mut dyn Source) -> [i64; 2];

/// A count that its receipt pays for, and one more before or after it that nobody pays for.
#[test]
fn a_draw_beside_a_plan_is_refused() {
    let count = NoisyCount::geometric(Epsilon::new(0.5).expect("valid")).expect("positive");
    let step = Step::spend("count", count.loss());
    let budget = Budget::new(0.5, 0.0).expect("valid");
    let receipt = Receipt::new("count", AddRemove, budget, step);
    let planned = |n: u64, source: &mut dyn Source| {
        Draws::planned(source, &receipt, |draws| count.release(n, &mut draws.leaf("count", 0))).0
    };
    let beside = |n: u64, source: &mut dyn Source| count.release(n, &mut Draws::unplanned(source));
    let before = |data: &Vec<u8>, source: &mut dyn Source| {
        let n = data.len() as u64;
        [beside(n, source), planned(n, source)]
    };
    let after = |data: &Vec<u8>, source: &mut dyn Source| {
        let n = data.len() as u64;
        [planned(n, source), beside(n, source)]
    };
    let twice = |data: &Vec<u8>, source: &mut dyn Source| {
        let n = data.len() as u64;
        [planned(n, source), planned(n, source)]
    };
    let neighbours = Neighbours::of_records(AddRemove, Vec::clone);
    let (few, more) = (vec![0], vec![0, 1]);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut source = SecureSource::new(&mut rng);
    let window = Window::new(-6, 8);
    let refused = Some(NotNeighbours::BesidePlan { compared: AddRemove.any() });
    for run in [&before as RunOfTwo<'_>, &after] {
        let seen = compare(&neighbours, run, &few, &more, &mut source);
        assert_eq!(seen.refused, refused);
        assert!(seen.failed() && seen.pure_loss().is_infinite() && seen.rho().is_infinite());
        assert_eq!(exact_laws(&neighbours, window, run, &few, &more).err(), refused);
        let law = |data: &Vec<u8>| exact_law(window, |source| run(data, source));
        assert!(law(&few).pure_loss(&law(&more)).is_infinite(), "nobody says the relation");
        let unit =
            |data: &Vec<u8>| exact_rational_law(ratio(1, 2), 2, window, |source| run(data, source));
        assert_eq!(unit(&few).largest_ratio(&unit(&more)), None);
    }
    // Two plans, each with its receipt, are no foul play.
    let seen = compare(&neighbours, twice, &few, &more, &mut source);
    assert!(seen.refused.is_none() && (seen.pure_loss() - 1.0).abs() < 1e-9);
    let run = |data: &Vec<u8>, source: &mut dyn Source| planned(data.len() as u64, source);
    let wide = Window::new(-40, 40);
    let (p, q) = exact_laws(&neighbours, wide, run, &few, &more).expect("neighbours");
    assert_abs_diff_eq!(p.pure_loss(&q).max(q.pure_loss(&p)), 0.5, epsilon = 1e-6);
    let unit = |data: &Vec<u8>| {
        let law = exact_rational_law(ratio(1, 2), 2, wide, |source| run(data, source));
        law.under(AddRemove)
    };
    assert!(unit(&few).largest_ratio(&unit(&more)).is_some());
}

/// What one of two runs draws has to be paid for as what the other does: by a receipt, and by one about these neighbours.
#[test]
fn both_runs_are_held_to_their_plans() {
    let count = NoisyCount::geometric(Epsilon::new(0.5).expect("valid")).expect("positive");
    let step = Step::spend("count", count.loss());
    let budget = Budget::new(0.5, 0.0).expect("valid");
    let add = Receipt::new("count", AddRemove, budget, step.clone());
    let replace = Receipt::new("count", ReplaceOne, budget, step);
    let of = |way: u8, n: u64, source: &mut dyn Source| match way {
        0 => Draws::planned(source, &add, |draws| count.release(n, &mut draws.leaf("count", 0))).0,
        1 => {
            Draws::planned(source, &replace, |draws| count.release(n, &mut draws.leaf("count", 0)))
                .0
        }
        _ => count.release(n, &mut Draws::unplanned(source)),
    };
    let neighbours = Neighbours::of_records(AddRemove, Vec::clone);
    let (few, more) = (vec![0_u8], vec![0, 1]);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut source = SecureSource::new(&mut rng);
    for (first, second) in (0..3).flat_map(|first| (0..3).map(move |second| (first, second))) {
        let run = |data: &Vec<u8>, source: &mut dyn Source| {
            of(if data.len() == 1 { first } else { second }, data.len() as u64, source)
        };
        let seen = compare(&neighbours, run, &few, &more, &mut source);
        assert_eq!(seen.refused.is_none(), first == 0 && second == 0, "{first} {second}");
        assert_eq!(seen.pure_loss().is_finite(), first == 0 && second == 0, "{first} {second}");
    }
}

/// A run that stops on one of the two data sets is no run that passes, whichever it is.
#[test]
fn a_panic_on_either_data_set_is_passed_on() {
    for odd in [0, 1] {
        let stopped = std::panic::catch_unwind(|| {
            compared(|secret, source| {
                let noisy = source.noisy(*secret, laplace(1));
                assert!(*secret != odd, "the odd one");
                noisy
            })
        });
        assert!(stopped.is_err(), "{odd}");
    }
}

/// A plan that dies half way has ended/// A plan that dies half way has ended: what is drawn after that is not its own, whoever catches the panic.
#[test]
fn a_plan_that_panics_pays_for_no_draw_after_it() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    let count = NoisyCount::geometric(Epsilon::new(0.5).expect("valid")).expect("positive");
    let step = Step::spend("count", count.loss());
    let receipt = Receipt::new("c", AddRemove, Budget::new(0.5, 0.0).expect("valid"), step);
    let run = |data: &Vec<u8>, source: &mut dyn Source| {
        let died = catch_unwind(AssertUnwindSafe(|| {
            Draws::planned(source, &receipt, |_| std::panic::resume_unwind(Box::new("half way"))).0
        }));
        died.unwrap_or_else(|_| count.release(data.len() as u64, &mut Draws::unplanned(source)))
    };
    let neighbours = Neighbours::of_records(AddRemove, Vec::clone);
    let (few, more) = (vec![0], vec![0, 1]);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let refused = Some(NotNeighbours::BesidePlan { compared: AddRemove.any() });
    let seen = compare(&neighbours, run, &few, &more, &mut SecureSource::new(&mut rng));
    assert_eq!(seen.refused, refused);
    assert_eq!(exact_laws(&neighbours, Window::new(-6, 8), run, &few, &more).err(), refused);
}

/// A source that keeps the promise to itself makes noise of half the claim's size look like draws that somebody accounts for.
#[test]
fn a_source_that_hides_the_promise_makes_no_law() {
    struct Hiding<'a>(&'a mut dyn Source);
    impl Source for Hiding<'_> {
        fn draw(&mut self, law: dp_mechanism::Law<'_>) -> i64 {
            self.0.draw(law)
        }
        fn noisy_vector(&mut self, values: &mut [i64], noise: dp_mechanism::DiscreteGaussian) {
            self.0.noisy_vector(values, noise);
        }
        fn noisy_max(&mut self, scores: &[i64], noise: dp_mechanism::Geometric) -> (usize, i64) {
            self.0.noisy_max(scores, noise)
        }
    }
    let count = NoisyCount::geometric(Epsilon::new(0.5).expect("valid")).expect("positive");
    let step = Step::spend("count", count.loss());
    let receipt = Receipt::new("c", ReplaceOne, Budget::new(0.5, 0.0).expect("valid"), step);
    let run = |n: u64, source: &mut dyn Source| {
        Draws::planned(source, &receipt, |draws| count.release(n, &mut draws.leaf("count", 0))).0
    };
    let window = Window::new(-40, 40);
    let law = |n| exact_law(window, |source| run(n, &mut Hiding(source)));
    let unit = |n| exact_rational_law(ratio(1, 2), 2, window, |source| run(n, &mut Hiding(source)));
    assert!(law(0).pure_loss(&law(1)).is_infinite());
    assert_eq!(unit(0).largest_ratio(&unit(1)), None);
    let under = |which: usize| {
        std::panic::catch_unwind(|| match which {
            0 => drop(law(0).under(AddRemove)),
            _ => drop(unit(0).under(AddRemove)),
        })
    };
    assert!(under(0).is_err() && under(1).is_err());
}

#[test]
#[should_panic(expected = "but no receipt stands behind a draw beside the plan")]
fn a_law_with_a_draw_beside_a_plan_is_of_no_relation() {
    let count = NoisyCount::geometric(Epsilon::new(0.5).expect("valid")).expect("positive");
    let step = Step::spend("count", count.loss());
    let receipt = Receipt::new("c", AddRemove, Budget::new(0.5, 0.0).expect("valid"), step);
    let law = exact_law(Window::new(-3, 4), |source| {
        let paid = |draws: &mut Draws<'_>| count.release(1_u64, &mut draws.leaf("count", 0));
        let first = Draws::planned(source, &receipt, paid).0;
        [first, count.release(1_u64, &mut Draws::unplanned(source))]
    });
    let _ = law.under(AddRemove);
}

/// One call finds what is sold under the wrong name by itself, and accuses nobody else.
#[test]
fn an_audit_replaces_records_where_the_receipt_says_so() {
    /// Noise for a record that comes or goes, sold as noise for one that is replaced.
    struct SoldAs(NoisyCount);
    impl Algorithm for SoldAs {
        type Relation = ReplaceOne;
        type Data<'a> = &'a Vec<u8>;
        type Shape = ();
        type Output = i64;
        type Error = std::convert::Infallible;
        fn cost(&self) -> Receipt<ReplaceOne> {
            let budget = Budget::new(0.5, 0.0).expect("valid");
            Receipt::new("sum", ReplaceOne, budget, Step::spend("sum", self.0.loss()))
        }
        fn shape(_: &&Vec<u8>) {}
        fn check(&self, (): &()) -> Result<(), std::convert::Infallible> {
            Ok(())
        }
        fn run(&self, people: Private<&Vec<u8>>, draws: &mut Draws<'_>) -> i64 {
            // Moved by 1 by whoever comes or goes, and by 2 by whoever is replaced.
            let signs = |people: &Vec<u8>| {
                people.iter().map(|at| if *at == 1 { 101 } else { 99 }).sum::<u64>() + 1_000
                    - 100 * people.len() as u64
            };
            self.0.release(people.map(signs), &mut draws.leaf("sum", 0))
        }
    }
    let count = NoisyCount::geometric(Epsilon::new(0.5).expect("valid")).expect("positive");
    let honest = Halves { count, relation: ReplaceOne };
    let audit = dp_audit::Audit::new([0_u8, 1]);
    let right = audit.run(&honest, |people, run| run(&people.to_vec()));
    assert!(right.stands(), "{right}");
    let broken = audit.run(&SoldAs(count), |people, run| run(&people.to_vec()));
    assert!(!broken.stands(), "{broken}");
}
