//! Arguments of public constructors, odd ones and usual ones: each is refused with its value and the limit, or makes something that works.

use crate::bytes::Choices;
use crate::{Kind, Target, rng};
use dp_accounting::{
    Accuracy, Budget, Composition, Delta, Epsilon, Event, Mu, Question, Rho, Within,
    one_sided_to_two_sided,
};
use dp_combinatorial::Incidence;
use dp_combinatorial::k_median::Metric;
use dp_combinatorial::submodular::{Graphic, Laminar, Partition, Transversal, Uniform};
use dp_geometry::lsh::{ShiftedGrids, SignProjections, StableProjections};
use dp_geometry::{Cloud, FixedPointGrid, NestedGrid, Points, PublicBall, PublicBox};
use dp_local::{HadamardResponse, LocalHashing, Oracle, PublicCoins};
use dp_mechanism::{
    Coordinates, ExponentialMechanism, GaussianSum, GeometricSum, Modulus, Nearby, NoisyCount,
    PoissonSample, StableHistogram, SubsetResponse,
};
use dp_noise::{
    DiscreteGaussian, DiscreteLaplace, Geometric, PoissonSkips, RareHits, Ratio, RoundedGaussian,
    SecureBits, TableGaussian, TimingSafeGeometric, TimingSafeLaplace, TruncatedGeometric,
    TruncatedLaplace,
};
use dp_stream::baselines::{CellMethod, CellMonitor};
use dp_stream::{StreamShape, Threshold, Universe};
use rand::RngExt;
use std::fmt::Display;
use std::num::{NonZeroU32, NonZeroU64};

macro_rules! arguments {
    ($($name:literal $run:expr;)*) => {
        [$(Target { name: $name, kind: Kind::Choices, seeds: || seeds($run), run: $run },)*]
    };
}

pub(crate) const TARGETS: [Target; 6] = arguments! {
    "arguments-noise" noise;
    "arguments-accounting" accounting;
    "arguments-geometry" geometry;
    "arguments-mechanism" mechanism;
    "arguments-local" local;
    "arguments-structures" structures;
};

/// Choices that make something.
fn seeds(run: fn(&[u8]) -> bool) -> Vec<Vec<u8>> {
    let mut rng = rng();
    let all = std::iter::repeat_with(|| (0..64).map(|_| rng.random()).collect::<Vec<u8>>());
    all.filter(|bytes| run(bytes)).take(4).collect()
}

/// What was made. A refusal is one line that says what was got: a number, or that there is nothing.
fn made<T, E: Display>(outcome: Result<T, E>) -> Option<T> {
    outcome
        .map_err(|error| {
            let text = error.to_string();
            let says = |word: &str| text.contains(word);
            let value = text.contains(|c: char| c.is_ascii_digit());
            assert!(text.lines().count() == 1 && text.len() < 300, "{text}");
            assert!(
                value || ["NaN", "inf", "no ", "empty"].into_iter().any(says),
                "no value: {text}"
            );
        })
        .ok()
}

fn noise(bytes: &[u8]) -> bool {
    let choices = &mut Choices::new(bytes);
    let ratio = |choices: &mut Choices<'_>| {
        let part = |choices: &mut Choices<'_>| match choices.below(4) {
            0 => u128::MAX - u128::from(choices.size()),
            1 => u128::from(choices.size()) << 64,
            _ => u128::from(choices.size()),
        };
        made(Ratio::new(part(choices), part(choices)))
    };
    let Some(ratio) = ratio(choices) else { return false };
    let (mut rng, kind) = (rng(), choices.below(12));
    let mut bits = SecureBits::new(&mut rng);
    match kind {
        0 => made(DiscreteGaussian::new(ratio)).map(|noise| _ = noise.sample(&mut bits)),
        1 => made(DiscreteLaplace::new(ratio)).map(|noise| _ = noise.sample(&mut bits)),
        2 => made(Geometric::new(ratio)).map(|noise| _ = noise.sample(&mut bits)),
        3 => made(RoundedGaussian::new(ratio)).map(|noise| _ = noise.sample(&mut bits)),
        4 => made(TableGaussian::new(ratio)).map(|noise| _ = noise.sample(&mut bits)),
        5 => made(TimingSafeGeometric::new(ratio)).map(|noise| _ = noise.sample(&mut bits)),
        6 => made(TimingSafeLaplace::new(ratio)).map(|noise| _ = noise.sample(&mut bits)),
        7 => made(TruncatedGeometric::new(ratio, choices.small()))
            .map(|noise| _ = noise.sample(&mut bits)),
        8 => made(TruncatedLaplace::new(ratio, choices.size())).map(|noise| {
            assert!(noise.sample(&mut bits).unsigned_abs() <= noise.bound().into());
        }),
        9 => made(PoissonSkips::with_probability(ratio)).map(|skips| {
            assert!(skips.count(1_000, &mut bits) <= 1_000);
        }),
        10 => made(PoissonSkips::with_one_minus_exp(ratio)).map(|skips| {
            assert!(skips.count(1_000, &mut bits) <= 1_000);
        }),
        _ => made(RareHits::new(choices.small())).map(|hits| _ = hits.gap(&mut bits)),
    }
    .is_some()
}

fn accounting(bytes: &[u8]) -> bool {
    let choices = &mut Choices::new(bytes);
    let epsilon = made(Epsilon::new(choices.float())).unwrap_or(Epsilon::ZERO);
    let delta = made(Delta::new(choices.float())).unwrap_or(Delta::ZERO);
    let _ = (made(Rho::new(choices.float())), made(Mu::new(choices.float())));
    let _ =
        (made(Within::new(choices.float())), made(Budget::new(choices.float(), choices.float())));
    let _ = made(epsilon.split(&choices.floats()));
    let _ = made(one_sided_to_two_sided(epsilon, choices.float(), choices.float()));
    let event = match choices.below(7) {
        0 => Event::gaussian(choices.float()),
        1 => Event::laplace(choices.float()),
        2 => Event::randomised_response(epsilon),
        3 => Event::discrete_laplace(choices.float(), choices.small()),
        4 => Event::discrete_gaussian(choices.float(), choices.small()),
        5 => Event::approximate(epsilon, delta),
        _ => Event::bounded_range(epsilon),
    };
    let Some(mut event) = made(event) else { return false };
    if choices.below(3) == 0 {
        event = made(event.poisson_sampled(choices.float())).unwrap_or(event);
    }
    let Some(composition) = made(Composition::new().with(event, choices.size())) else {
        return false;
    };
    let accuracy = made(Accuracy::within(choices.float()));
    let accuracy =
        accuracy.and_then(|accuracy| made(accuracy.with_effort(choices.size() % 200_000)));
    let Some(accuracy) = accuracy else { return false };
    let question = Question::Delta(epsilon);
    if let Ok(answer) = composition.profile(accuracy).ask(question) {
        assert!(!format!("{answer:?}").contains("NaN"), "{answer:?}");
    }
    true
}

fn geometry(bytes: &[u8]) -> bool {
    let choices = &mut Choices::new(bytes);
    let dim = choices.below(4);
    let _ = made(Points::new(choices.floats(), dim));
    let domain = if choices.below(2) == 0 {
        PublicBox::cube(dim, choices.float(), choices.float())
    } else {
        PublicBox::new(choices.floats(), choices.floats())
    };
    let ball = made(PublicBall::new(choices.floats(), choices.float()));
    let mut rng = rng();
    let shifted =
        ShiftedGrids::new(choices.floats(), choices.below(9), choices.small() % 70, &mut rng);
    if let Some(grids) = made(shifted).filter(|grids| !grids.is_empty()) {
        assert!(grids.middle(grids.len() - 1).iter().all(|x| x.is_finite()));
    }
    let _ = made(StableProjections::new(dim, choices.below(200), choices.float(), &mut rng));
    if let Some(normals) = made(Points::new(choices.floats(), 1)) {
        let _ = made(SignProjections::new(normals.view()));
    }
    let Some(domain) = made(domain) else { return ball.is_some() };
    let mut point: Vec<f64> = (0..domain.dim()).map(|_| choices.float()).collect();
    let _ = made(PublicBall::around(&domain))
        .map(|ball| ball.clip(&mut point.clone()).expect("of its dimension"));
    if let Some(grid) = made(FixedPointGrid::new(domain.clone(), choices.small())) {
        grid.cells_of(&point, &mut vec![0; grid.dim()]);
    }
    if let Some(grid) = made(NestedGrid::new(domain.clone())) {
        let mut positions = vec![0; grid.dim()];
        grid.positions(&point, &mut positions);
        if let Some(cloud) = made(Cloud::new(&grid, choices.small())) {
            cloud.add(&positions, &mut vec![0; cloud.vertices()]);
        }
    }
    domain.clip(&mut point).expect("of its dimension");
    assert!(domain.contains(&point), "{point:?}");
    true
}

fn mechanism(bytes: &[u8]) -> bool {
    let choices = &mut Choices::new(bytes);
    let whole = Epsilon::new(1.0).expect("valid");
    let epsilon = made(Epsilon::new(choices.float())).unwrap_or(whole);
    let rho = made(Rho::new(choices.float())).unwrap_or(Rho::ZERO);
    let mu = made(Mu::new(choices.float())).unwrap_or(Mu::ZERO);
    let delta = made(Delta::new(choices.float())).unwrap_or(Delta::ZERO);
    let length = NonZeroU64::new(choices.size()).unwrap_or(NonZeroU64::MIN);
    let keys = NonZeroU32::new(choices.small()).unwrap_or(NonZeroU32::MIN);
    let modulus = Modulus::<Coordinates>::new(
        choices.float(),
        choices.float(),
        choices.size(),
        choices.size(),
    );
    let all = [
        made(NoisyCount::geometric(epsilon)).is_some(),
        made(NoisyCount::gaussian(rho)).is_some(),
        made(NoisyCount::rounded(mu)).is_some(),
        made(GaussianSum::new(rho)).is_some(),
        made(GaussianSum::rounded(mu)).is_some(),
        made(GeometricSum::new(epsilon, length)).is_some(),
        made(PoissonSample::new(epsilon)).is_some(),
        made(ExponentialMechanism::by_range(epsilon, choices.size())).is_some(),
        made(SubsetResponse::new(epsilon, choices.small(), choices.small())).is_some(),
        made(StableHistogram::new(mu, delta, keys)).is_some(),
        made(Nearby::<Coordinates>::new(choices.float())).is_some(),
        made(modulus).is_some(),
    ];
    all.into_iter().filter(|made| *made).count() > 3
}

fn local(bytes: &[u8]) -> bool {
    let choices = &mut Choices::new(bytes);
    let epsilon = made(Epsilon::new(choices.float())).unwrap_or(Epsilon::ZERO);
    let coins = PublicCoins::new(choices.size());
    let (cells, clients) = (choices.small(), choices.small());
    let hadamard = made(HadamardResponse::new(epsilon, cells)).is_some();
    let hashing = made(LocalHashing::new(epsilon, cells, clients, coins)).is_some();
    hadamard | hashing | made(Oracle::best(epsilon, cells, clients, coins)).is_some()
}

fn structures(bytes: &[u8]) -> bool {
    let choices = &mut Choices::new(bytes);
    let size = |choices: &mut Choices<'_>| usize::try_from(choices.size()).unwrap_or(usize::MAX);
    let list = |choices: &mut Choices<'_>| -> Vec<usize> {
        (0..choices.below(5)).map(|_| size(choices)).collect()
    };
    let uniform = made(Uniform::new(size(choices), size(choices))).is_some();
    let partition = made(Partition::new(list(choices), list(choices))).is_some();
    let edges = (0..choices.below(5)).map(|_| (choices.below(9), size(choices))).collect();
    let graphic = made(Graphic::new(size(choices), edges)).is_some();
    let groups = (0..choices.below(4)).map(|_| (list(choices), choices.below(9))).collect();
    let laminar = made(Laminar::new(size(choices), groups)).is_some();
    let fits = (0..choices.below(4)).map(|_| list(choices)).collect();
    let transversal = made(Transversal::new(size(choices), fits)).is_some();
    let points = choices.floats();
    let metric = made(Metric::from_points(&points, choices.below(4))).is_some();
    let pairs: Vec<(u32, u32)> =
        (0..choices.below(5)).map(|_| (choices.small() % 99, choices.small())).collect();
    let incidence =
        made(Incidence::from_pairs(choices.small(), choices.small() % 1_000, &pairs)).is_some();
    let universe = match choices.below(3) {
        0 => Universe::Range { size: choices.size() },
        1 => Universe::Bits64,
        _ => {
            let alphabet = ["", "a", "ab", "aa", "\u{e9}"][choices.below(5)].to_owned();
            Universe::BoundedNames { alphabet, max_bytes: choices.small() }
        }
    };
    let shape = StreamShape { universe, users: choices.small(), steps: choices.size() };
    #[allow(clippy::cast_possible_truncation, reason = "any number is as good")]
    let method = [
        CellMethod::SparseVector { reports: choices.small() },
        CellMethod::KaplanStyle { spread: choices.small() as u8 },
        CellMethod::GaussianHistograms,
    ][choices.below(3)];
    let threshold = Threshold::Rule { beta: choices.float() };
    let budget = Budget::new(1.0, 1e-6).expect("valid");
    #[allow(clippy::cast_possible_truncation, reason = "any number is as good")]
    let reports = choices.small() as u8;
    let monitor = made(CellMonitor::new(shape, budget, method, reports, threshold)).is_some();
    uniform | partition | graphic | laminar | transversal | metric | incidence | monitor
}
