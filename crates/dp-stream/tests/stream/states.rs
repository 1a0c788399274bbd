//! Sessions at rest: what survives, and what is refused.

use dp_stream::{Event, Monitor, MonitorSettings, MonitorState, SecureSource};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::charges::charges;
use super::{plan, pure, rng, shape, shifting};

fn after_some_steps() -> (dp_stream::MonitorPlan, Monitor) {
    let plan = plan(20, 300, 40, 2, 25);
    let mut draws = rng(5);
    let mut monitor = plan.start_with(&mut SecureSource::new(&mut draws));
    for (time, events) in (0..).zip(&shifting(300, 12, 900, 20, 1)) {
        monitor.step_with(time, events, &mut SecureSource::new(&mut draws)).expect("in time");
    }
    assert!(charges(&monitor).contains(&1), "somebody was charged");
    (plan, monitor)
}

fn read(text: &str) -> Result<MonitorState, serde_json::Error> {
    serde_json::from_str(text)
}

#[test]
fn a_state_comes_back_as_it_was() {
    let (plan, monitor) = after_some_steps();
    let text = serde_json::to_string(&monitor.state()).expect("plain data");
    let state = read(&text).expect("whole");
    assert_eq!(state, monitor.state());
    assert_eq!(state.next_time(), 12);
    let resumed = state.resume(&plan, 12).expect("of this plan");
    assert_eq!(resumed.state(), monitor.state());
    assert_eq!(resumed.receipt(), monitor.receipt());
    assert_eq!(resumed.last_reports(), monitor.last_reports());
}

#[test]
fn other_versions_other_plans_and_old_states_are_refused() {
    let (plan, monitor) = after_some_steps();
    let text = serde_json::to_string(&monitor.state()).expect("plain data");
    for got in [1, 2] {
        let other = text.replace("{\"version\":7", &format!("{{\"version\":{got}"));
        let message = read(&other).expect_err("another version").to_string();
        let expected = format!("the state has version {got}, this program reads version 7");
        assert!(message.contains(&expected), "{message}");
    }
    let other = pure(shape(20, 300, 40), 4.0, 3, MonitorSettings::default()).expect("valid");
    let message = monitor.state().resume(&other, 0).expect_err("another plan").to_string();
    assert_eq!(message, "the state belongs to a plan with other settings");
    let message = monitor.state().resume(&plan, 13).expect_err("too old").to_string();
    assert_eq!(
        message,
        "the state goes on at step 12, but 13 steps have been published: resuming it would spend the \
         privacy budget twice"
    );
}

/// The file form, whose version comes first.
fn in_order(value: &serde_json::Value) -> String {
    let field = |name: &str| format!("{name:?}:{}", value[name]);
    format!("{{{}}}", ["version", "kind", "content", "checksum"].map(field).join(","))
}

/// Every kind of edit, and every truncation.
#[test]
fn damage_is_noticed() {
    let (_, monitor) = after_some_steps();
    let text = serde_json::to_string(&monitor.state()).expect("plain data");
    for cut in (0..text.len()).step_by(97) {
        assert!(read(&text[..cut]).is_err(), "cut at {cut}");
    }
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let refused = |edit: &dyn Fn(&mut serde_json::Value)| {
        let mut edited = value.clone();
        edit(&mut edited);
        let message = read(&in_order(&edited)).expect_err("edited").to_string();
        assert!(message.contains("the monitor-state does not match its checksum"), "{message}");
    };
    assert_eq!(read(&in_order(&value)).ok(), read(&text).ok());
    // Every field is there, for formats without names.
    assert!(text.contains("\"tags\":[]"), "{text}");
    let message = read(&value.to_string()).expect_err("sorted by name").to_string();
    assert!(message.starts_with("`version` must come before `checksum`"), "{message}");
    refused(&|state| state["content"]["progress"]["next"] = 3.into());
    refused(&|state| state["content"]["progress"]["threshold"] = 26.into());
    refused(&|state| {
        let charges = state["content"]["users"]["charges"].as_array_mut().expect("a list");
        let charged = charges.iter().position(|charge| *charge == 1).expect("somebody");
        let gone = charges.iter().position(|charge| *charge == 255).expect("somebody");
        charges.swap(charged, gone);
    });
    refused(&|state| {
        let charges = state["content"]["users"]["charges"].as_array_mut().expect("a list");
        let charged = charges.iter_mut().find(|charge| **charge == 1).expect("somebody");
        *charged = 0.into(); // one report forgiven
    });
    refused(&|state| {
        state["content"]["users"]["charges"].as_array_mut().expect("a list").pop();
    });
    refused(&|state| state["content"]["progress"]["asked"]["reports_per_user"] = 3.into());
    refused(&|state| state["content"]["progress"]["asked"]["budget"]["epsilon"] = 4.5.into());
    let report = serde_json::json!({ "time": 11, "item": 3, "noisy_count": 40 });
    refused(&|state| state["content"]["progress"]["last_reports"] = serde_json::json!([report]));
    refused(&|state| state["checksum"] = 1.into());
}

#[test]
fn plans_are_kept_as_their_settings() {
    let (plan, _) = after_some_steps();
    let text = serde_json::to_string(&plan).expect("plain data");
    let back: dp_stream::MonitorPlan = serde_json::from_str(&text).expect("valid");
    assert_eq!(back, plan);
    let bad = text.replace("\"reports_per_user\":2", "\"reports_per_user\":0");
    assert!(serde_json::from_str::<dp_stream::MonitorPlan>(&bad).is_err());
}

/// Every bit of every byte, of states and messages of all kinds: refused, or read as if nothing had changed.
#[test]
fn no_flipped_bit_changes_what_is_read() {
    fn flip<T: Serialize + DeserializeOwned + PartialEq>(whole: &T) -> (usize, usize) {
        let bytes = serde_json::to_vec(whole).expect("plain data");
        let (mut flipped, mut harmless) = (0, 0);
        for (i, bit) in (0..bytes.len()).flat_map(|i| (0..8).map(move |bit| (i, bit))) {
            let mut bytes = bytes.clone();
            bytes[i] ^= 1 << bit;
            flipped += 1;
            if let Ok(read) = serde_json::from_slice::<T>(&bytes) {
                assert!(read == *whole, "bit {bit} of byte {i} changes what is read");
                harmless += 1;
            }
        }
        (flipped, harmless)
    }
    let plan = plan(3, 4, 9, 2, 1);
    let mut draws = rng(5);
    let event = |user, item| Event { user, item };
    let events = [event(0, 1), event(1, 1), event(2, 2), event(3, 1)];
    let mut monitor = plan.start_with(&mut SecureSource::new(&mut draws));
    let reports =
        monitor.step_with(0, &events, &mut SecureSource::new(&mut draws)).expect("in time");
    assert!(!reports.is_empty());
    let (mut decider, mut shards) =
        plan.start_sharded_with(7, &[2, 2], &mut SecureSource::new(&mut draws)).expect("sizes");
    for shard in &mut shards {
        shard.add(&events).expect("not counted");
    }
    let counts: Vec<_> = shards.iter_mut().map(|shard| shard.count(0).expect("in time")).collect();
    let decision =
        decider.decide_with(&counts, &mut SecureSource::new(&mut draws)).expect("all shards");
    for (flipped, harmless) in [
        flip(&monitor.state()),
        flip(&shards[1].state()),
        flip(&decider.state()),
        flip(&counts[0]),
        flip(&decision),
    ] {
        // "4.0" may become "4.00"-like spellings of the same number, and that is all.
        assert!(flipped > 800 && harmless < 10, "{harmless} of {flipped} were read");
    }
}

/// The version is looked at before anything whose form depends on it.
#[test]
fn a_state_of_another_version_is_named_whatever_its_form() {
    for (text, version) in [
        (r#"{"version":1,"settings":{"shape":null},"next":3}"#, 1),
        (r#"{"version":2,"kind":17}"#, 2),
        (r#"[6,"and",["something","else"]]"#, 6),
    ] {
        let message = read(text).expect_err("another version").to_string();
        let expected = format!("the state has version {version}, this program reads version 7");
        assert!(message.starts_with(&expected), "{message}");
    }
    let (_, monitor) = after_some_steps();
    let value = serde_json::to_value(monitor.state()).expect("plain data");
    let list =
        serde_json::json!([value["version"], value["kind"], value["content"], value["checksum"]]);
    assert_eq!(read(&list.to_string()).ok(), Some(monitor.state()), "without names it is the same");
    for (text, message) in [
        ("{}", "missing field `version`"),
        (r#"{"version":7}"#, "missing field `kind`"),
        (r#"{"version":7,"kind":"decision"}"#, "this is not a monitor-state"),
    ] {
        let error = read(text).expect_err("incomplete").to_string();
        assert!(error.starts_with(message), "{error}");
    }
}
