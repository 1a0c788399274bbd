//! `cargo xtask eval compare A B`: two folders of results, cell by cell, with a test of whether they differ.

use crate::Ending;
use crate::cli::CompareArgs;
use crate::error::Error;
use crate::eval::results::{self, FILE};
use crate::eval::summary::statistic;
use crate::eval::verdict::measure;
use crate::report::number::{mean_sd, significant};
use crate::report::terminal::aligned;
use quietus_datasets::seed::named_rng;
use rand::seq::SliceRandom;
use std::collections::BTreeMap;
use std::path::Path;

/// Up to so many ways to deal the runs to two sides are all looked at; beyond, as many at random.
const DEALS: usize = 100_000;

/// What a cell is, whatever its run: suite, data set, algorithm, variant, epsilon in words, metric.
type Cell = [String; 6];

/// Prints what differs; a cell that only one side has is counted and left out.
pub(crate) fn command(args: &CompareArgs) -> Result<Ending, Error> {
    let [a, b] = [cells(&args.a)?, cells(&args.b)?];
    let both: Vec<&Cell> = a.keys().filter(|cell| b.contains_key(*cell)).collect();
    let blind = both.iter().filter(|&&cell| is_blind(a[cell].len(), b[cell].len(), both.len()));
    let blind = blind.count();
    let mut lines: Vec<(f64, Vec<String>)> = Vec::new();
    for &cell in &both {
        let (left, right) = (&a[cell], &b[cell]);
        let Some((x, y)) = statistic(left).zip(statistic(right)) else { continue };
        let p = same_mean(left, right);
        let runs = format!("{} / {}", left.len(), right.len());
        let values =
            [mean_sd(x.mean, x.sd), mean_sd(y.mean, y.sd), significant(y.mean / x.mean, 4)];
        lines.push((p, cell.iter().cloned().chain([runs]).chain(values).collect()));
    }
    lines.sort_by(|one, other| one.0.total_cmp(&other.0));
    let tests = lines.len();
    let headings = [
        "suite",
        "data set",
        "algorithm",
        "variant",
        "ε",
        "metric",
        "runs",
        "A",
        "B",
        "B / A",
        "p",
        "",
    ];
    let mut table = vec![headings.map(str::to_owned).to_vec()];
    let mut differ = 0;
    for (rank, (p, line)) in lines.into_iter().enumerate() {
        // Holm: the smallest of m has to be below .05 / m, the next below .05 / (m - 1), and so on.
        let holds = differ == rank && p * (tests - rank) as f64 <= 0.05;
        differ += usize::from(holds);
        let mark = if holds { "differs" } else { "" }.to_owned();
        table.push(line.into_iter().chain([significant(p, 2), mark]).collect());
    }
    print!("{}", aligned(&table));
    let (only_a, only_b) = (a.len() - both.len(), b.len() - both.len());
    if blind > 0 {
        let all = both.len();
        println!(
            "{blind} of {all} cells have too few runs to show any difference among so many: take more --runs, or one suite"
        );
    }
    println!(
        "{tests} cells in both, {only_a} only in A, {only_b} only in B; {differ} differ at 5 % (permutation test of the means, Holm over all cells)"
    );
    Ok(Ending::Complete)
}

/// Whether even two sides that are wholly apart would not show among so many tests.
fn is_blind(a: usize, b: usize, tests: usize) -> bool {
    let ways = binomial(a + b, a).map_or(DEALS, |ways| ways.min(DEALS)) as f64;
    let extremes = if a == b { 2.0 } else { 1.0 };
    extremes / ways * tests as f64 > 0.05
}

/// The measure that each suite is judged by, by cell, in the order of the runs.
fn cells(folder: &Path) -> Result<BTreeMap<Cell, Vec<f64>>, Error> {
    let path = if folder.is_dir() { folder.join(FILE) } else { folder.to_owned() };
    let mut records = results::read(&path)?;
    records.sort_by_key(|record| record.run);
    let mut found = BTreeMap::<Cell, Vec<f64>>::new();
    for record in &records {
        let Some((metric, value)) = measure(record) else { continue };
        let epsilon = record.epsilon.map_or("–".to_owned(), |epsilon| epsilon.to_string());
        let cell = [
            record.suite.clone(),
            record.dataset.clone(),
            record.algorithm.clone(),
            record.variant.clone(),
            epsilon,
            metric.to_owned(),
        ];
        found.entry(cell).or_default().push(value);
    }
    Ok(found)
}

/// How often runs that are dealt to the two sides anew have means at least as far apart: exactly for few runs, otherwise by
/// a seeded sample. Two runs on each side can never show less than a third.
fn same_mean(a: &[f64], b: &[f64]) -> f64 {
    let mut all: Vec<f64> = a.iter().chain(b).copied().collect();
    let total: f64 = all.iter().sum();
    let (left, right) = (a.len() as f64, b.len() as f64);
    let apart = |sum: f64| (sum / left - (total - sum) / right).abs();
    let seen = apart(a.iter().sum()) * (1.0 - 1e-9);
    if binomial(all.len(), a.len()).is_some_and(|deals| deals <= DEALS) {
        let (mut deals, mut as_far) = (0_u32, 0_u32);
        each_sum(&all, a.len(), 0.0, &mut |sum| {
            deals += 1;
            as_far += u32::from(apart(sum) >= seen);
        });
        return f64::from(as_far) / f64::from(deals);
    }
    let mut rng = named_rng(&["compare"]);
    let mut as_far = 1_u32;
    for _ in 0..DEALS {
        all.shuffle(&mut rng);
        as_far += u32::from(apart(all[..a.len()].iter().sum()) >= seen);
    }
    f64::from(as_far) / (DEALS as f64 + 1.0)
}

fn binomial(n: usize, k: usize) -> Option<usize> {
    (0..k).try_fold(1_usize, |product, i| Some(product.checked_mul(n - i)? / (i + 1)))
}

/// The sums of all choices of `take` values.
fn each_sum(values: &[f64], take: usize, sum: f64, see: &mut dyn FnMut(f64)) {
    if take == 0 {
        see(sum);
    } else if values.len() >= take {
        each_sum(&values[1..], take - 1, sum + values[0], see);
        each_sum(&values[1..], take, sum, see);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::record::tests::example;

    #[test]
    fn the_test_of_means_is_exact_for_few_runs_and_keeps_its_level() {
        // Of the 20 ways to deal six runs, the two that part them are as far.
        assert_eq!(same_mean(&[1.0, 2.0, 3.0], &[11.0, 12.0, 13.0]).to_bits(), 0.1_f64.to_bits());
        assert_eq!(same_mean(&[1.0, 1.0], &[1.0, 1.0]).to_bits(), 1.0_f64.to_bits());
        let far = |shift: f64| {
            let a: Vec<f64> = (0..20).map(f64::from).collect();
            let b: Vec<f64> = a.iter().map(|x| x + shift).collect();
            same_mean(&a, &b)
        };
        assert!(is_blind(2, 2, 1) && is_blind(5, 5, 7) && !is_blind(5, 5, 6));
        assert!(far(0.0) > 0.9 && far(30.0) < 1e-4, "{} {}", far(0.0), far(30.0));
    }

    #[test]
    fn cells_of_a_folder_hold_the_measure_of_their_suite() {
        let folder = tempfile::tempdir().unwrap();
        let line = |run| serde_json::to_string(&example("synth-10d", "dpm", run)).unwrap() + "\n";
        std::fs::write(folder.path().join(FILE), line(1) + &line(0)).unwrap();
        let found = cells(folder.path()).unwrap();
        let (cell, values) = found.first_key_value().unwrap();
        assert_eq!(cell.join(" "), "dpm synth-10d dpm default 1 inertia_squared");
        assert_eq!(values, &[2.5e6, 2.6e6]);
        std::fs::write(folder.path().join(FILE), "{").unwrap();
        let message = cells(folder.path()).unwrap_err().to_string();
        assert!(message.contains("line 1"), "{message}");
    }
}
