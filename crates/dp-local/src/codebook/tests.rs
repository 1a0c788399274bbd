use std::f64::consts::{FRAC_1_SQRT_2, PI};

use dp_mechanism::{ChaCha20Rng, SecureSource};
use rand::SeedableRng;

use super::*;

fn question(epsilon: f64, dim: usize, symbols: u32, books: u32) -> CodebookVector {
    let epsilon = Epsilon::new(epsilon).expect("valid");
    CodebookVector::new(epsilon, dim, symbols, books, PublicCoins::new(17)).expect("valid settings")
}

/// Sums of the answers of clients who all have this vector, each with a book of its own as far as there are books.
fn sums(question: &CodebookVector, vector: &[f64], clients: u32, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut source = SecureSource::new(&mut rng);
    let mut answers = question.no_answers();
    for client in 0..clients {
        let book = client % question.books();
        let draws = &mut Draws::unplanned(&mut source);
        let symbol = question.answer(book).symbol(Private::new(Part::whole(vector)), draws);
        answers.add(book, symbol).expect("an answer");
    }
    question.estimate(&answers).expect("its own answers").map(|sum| sum)
}

/// `PrivUnit` without end: the largest mean inner product of any law with two densities of ratio `e^epsilon` on directions.
fn limit(epsilon: f64) -> f64 {
    let gain = |t: f64| {
        let density = (-0.5 * t * t).exp() / (2.0 * PI).sqrt();
        let above = 0.5 * libm::erfc(t * FRAC_1_SQRT_2);
        epsilon.exp_m1() * density / (epsilon.exp_m1() * above + 1.0)
    };
    let most = (0..4_000).map(|i| gain(f64::from(i) / 1_000.0)).fold(0.0, f64::max);
    1.0 / (most * most)
}

#[test]
fn one_byte_has_the_documented_variance_within_two_percent_of_the_limit() {
    for (epsilon, stated, favoured) in [(1.0, 6.38, 89), (2.0, 1.63, 55), (4.0, 0.44, 17)] {
        let question = question(epsilon, 3, 256, 1);
        let variance = question.variance();
        assert!((variance / stated - 1.0).abs() < 0.01, "{variance}");
        assert!(variance / limit(epsilon) < 1.02, "{variance} against {}", limit(epsilon));
        assert_eq!(question.response().favoured(), favoured);
    }
    // Fewer symbols are worse: computed once more with another program.
    for (symbols, stated) in [(16, 7.04), (64, 6.5)] {
        assert!((question(1.0, 3, symbols, 1).variance() / stated - 1.0).abs() < 0.01);
    }
}

/// Null: unbiased, and the stated variance in each coordinate. 40 sums of 1,500 clients in 10 coordinates across the vector fix the mean
/// square of a client to 2 % of nothing more: single directions are summed instead, 60,000 times 10 of them, which is .2 %.
#[test]
fn sums_are_unbiased_with_the_variance_that_is_stated() {
    for (epsilon, symbols) in [(1.0, 16), (1.0, 256), (4.0, 256)] {
        let question = question(epsilon, 12, symbols, 1 << 16);
        let clients = 60_000_u32;
        let mut vector = [0.0; 12];
        (vector[3], vector[4]) = (0.6, -0.5);
        let mut rng = ChaCha20Rng::seed_from_u64(symbols.into());
        let mut source = SecureSource::new(&mut rng);
        let (mut total, mut squares) = ([0.0; 12], 0.0);
        for client in 0..clients {
            let draws = &mut Draws::unplanned(&mut source);
            let part = Part { first: 3, values: &vector[3..5] };
            let symbol = question.answer(client).symbol(Private::new(part), draws);
            let book = Book::new(question.coins, client, 13);
            for (j, total) in total.iter_mut().enumerate() {
                let x = f64::from(book.at(symbol, j)) * question.unit();
                *total += x;
                squares += if j == 3 || j == 4 { 0.0 } else { x * x };
            }
        }
        let n = f64::from(clients);
        for (sum, truth) in total.iter().zip(vector) {
            // Null: unbiased; 36 coordinates at 5 standard errors, a false alarm in 2 of 10^5 seeds.
            assert!((sum / n - truth).abs() < 5.0 * (question.variance() / n).sqrt(), "{sum}");
        }
        let ratio = squares / (10.0 * n) / question.variance();
        assert!((0.97..1.03).contains(&ratio), "{ratio} at {epsilon} with {symbols}");
    }
}

/// Null: the variance of a sum is that of answers and of shared books together. 30 sums of 12 coordinates fix it to 8 %; without what is
/// shared it would be 40 % less.
#[test]
fn clients_who_share_books_share_noise() {
    let epsilon = Epsilon::new(1.0).expect("valid");
    let (clients, books) = (3_000_u32, 20);
    let mut squares = 0.0;
    let mut stated = 0.0;
    for session in 0..30 {
        let coins = PublicCoins::new(session);
        let question = CodebookVector::new(epsilon, 13, 256, books, coins).expect("valid");
        let vector = [1.0; 1];
        let sums = sums(&question, &vector, clients, session);
        squares += sums[1..].iter().map(|x| x * x).sum::<f64>() / 12.0 / 30.0;
        stated = question.variance() + question.shared_variance(f64::from(clients / books));
    }
    let ratio = squares / f64::from(clients) / stated;
    assert!((0.75..1.3).contains(&ratio), "{ratio}");
}

#[test]
fn every_vector_is_made_into_one_of_length_one() {
    let length = |values: &[f64]| {
        let (values, slack) = fixed(Part::whole(values), values.len());
        values.iter().chain([&slack]).map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt() / UNIT
    };
    let odd: [&[f64]; 8] = [
        &[0.0; 3],
        &[f64::NAN, f64::INFINITY, -f64::INFINITY],
        &[1e300, -1e300, 1e300],
        &[f64::MAX; 3],
        &[1e-300, 0.0, 0.0],
        &[0.3, 0.4, 0.5],
        &[3.0, -4.0, 0.1],
        &[f64::MIN_POSITIVE, -0.0, 1.0],
    ];
    for values in odd {
        assert!((length(values) - 1.0).abs() < 1e-4, "{values:?}: {}", length(values));
    }
    // Values beyond the dimension, and parts that start beyond it.
    let question = question(1.0, 4, 16, 1);
    let none = question.scores(0, Part::default());
    assert_eq!(question.scores(0, Part { first: 9, values: &[1.0] }), none);
    assert_eq!(question.scores(0, Part { first: usize::MAX, values: &[1.0] }), none);
    let cut = question.scores(0, Part { first: 3, values: &[0.5, 0.5] });
    assert_eq!(question.scores(0, Part { first: 3, values: &[0.5] }), cut);
}

#[test]
fn one_answer_adds_no_more_than_stated() {
    let question = question(2.0, 7, 256, 4);
    for book in 0..4 {
        for symbol in 0..256 {
            let mut answers = question.no_answers();
            answers.add(book, symbol).expect("an answer");
            let sum = question.estimate(&answers).expect("its own").map(f64::abs);
            assert!(sum.iter().all(|x| *x <= question.largest_share()));
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let epsilon = Epsilon::new(1.0).expect("valid");
    let coins = PublicCoins::new(1);
    let refused = |dim, symbols, books| {
        CodebookVector::new(epsilon, dim, symbols, books, coins).expect_err("refused").to_string()
    };
    assert_eq!(refused(0, 16, 1), "dim must be at least 1 and at most 65536, got 0");
    assert_eq!(refused(3, 1, 1), "symbols must be at least 2 and at most 256, got 1");
    assert_eq!(refused(3, 257, 1), "symbols must be at least 2 and at most 256, got 257");
    assert_eq!(refused(3, 16, 0), "books must be at least 1 and at most 65536, got 0");
    let own = CodebookVector::new(epsilon, 3, 16, 4, coins).expect("valid");
    for (books, symbols) in [(3, 16), (4, 15), (8, 8)] {
        let other = own.estimate(&SymbolCounts::new(books, symbols));
        assert!(
            matches!(other, Err(LocalError::Counts { .. })),
            "{books} books, {symbols} symbols"
        );
    }
}

/// Where directions fill whole words, and where they do not: what a client compares its vector with is what its symbol adds to the sum.
#[test]
fn clients_and_servers_read_the_same_directions_in_every_dimension() {
    for dim in 1..=11 {
        let question = question(2.0, dim, 16, 3);
        for place in 0..dim {
            let mut unit = vec![0.0; dim];
            unit[place] = 1.0;
            for (symbol, score) in (0..).zip(question.scores(2, Part::whole(&unit))) {
                let mut answer = question.no_answers();
                answer.add(2, symbol).expect("an answer");
                let sums = question.estimate(&answer).expect("its own answers").sums;
                assert_eq!(score, 32_768 * sums[place], "{dim}, {place}");
            }
        }
    }
}
