//! What there is to run.

use crate::error::Error;
use crate::eval::heavy_hitters::SUITE;
use crate::eval::heavy_hitters::data::Source;
use crate::eval::heavy_hitters::methods::Setting;
use crate::eval::record::Record;
use crate::eval::settings::{Effort, Settings};
use crate::eval::suite::{Context, Plan};
use std::collections::BTreeMap;

/// Algorithms that draw for every item of every step are run up to so many draws.
const MOST_DRAWS: u64 = 3_000_000;

pub(super) fn of(source: &'static Source, context: &Context) -> Result<Plan, Error> {
    let settings = &context.settings;
    let mut cells = Vec::new();
    for run in 0..settings.runs {
        for (setting, epsilon) in settings_of(source, settings) {
            cells.push(cell(settings, source, setting, epsilon, run));
        }
    }
    let here = source.is_generated() || {
        let set = context.manifest.set(source.id)?;
        set.files.iter().take(1).all(|file| context.settings.datasets.join(&file.path).is_file())
    };
    let units = (source.steps * source.items / 1_000_000).max(1);
    Ok(Plan { dataset: source.id.to_owned(), cells, units, warm_up_steps: 0, here })
}

/// At the epsilon asked for: every method, and the monitor over `k` and the size of the universe. Fuller
/// evaluations add epsilons.
pub(super) fn settings_of(source: &Source, settings: &Settings) -> Vec<(Setting, f64)> {
    let of = |algorithm, k, universe_bits| Setting { algorithm, k, universe_bits };
    let k = source.items_per_step;
    let mut found = vec![of("exact", k, None)];
    let ks: &[u8] = match settings.effort {
        Effort::Quick => &[1, 4],
        _ => &[1, 2, 4, 8, 16, 64],
    };
    let ks: Vec<u8> = if k > 1 { vec![1, k, 4 * k] } else { ks.to_vec() };
    for &k in &ks {
        found.extend(
            ["thresh-monitor", "thresh-monitor-seen", "target-charging"].map(|id| of(id, k, None)),
        );
    }
    let bits: &[u32] = if settings.effort == Effort::Quick { &[32] } else { &[24, 32, 64] };
    found.extend(bits.iter().map(|&bits| of("thresh-monitor", ks[0], Some(bits))));
    found.push(of("basic-histograms", k, None));
    if source.steps * source.items <= MOST_DRAWS {
        let cells = ["gaussian-histograms", "kaplan-style", "sparse-vector"];
        found.extend(cells.map(|id| of(id, k, None)));
    }
    let mut all: Vec<(Setting, f64)> =
        found.iter().map(|&setting| (setting, settings.epsilon)).collect();
    if settings.effort != Effort::Quick {
        for epsilon in [0.5, 2.0, 4.0].into_iter().filter(|e| (e - settings.epsilon).abs() > 1e-9) {
            let main = found.iter().filter(|s| s.is_private() && s.universe_bits.is_none());
            let first = main.filter(|s| s.k == ks[0]);
            all.extend(first.map(|&setting| (setting, epsilon)));
        }
    }
    all
}

fn cell(settings: &Settings, source: &Source, setting: Setting, epsilon: f64, run: u32) -> Record {
    Record {
        suite: SUITE.to_owned(),
        dataset: source.id.to_owned(),
        n: source.users as usize,
        d: 1,
        algorithm: setting.algorithm.to_owned(),
        variant: setting.variant(),
        private: setting.is_private(),
        relation: setting.is_private().then(|| "add-remove".to_owned()),
        epsilon: setting.is_private().then_some(epsilon),
        delta: setting.delta(),
        params: BTreeMap::from([
            ("heavy".to_owned(), source.heavy.into()),
            ("items".to_owned(), source.items.into()),
            ("items_per_step".to_owned(), source.items_per_step.into()),
            ("k".to_owned(), setting.k.into()),
            ("steps".to_owned(), source.steps.into()),
        ]),
        run,
        seed: settings.seed,
        metrics: BTreeMap::new(),
        seconds: 0.0,
        peak_rss_mib: None,
        paper: BTreeMap::new(),
    }
}
