//! Sessions at rest: what survives, and what is refused.

use dp_stream::{Monitor, MonitorBuilder, MonitorState, ThreshMonitor};

use super::charges::charges;
use super::{plan, rng, shape, shifting};

fn after_some_steps() -> (dp_stream::MonitorPlan, Monitor) {
    let plan = plan(20, 300, 40, 2, 25);
    let mut draws = rng(5);
    let mut monitor = plan.start(&mut draws);
    for (time, events) in (0..).zip(&shifting(300, 12, 900, 20, 1)) {
        monitor.step(time, events, &mut draws).expect("in time");
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
    let other = text.replace("\"version\":1", "\"version\":2");
    let message = read(&other).expect_err("another version").to_string();
    assert!(message.contains("the state has version 2, this program reads version 1"), "{message}");
    let other = ThreshMonitor::builder(shape(20, 300, 40), 4.0, 3)
        .and_then(MonitorBuilder::build)
        .expect("valid");
    let message = monitor.state().resume(&other, 0).expect_err("another plan").to_string();
    assert_eq!(message, "the state belongs to a plan with other settings");
    let message = monitor.state().resume(&plan, 13).expect_err("too old").to_string();
    assert_eq!(
        message,
        "the state goes on at step 12, but 13 steps have been published: resuming it would spend the \
         privacy budget twice"
    );
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
        let message = read(&edited.to_string()).expect_err("edited").to_string();
        assert!(message.contains("does not match its checksum"), "{message}");
    };
    refused(&|state| state["next"] = 3.into());
    refused(&|state| state["threshold"] = 26.into());
    refused(&|state| {
        let charges = state["charges"].as_array_mut().expect("a list");
        let charged = charges.iter().position(|charge| *charge == 1).expect("somebody");
        let gone = charges.iter().position(|charge| *charge == 255).expect("somebody");
        charges.swap(charged, gone);
    });
    refused(&|state| {
        let charges = state["charges"].as_array_mut().expect("a list");
        let charged = charges.iter_mut().find(|charge| **charge == 1).expect("somebody");
        *charged = 0.into(); // one report forgiven
    });
    refused(&|state| {
        state["charges"].as_array_mut().expect("a list").pop();
    });
    refused(&|state| state["settings"]["reports_per_user"] = 3.into());
    refused(&|state| state["settings"]["budget"]["epsilon"] = 4.5.into());
    let report = serde_json::json!({ "time": 11, "item": 3, "noisy_count": 40 });
    refused(&|state| state["last_reports"] = serde_json::json!([report]));
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
