//! Curves that need no run, and the picture of one stream over time.

use crate::error::Error;
use crate::eval::heavy_hitters::measure;
use crate::eval::heavy_hitters::methods::{DELTA, How, Setting};
use crate::eval::settings::Settings;
use crate::report::page::Page;
use crate::report::plot::lines::{Labels, Place, Series, draw};
use dp_accounting::Budget;
use dp_stream::{Question, StreamShape, Universe, advise};
use quietus_datasets::seed::named_rng;
use quietus_datasets::sets::heavy_hitters::{Source, Stream, drift_of};
use std::collections::BTreeSet;

/// Smallest counts over the number of reports per user, by the formulas of the advisor.
pub(super) fn crossover(settings: &Settings, page: &mut Page) -> Result<(), Error> {
    let epsilon = settings.epsilon;
    let mut series: Vec<Series> = ["thresh-monitor", "thresh-monitor-seen", "target-charging"]
        .map(|name| Series { name: name.to_owned(), places: Vec::new() })
        .to_vec();
    let mut crossing = None;
    for k in [1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192] {
        let question = Question {
            shape: StreamShape {
                universe: Universe::Range { size: 1 << 32 },
                users: 1_000_000,
                steps: 10_000,
            },
            budget: Budget::new(epsilon, DELTA)?,
            reports_per_user: k,
            items_per_step: 1,
            reports_in_all: 1_000,
            beta: 0.1,
            miss: 1e-6,
        };
        let advice = advise(&question)?;
        let mut found = [0.0; 3];
        for (one, found) in series.iter_mut().zip(&mut found) {
            let row = advice.rows.iter().find(|row| row.method == one.name);
            let mean = row.map_or(f64::NAN, |row| row.smallest_count as f64);
            one.places.push(Place { x: f64::from(k), mean, low: mean, high: mean });
            *found = mean;
        }
        if crossing.is_none() && found[2] < found[0] {
            crossing = Some(k);
        }
    }
    let labels = Labels {
        title: "Smallest count found",
        x: "reports per user (k)",
        x_log: true,
        y_log: true,
    };
    page.section("Pure against approximate");
    page.paragraph(&format!(
        "Smallest number of users who show an item in one of 10,000 steps and are found (all but one in \
         10^6 times), among 2^32 items, at epsilon {epsilon}; delta {DELTA:e} where there is one. By \
         formula, exact for these three. Target charging passes the pure monitor {}.",
        crossing.map_or("nowhere up to k = 192".to_owned(), |k| format!("by k = {k}"))
    ));
    page.figure("heavy-hitters-crossover", "Smallest count found over k", draw(labels, &series)?);
    page.gap();
    Ok(())
}

/// True and reported heavy hitters of the generated stream, step by step.
pub(super) fn timeline(
    source: &'static Source,
    settings: &Settings,
    page: &mut Page,
) -> Result<(), Error> {
    let Some(steps) = drift_of(source) else { return Ok(()) };
    let stream = Stream { source, steps, checksum: String::new() };
    let truth = measure::truth(&stream);
    let setting = Setting { how: How::ThreshMonitor, k: 4, universe_bits: None };
    let mut rng = named_rng(&["timeline", &settings.seed.to_string()]);
    let outcome = setting.run(&stream, settings.epsilon, &mut rng)?;
    let heavy: BTreeSet<(u64, u64)> = truth
        .iter()
        .filter(|(_, count)| **count >= i64::from(source.heavy))
        .map(|(cell, _)| *cell)
        .collect();
    let reported: BTreeSet<(u64, u64)> =
        outcome.reports.iter().map(|report| (report.time, report.item)).collect();
    let per_step = |name: &str, counts: &dyn Fn(u64) -> usize| Series {
        name: name.to_owned(),
        places: (0..source.steps)
            .map(|time| {
                let mean = counts(time) as f64;
                Place { x: time as f64, mean, low: mean, high: mean }
            })
            .collect(),
    };
    let at = |cells: &BTreeSet<(u64, u64)>, time| cells.range((time, 0)..=(time, u64::MAX)).count();
    let both: BTreeSet<(u64, u64)> = heavy.intersection(&reported).copied().collect();
    let series = [
        per_step("heavy", &|time| at(&heavy, time)),
        per_step("heavy and reported", &|time| at(&both, time)),
        per_step("reported", &|time| at(&reported, time)),
    ];
    let labels = Labels { title: "Heavy hitters per step", x: "step", x_log: false, y_log: false };
    page.section("Over time");
    page.paragraph(&format!(
        "{}: items of at least {} users are heavy; one run of the pure monitor with four reports per user at \
         epsilon {}. As users are used up, counts of those left fall, and so do reports.",
        source.id, source.heavy, settings.epsilon
    ));
    page.figure("heavy-hitters-timeline", "Heavy and reported items", draw(labels, &series)?);
    page.gap();
    Ok(())
}
