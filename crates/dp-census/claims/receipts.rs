//! What receipts add up to.

use dp_accounting::{Epsilon, Rho};
use dp_audit::Method as By;
use dp_audit::harness::{Check, Effort, Found};
use dp_census::{
    Census, CensusSettings, From0, LevelShares, Method, Privacy, RegionTree, dearest_path,
};
use dp_mechanism::Mechanism;
use rand::RngExt;

use crate::nation::{MEMBERS, TINY, by, hierarchy};

pub(crate) fn checks() -> Vec<Check> {
    vec![Check::new("census-receipt", "Census, receipts", MEMBERS, By::Ledger, receipts)]
}

/// What receipts add up to, and what the dearest way through the tree costs, as a share of the budget, over random settings.
fn receipts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(72);
    for i in 0..effort.of(400_usize, 5_000) {
        let hierarchy = hierarchy(TINY[i / 2 % TINY.len()]);
        let tree = hierarchy.tree().clone();
        let weights: Vec<f64> = (0..tree.levels()).map(|_| rng.random_range(0.01..1.0)).collect();
        let total: f64 = weights.iter().sum();
        let shares = LevelShares::Fixed(weights.iter().map(|weight| weight / total).collect());
        let (log, pure) = (rng.random_range(-4.0..1.5), i % 2 == 0);
        let asked = 10_f64.powf(log);
        let privacy = if pure { Privacy::pure(asked) } else { Privacy::zcdp(asked, 1e-6) };
        let privacy = privacy.expect("valid");
        // Every method on every tree.
        let method = Method::ALL[i / 2 / TINY.len() % Method::ALL.len()];
        let settings = CensusSettings { shares: shares.clone(), ..by(method) };
        let bins = From0::up_to(5).expect("valid");
        let plan = Census::new(hierarchy, bins, 100, privacy, settings).expect("valid settings");
        let receipt = plan.receipt();
        let spent = if pure {
            receipt.pure().map_or(f64::INFINITY, Epsilon::get)
        } else {
            receipt.zcdp().map_or(f64::INFINITY, Rho::get)
        };
        let along = if pure { path_cost(&tree, &shares, asked) } else { 0.0 };
        let over = !receipt.within_budget() || receipt.mechanism() != method.id();
        let share = spent.max(along * (1.0 - 1e-12)) / asked;
        found.see(if over { f64::INFINITY } else { share }, || format!("{privacy:?} {shares:?}"));
    }
    found
}

/// The dearest way through the tree if every region of a level costs the share of the level.
fn path_cost(tree: &RegionTree, shares: &LevelShares, epsilon: f64) -> f64 {
    let shares = shares.of(tree).expect("valid");
    let losses: Vec<f64> =
        (0..tree.len()).map(|region| epsilon * shares[tree.level_of(region)]).collect();
    dearest_path(tree, &losses)
}
