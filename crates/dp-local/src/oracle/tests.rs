use approx::assert_abs_diff_eq;
use dp_mechanism::{ChaCha20Rng, SecureSource};
use rand::SeedableRng;

use super::*;

fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).expect("valid")
}

/// The estimates of several surveys of `clients`, all of them in cell 0 but for every fourth, who is in cell 1.
fn surveys(oracle: &dyn Fn(u64) -> Oracle, clients: u32, count: u64) -> Vec<Vec<f64>> {
    let mut rng = ChaCha20Rng::seed_from_u64(clients.into());
    let mut source = SecureSource::new(&mut rng);
    let survey = |session: u64| {
        let (oracle, coins) = (oracle(session), PublicCoins::new(session).of(1));
        let mut answers = oracle.no_answers();
        for client in 0..clients {
            let class = coins.below(client.into(), oracle.classes());
            let cell = Private::new(u32::from(client % 4 == 0));
            let draws = &mut Draws::unplanned(&mut source);
            let symbol = CellAnswer::new(&oracle, class).symbol(cell, draws);
            answers.add(class, symbol).expect("an answer");
        }
        oracle.estimate(&answers).expect("its own answers")
    };
    (0..count).map(survey).collect()
}

/// Mean, and mean square about the truth.
fn moments(values: impl Iterator<Item = f64>, truth: f64) -> (f64, f64, f64) {
    let values: Vec<f64> = values.collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|x| (x - truth).powi(2)).sum::<f64>() / n, n)
}

/// Null: unbiased, with the stated variance. 60 surveys of 400 empty cells fix a variance to about 1 % (one standard error), since empty
/// cells hardly move together; 3 % are allowed. The control, the variance of the other oracle, is off by more where they differ.
#[test]
fn estimates_are_unbiased_with_the_variance_that_is_stated() {
    let (cells, clients) = (402, 2_000);
    let crowding = f64::from(clients) * (0.75_f64.powi(2) + 0.25_f64.powi(2));
    for asked in [1.0, 2.0, 4.0] {
        let hashing = |session| {
            let coins = PublicCoins::new(session);
            Oracle::Hashing(
                LocalHashing::new(epsilon(asked), cells, clients, coins).expect("valid"),
            )
        };
        let hadamard =
            |_| Oracle::Hadamard(HadamardResponse::new(epsilon(asked), cells).expect("valid"));
        let oracles: [&dyn Fn(u64) -> Oracle; 2] = [&hashing, &hadamard];
        for (which, oracle) in oracles.into_iter().enumerate() {
            let seen = surveys(oracle, clients, 60);
            let empty = seen.iter().flat_map(|survey| survey[2..].iter().copied());
            let (mean, square, n) = moments(empty, 0.0);
            let stated = f64::from(clients) * oracle(0).variance(0.0, crowding);
            assert!(mean.abs() < 5.0 * (stated / n).sqrt(), "{which} at {asked}: mean {mean}");
            let ratio = square / stated;
            assert!((0.97..1.03).contains(&ratio), "{which} at {asked}: {ratio}");
            let full = seen.iter().map(|survey| survey[0]);
            let (mean, _, n) = moments(full, 1_500.0);
            let stated = f64::from(clients) * oracle(0).variance(0.75, crowding);
            assert!((mean - 1_500.0).abs() < 5.0 * (stated / n).sqrt(), "{which}: {mean}");
        }
        let [a, b] = oracles.map(|oracle| oracle(0).variance(0.0, crowding));
        assert!(asked < 1.5 || (a / b - 1.0).abs() > 0.1, "the test can tell them apart");
    }
}

#[test]
fn the_documented_variances_are_those_of_rare_cells() {
    let coins = PublicCoins::new(1);
    for (asked, hashing, hadamard) in [(1.0, 3.68, 4.68), (2.0, 0.724, 1.72), (4.0, 0.076, 1.08)] {
        let close = |got: f64, stated: f64| (got / stated - 1.0).abs() < 0.01;
        let oracle = LocalHashing::new(epsilon(asked), 100, 1_000, coins).expect("valid");
        assert!(close(oracle.variance(0.0, 0.0), hashing), "{}", oracle.variance(0.0, 0.0));
        let oracle = HadamardResponse::new(epsilon(asked), 100).expect("valid");
        assert!(close(oracle.variance(0.0, 0.0), hadamard), "{}", oracle.variance(0.0, 0.0));
    }
}

#[test]
fn the_better_oracle_is_chosen() {
    let best = |asked, cells, clients| {
        Oracle::best(epsilon(asked), cells, clients, PublicCoins::new(1)).expect("valid")
    };
    assert!(matches!(best(0.1, 1_000, 100_000), Oracle::Hadamard(_)));
    assert!(matches!(best(1.0, 1_000, 100_000), Oracle::Hashing(_)));
    assert!(matches!(best(4.0, 14_641, 400_000), Oracle::Hashing(_)));
    // Whichever it is, it costs what was asked for.
    for asked in [0.1, 0.5, 1.0, 4.0] {
        let paid = Loss::Pure { epsilon: epsilon(asked) };
        assert_eq!(best(asked, 1_000, 100_000).response().loss(), paid);
    }
}

#[test]
fn hashes_are_decoded_as_by_hand_and_a_cell_beyond_is_the_last() {
    let coins = PublicCoins::new(8);
    let oracle = LocalHashing::with_sizes(epsilon(1.5), 37, 5, 3_000, coins).expect("valid");
    let mut answers = oracle.no_answers();
    (0..3_000).for_each(|i| answers.add(i, i * 7 % 5).expect("an answer"));
    let (p, q) = (oracle.response().favours(), 0.2);
    for (cell, estimate) in (0..37).zip(oracle.estimate(&answers).expect("its own")) {
        let support = (0..3_000).filter(|i| oracle.symbol(*i, cell) == i * 7 % 5).count();
        assert_abs_diff_eq!(estimate, (support as f64 - 3_000.0 * q) / (p - q), epsilon = 1e-9);
    }
    assert_eq!(oracle.symbol(4, 36), oracle.symbol(4, u32::MAX));
    let other = HadamardResponse::new(epsilon(1.5), 37).expect("valid");
    assert_eq!(other.symbol(4, 36), other.symbol(4, u32::MAX));
}

/// Row 0 of the matrix is constant and nobody's, so as many cells as a power of two need twice as many rows.
#[test]
fn parities_tell_all_cells_apart() {
    for cells in [1, 2, 3, 4, 31, 32] {
        let oracle = HadamardResponse::new(epsilon(1.0), cells).expect("valid");
        for cell in 0..cells {
            let mut answers = oracle.no_answers();
            for class in 0..oracle.classes() {
                answers.add(class, oracle.symbol(class, cell)).expect("an answer");
            }
            // Answers without noise count for more.
            let all = f64::from(oracle.classes()) / (2.0 * oracle.response().favours() - 1.0);
            for (other, estimate) in (0..).zip(oracle.estimate(&answers).expect("its own")) {
                let expected = if other == cell { all } else { 0.0 };
                assert_abs_diff_eq!(estimate, expected, epsilon = 1e-9);
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let coins = PublicCoins::new(8);
    let refused = |cells, clients| {
        LocalHashing::new(epsilon(1.0), cells, clients, coins).expect_err("refused").to_string()
    };
    assert!(refused(0, 5).contains("cells must be"), "{}", refused(0, 5));
    assert!(refused(u32::MAX, 5).contains("cells must be"));
    assert!(refused(5, 0).contains("clients must be at least 1"));
    let many = LocalHashing::with_sizes(epsilon(1.0), 5, 1 << 16, 1 << 16, coins);
    assert!(many.is_err(), "a table that would not fit");
    assert!(LocalHashing::new(epsilon(0.0), 5, 5, coins).is_err());
    assert!(Oracle::best(epsilon(30.0), 5, 5, coins).is_ok());
    let oracle = HadamardResponse::new(epsilon(1.0), 6).expect("valid");
    let mut answers = oracle.no_answers();
    assert_eq!(
        answers.add(8, 0).expect_err("refused").to_string(),
        "classes of clients are below 8, got 8"
    );
    assert_eq!(answers.add(7, 2).expect_err("refused").to_string(), "symbols are below 2, got 2");
    assert_eq!(answers.total(), 0);
    let other = SymbolCounts::new(7, 2);
    let why = "counts must have 8 classes of 2 symbols, got 7 of 2";
    assert_eq!(oracle.estimate(&other).expect_err("refused").to_string(), why);
    assert_eq!(answers.merge(&other).expect_err("refused").to_string(), why);
    let hashing = LocalHashing::with_sizes(epsilon(1.0), 6, 2, 8, coins).expect("valid");
    for other in [other, SymbolCounts::new(9, 2), SymbolCounts::new(8, 3)] {
        assert!(matches!(hashing.estimate(&other), Err(LocalError::Counts { .. })));
    }
}

/// Null: the symbols of a class's cells are independent, so hardly more cells share a symbol than a binomial law allows: more than 8 standard
/// deviations in one of 10^8 runs. The control, a linear function of the cell's number, has classes in which neighbours agree by the crowd.
#[test]
fn no_class_gives_one_symbol_to_a_crowd_of_cells() {
    let (cells, symbols, classes) = (4_096, 16, 2_048);
    let coins = PublicCoins::new(5);
    let oracle = LocalHashing::with_sizes(epsilon(3.0), cells, symbols, classes, coins);
    let oracle = oracle.expect("valid");
    let p = 1.0 / f64::from(symbols);
    let most = f64::from(cells) * p + 8.0 * (f64::from(cells) * p * (1.0 - p)).sqrt();
    let crowd = |symbol: &dyn Fn(u32) -> u32| {
        let first = symbol(0);
        (0..cells).filter(|cell| symbol(*cell) == first).count() as f64
    };
    let linear = |class: u32, cell: u32| {
        let value = coins.word(class.into()).wrapping_mul(cell.into());
        u32::try_from(value >> 60).expect("4 bits")
    };
    let of = |crowds: &dyn Fn(u32) -> f64| (0..classes).map(crowds).fold(0.0, f64::max);
    let (ours, control) = (
        of(&|class| crowd(&|cell| oracle.symbol(class, cell))),
        of(&|class| crowd(&|cell| linear(class, cell))),
    );
    assert!(ours < most && control > most, "{ours}, {control} and {most}");
}
