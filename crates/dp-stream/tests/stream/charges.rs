//! Who counts, who is charged, and when a user is out.

use std::collections::{BTreeMap, BTreeSet};

use dp_stream::{
    Budget, Event, ItemOrder, Mechanism, Method, Monitor, MonitorPlan, MonitorSettings, Report,
    SecureSource,
};
use proptest::prelude::*;
use serde::de::DeserializeOwned;

use super::{from, plan, pure, rng, shape, shifting};

fn event(user: u32, item: u64) -> Event {
    Event { user, item }
}

/// What the session does with a batch, written down plainly: the true counts of a step by user.
#[derive(Clone)]
struct Plain {
    k: usize,
    items_per_step: usize,
    items: u64,
    /// Of the users in the sample.
    charged: BTreeMap<u32, usize>,
    /// So many users have been met.
    met: usize,
    /// Items that have been reported.
    known: BTreeSet<u64>,
    order: ItemOrder,
    tags: Vec<u64>,
}

impl Plain {
    /// Users in the sample are known from the state, since coins are secret.
    fn of(monitor: &Monitor, plan: &MonitorPlan, items: u64) -> Self {
        let k = usize::from(plan.limit().expect("charged"));
        let (items_per_step, order) = (plan.items_per_step().into(), plan.item_order());
        let (charged, known, tags) = (BTreeMap::new(), BTreeSet::new(), Vec::new());
        let mut plain = Self { k, items_per_step, items, met: 0, charged, known, order, tags };
        plain.meet(monitor);
        plain
    }

    /// Users who are new.
    fn meet(&mut self, monitor: &Monitor) {
        let charges = charges(monitor);
        let sampled = (0..).zip(&charges).skip(self.met).filter(|(_, charge)| **charge != 255);
        self.charged.extend(sampled.map(|(user, charge)| (user, usize::from(*charge))));
        self.tags = of_users(monitor, "tags").unwrap_or_default();
        self.met = charges.len();
    }

    /// For each user the distinct items that count, in the order of the plan.
    fn admitted(&self, events: &[Event], step: u64) -> BTreeMap<u32, Vec<u64>> {
        let mut shown: BTreeMap<u32, BTreeSet<(bool, u64, u64)>> = BTreeMap::new();
        let known = events.iter().filter(|event| event.item < self.items);
        for event in known.filter(|event| self.charged.contains_key(&event.user)) {
            let step = mixed(step ^ 0x243f_6a88_85a3_08d3);
            let rank = match self.order {
                ItemOrder::ReportedFirst => {
                    (!self.known.contains(&event.item), mixed(event.item ^ step), event.item)
                }
                ItemOrder::Spread => {
                    let tag = self.tags[event.user as usize];
                    (false, mixed(event.item ^ mixed(step ^ tag)), event.item)
                }
            };
            shown.entry(event.user).or_default().insert(rank);
        }
        let admitted = |(user, ranked): (u32, BTreeSet<(bool, u64, u64)>)| {
            let room = (self.k - self.charged[&user]).min(self.items_per_step);
            (user, ranked.into_iter().take(room).map(|(_, _, item)| item).collect())
        };
        shown.into_iter().map(admitted).collect()
    }

    fn settle(&mut self, admitted: &BTreeMap<u32, Vec<u64>>, reports: &[Report], time: u64) {
        let reported: BTreeSet<u64> =
            reports.iter().filter(|r| r.time == time).map(|r| r.item).collect();
        for (user, items) in admitted {
            let hits = items.iter().filter(|item| reported.contains(item)).count();
            *self.charged.get_mut(user).expect("sampled") += hits;
        }
        self.known.extend(reported);
    }
}

/// The finaliser of `SplitMix64`.
fn mixed(number: u64) -> u64 {
    let mixed = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// The charges in a state, read from its file form.
pub(super) fn charges(monitor: &Monitor) -> Vec<u8> {
    of_users(monitor, "charges").expect("of every user")
}

fn of_users<T: DeserializeOwned>(monitor: &Monitor, name: &str) -> Option<Vec<T>> {
    let state = serde_json::to_value(monitor.state()).expect("plain data");
    let found = state["content"]["users"].get(name)?.clone();
    Some(serde_json::from_value(found).expect("a list of numbers"))
}

pub(super) fn in_both_orders(
    items: u64,
    users: u32,
    steps: u64,
    k: u8,
    threshold: i64,
) -> [MonitorPlan; 2] {
    [ItemOrder::ReportedFirst, ItemOrder::Spread].map(|item_order| {
        // Of a user who may still be in many reports, fewer items count than are shown.
        let settings =
            MonitorSettings { item_order, items_per_step: Some(k.min(3)), ..from(threshold) };
        pure(shape(items, users, steps), 4.0, k, settings).expect("valid")
    })
}

fn check_against_plain(plan: &MonitorPlan, stream: &[Vec<Event>], items: u64, seed: u64) {
    let mut rng = rng(seed);
    let mut monitor = plan.start_with(&mut SecureSource::new(&mut rng));
    let mut plain = Plain::of(&monitor, plan, items);
    for (time, events) in (0..).zip(stream) {
        if plan.users() == 0 {
            let places = events.iter().map(|event| event.user + 1).max().unwrap_or(0);
            monitor.grow_to_with(places, &mut SecureSource::new(&mut rng));
            plain.meet(&monitor);
        }
        let admitted = plain.admitted(events, time);
        let mut counts: BTreeMap<u64, i64> = BTreeMap::new();
        for item in admitted.values().flatten() {
            *counts.entry(*item).or_insert(0) += 1;
        }
        let reports =
            monitor.step_with(time, events, &mut SecureSource::new(&mut rng)).expect("in time");
        for report in &reports {
            let count = counts.get(&report.item).copied().unwrap_or(0);
            assert!(report.noisy_count >= plan.threshold().max(count), "one-sided noise only adds");
        }
        for (item, count) in counts {
            let certain = count >= plan.threshold();
            assert!(!certain || reports.iter().any(|r| r.item == item), "{item} at {time}");
        }
        plain.settle(&admitted, &reports, time);
        let expected = |(user, charge): (u32, u8)| match plain.charged.get(&user) {
            Some(&charged) if charged < plain.k => charge == u8::try_from(charged).expect("small"),
            _ => charge == 255,
        };
        assert!((0..).zip(charges(&monitor)).all(expected), "charges at {time}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Repeated events, several items per user and step, unknown users and items, any order.
    #[test]
    fn the_session_does_what_the_plain_rule_says(
        stream in proptest::collection::vec(proptest::collection::vec(
            (0_u32..7, 0_u64..9).prop_map(|(user, item)| event(user, item)), 0..60), 1..8),
        k in 1_u8..5, threshold in 0_i64..5, seed in 0_u64..1000,
    ) {
        // Of a public number, or as they come.
        for users in [6, 0] {
            for plan in in_both_orders(8, users, stream.len() as u64, k, threshold) {
                check_against_plain(&plan, &stream, 8, seed);
            }
        }
    }
}

#[test]
fn large_batches_do_what_the_plain_rule_says() {
    for (k, per_step) in [(1, 2_000), (3, 5_000), (254, 20_000)] {
        let stream = shifting(700, 12, per_step, 40, 3);
        for plan in in_both_orders(40, 700, 12, k, 30) {
            check_against_plain(&plan, &stream, 40, 4);
        }
    }
}

/// Users alone on items that are reported for certain: charged for each, and out after the `k`-th.
#[test]
fn an_adversarial_stream_cannot_charge_a_user_more_than_k() {
    for k in [1_u8, 2, 7, 254] {
        let steps = 300;
        let plan = plan(60, 3, steps, k, 1);
        let mut rng = rng(7);
        let mut monitor = plan.start_with(&mut SecureSource::new(&mut rng));
        let mut charged = charges(&monitor);
        assert!(charged.contains(&0), "nobody was sampled");
        for time in 0..steps {
            // Up to five items per user in a step, more than are left at the end.
            let items = time % 5 + 1;
            let shown = |i: u64| event(u32::try_from(i % 3).expect("small"), time % 4 * 15 + i);
            let events: Vec<Event> = (0..items * 3).map(shown).collect();
            let reports = monitor
                .step_with(time, &events, &mut SecureSource::new(&mut rng))
                .expect("in time");
            let now = charges(&monitor);
            for user in 0..3 {
                let (before, after) = (charged[user as usize], now[user as usize]);
                if before == 255 {
                    assert_eq!(after, 255, "nobody comes back");
                    continue;
                }
                let counted = items.min(u64::from(k - before));
                let own = events.iter().filter(|e| e.user == user);
                let heavy = own.filter(|e| reports.iter().any(|r| r.item == e.item)).count() as u64;
                assert!(heavy >= counted, "a count of one is reported for certain");
                let total = u64::from(before) + counted;
                assert_eq!(u64::from(after), if total == u64::from(k) { 255 } else { total });
            }
            charged = now;
        }
        assert_eq!(charged, [255; 3], "a user with {k} reports has left");
    }
}

#[test]
fn portions_of_a_step_are_the_step() {
    let stream = shifting(300, 6, 900, 20, 1);
    let plan = plan(20, 300, 6, 2, 25);
    let (mut a, mut b) = (rng(5), rng(5));
    let (mut whole, mut portions) = (
        plan.start_with(&mut SecureSource::new(&mut a)),
        plan.start_with(&mut SecureSource::new(&mut b)),
    );
    for (time, events) in (0..).zip(&stream) {
        for portion in events.chunks(170) {
            let before = portions.state();
            portions.add(portion);
            assert_eq!(portions.state(), before, "a step under way is not in the state");
        }
        let expected = whole.step_with(time, events, &mut SecureSource::new(&mut a));
        assert_eq!(portions.step_with(time, &[], &mut SecureSource::new(&mut b)), expected);
        assert_eq!(portions.state(), whole.state());
    }
}

#[test]
fn a_release_is_its_session_and_an_iterator_is_its_steps() {
    let stream = shifting(300, 6, 900, 20, 1);
    let plan = plan(20, 300, 6, 2, 25);
    let released = plan.simulate(&stream, &mut rng(5)).expect("as planned");
    let mut draws = rng(5);
    let mut monitor = plan.start_with(&mut SecureSource::new(&mut draws));
    let reports: Result<Vec<Report>, _> =
        monitor.steps_with((0..).zip(&stream), &mut SecureSource::new(&mut draws)).collect();
    assert_eq!(reports.as_ref(), Ok(&released.output));
    assert!(released.output.len() > 3, "a test about nothing");
    assert_eq!(released.receipt, monitor.receipt());
}

#[test]
fn skipped_steps_can_report_what_nobody_shows() {
    // Every unseen item has a chance of e^-4.02 per step, so 600 cells have ten reports.
    let plan = plan(3, 5, 200, 1, 1);
    let mut rng = rng(2);
    let mut monitor = plan.start_with(&mut SecureSource::new(&mut rng));
    let reports = monitor.step_with(150, &[], &mut SecureSource::new(&mut rng)).expect("in time");
    assert!(reports.is_sorted() && reports.len() > 1, "{reports:?}");
    assert!(reports.iter().all(|report| report.time <= 150 && report.item < 3));
    let rest = monitor.finish_with(&mut SecureSource::new(&mut rng)).expect("the end");
    assert!(rest.iter().all(|report| (151..200).contains(&report.time)));
    assert_eq!(
        (monitor.next_time(), monitor.finish_with(&mut SecureSource::new(&mut rng))),
        (200, Ok(vec![]))
    );
}

#[test]
fn histograms_charge_nobody() {
    let stream = shifting(50, 20, 200, 4, 8);
    let budget = Budget::new(50.0, 0.0).expect("valid");
    let settings = MonitorSettings::default();
    let plan = MonitorPlan::new(Method::BasicHistograms, shape(4, 50, 20), budget, 4, settings);
    let plan = plan.expect("valid");
    let mut rng = rng(3);
    let mut monitor = plan.start_with(&mut SecureSource::new(&mut rng));
    let mut reports = 0;
    for (time, events) in (0..).zip(&stream) {
        reports += monitor
            .step_with(time, events, &mut SecureSource::new(&mut rng))
            .expect("in time")
            .len();
        assert_eq!(monitor.exact_active_users(), 50);
    }
    assert!(reports > 0, "a test about nothing");
}

/// At this epsilon everybody is sampled and noise is 0, but for one release in 10^11.
#[test]
fn a_whole_stream_without_a_bound_has_a_place_for_everybody_in_it() {
    for item_order in [ItemOrder::ReportedFirst, ItemOrder::Spread] {
        for (bound, users, heavy) in
            [(0, 49, false), (0, 50, true), (1, 50, false), (49, 50, false), (50, 50, true)]
        {
            let settings = MonitorSettings { item_order, ..from(50) };
            let plan = pure(shape(4, bound, 2), 30.0, 1, settings).expect("valid");
            let step: Vec<Event> = (0..users).map(|user| event(user, 3)).collect();
            let reports = plan.simulate(&[vec![], step], &mut rng(3)).expect("two steps").output;
            assert_eq!(reports.len(), usize::from(heavy), "{bound} {users}: {reports:?}");
        }
    }
}
