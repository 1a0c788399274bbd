//! What rests in files and travels between machines, with checksums that fit: it is refused, or a run goes on from it.

use crate::bytes::{sealed, unsealed};
use crate::plans::{ball, budget, cube, data, monitor, nation, records, whole};
use crate::{Kind, Target, json, rng};
use dp_census::passes::{Group, GroupCounts};
use dp_census::{Census, CensusSettings, Privacy};
use dp_cluster::lsh_splits::{LshSplits, LshSplitsSettings};
use dp_cluster::map::{MapCounts, PrivateMap, PrivateMapSettings};
use dp_cluster::passes::Question;
use dp_cluster::private_kmeans::{PrivateKMeans, PrivateKMeansSettings};
use dp_local::{LocalKMeans, LocalKMeansSettings, Message, RoundAnswer, Server, Session};
use dp_mechanism::passes::{Asked, ByPasses, Passes, Question as _, Table};
use dp_mechanism::{Mechanism, SecureSource};
use dp_stream::{
    Decider, DeciderState, Decision, Event, Method, MonitorPlan, MonitorState, Shard, ShardCounts,
    ShardState, Universe, resealed,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, to_value};
use std::sync::LazyLock;

pub(crate) const TARGETS: [Target; 15] = [
    target(
        "stream-monitor",
        Kind::Json,
        || sessions()[0].clone(),
        |bytes| {
            let Some(state) = read::<MonitorState>("monitor-state", bytes) else { return false };
            let published = state.next_time();
            let Ok(mut monitor) = state.resume(&pure(), published) else { return false };
            let source = &mut rng();
            monitor
                .step_with(published, &events(published, 0..40), &mut SecureSource::new(source))
                .is_ok()
        },
    ),
    target(
        "stream-shard",
        Kind::Json,
        || sessions()[1].clone(),
        |bytes| {
            let Some(state) = read::<ShardState>("shard-state", bytes) else { return false };
            let Ok(mut shard) = state.resume() else { return false };
            let time = shard.next_time();
            let _ = shard.add(&events(time, 0..20));
            shard.count(time).is_ok()
        },
    ),
    target(
        "stream-decider",
        Kind::Json,
        || sessions()[2].clone(),
        |bytes| {
            let Some(state) = read::<DeciderState>("decider-state", bytes) else { return false };
            let next = state.next_time();
            let Ok(mut decider) = state.resume(&pure(), next) else { return false };
            let counts = begun().1;
            let _ = decider.decide_with(&counts, &mut SecureSource::new(&mut rng()));
            true
        },
    ),
    target(
        "stream-counts",
        Kind::Json,
        || sessions()[3].clone(),
        |bytes| {
            let (mut decider, mut all, _) = begun();
            // Bound to a history that is drawn anew.
            let fresh = to_value(&all[0]).expect("plain fields");
            let Ok(mut content) = serde_json::from_slice::<Value>(bytes) else { return false };
            if content["history"].is_number() {
                content["history"] = fresh["content"]["history"].clone();
            }
            let Some(counts) = read::<ShardCounts>("shard-counts", &json(&content)) else {
                return false;
            };
            all[0] = counts;
            decider.decide_with(&all, &mut SecureSource::new(&mut rng())).is_ok()
        },
    ),
    target(
        "stream-decision",
        Kind::Json,
        || sessions()[4].clone(),
        |bytes| {
            let Some(decision) = read::<Decision>("decision", bytes) else { return false };
            let (_, _, mut shards) = begun();
            // Bound to tickets that are drawn anew: what is read is settled by no other session.
            assert!(shards.iter_mut().all(|shard| shard.settle(&decision).is_err()));
            true
        },
    ),
    target("local-question", Kind::Bytes, || servers()[0].clone(), question),
    target(
        "local-message",
        Kind::Bytes,
        || servers()[1].clone(),
        |bytes| {
            let session = session(bytes);
            let Ok(message) = Message::from_bytes(&session, bytes.get(1..).unwrap_or_default())
            else {
                return false;
            };
            Server::new(session).accept(&message).is_ok()
        },
    ),
    target(
        "local-server",
        Kind::Bytes,
        || servers()[2].clone(),
        |bytes| {
            let state = sealed(b"", bytes.get(1..).unwrap_or_default());
            let Ok(mut server) = Server::from_bytes(session(bytes), &state) else { return false };
            let _ = (server.centres(), server.largest_moves(), server.question().to_bytes());
            let mut other = server.shard();
            let _ = other.merge(&server);
            server.is_finished() || server.finish_round().is_ok()
        },
    ),
    target(
        "map-counts",
        Kind::Bytes,
        || {
            let map = PrivateMap::add_remove(cube(2), budget(), PrivateMapSettings::default())
                .expect("valid");
            vec![unsealed(b"", &map.count(records().view()).expect("of two dimensions").to_bytes())]
        },
        |bytes| {
            let Ok(mut counts) = MapCounts::from_bytes(&sealed(b"", bytes)) else { return false };
            let map = PrivateMap::add_remove(cube(2), budget(), PrivateMapSettings::default())
                .expect("valid");
            counts.merge(&map.count(records().view()).expect("of two dimensions")).is_ok()
                && map.counted().simulate(&counts, &mut rng()).is_ok()
        },
    ),
    target(
        "passes-question",
        Kind::Bytes,
        || [all_passes(kmeans(), 0), all_passes(splits(), 0)].concat(),
        |bytes| {
            let Ok(asked) = Asked::<Question>::from_bytes(&sealed(b"dpquest1", bytes)) else {
                return false;
            };
            let Ok(mut tally) = asked.tally() else { return false };
            tally.add(records().view()).is_ok()
        },
    ),
    target(
        "passes-table",
        Kind::Bytes,
        || all_passes(kmeans(), 1),
        |bytes| answered(kmeans(), bytes),
    ),
    target(
        "passes-state",
        Kind::Bytes,
        || all_passes(kmeans(), 2),
        |bytes| resumed(kmeans(), bytes),
    ),
    target(
        "passes-state-splits",
        Kind::Bytes,
        || all_passes(splits(), 2),
        |bytes| resumed(splits(), bytes),
    ),
    target(
        "census-question",
        Kind::Bytes,
        || {
            vec![unsealed(
                b"dpquest1",
                &Passes::new(census()).expect("has tables").asked().to_bytes(),
            )]
        },
        |bytes| {
            let Ok(asked) = Asked::<GroupCounts>::from_bytes(&sealed(b"dpquest1", bytes)) else {
                return false;
            };
            // Whoever asks for billions of cells gets them, where there is memory for so many.
            if asked.question().entries() > 1 << 20 {
                return false;
            }
            let Ok(mut tally) = asked.tally() else { return false };
            tally.add(&[Group { region: 0, size: u64::MAX }, Group { region: 1, size: 1 }]).is_ok()
        },
    ),
    target(
        "census-table",
        Kind::Bytes,
        || {
            let passes = Passes::new(census()).expect("has tables");
            let mut tally = passes.asked().tally().expect("has a table");
            let groups =
                (0..census_groups()).map(|size| Group { region: size % 2, size: size.into() });
            tally.add(&groups.collect::<Vec<_>>()).expect("regions that there are");
            vec![unsealed(b"dptable1", &tally.table().to_bytes())]
        },
        |bytes| answered(census(), bytes),
    ),
];

const fn target(
    name: &'static str,
    kind: Kind,
    seeds: fn() -> Vec<Vec<u8>>,
    run: fn(&[u8]) -> bool,
) -> Target {
    Target { name, kind, seeds, run }
}

// Streams.

fn pure() -> MonitorPlan {
    monitor(Method::ThreshMonitor, Universe::Range { size: 7 })
}

fn events(step: u64, users: std::ops::Range<u32>) -> Vec<Event> {
    users.map(|user| Event { user, item: u64::from(user) * step % 7 }).collect()
}

/// A decider and the counts of its two shards in the first step.
fn begun() -> (Decider, Vec<ShardCounts>, Vec<Shard>) {
    let mut rng = rng();
    let begun = pure().start_sharded_with(7, &[20, 20], &mut SecureSource::new(&mut rng));
    let (decider, mut shards) = begun.expect("as many users as planned");
    let counts = shards.iter_mut().zip([0..20, 20..40]).map(|(shard, users)| {
        shard.add(&events(0, users)).expect("its users");
        shard.count(0).expect("in time")
    });
    let counts = counts.collect();
    (decider, counts, shards)
}

/// States and messages of some steps: monitors, shards, deciders, counts, decisions.
fn sessions() -> [Vec<Vec<u8>>; 5] {
    let content =
        |state: Result<Value, serde_json::Error>| json(&state.expect("plain fields")["content"]);
    let mut draws = rng();
    let mut monitor = pure().start_with(&mut SecureSource::new(&mut draws));
    let mut monitors = vec![content(to_value(monitor.state()))];
    for time in 0..2 {
        let events = events(time, 0..40);
        monitor.step_with(time, &events, &mut SecureSource::new(&mut draws)).expect("in time");
        monitors.push(content(to_value(monitor.state())));
    }
    let (mut decider, counts, mut shards) = begun();
    let mut of_shards = vec![content(to_value(shards[0].state()))];
    let mut deciders = vec![content(to_value(decider.state()))];
    let of_counts = vec![content(to_value(&counts[0]))];
    let decision = decider.decide_with(&counts, &mut SecureSource::new(&mut draws));
    let decision = decision.expect("all shards have counted");
    shards[0].settle(&decision).expect("counted");
    of_shards.push(content(to_value(shards[0].state())));
    deciders.push(content(to_value(decider.state())));
    let decisions = vec![content(to_value(&decision))];
    [monitors, of_shards, deciders, of_counts, decisions]
}

/// A file form with this content and the checksum that fits.
fn read<T: DeserializeOwned>(kind: &str, content: &[u8]) -> Option<T> {
    let mut whole = Vec::new();
    let content = &mut serde_json::Deserializer::from_slice(content);
    resealed(kind, content, &mut serde_json::Serializer::new(&mut whole))?.ok()?;
    serde_json::from_slice(&whole).ok()
}

// Clients and servers. The first byte says which session.

static SESSIONS: LazyLock<[Session; 2]> = LazyLock::new(|| {
    [2, 7].map(|dim| {
        let settings = LocalKMeansSettings::default();
        LocalKMeans::new(cube(dim), 3, 2.0, 400, settings).expect("valid").session(9)
    })
});

fn session(bytes: &[u8]) -> Session {
    SESSIONS[usize::from(bytes.first().is_some_and(|first| first % 2 == 1))].clone()
}

/// Of both sessions and each round: questions, a message, states.
fn servers() -> [Vec<Vec<u8>>; 3] {
    let (mut questions, mut messages, mut states) = (vec![], vec![], vec![]);
    let mut rng = rng();
    for (number, session) in (0..).zip(SESSIONS.clone()) {
        let with = |bytes: &[u8]| [&[number], bytes].concat();
        let mut server = Server::new(session.clone());
        let place = vec![0.5; session.plan().public_box().dim()];
        for round in 0..=session.plan().rounds() {
            questions.push(with(&unsealed(b"", &server.question().to_bytes())));
            let client = (0..400).find(|client| session.round_of(*client) == round);
            let client = client.expect("some in each round");
            let answer = RoundAnswer::new(&session, server.question(), client).expect("asked");
            let symbol = answer.simulate(Some(&place), &mut rng).expect("no shape").output;
            let plan = session.plan().hash();
            let message = Message { plan, session: session.number(), round, client, symbol };
            messages.push(with(&message.to_bytes(&session)));
            let all = session.simulate_round(&mut server, |_| Some(&place[..]), &mut rng);
            all.expect("a round");
            states.push(with(&unsealed(b"", &server.to_bytes())));
            server.finish_round().expect("a round");
        }
        states.push(with(&unsealed(b"", &server.to_bytes())));
    }
    [questions, messages, states]
}

/// A client trusts nobody: whatever is asked is refused, whoever the record is of, or answered by all.
fn question(bytes: &[u8]) -> bool {
    let session = session(bytes);
    let bytes = sealed(b"", bytes.get(1..).unwrap_or_default());
    let Ok(question) = dp_local::Question::from_bytes(&session, &bytes) else { return false };
    let client = (0..400).find(|client| session.round_of(*client) == question.round());
    let client = client.expect("some in each round");
    let Ok(answer) = RoundAnswer::new(&session, &question, client) else { return false };
    let dim = session.plan().public_box().dim();
    for x in [0.0, -1.0, 1e300, f64::NEG_INFINITY, f64::NAN] {
        let symbol = answer.simulate(Some(&vec![x; dim][..]), &mut rng());
        assert!(symbol.is_ok(), "every record is answered for");
    }
    answer.simulate(None, &mut rng()).is_ok()
}

// Releases by passes.

fn kmeans() -> PrivateKMeans {
    static PLAN: LazyLock<PrivateKMeans> = LazyLock::new(|| {
        let settings = PrivateKMeansSettings { expected_records: Some(100), ..Default::default() };
        PrivateKMeans::new(cube(2), 3, budget(), settings).expect("valid")
    });
    PLAN.clone()
}

fn splits() -> LshSplits {
    LshSplits::new(ball(), 3, budget(), LshSplitsSettings::default()).expect("valid")
}

fn census() -> Census {
    let (privacy, groups) = (Privacy::pure(1.0).expect("valid"), census_groups());
    let settings = CensusSettings::default();
    Census::new(nation(), whole(), groups.into(), privacy, settings).expect("valid")
}

fn census_groups() -> u32 {
    u32::try_from(data(whole()).groups()).expect("a few")
}

/// Of each pass on records: the questions, tables or states.
fn all_passes<P: ByPasses<Question = Question>>(plan: P, part: usize) -> Vec<Vec<u8>> {
    let mut passes = Passes::new(plan).expect("has tables");
    let mut seen = Vec::new();
    loop {
        let mut tally = passes.asked().tally().expect("has a table");
        tally.add(records().view()).expect("two dimensions");
        let table = tally.into_table();
        seen.push(match part {
            0 => unsealed(b"dpquest1", &passes.asked().to_bytes()),
            1 => unsealed(b"dptable1", &table.to_bytes()),
            _ => unsealed(b"dppasse1", &passes.to_bytes()),
        });
        if passes.simulate(&table, &mut rng()).expect("of all records").is_some() {
            return seen;
        }
    }
}

/// Whether a release goes on from this state.
fn resumed<P: ByPasses<Question = Question>>(plan: P, bytes: &[u8]) -> bool {
    let Ok(passes) = Passes::from_bytes(plan, &sealed(b"dppasse1", bytes)) else { return false };
    let mut tally = passes.asked().tally().expect("the question of a state has a table");
    tally.add(records().view()).is_ok() && goes_on(passes, tally.table())
}

/// Whether this table answers the first pass.
fn answered<P: ByPasses>(plan: P, bytes: &[u8]) -> bool {
    let Ok(table) = Table::from_bytes(&sealed(b"dptable1", bytes)) else { return false };
    let passes = Passes::new(plan).expect("has tables");
    goes_on(passes, &table)
}

fn goes_on<P: ByPasses>(mut passes: Passes<P>, table: &Table) -> bool {
    let Ok(release) = passes.simulate(table, &mut rng()) else { return false };
    assert!(release.is_some() || !passes.asked().to_bytes().is_empty());
    true
}
