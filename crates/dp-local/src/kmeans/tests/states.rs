//! Servers in parts and over time: shards, states, and those that nobody leaves behind.

use super::*;

#[test]
fn bytes_objects_shards_and_states_are_one_server() {
    let plan = plan(2.0, 6_000);
    let (session, data) = (plan.session(9), records(6_000, 4));
    let mut whole = Server::new(session.clone());
    let mut halves = Server::new(session.clone());
    for round in 0..=plan.rounds() {
        let question =
            Question::from_bytes(&session, &whole.question().to_bytes()).expect("its own");
        assert_eq!(&question, whole.question());
        assert!(question.to_bytes().len() < 4_096);
        let sent = messages(&session, &question, &data, round.into());
        assert!(sent.iter().all(|bytes| bytes.len() == 22 + plan.answer_bytes(round)));
        for bytes in &sent {
            whole.receive(bytes).expect("an answer");
        }
        // Backwards, in two shards, with a stop in the middle of one.
        let (mut one, mut two) = (halves.shard(), halves.shard());
        let (first, second) = sent.split_at(sent.len() / 3);
        for bytes in second {
            two.receive(bytes).expect("an answer");
        }
        for (i, bytes) in first.iter().rev().enumerate() {
            if i == first.len() / 2 {
                let state = one.to_bytes();
                one = Server::from_bytes(session.clone(), &state).expect("its own state");
                assert!(one.to_bytes() == state);
            }
            one.receive(bytes).expect("an answer");
        }
        halves.merge(&two).expect("a shard");
        halves.merge(&one).expect("a shard");
        let repeated = halves.merge(&one).expect_err("the same clients");
        assert!(matches!(repeated, LocalError::Repeated { .. }));
        assert!(halves.to_bytes() == whole.to_bytes());
        whole.finish_round().expect("a round");
        halves.finish_round().expect("a round");
        let state = whole.to_bytes();
        let resumed = Server::from_bytes(session.clone(), &state).expect("its own state");
        assert!(resumed == whole);
        // Whoever has answered is not heard again, after going on either.
        let mut resumed = resumed;
        assert!(resumed.receive(&sent[0]).is_err());
    }
    assert_eq!(halves.centres(), whole.centres());
    let over = whole.finish_round().expect_err("it is over");
    assert_eq!(over, LocalError::Round { got: 4, expected: 3 });
}

#[test]
fn states_and_questions_that_were_cut_or_changed_are_refused() {
    let (session, other) = (plan(2.0, 500).session(9), plan(1.0, 500).session(9));
    let mut server = Server::new(session.clone());
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    session.simulate_round(&mut server, |_| Some(&TRUTH[0]), &mut rng).expect("a round");
    server.finish_round().expect("a round");
    session.simulate_round(&mut server, |_| None, &mut rng).expect("a round");
    let (state, asked) = (server.to_bytes(), server.question().to_bytes());
    for cut in 0..state.len() {
        assert!(Server::from_bytes(session.clone(), &state[..cut]).is_err());
    }
    for cut in 0..asked.len() {
        assert!(Question::from_bytes(&session, &asked[..cut]).is_err());
    }
    for place in (0..state.len()).step_by(7) {
        let mut changed = state.clone();
        changed[place] ^= 0x10;
        let why = Server::from_bytes(session.clone(), &changed).expect_err("refused");
        assert_eq!(why, LocalError::Damaged { what: "state of a server" });
    }
    let why = Server::from_bytes(other.clone(), &state).expect_err("refused");
    assert!(matches!(why, LocalError::Plan { .. }), "{why}");
    let why = Server::from_bytes(other.plan().session(8), &state).expect_err("refused");
    assert!(matches!(why, LocalError::Plan { .. }), "{why}");
    let why = Server::from_bytes(session.plan().session(8), &state).expect_err("refused");
    assert_eq!(why, LocalError::Session { got: 9, expected: 8 });
    assert!(Question::from_bytes(&other, &asked).is_err());
}

/// Who was asked by another plan is not heard: each setting, and each side of the box, is part of a plan's number.
#[test]
fn plans_that_differ_in_anything_have_other_numbers() {
    let usual = LocalKMeansSettings { cells_per_axis: Some(8), ..Default::default() };
    let hash = |sides: [f64; 4], k, epsilon, clients, settings| {
        let [a, b, c, d] = sides;
        let domain = PublicBox::new(vec![a, b], vec![c, d]).expect("a box");
        LocalKMeans::new(domain, k, epsilon, clients, settings).expect("valid settings").hash()
    };
    let sides = [-1.0, -1.0, 1.0, 1.0];
    let mut all = vec![
        hash(sides, 3, 2.0, 500, usual),
        hash(sides, 4, 2.0, 500, usual),
        hash(sides, 3, 2.5, 500, usual),
        hash(sides, 3, 2.0, 501, usual),
        hash(sides, 3, 2.0, 500, LocalKMeansSettings { rounds: 2, ..usual }),
        hash(sides, 3, 2.0, 500, LocalKMeansSettings { cells_per_axis: Some(9), ..usual }),
        hash(sides, 3, 2.0, 500, LocalKMeansSettings { symbols: 255, ..usual }),
    ];
    for side in 0..4 {
        let mut moved = sides;
        moved[side] *= 1.5;
        all.push(hash(moved, 3, 2.0, 500, usual));
    }
    let distinct: std::collections::BTreeSet<u64> = all.iter().copied().collect();
    assert_eq!(distinct.len(), all.len(), "{all:x?}");
}

/// Shards that heard one client both, whatever its number, and shards of other rounds and questions.
#[test]
fn shards_that_do_not_fit_are_refused() {
    let (session, data) = (plan(2.0, 500).session(9), records(500, 4));
    let mut server = Server::new(session.clone());
    let sent = messages(&session, server.question(), &data, 1);
    let hearing = |server: &Server, bytes: &[&Vec<u8>]| {
        let mut shard = server.shard();
        for bytes in bytes {
            shard.receive(bytes).expect("an answer");
        }
        shard
    };
    for (i, both) in sent.iter().enumerate().skip(1) {
        let (mut one, two) = (hearing(&server, &[&sent[0], both]), hearing(&server, &[both]));
        let client = Message::from_bytes(&session, &sent[i]).expect("an answer").client;
        assert_eq!(one.merge(&two), Err(LocalError::Repeated { client }));
    }
    let early = hearing(&server, &[&sent[0]]);
    let mut elsewhere = server.clone();
    for bytes in &sent {
        server.receive(bytes).expect("an answer");
    }
    for bytes in &sent[1..] {
        elsewhere.receive(bytes).expect("an answer");
    }
    for server in [&mut server, &mut elsewhere] {
        server.finish_round().expect("a round");
    }
    assert_eq!(server.merge(&early), Err(LocalError::Round { got: 0, expected: 1 }));
    // It asks about other centres.
    let other = Err(LocalError::Malformed { what: "shard" });
    assert_eq!(server.merge(&elsewhere.shard()), other);
    // It asks about the same centres, but knows another share of one.
    let share = server.centres().expect("a round is over").shares[0].to_le_bytes();
    let state = server.to_bytes();
    let place = state.windows(8).position(|bytes| bytes == share).expect("in the state");
    let mut changed = Writer::default();
    for (i, &byte) in state[..state.len() - 8].iter().enumerate() {
        changed.u8(byte ^ u8::from(i == place));
    }
    let elsewhere = Server::from_bytes(session.clone(), &changed.sealed()).expect("a state");
    assert_eq!(elsewhere.question(), server.question());
    assert_eq!(server.merge(&elsewhere.shard()), other);
    while server.finish_round().is_ok() {}
    let over = Err(LocalError::Round { got: 3, expected: 3 });
    assert_eq!(server.clone().merge(&server), over);
}

/// Of plans with rounds and without, in the box and on projections: a state is the server that left it, whichever round is over.
#[test]
fn states_of_all_plans_are_read_back() {
    let mut rng = ChaCha20Rng::seed_from_u64(12);
    for (dim, rounds) in [(2, 0), (2, 2), (7, 0), (7, 2)] {
        let domain = PublicBox::cube(dim, -1.0, 1.0).expect("a box");
        let settings = LocalKMeansSettings { rounds, ..Default::default() };
        let plan = LocalKMeans::new(domain, 3, 2.0, 300, settings).expect("valid settings");
        let session = plan.session(9);
        let mut server = Server::new(session.clone());
        for round in 0..=rounds {
            let record = [0.1; 7];
            session
                .simulate_round(&mut server, |_| Some(&record[..dim]), &mut rng)
                .expect("a round");
            server.finish_round().expect("a round");
            let read = Server::from_bytes(session.clone(), &server.to_bytes());
            assert!(read.expect("its own state") == server, "round {round} of {dim}, {rounds}");
        }
    }
}

/// More answers than counts, or half of a count: no server leaves that behind.
#[test]
fn states_whose_counts_do_not_fit_are_refused() {
    let session = plan(2.0, 500).session(9);
    let mut server = Server::new(session.clone());
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    session.simulate_round(&mut server, |_| None, &mut rng).expect("a round");
    let whole = server.to_bytes();
    let content = &whole[..whole.len() - 8];
    let read = |content: &[u8]| {
        let mut sealed = Writer::default();
        for &byte in content {
            sealed.u8(byte);
        }
        Server::from_bytes(session.clone(), &sealed.sealed()).map(|_| ())
    };
    assert_eq!(read(content), Ok(()));
    let mut more = content.to_vec();
    // After a version, two hashes, the round and whether it is over.
    more[19] ^= 1;
    let malformed = Err(LocalError::Malformed { what: "state of a server" });
    assert_eq!(read(&more), malformed);
    assert_eq!(read(&[content, &[0; 4]].concat()), malformed);
}

/// A checksum stops damage only: a state that was made up is refused with what is wrong about it, or goes on to the end.
#[test]
fn forged_states_are_refused_or_go_on() {
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let (mut refused, mut went_on) = (0, 0);
    for dim in [2, 7] {
        let domain = PublicBox::cube(dim, -1.0, 1.0).expect("a box");
        let settings = LocalKMeansSettings::default();
        let plan = LocalKMeans::new(domain, 2, 2.0, 200, settings).expect("valid settings");
        let session = plan.session(9);
        let mut server = Server::new(session.clone());
        loop {
            let whole = server.to_bytes();
            let content = &whole[..whole.len() - 8];
            for at in (17..content.len()).step_by((content.len() / 60).max(1)) {
                for change in [1, 0x80, rng.random_range(1..=u8::MAX)] {
                    let mut forged = Writer::default();
                    for (place, &byte) in content.iter().enumerate() {
                        forged.u8(if place == at { byte ^ change } else { byte });
                    }
                    let Ok(mut made_up) = Server::from_bytes(session.clone(), &forged.sealed())
                    else {
                        refused += 1;
                        continue;
                    };
                    let _ = (made_up.centres(), made_up.largest_moves(), made_up.to_bytes());
                    while made_up.finish_round().is_ok() {}
                    assert!(made_up.is_finished() && made_up.centres().is_some());
                    went_on += 1;
                }
            }
            if server.is_finished() {
                break;
            }
            session
                .simulate_round(&mut server, |_| Some(&[0.1; 7][..dim]), &mut rng)
                .expect("a round");
            server.finish_round().expect("a round");
        }
    }
    assert!(refused > 100 && went_on > 100, "{refused} refused, {went_on} went on");
    let fit = super::fit::Fit::nothing(&plan(2.0, 200).session(9));
    let radius = super::fit::Fit { radius: f64::MAX, ..fit };
    let said = radius.check(&plan(2.0, 200).session(9)).expect_err("no such radius").to_string();
    assert_eq!(
        said,
        "no server leaves such a state: the radius must be between 2.2250738585072014e-308 and 5.656854249492381e0, got 1.7976931348623157e308"
    );
}

/// A server that stops after any message, and one that stops between rounds or at the end, goes on as if it had not: with the same bytes, and
/// deaf to all whom it has heard.
#[test]
fn a_server_resumes_after_any_message() {
    let plan = plan(2.0, 160);
    let (session, data) = (plan.session(9), records(160, 4));
    let mut server = Server::new(session.clone());
    let resumed = |server: &Server| {
        let state = server.to_bytes();
        for cut in 0..state.len() {
            assert!(Server::from_bytes(session.clone(), &state[..cut]).is_err(), "cut at {cut}");
        }
        let resumed = Server::from_bytes(session.clone(), &state).expect("its own state");
        assert!(&resumed == server && resumed.to_bytes() == state);
        resumed
    };
    let mut heard: Vec<Vec<u8>> = Vec::new();
    for round in 0..=plan.rounds() {
        for bytes in messages(&session, server.question(), &data, round.into()) {
            server.receive(&bytes).expect("an answer");
            server = resumed(&server);
            heard.push(bytes);
            assert!(heard.iter().all(|bytes| server.receive(bytes).is_err()));
        }
        server.finish_round().expect("a round");
        server = resumed(&server);
    }
    assert!(server.is_finished() && server.finish_round().is_err());
    assert_eq!(server.centres().expect("it is over").answers.iter().sum::<u64>(), 160);
    assert!(heard.iter().all(|bytes| server.receive(bytes).is_err()));
}
