//! What one evaluation was asked to do, checked before anything runs.

use crate::cli::EvalArgs;
use crate::error::Error;
use crate::eval::suite;
use dp_accounting::Budget;
use quietus_datasets::workspace;
use std::path::PathBuf;

/// How thoroughly to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    Quick,
    Standard,
    Full,
}

/// Everything that decides what a cell computes, and where it goes.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) suites: Vec<&'static str>,
    pub(crate) effort: Effort,
    pub(crate) runs: u32,
    /// `--runs`, if it was given: a suite whose paper has another number of runs goes by this.
    pub(crate) runs_asked: Option<u32>,
    pub(crate) seed: u64,
    pub(crate) epsilon: f64,
    /// Folder of real data sets.
    pub(crate) datasets: PathBuf,
    pub(crate) out: PathBuf,
    pub(crate) resume: bool,
    /// Worker threads; `None` is one per core.
    pub(crate) jobs: Option<usize>,
}

impl Settings {
    pub(crate) fn new(args: &EvalArgs) -> Result<Self, Error> {
        let effort = match (args.quick, args.full, args.suites.is_empty()) {
            (_, true, _) => Effort::Full,
            (true, ..) | (_, _, true) => Effort::Quick,
            _ => Effort::Standard,
        };
        let settings = Self {
            suites: chosen_suites(&args.suites)?,
            effort,
            runs: args.runs.unwrap_or(effort.runs()),
            runs_asked: args.runs,
            seed: args.seed,
            epsilon: args.epsilon,
            datasets: args.datasets.clone().unwrap_or_else(workspace::data_cache),
            out: args.out.clone().unwrap_or_else(workspace::default_out),
            resume: args.resume,
            jobs: args.jobs,
        };
        let at_least_one = |name, got: Option<usize>| match got {
            Some(0) => Err(Error::Data(quietus_datasets::Error::Setting {
                name,
                got: "0".to_owned(),
                want: "at least 1",
            })),
            _ => Ok(()),
        };
        at_least_one("--runs", Some(settings.runs as usize))?;
        at_least_one("--jobs", settings.jobs)?;
        // The same check that every algorithm makes, before any of them has worked for minutes.
        Budget::new(settings.epsilon, 0.0).map_err(|error| Error::library("--epsilon", &error))?;
        match &args.datasets {
            Some(folder) if !folder.is_dir() => {
                Err(Error::Data(quietus_datasets::Error::NotAFolder { path: folder.clone() }))
            }
            _ => Ok(settings),
        }
    }
}

impl Effort {
    fn runs(self) -> u32 {
        match self {
            Self::Quick => 2,
            Self::Standard => 5,
            Self::Full => 20,
        }
    }

    /// Clusterings that the KMeans distance is averaged over.
    pub(crate) fn references(self) -> usize {
        if self == Self::Quick { 5 } else { 20 }
    }

    /// Points that silhouettes are computed on.
    pub(crate) fn silhouette_sample(self) -> usize {
        if self == Self::Quick { 2_000 } else { 5_000 }
    }

    /// Whether the references come from a search over several numbers of clusters.
    pub(crate) fn searches_k(self) -> bool {
        self != Self::Quick
    }
}

fn chosen_suites(asked: &[String]) -> Result<Vec<&'static str>, Error> {
    let known: Vec<&'static str> = suite::all().iter().map(|suite| suite.id()).collect();
    for name in asked {
        if !known.contains(&name.as_str()) {
            return Err(Error::unknown("suite", name, known));
        }
    }
    let wanted = |suite: &&str| asked.is_empty() || asked.iter().any(|name| name == suite);
    Ok(known.into_iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::{Effort, Settings};
    use crate::cli::EvalArgs;

    fn refused(args: &EvalArgs) -> String {
        Settings::new(args).unwrap_err().to_string()
    }

    fn plain() -> EvalArgs {
        EvalArgs { epsilon: 1.0, seed: 1, ..EvalArgs::default() }
    }

    #[test]
    fn without_a_suite_it_is_a_quick_pass_over_all() {
        let all = Settings::new(&plain()).unwrap();
        let suites = vec![
            "dpm",
            "robust",
            "submodular",
            "set-cover",
            "k-median",
            "distance",
            "stable",
            "local",
            "heavy-hitters",
            "census",
        ];
        assert_eq!((all.effort, all.runs, all.suites), (Effort::Quick, 2, suites));
        let one = EvalArgs { suites: vec!["dpm".into()], ..plain() };
        let one = Settings::new(&one).unwrap();
        assert_eq!((one.effort, one.runs), (Effort::Standard, 5));
        let full = EvalArgs { full: true, runs: Some(3), ..plain() };
        let full = Settings::new(&full).unwrap();
        assert_eq!((full.effort, full.runs), (Effort::Full, 3));
    }

    #[test]
    fn bad_settings_are_named_before_anything_runs() {
        let suites = vec!["dpm".into(), "dmp".into()];
        insta::assert_snapshot!(refused(&EvalArgs { suites, ..plain() }), @"there is no suite `dmp`; these exist: dpm, robust, submodular, set-cover, k-median, distance, stable, local, heavy-hitters, census");
        insta::assert_snapshot!(refused(&EvalArgs { runs: Some(0), ..plain() }), @"--runs must be at least 1, got 0");
        insta::assert_snapshot!(refused(&EvalArgs { jobs: Some(0), ..plain() }), @"--jobs must be at least 1, got 0");
        insta::assert_snapshot!(refused(&EvalArgs { epsilon: f64::NAN, ..plain() }), @"--epsilon: epsilon must be finite and > 0 and at most 100, got NaN");
        insta::assert_snapshot!(refused(&EvalArgs { epsilon: -1.0, ..plain() }), @"--epsilon: epsilon must be finite and > 0 and at most 100, got -1");
        insta::assert_snapshot!(refused(&EvalArgs { epsilon: 0.0, ..plain() }), @"--epsilon: epsilon must be finite and > 0 and at most 100, got 0");
        insta::assert_snapshot!(refused(&EvalArgs { epsilon: 1e9, ..plain() }), @"--epsilon: epsilon must be finite and > 0 and at most 100, got 1000000000");
        let datasets = Some("no/such/folder".into());
        insta::assert_snapshot!(refused(&EvalArgs { datasets, ..plain() }), @"no/such/folder is not a folder");
    }
}
