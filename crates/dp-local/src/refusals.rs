//! Wrong arguments of every public constructor, and what is said about them.

use dp_accounting::{Receipt, ReplaceOne};
use rand::SeedableRng;

use crate::{
    Client, CodebookVector, Epsilon, HadamardResponse, LocalHashing, LocalKMeans,
    LocalKMeansSettings, Oracle, Points, PublicBox, PublicCoins, Shuffled,
};

fn said<T, E: std::fmt::Display>(outcome: Result<T, E>) -> String {
    outcome.map_or_else(|error| error.to_string(), |_| "accepted".to_owned())
}

#[test]
#[allow(clippy::too_many_lines, reason = "one entry for each refusal")]
fn wrong_arguments_are_refused_with_value_and_limit() {
    let epsilon = |value| Epsilon::new(value).expect("in range");
    let (one, coins) = (epsilon(1.0), PublicCoins::new(1));
    let square = || PublicBox::cube(2, 0.0, 1.0).expect("a box");
    let plan = |k, clients, settings| LocalKMeans::new(square(), k, 1.0, clients, settings);
    let at = |value| LocalKMeans::new(square(), 2, value, 900, LocalKMeansSettings::default());
    let receipt: Receipt<ReplaceOne> =
        plan(2, 900, LocalKMeansSettings::default()).expect("in range").receipt();
    let session = plan(2, 900, LocalKMeansSettings::default()).expect("in range").session(1);
    let shuffled = |name: &str, group, delta| Shuffled::new(&receipt, name, group, delta);
    for (said, expected) in [
        (
            said(CodebookVector::new(one, 0, 16, 4, coins)),
            "dim must be at least 1 and at most 65536, got 0",
        ),
        (
            said(CodebookVector::new(one, usize::MAX, 16, 4, coins)),
            "dim must be at least 1 and at most 65536, got 18446744073709551615",
        ),
        (
            said(CodebookVector::new(one, 2, 1, 4, coins)),
            "symbols must be at least 2 and at most 256, got 1",
        ),
        (
            said(CodebookVector::new(one, 2, u32::MAX, 4, coins)),
            "symbols must be at least 2 and at most 256, got 4294967295",
        ),
        (
            said(CodebookVector::new(one, 2, 16, 0, coins)),
            "books must be at least 1 and at most 65536, got 0",
        ),
        (
            said(CodebookVector::new(one, 2, 16, u32::MAX, coins)),
            "books must be at least 1 and at most 65536, got 4294967295",
        ),
        (
            said(CodebookVector::new(epsilon(1e-300), 2, 16, 4, coins)),
            "epsilon of a response = 1e-300 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(CodebookVector::new(epsilon(1e300), 2, 16, 4, coins)),
            "epsilon of a response = 1e300 asks for less noise than 64-bit integers can express; allow a smaller loss",
        ),
        (
            said(HadamardResponse::new(one, 0)),
            "cells must be at least 1 and at most 4194303, got 0",
        ),
        (
            said(HadamardResponse::new(one, u32::MAX)),
            "cells must be at least 1 and at most 4194303, got 4294967295",
        ),
        (
            said(HadamardResponse::new(epsilon(1e-300), 4)),
            "epsilon of a response = 1e-300 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(HadamardResponse::new(epsilon(1e300), 4)),
            "epsilon of a response = 1e300 asks for less noise than 64-bit integers can express; allow a smaller loss",
        ),
        (
            said(LocalHashing::new(one, 0, 9, coins)),
            "cells must be at least 1 and at most 4194304, got 0",
        ),
        (said(LocalHashing::new(one, 9, 0, coins)), "clients must be at least 1, got 0"),
        (
            said(LocalHashing::new(one, u32::MAX, 9, coins)),
            "cells must be at least 1 and at most 4194304, got 4294967295",
        ),
        (
            said(LocalHashing::new(epsilon(1e-300), 9, 9, coins)),
            "epsilon of a response = 1e-300 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(LocalHashing::new(epsilon(1e300), 9, 9, coins)),
            "epsilon of a response = 1e300 asks for less noise than 64-bit integers can express; allow a smaller loss",
        ),
        (
            said(LocalHashing::new(epsilon(60.0), 9, 9, coins)),
            "epsilon of a response = 60 asks for less noise than 64-bit integers can express; allow a smaller loss",
        ),
        (
            said(LocalHashing::with_sizes(one, 9, 0, 1, coins)),
            "a response needs 1 <= favoured < symbols <= 65536, got 1 of 0",
        ),
        (
            said(LocalHashing::with_sizes(one, 9, 1, 1, coins)),
            "a response needs 1 <= favoured < symbols <= 65536, got 1 of 1",
        ),
        (
            said(LocalHashing::with_sizes(one, 9, u32::MAX, 1, coins)),
            "classes x symbols must be at most 2^22, got 4294967295",
        ),
        (
            said(LocalHashing::with_sizes(one, 9, 2, 0, coins)),
            "classes must be at least 1 and at most 65536, got 0",
        ),
        (
            said(LocalHashing::with_sizes(one, 9, 2, u32::MAX, coins)),
            "classes must be at least 1 and at most 65536, got 4294967295",
        ),
        (
            said(LocalHashing::with_sizes(one, 9, 65_536, 65_536, coins)),
            "classes x symbols must be at most 2^22, got 4294967296",
        ),
        (
            said(Oracle::best(one, 0, 9, coins)),
            "cells must be at least 1 and at most 4194304, got 0",
        ),
        (
            said(Oracle::best(one, u32::MAX, 9, coins)),
            "cells must be at least 1 and at most 4194304, got 4294967295",
        ),
        (said(Oracle::best(one, 9, 0, coins)), "clients must be at least 1, got 0"),
        (
            said(Oracle::best(epsilon(1e-300), 9, 9, coins)),
            "epsilon of a response = 1e-300 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(plan(0, 900, LocalKMeansSettings::default())),
            "k must be at least 1 and at most 1024, got 0",
        ),
        (
            said(plan(1025, 900, LocalKMeansSettings::default())),
            "k must be at least 1 and at most 1024, got 1025",
        ),
        (
            said(plan(usize::MAX, 900, LocalKMeansSettings::default())),
            "k must be at least 1 and at most 1024, got 18446744073709551615",
        ),
        (
            said(plan(2, 0, LocalKMeansSettings::default())),
            "clients must be at least 1 and at most 2^30, got 0",
        ),
        (
            said(plan(2, u32::MAX, LocalKMeansSettings::default())),
            "clients must be at least 1 and at most 2^30, got 4294967295",
        ),
        (
            said(plan(2, 900, LocalKMeansSettings { rounds: 255, ..Default::default() })),
            "rounds must be at most 16, got 255",
        ),
        (
            said(plan(
                2,
                900,
                LocalKMeansSettings { cells_per_axis: Some(0), ..Default::default() },
            )),
            "cells per axis must be at least 1, with fewer than 2^22 cells in all of one more, got 0",
        ),
        (
            said(plan(
                2,
                900,
                LocalKMeansSettings { cells_per_axis: Some(u32::MAX), ..Default::default() },
            )),
            "cells per axis must be at least 1, with fewer than 2^22 cells in all of one more, got 4294967295",
        ),
        (
            said(plan(2, 900, LocalKMeansSettings { symbols: 0, ..Default::default() })),
            "symbols must be at least 2 and at most 256, got 0",
        ),
        (
            said(plan(2, 900, LocalKMeansSettings { symbols: 1, ..Default::default() })),
            "symbols must be at least 2 and at most 256, got 1",
        ),
        (
            said(plan(2, 900, LocalKMeansSettings { symbols: u32::MAX, ..Default::default() })),
            "symbols must be at least 2 and at most 256, got 4294967295",
        ),
        (said(at(0.0)), "epsilon of a response must be > 0, got 0"),
        (said(at(-0.0)), "epsilon of a response must be > 0, got 0"),
        (said(at(-1.0)), "epsilon must be finite and >= 0, got -1"),
        (said(at(f64::NAN)), "epsilon must be finite and >= 0, got NaN"),
        (said(at(f64::INFINITY)), "epsilon must be finite and >= 0, got inf"),
        (
            said(at(1e-300)),
            "epsilon of a response = 1e-300 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(at(1e300)),
            "epsilon of a response = 1e300 asks for less noise than 64-bit integers can express; allow a smaller loss",
        ),
        (
            said(at(5e-324)),
            "epsilon of a response = 5e-324 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(LocalKMeans::new(
                PublicBox::cube(1, 0.0, 1e-100).expect("a box"),
                2,
                1.0,
                9,
                LocalKMeansSettings::default(),
            )),
            "diagonal of the box must be at least 1e-60 and at most 1e60, got 1e-100",
        ),
        (
            said(LocalKMeans::new(
                PublicBox::cube(1, 0.0, 1e100).expect("a box"),
                2,
                1.0,
                9,
                LocalKMeansSettings::default(),
            )),
            "diagonal of the box must be at least 1e-60 and at most 1e60, got 1e100",
        ),
        (
            said(LocalKMeans::new(
                PublicBox::cube(70_000, 0.0, 1.0).expect("a box"),
                2,
                1.0,
                9,
                LocalKMeansSettings::default(),
            )),
            "k (dim + 2) must be at most 65536, got 140004",
        ),
        (said(shuffled("", 9, 1e-6)), "length of the shuffler's name must be at least 1, got 0"),
        (said(shuffled("  ", 9, 1e-6)), "length of the shuffler's name must be at least 1, got 0"),
        (said(shuffled("post", 0, 1e-6)), "group must be at least 1, got 0"),
        (said(shuffled("post", 9, 0.0)), "delta must be above 0, got 0"),
        (said(shuffled("post", 9, -0.0)), "delta must be above 0, got -0"),
        (said(shuffled("post", 9, -1.0)), "delta must be at least 0 and below 1, got -1"),
        (said(shuffled("post", 9, f64::NAN)), "delta must be at least 0 and below 1, got NaN"),
        (said(shuffled("post", 9, 1.0)), "delta must be at least 0 and below 1, got 1"),
        (said(Client::new(&session, 900)), "numbers of clients are below 900, got 900"),
        (said(Client::new(&session, u32::MAX)), "numbers of clients are below 900, got 4294967295"),
        (
            said(session.plan().simulate(
                1,
                Points::new(vec![0.0; 3], 3).expect("rows").view(),
                &mut dp_mechanism::ChaCha20Rng::seed_from_u64(1),
            )),
            "records must have 2 coordinates, got 3",
        ),
    ] {
        assert_eq!(said, expected);
    }
}

/// What arrives: answers, counts and questions that are none, with the value and the limit; nothing is counted then.
#[test]
fn what_arrives_and_is_none_is_refused() {
    use crate::{FrequencyOracle, Message, Server};
    let square = PublicBox::cube(2, 0.0, 1.0).expect("a box");
    let plan = LocalKMeans::new(square, 2, 1.0, 900, LocalKMeansSettings::default());
    let session = plan.expect("valid").session(1);
    let mut server = Server::new(session.clone());
    let before = server.to_bytes();
    let client = (0..900).find(|client| session.round_of(*client) == 0).expect("some begin");
    let later = (0..900).find(|client| session.round_of(*client) == 1).expect("some go on");
    let plan = session.plan().hash();
    let whole = Message { plan, session: 1, round: 0, client, symbol: 0 };
    let mut see = |message: Message| said(server.accept(&message));
    for (said, wanted) in [
        (see(Message { client: 900, ..whole }), "below 900, got 900"),
        (see(Message { client: u32::MAX, ..whole }), "below 900, got 4294967295"),
        (see(Message { client: later, ..whole }), "round"),
        (see(Message { round: 1, ..whole }), "round"),
        (see(Message { round: u8::MAX, ..whole }), "round"),
        (see(Message { session: 0, ..whole }), "session"),
        (see(Message { session: u64::MAX, ..whole }), "session"),
        (see(Message { plan: plan ^ 1, ..whole }), "plan"),
        (see(Message { symbol: u32::MAX, ..whole }), "4294967295"),
        (said(server.receive(&[])), "message"),
        (said(server.receive(&[0; 22])), "version"),
        (said(server.receive(&[1; 4096])), "version 1 instead of"),
    ] {
        assert!(said.contains(wanted), "{said}, not {wanted}");
    }
    assert!(server.to_bytes() == before, "nothing is counted");
    let oracle = HadamardResponse::new(Epsilon::new(1.0).expect("in range"), 8).expect("valid");
    let mut counts = oracle.no_answers();
    for (class, symbol) in [(u32::MAX, 0), (0, u32::MAX), (u32::MAX, u32::MAX)] {
        assert!(said(counts.add(class, symbol)).contains("4294967295"), "{class} {symbol}");
    }
    let other = HadamardResponse::new(Epsilon::new(1.0).expect("in range"), 64).expect("valid");
    assert!(counts.merge(&other.no_answers()).is_err() && counts.total() == 0);
}
