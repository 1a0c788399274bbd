//! Searches for a box, for a part of one, and for a radius, that look at the records: the real code with something put between it and its draws.

use dp_accounting::Rho;
use dp_audit::harness::MutantCode;
use dp_cluster::private_box::{FoundBox, PrivateBox};
use dp_cluster::private_kmeans::PrivateKMeans;
use dp_cluster::{Clustering, Points};
use dp_mechanism::{Mechanism, RoundedGaussian, Source};

use super::rings::{Instead, scaled};
use crate::dpm::spends;
use crate::rings::is_of_sum;
use crate::{private_box, private_kmeans};

pub(crate) fn code() -> [MutantCode; 4] {
    [
        (
            "M100",
            |effort| private_box::transcripts(effort, box_of_the_records),
            |effort| private_box::transcripts(effort, private_box::honest),
        ),
        (
            "M101",
            |effort| private_box::transcripts(effort, noise_for_one_coordinate),
            |effort| private_box::transcripts(effort, private_box::honest),
        ),
        (
            "M102",
            |effort| private_kmeans::even_starts(effort, radius_of_the_records),
            |effort| private_kmeans::even_starts(effort, private_kmeans::honest),
        ),
        (
            "M298",
            |effort| private_kmeans::even_starts(effort, part_of_the_records),
            |effort| private_kmeans::even_starts(effort, private_kmeans::honest),
        ),
    ]
}

/// The box ends where records are, and not where noisy counts say so.
fn box_of_the_records(plan: &PrivateBox, points: &Points, draws: &mut dyn Source) -> FoundBox {
    let law = |_, _, noise| is_of_sum(noise).then_some(noise);
    plan.replay(points.view(), &mut Instead { draws, law, number: 0 }).0
}

/// A mean has the noise of one coordinate, of which each record moves all.
fn noise_for_one_coordinate(
    plan: &PrivateBox,
    points: &Points,
    draws: &mut dyn Source,
) -> FoundBox {
    let dim = points.view().dim() as u128;
    let law = |_, _, noise| Some(if is_of_sum(noise) { scaled(noise, (1, dim)) } else { noise });
    plan.replay(points.view(), &mut Instead { draws, law, number: 0 }).0
}

/// The radius of a round is found by exact counts.
fn radius_of_the_records(
    plan: &PrivateKMeans,
    points: &Points,
    draws: &mut dyn Source,
) -> Clustering {
    exactly("count within a radius", plan, points, draws)
}

/// The part of the box that even centres share out is found by exact counts.
fn part_of_the_records(
    plan: &PrivateKMeans,
    points: &Points,
    draws: &mut dyn Source,
) -> Clustering {
    exactly("counts of all cells", plan, points, draws)
}

/// A plan whose counts of this name are not noisy.
fn exactly(
    name: &str,
    plan: &PrivateKMeans,
    points: &Points,
    draws: &mut dyn Source,
) -> Clustering {
    let of_name = spends(plan.receipt().spent(), name);
    let law = |_, _, noise: RoundedGaussian| {
        let variance = noise.variance();
        let variance = variance.numerator() as f64 / variance.denominator().get() as f64;
        let is_other = |rho: &Rho| (2.0 * rho.get() * variance - 1.0).abs() > 1e-6;
        of_name.iter().all(is_other).then_some(noise)
    };
    plan.replay(points.view(), &mut Instead { draws, law, number: 0 }).0
}
