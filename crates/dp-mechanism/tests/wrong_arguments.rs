//! Every public constructor with 0, tiny and huge numbers, and what is no number: nothing panics, and what is refused is named with its value.
//!
//! Epsilon, rho, mu and delta are checked where they are made, by dp-accounting.

use std::fmt::Display;
use std::num::{NonZeroU32, NonZeroU64};

use dp_accounting::{Delta, Epsilon, Mu, Rho};
use dp_mechanism::{
    Certificate, Coordinates, CreditedRun, ExponentialMechanism, GaussianSum, GeometricSum, Grid,
    Modulus, Nearby, NoisyCount, Part, PoissonSample, SelectionRule, StableHistogram,
    SubsetResponse, ThresholdReports,
};

const LOSSES: [f64; 9] = [0.0, f64::MIN_POSITIVE, 1e-300, 1e-30, 1e-9, 1.0, 700.0, 1e30, f64::MAX];

/// Of the second test: so many arguments, and so many of them refused.
const LINES: usize = 105;
const REFUSED: usize = 75;

/// Of each loss: `+` if it is accepted, else the error, which is to name the setting and its value.
fn outcomes<T, E: Display>(of: impl Fn(f64) -> Result<T, E>) -> String {
    let mut all = String::new();
    for loss in LOSSES {
        match of(loss) {
            Ok(_) => all.push('+'),
            Err(error) => {
                let error = error.to_string();
                let value = [loss.to_string(), format!("{loss:e}"), "0".to_owned()];
                assert!(value.iter().any(|value| error.contains(value)), "{loss}: {error}");
                all.push('-');
            }
        }
    }
    all
}

fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).expect("finite and >= 0")
}

fn mu(x: f64) -> Mu {
    Mu::new(x).expect("finite and >= 0")
}

#[test]
fn losses_of_every_size_are_accepted_or_refused_with_their_value() {
    let half = Delta::new(0.5).expect("below 1");
    let wide = |length| NonZeroU64::new(length).expect("not 0");
    let one = NonZeroU32::MIN;
    let seen = [
        (outcomes(|x| NoisyCount::geometric(epsilon(x))), "----+++--"),
        (outcomes(|x| NoisyCount::gaussian(Rho::new(x).expect("valid"))), "----+++--"),
        (outcomes(|x| NoisyCount::rounded(mu(x))), "----+++--"),
        (outcomes(|x| GaussianSum::new(Rho::new(x).expect("valid"))), "----+++--"),
        (outcomes(|x| GaussianSum::rounded(mu(x))), "-----++--"),
        (outcomes(|x| GeometricSum::new(epsilon(x), wide(1))), "----+++--"),
        (outcomes(|x| GeometricSum::new(epsilon(x), wide(u64::MAX))), "-----++--"),
        (outcomes(|x| PoissonSample::new(epsilon(x))), "----+++--"),
        (outcomes(|x| ExponentialMechanism::by_range(epsilon(x), 1)), "----+++--"),
        (outcomes(|x| ExponentialMechanism::by_range(epsilon(x), u64::MAX)), "-----++--"),
        (outcomes(|x| SubsetResponse::new(epsilon(x), 2, 1)), "----++---"),
        (outcomes(|x| StableHistogram::new(mu(x), half, one)), "----+++--"),
        (
            outcomes(|x| ThresholdReports::one_sided(epsilon(x), Grid::Cells(u128::MAX), i64::MAX)),
            "----+++--",
        ),
        (
            outcomes(|x| ThresholdReports::two_sided(epsilon(x), Grid::Cells(0), i64::MIN)),
            "----+++--",
        ),
    ];
    for (number, (seen, want)) in seen.iter().enumerate() {
        assert_eq!(seen, want, "{number}");
    }
}

#[test]
fn other_settings_are_refused_with_value_and_limit() {
    let (whole, half) = (epsilon(1.0), Delta::new(0.5).expect("below 1"));
    let mut seen = Vec::new();
    let mut see = |what: &str, error: Option<String>| {
        seen.push(format!("{what}: {}", error.unwrap_or_else(|| "accepted".to_owned())));
    };
    for range in [0, 1, u64::MAX] {
        let error = ExponentialMechanism::by_range(whole, range).err();
        see(&format!("range {range}"), error.map(|error| error.to_string()));
    }
    for (symbols, favoured) in
        [(0, 0), (1, 1), (2, 0), (2, 2), (65_536, 1), (65_537, 1), (u32::MAX, u32::MAX)]
    {
        let error = SubsetResponse::new(whole, symbols, favoured).err();
        see(&format!("{favoured} of {symbols}"), error.map(|error| error.to_string()));
    }
    for delta in [0.0, f64::MIN_POSITIVE, 0.9] {
        let histogram = StableHistogram::new(
            mu(1.0),
            Delta::new(delta).expect("valid"),
            NonZeroU32::new(u32::MAX).expect("not 0"),
        );
        see(&format!("delta {delta:e}"), histogram.err().map(|error| error.to_string()));
    }
    let odd = [0.0, -1.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, f64::MAX];
    for x in odd {
        see(&format!("rho {x:e}"), Nearby::<Coordinates>::new(x).err().map(|e| e.to_string()));
        let modulus = |slope, slack| Modulus::<Coordinates>::new(slope, slack, 0, u64::MAX);
        for modulus in [modulus(x, 0.0), modulus(0.0, x)] {
            // What is accepted bounds what a record does, however far it moves.
            if let Ok(modulus) = &modulus {
                for far in [f64::MIN_POSITIVE, 1.0, f64::MAX] {
                    let moved = modulus.moved(Nearby::new(far).expect("above 0"));
                    assert!(moved.squared as f64 >= (x * x).min(1e18) * f64::from(far >= 1.0));
                }
            }
            see(&format!("modulus {x:e}"), modulus.err().map(|error| error.to_string()));
        }
        for share in [vec![x], vec![0.5, x]] {
            let parts: Vec<Part> =
                share.iter().map(|&share| Part { name: "part", share, rounds: 1 }).collect();
            let run = CreditedRun::new(Certificate::Composition, whole, &parts);
            see(&format!("shares {share:?}"), run.err().map(|error| error.to_string()));
        }
    }
    let part = |rounds| Part { name: "part", share: 1.0, rounds };
    for certificate in [
        Certificate::Subsampled,
        Certificate::Composition,
        Certificate::Approximate { delta: half },
    ] {
        for parts in [vec![], vec![part(0)], vec![part(1)], vec![part(u64::MAX)]] {
            let run = CreditedRun::new(certificate, whole, &parts);
            let rounds = parts.first().map_or(0, |part| part.rounds);
            see(
                &format!("{certificate:?}, {} parts of {rounds} rounds", parts.len()),
                run.as_ref().err().map(ToString::to_string),
            );
            let Ok(run) = run else { continue };
            for part in [1, 2, usize::MAX] {
                let wanted = format!("the run has 1 parts, counted from 0, got {part}");
                let selection = run.selection(part, SelectionRule::Exponential, 1);
                assert_eq!(selection.err().map(|error| error.to_string()), Some(wanted.clone()));
                if certificate == Certificate::Subsampled {
                    let reports = run.reports(part, 1).err();
                    assert_eq!(reports.map(|error| error.to_string()), Some(wanted));
                }
            }
            for credit in [0, 1, CreditedRun::MOST_CREDIT, CreditedRun::MOST_CREDIT + 1, u64::MAX] {
                let selection = run.selection(0, SelectionRule::Exponential, credit);
                see(&format!("credit {credit}"), selection.err().map(|error| error.to_string()));
                let reports = run.reports(0, credit);
                see(&format!("reports of {credit}"), reports.err().map(|error| error.to_string()));
            }
        }
    }
    let refused = |line: &&String| !line.ends_with(": accepted");
    assert_eq!((seen.len(), seen.iter().filter(refused).count()), (LINES, REFUSED));
    for line in seen.iter().filter(refused) {
        let limits = ["must be", "a response needs 1 <=", "allow a", "is not proved"];
        assert!(limits.iter().any(|limit| line.contains(limit)) && line.len() < 220, "{line}");
    }
    for line in [
        "0 of 2: a response needs 1 <= favoured < symbols <= 65536, got 0 of 2",
        "delta 0e0: delta of a histogram must be > 0, got 0",
        "rho NaN: distance must be finite and > 0, got NaN",
        "modulus inf: slack must be finite and >= 0, got inf",
        "shares [0.5, inf]: shares of a budget must be positive and add up to at most 1, got inf",
        "Composition, 0 parts of 0 rounds: shares of a budget must be positive and add up to at most 1, got 0",
        "credit 0: most credit of a record must be > 0, got 0",
    ] {
        assert!(seen.iter().any(|seen| seen == line), "{line}");
    }
}

/// What is listed of scores comes from records, and what is counted of them may be anything: nothing of it is refused.
#[test]
fn odd_scores_and_candidates_have_answers() {
    use dp_mechanism::SparseScores;
    let most = SparseScores::MAX_CANDIDATES;
    for candidates in [0, 1, most, u64::MAX] {
        let listed = [(0, u64::MAX), (0, 1), (u64::MAX, 5), (most, 7)];
        let mut scores = SparseScores::new(candidates, listed);
        assert!((1..most).contains(&scores.candidates()), "{candidates}");
        assert_eq!((scores.score(0), scores.score(u64::MAX)), (most, 0));
        for position in [0, 1, usize::MAX] {
            scores.lower(position);
        }
        assert_eq!((scores.score(0), scores.position(u64::MAX)), (most - 1, None));
    }
}

/// No candidates, which is public: refused before anything is drawn or charged.
#[test]
fn nobody_to_choose_from() {
    use dp_mechanism::{ChaCha20Rng, Draws, MechanismError, Private, SecureSource};
    use rand::SeedableRng;
    let rng = &mut ChaCha20Rng::seed_from_u64(1);
    let (source, none) = (&mut SecureSource::new(rng), [0_i64; 0]);
    let draws = &mut Draws::unplanned(source);
    let part = Part { name: "choice", share: 1.0, rounds: 1 };
    let choice = ExponentialMechanism::by_range(epsilon(1.0), 1).expect("valid");
    assert_eq!(choice.release(&none, draws), Err(MechanismError::NoCandidates));
    let run = CreditedRun::new(Certificate::Subsampled, epsilon(1.0), &[part]);
    for rule in [SelectionRule::Exponential, SelectionRule::PermuteAndFlip, SelectionRule::NoisyMax]
    {
        let selection = run.clone().and_then(|run| run.selection(0, rule, 1)).expect("valid");
        assert_eq!(selection.release(&none, draws), Err(MechanismError::NoCandidates));
        let zeros = selection.release_unless_zero(0, Private::new(None), draws);
        assert_eq!(zeros, Err(MechanismError::NoCandidates));
    }
}
