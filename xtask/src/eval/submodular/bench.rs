//! One instance in memory: runs and measures single cells.

use crate::error::Error;
use crate::eval::cell::{Cost, measured, rng_of};
use crate::eval::record::Record;
use crate::eval::submodular::data::{self, Instance};
use crate::eval::submodular::methods::{CONTINUOUS, Constraint, METHODS};
use crate::eval::submodular::plan;
use crate::eval::suite::Workbench;
use crate::seed::named_rng;
use dp_combinatorial::submodular::exact_value;
use std::collections::BTreeMap;

pub(super) struct Bench {
    instance: Instance,
    /// What greedy reaches without privacy, by constraint.
    greedy: BTreeMap<String, i64>,
}

impl Bench {
    pub(super) fn new(instance: Instance) -> Self {
        Self { instance, greedy: BTreeMap::new() }
    }

    fn greedy_value(&mut self, constraint: Constraint) -> Result<i64, Error> {
        if let Some(value) = self.greedy.get(&constraint.name()) {
            return Ok(*value);
        }
        let mut rng = named_rng(&["greedy draws nothing"]);
        let function = &self.instance.function;
        let chosen = METHODS[0].run(function, constraint, 1.0, &mut rng)?;
        let value = exact_value(function.objective(), &chosen);
        self.greedy.insert(constraint.name(), value);
        Ok(value)
    }
}

impl Workbench for Bench {
    fn checksum(&self) -> &str {
        &self.instance.checksum
    }

    fn run(&mut self, cell: &Record) -> Result<Record, Error> {
        let source = data::source(&cell.dataset)?;
        let (constraint, method) =
            plan::setting_of(source, cell).ok_or_else(|| Error::Unknown {
                what: "algorithm",
                got: format!("{} ({})", cell.algorithm, cell.variant),
                known: METHODS
                    .iter()
                    .chain(&CONTINUOUS)
                    .map(|method| method.algorithm.to_owned())
                    .collect(),
            })?;
        let greedy = self.greedy_value(constraint)?;
        let mut rng = rng_of(cell);
        let function = &self.instance.function;
        let (chosen, Cost { seconds, peak_rss_mib }) =
            measured(|| method.run(function, constraint, cell.epsilon.unwrap_or(1.0), &mut rng))?;
        let value = exact_value(function.objective(), &chosen);
        let most = cell.n as f64 * function.objective().most_credit() as f64;
        let metrics = BTreeMap::from([
            ("value".to_owned(), value as f64),
            ("value_ratio".to_owned(), value as f64 / greedy.max(1) as f64),
            ("share_of_all".to_owned(), value as f64 / most),
        ]);
        Ok(Record { metrics, seconds, peak_rss_mib, ..cell.clone() })
    }
}
