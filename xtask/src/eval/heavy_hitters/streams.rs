//! Streams with the methods that run on them.

use crate::error::Error;
use crate::eval::family::{Bench, Card, Family, Label};
use crate::eval::heavy_hitters::methods::{How, Outcome, Setting};
use crate::eval::heavy_hitters::{chapter, measure};
use crate::eval::record::Record;
use crate::eval::settings::{Effort, Settings};
use crate::eval::suite::Context;
use crate::report::page::Page;
use dp_mechanism::ChaCha20Rng;
use quietus_datasets::sets::heavy_hitters::{self as data, Source, Stream};
use std::collections::BTreeMap;

/// Algorithms that draw for every item of every step are run up to so many draws.
const MOST_DRAWS: u64 = 3_000_000;

/// The part of the suite that looks at streams.
#[derive(Debug)]
pub(super) struct Streams;

impl Family for Streams {
    const ID: &'static str = "heavy-hitters";
    type Source = &'static Source;
    type Method = Setting;
    type Bench = Monitored;

    fn sources(_: Effort) -> Vec<&'static Source> {
        data::SOURCES.iter().collect()
    }

    fn card(source: &&'static Source, context: &Context) -> Result<Card, Error> {
        let path = || -> Result<Option<(&str, String)>, Error> {
            let first = context.manifest.set(source.id)?.files.first();
            Ok(first.map(|file| (source.id, file.path.clone())))
        };
        Ok(Card {
            id: source.id.to_owned(),
            n: source.users as usize,
            d: 1,
            params: vec![
                ("heavy", source.heavy.into()),
                ("items", source.items.into()),
                ("items_per_step", source.items_per_step.into()),
                ("steps", source.steps.into()),
            ],
            units: (source.steps * source.items / 1_000_000).max(1),
            file: if source.is_generated() { None } else { path()? },
        })
    }

    fn methods(_: &&'static Source, _: Effort) -> Vec<Setting> {
        Vec::new()
    }

    fn label(setting: Setting) -> Label {
        setting.label()
    }

    fn more_epsilons(_: Effort) -> &'static [f64] {
        &[]
    }

    /// At the epsilon asked for: every method, and the monitor over `k` and the size of the universe. Fuller
    /// evaluations add epsilons.
    fn cells(source: &&'static Source, settings: &Settings) -> Vec<(Setting, Option<f64>)> {
        let of = |how, k, universe_bits| Setting { how, k, universe_bits };
        let k = source.items_per_step;
        let mut found = vec![of(How::Exact, k, None)];
        let ks: &[u8] = match settings.effort {
            Effort::Quick => &[1, 4],
            _ => &[1, 2, 4, 8, 16, 64],
        };
        let ks: Vec<u8> = if k > 1 { vec![1, k, 4 * k] } else { ks.to_vec() };
        for &k in &ks {
            found.extend(
                [How::ThreshMonitor, How::ThreshMonitorSeen, How::TargetCharging]
                    .map(|how| of(how, k, None)),
            );
        }
        let bits: &[u32] = if settings.effort == Effort::Quick { &[32] } else { &[24, 32, 64] };
        found.extend(bits.iter().map(|&bits| of(How::ThreshMonitor, ks[0], Some(bits))));
        found.push(of(How::BasicHistograms, k, None));
        if source.steps * source.items <= MOST_DRAWS {
            let cells = [How::GaussianHistograms, How::KaplanStyle, How::SparseVector];
            found.extend(cells.map(|how| of(how, k, None)));
        }
        let paid = |setting: Setting, epsilon| (setting, setting.is_private().then_some(epsilon));
        let mut all: Vec<_> =
            found.iter().map(|&setting| paid(setting, settings.epsilon)).collect();
        if settings.effort != Effort::Quick {
            for epsilon in
                [0.5, 2.0, 4.0].into_iter().filter(|e| (e - settings.epsilon).abs() > 1e-9)
            {
                let main = found.iter().filter(|s| s.is_private() && s.universe_bits.is_none());
                let first = main.filter(|s| s.k == ks[0]);
                all.extend(first.map(|&setting| paid(setting, epsilon)));
            }
        }
        all
    }

    fn open(source: &'static Source, context: &Context) -> Result<Option<Monitored>, Error> {
        let Some(stream) = data::read(source, &context.shelf())? else { return Ok(None) };
        let truth = measure::truth(&stream);
        Ok(Some(Monitored { stream, truth }))
    }

    fn report(records: &[Record], context: &Context, page: &mut Page) -> Result<(), Error> {
        chapter::write(records, &context.settings, page)
    }

    fn summary(records: &[Record]) -> Vec<Vec<String>> {
        chapter::summary(records)
    }
}

/// A stream with its true counts.
pub(super) struct Monitored {
    stream: Stream,
    truth: BTreeMap<(u64, u64), i64>,
}

impl Bench for Monitored {
    type Method = Setting;
    type Found = Outcome;

    fn checksum(&self) -> &str {
        &self.stream.checksum
    }

    fn run(&self, setting: Setting, epsilon: f64, rng: &mut ChaCha20Rng) -> Result<Outcome, Error> {
        setting.run(&self.stream, epsilon, rng)
    }

    fn measure(
        &mut self,
        _: Setting,
        _: f64,
        outcome: &Outcome,
    ) -> Result<Vec<(&'static str, f64)>, Error> {
        let heavy = i64::from(self.stream.source.heavy);
        let mut metrics = measure::metrics(&self.truth, heavy, &outcome.reports).to_vec();
        metrics.extend(outcome.dropped.map(|dropped| ("users_dropped", dropped)));
        let promised = outcome.promised.map(|count| ("smallest_count_promised", count as f64));
        metrics.extend(promised);
        Ok(metrics)
    }
}
