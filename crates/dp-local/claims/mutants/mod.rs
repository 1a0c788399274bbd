//! Deliberately broken answers, each with its corrected twin. What each one is stands in `mutants.toml`.

use dp_accounting::{Epsilon, ReplaceOne};
use dp_audit::harness::{Effort, Found, MutantCheck};
use dp_audit::{Window, exact_law};
use dp_local::{
    CellAnswer, CodebookVector, LocalHashing, LocalKMeans, LocalKMeansSettings, Mechanism, Message,
    Part, PublicBox, PublicCoins, Question, RoundAnswer, Server, Session,
};
use dp_mechanism::{Coin, Ratio, Source, SparseScores, SubsetResponse};

pub(crate) fn all() -> Vec<MutantCheck> {
    let code: [dp_audit::harness::MutantCode; 7] = [
        ("M81", |effort| subset(effort, 1), |effort| subset(effort, 6)),
        ("M82", |effort| absent(effort, true), |effort| absent(effort, false)),
        ("M83", |effort| groups(effort, 2), |effort| groups(effort, 1)),
        ("M84", |effort| classes(effort, true), |effort| classes(effort, false)),
        ("M240", |effort| asked_twice(effort, true), |effort| asked_twice(effort, false)),
        ("M241", |effort| resumed(effort, true), |effort| resumed(effort, false)),
        ("M242", |effort| other_round(effort, true), |effort| other_round(effort, false)),
    ];
    dp_audit::harness::mutants(include_str!("mutants.toml"), &code)
}

const EPSILON: f64 = 1.0;

fn epsilon() -> Epsilon {
    Epsilon::new(EPSILON).expect("valid")
}

/// The exact losses of what is sent for any two of these records.
fn losses<R, O: Ord + Clone>(records: &[R], send: impl Fn(&R, &mut dyn Source) -> O) -> Found {
    let mut found = Found::claim(EPSILON);
    let laws: Vec<_> = records
        .iter()
        .map(|record| {
            exact_law(Window::none(), |source| send(record, source))
                .without_receipt()
                .under(ReplaceOne)
        })
        .collect();
    for (i, a) in laws.iter().enumerate() {
        for (j, b) in laws.iter().enumerate() {
            found.see(a.pure_loss(b), || format!("records {i} and {j}"));
        }
    }
    found
}

/// 16 symbols, of which the first `favoured` of a ranking share the probability that is meant for 6.
fn subset(_: Effort, favoured: u64) -> Found {
    let meant = SubsetResponse::new(epsilon(), 16, 6).expect("valid");
    let above = meant.weight().numerator() * 6;
    let all = above + meant.weight().denominator().get() * 10;
    let coin = Coin::Rational(Ratio::new(above, all).expect("small"));
    let any = Ratio::new(1, 1).expect("one over one");
    losses(&[0_u64, 3, 8], |first, source| {
        let top = source.keep(coin);
        let (start, among) = if top { (0, favoured) } else { (favoured, 16 - favoured) };
        (first + start + source.choose_sparse(&SparseScores::new(among, []), any)) % 16
    })
}

/// A client whose record is outside of the box, or who has none, says nothing.
fn absent(effort: Effort, silent: bool) -> Found {
    let coins = PublicCoins::new(effort.seed);
    let question = CodebookVector::new(epsilon(), 2, 16, 1, coins).expect("valid");
    let records: [&[f64]; 3] = [&[0.5, 0.1], &[-0.3, 0.9], &[]];
    losses(&records, |values, source| {
        (!silent || !values.is_empty())
            .then(|| question.answer(0).replay(Part::whole(values), source).0)
    })
}

/// A client who is in so many groups answers as often.
fn groups(effort: Effort, groups: usize) -> Found {
    let coins = PublicCoins::new(effort.seed);
    let oracle = LocalHashing::with_sizes(epsilon(), 6, 4, 2, coins).expect("valid");
    losses(&[0_u32, 1, 2, 3, 4, 5], |cell, source| {
        let answer = CellAnswer::new(&oracle, 0);
        (0..groups).map(|_| answer.replay(*cell, source).0).collect::<Vec<_>>()
    })
}

/// The class, which the server must know to decode, is the cell's instead of the client's.
fn classes(effort: Effort, of_the_cell: bool) -> Found {
    let coins = PublicCoins::new(effort.seed);
    let oracle = LocalHashing::with_sizes(epsilon(), 6, 4, 2, coins).expect("valid");
    losses(&[0_u32, 1, 2, 3, 4, 5], |cell, source| {
        let class = if of_the_cell { cell % 2 } else { 1 };
        (class, CellAnswer::new(&oracle, class).replay(*cell, source).0)
    })
}

/// A small session, with a client of its first round.
fn small_session(effort: Effort) -> (Session, u32) {
    let domain = PublicBox::cube(1, -1.0, 1.0).expect("a box");
    let session = LocalKMeans::new(
        domain,
        1,
        EPSILON,
        40,
        LocalKMeansSettings { symbols: 6, cells_per_axis: Some(3), ..Default::default() },
    )
    .expect("valid settings")
    .session(effort.seed);
    let client = (0..40).find(|client| session.round_of(*client) == 0);
    (session, client.expect("half of them"))
}

const PLACES: [Option<&[f64]>; 3] = [None, Some(&[-0.9]), Some(&[0.8])];

fn say(
    session: &Session,
    question: &Question,
    client: u32,
    record: Option<&[f64]>,
    source: &mut dyn Source,
) -> u32 {
    RoundAnswer::new(session, question, client).expect("it is asked").replay(record, source).0
}

/// A device that forgets answers whenever it is asked.
fn asked_twice(effort: Effort, forgets: bool) -> Found {
    let (session, client) = small_session(effort);
    let server = Server::new(session.clone());
    losses(&PLACES, |record, source| {
        let times = if forgets { 2 } else { 1 };
        let answer = |_| say(&session, server.question(), client, *record, source);
        (0..times).map(answer).collect::<Vec<_>>()
    })
}

/// A server that was killed asks those again of whom its state does not know that they have answered: the state of now, or one of before.
fn resumed(effort: Effort, from_before: bool) -> Found {
    let (session, client) = small_session(effort);
    let message = |symbol| Message {
        plan: session.plan().hash(),
        session: session.number(),
        round: 0,
        client,
        symbol,
    };
    losses(&PLACES, |record, source| {
        let mut server = Server::new(session.clone());
        let before = server.to_bytes();
        let mut said = vec![say(&session, server.question(), client, *record, source)];
        server.accept(&message(said[0])).expect("an answer");
        let state = if from_before { before } else { server.to_bytes() };
        let mut again = Server::from_bytes(session.clone(), &state).expect("its own state");
        if again.accept(&message(said[0])).is_ok() {
            said.push(say(&session, again.question(), client, *record, source));
        }
        said
    })
}

/// A client that answers a question of another round than its own, too.
fn other_round(effort: Effort, answers: bool) -> Found {
    let (session, client) = small_session(effort);
    let mut server = Server::new(session.clone());
    let first = server.question().clone();
    server.finish_round().expect("a round");
    let second = server.question().clone();
    // Whoever is asked in the second round answers as this client would.
    let other = (0..40).find(|client| session.round_of(*client) == 1).expect("some");
    losses(&PLACES, |record, source| {
        let mut said = vec![say(&session, &first, client, *record, source)];
        if answers || RoundAnswer::new(&session, &second, client).is_ok() {
            said.push(say(&session, &second, other, *record, source));
        }
        said
    })
}
