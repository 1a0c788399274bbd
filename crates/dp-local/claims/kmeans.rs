//! Checks of a session: what a client's answer says about its record, in every round and for every record, also none.

use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Audit, Method};
use dp_local::{
    LocalKMeans, LocalKMeansSettings, Mechanism, PublicBox, Question, RoundAnswer, Server, Session,
};
use rand::RngExt;

use crate::answers::{EPSILONS, rational_law, see_all};

pub(crate) fn checks() -> Vec<Check> {
    let exact = |id: &str, mechanism: &str, run: fn(Effort) -> Found| {
        Check::new(id, mechanism, "replace-one", Method::Exact, run)
    };
    vec![
        exact("local-kmeans-law", "RoundAnswer, exact laws in all rounds", laws),
        exact("local-kmeans-audit", "RoundAnswer, against its receipt", audits),
        Check::new(
            "local-kmeans-receipt",
            "RoundAnswer, receipt",
            "replace-one",
            Method::Ledger,
            receipts,
        ),
    ]
}

/// Records of all kinds: none, outside, not numbers, on the bisector of two centres, too few coordinates, too many.
const RECORDS: [Option<&[f64]>; 10] = [
    None,
    Some(&[]),
    Some(&[0.0, 0.0]),
    Some(&[0.9, -0.9]),
    Some(&[-1.0, 1.0]),
    Some(&[f64::NAN, 0.3]),
    Some(&[f64::INFINITY, -f64::INFINITY]),
    Some(&[1e308, -1e308]),
    Some(&[0.3]),
    Some(&[0.3, 0.2, 0.1, 0.0, -0.1, -0.2, 9.0]),
];

/// The questions of all rounds of a session in which some clients answered.
fn questions(session: &Session, effort: Effort, answered: bool) -> Vec<Question> {
    let mut rng = effort.rng(81);
    let mut server = Server::new(session.clone());
    let mut questions = Vec::new();
    while !server.is_finished() {
        questions.push(server.question().clone());
        if answered {
            let places: [&[f64]; 2] = [&[0.5; 6], &[-0.4; 6]];
            let record = |client: u32| Some(places[client as usize % 2]);
            session.simulate_round(&mut server, record, &mut rng).expect("answers");
        }
        server.finish_round().expect("a round");
    }
    questions
}

/// Plans in two dimensions, and in six with a projection.
fn plans(asked: f64, symbols: u32) -> Vec<LocalKMeans> {
    let plan = |dim, cells| {
        let domain = PublicBox::cube(dim, -1.0, 1.0).expect("a box");
        LocalKMeans::new(
            domain,
            2,
            asked,
            400,
            LocalKMeansSettings { symbols, cells_per_axis: Some(cells), ..Default::default() },
        )
    };
    vec![plan(2, 3).expect("valid settings"), plan(6, 2).expect("valid settings")]
}

/// Goes through all rounds of all sessions, with an answer of a client of each round.
fn each_answer(
    effort: Effort,
    symbols: u32,
    mut see: impl FnMut(f64, &LocalKMeans, &RoundAnswer<'_>, u8),
) {
    for asked in EPSILONS {
        for plan in plans(asked, symbols) {
            for answered in [true, false] {
                let session = plan.session(effort.seed);
                for question in questions(&session, effort, answered) {
                    let round = question.round();
                    let asked_now = (0..400).filter(|i| session.round_of(*i) == round);
                    for client in asked_now.take(effort.of(1, 5)) {
                        let answer = RoundAnswer::new(&session, &question, client);
                        see(asked, &plan, &answer.expect("it is asked"), round);
                    }
                }
            }
        }
    }
}

fn laws(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    each_answer(effort, 16, |asked, plan, answer, round| {
        let laws: Vec<_> = RECORDS
            .iter()
            .map(|record| rational_law(|source| answer.replay(*record, source).0))
            .collect();
        let weight = answer.response().weight();
        let dim = plan.public_box().dim();
        see_all(&mut found, asked, weight, &laws, || format!("round {round}, {dim} dimensions"));
    });
    found
}

fn audits(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    each_answer(effort, effort.of(16, 256), |_, _, answer, _| {
        let audit = Audit::new(RECORDS).sizes([1]).effort(effort);
        found = found.clone().and(audit.run(answer, |records, run| run(records[0])).found());
    });
    found
}

/// A client spends what the plan says, in whichever round: within its budget, and at least all but the last digits of it.
fn receipts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(82);
    for i in 0..effort.of(34_u8, 255) {
        let asked = 10_f64.powf(rng.random_range(-2.0..1.0));
        // In a box and in projections, with every number of rounds.
        let domain = PublicBox::cube([2, 6][usize::from(i % 2)], -1.0, 1.0).expect("a box");
        let settings = LocalKMeansSettings { symbols: 8, rounds: i % 17, ..Default::default() };
        let plan = LocalKMeans::new(domain, 2, asked, 400, settings);
        let receipt = plan.expect("valid settings").receipt();
        let spent = receipt.pure().map_or(f64::INFINITY, |epsilon| epsilon.get() / asked);
        let share = if receipt.within_budget() { spent } else { f64::INFINITY };
        found.see(share, || format!("epsilon {asked}, {} rounds", i % 17));
    }
    found
}
