//! What the data holder is told in the end. None of it is private: it follows from settings and from noisy numbers.

use super::Job;
use super::input::Individuals;
use crate::cli::CensusArgs;
use dp_census::{Certificate, Method};
use dp_mechanism::Mechanism;

/// A release in words.
#[derive(Clone, Debug)]
pub(super) struct Report {
    pub(super) text: String,
    /// Whether the table is as good for its noise as its method promises.
    pub(super) proved: bool,
}

impl Report {
    pub(super) fn new(
        args: &CensusArgs,
        job: &Job,
        individuals: Individuals,
        certificate: Certificate,
        has_errors: bool,
    ) -> Self {
        let proof = proof(job.method, certificate, job.groups);
        let consistent = if certificate.feasible {
            "every region is the sum of its parts, nothing is negative, and the number of groups is the public one."
        } else {
            "FAILED; the table is not consistent. Please report this."
        };
        let text = format!(
            "{receipt}\n\n\
             Protected: an individual who joins or leaves one group and adds up to {most} to its size; {individuals}.\n\
             Certificate: {consistent}\n\
             {proof}\n\
             {totals}Size {largest} means {largest} or more.\n\
             {errors}\n\
             The budget is spent: add this receipt to those of all other releases about the same people.\n",
            receipt = job.plan.receipt(),
            most = args.most_quantity,
            individuals = individuals.in_words(),
            proof = proof
                .as_deref()
                .unwrap_or("No proof that the table is as close to its noise as it should be."),
            totals = if job.public_totals && !keeps_totals(job.method) {
                "The public numbers of groups of regions are not kept by this method: totals of regions are estimates, but for the one at the top.\n"
            } else {
                ""
            },
            largest = args.largest,
            errors = if has_errors && job.method == Method::RootSpread {
                "Standard errors and intervals are those of noise in the first row and in its shares: how far a region is from its share nothing says, so they are for the first row alone."
            } else if has_errors {
                "Standard errors and intervals come from carrying out the plan again on what it released: in 91 of 100 cells or more the truth was within in trials, but where noise is larger than what makes the regions differ they are too narrow."
            } else {
                "The table is too large for standard errors of its cells: the plan says what noise they have."
            },
        );
        Self { text, proved: certificate.feasible && proof.is_some() }
    }
}

/// Whether public numbers of groups of regions are exact in what is released.
fn keeps_totals(method: Method) -> bool {
    matches!(method, Method::Fitted | Method::CumulativeTopDown | Method::RootSpread)
}

/// How close the table is to its noise; `None` if that is not what the method promises.
fn proof(method: Method, certificate: Certificate, groups: i64) -> Option<String> {
    let Certificate { residual, distance, .. } = certificate;
    // In real numbers the residual is of the order of rounding errors, which grow with the number of groups.
    let rounding = 1e-6 + groups as f64 * 1e-14;
    let words = match method {
        Method::Cumulative if residual < rounding => format!(
            "The table is the closest consistent one in real numbers, up to {distance:.1e} groups over all cells, rounded within l + 1/2 at level l."
        ),
        Method::CumulativeTopDown if residual > 0.0 && residual.is_finite() => {
            "Level after level, each split is the closest one; those too large for that are near to it in whole numbers.".to_owned()
        }
        // Of the real rows before they became whole, in a table that was solved twice with the same result.
        Method::Fitted if residual.is_finite() => {
            let how = if residual < 0.02 { "within a hundredth of a group" } else { "nearly" };
            format!("Level after level, each region was drawn to its share of the one above as far as its noise asks, and the closest rows that add up were found {how}, then whole numbers near to them.")
        }
        Method::RootSpread if residual <= 0.0 => {
            "The first row is the closest one in whole numbers; the others are shares of it, and say nothing else about their regions.".to_owned()
        }
        Method::CumulativeTopDown | Method::TopDown if residual <= 0.0 => {
            "Level after level, each split is the closest one in whole numbers.".to_owned()
        }
        Method::CumulativeThenTree if residual <= 0.0 => {
            "Each of its two steps is optimal: every row made nondecreasing, then the closest consistent table in whole numbers.".to_owned()
        }
        _ if method != Method::Cumulative && residual <= 0.0 => {
            "The table is an optimum in whole numbers: no unit step improves it.".to_owned()
        }
        _ => return None,
    };
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::proof;
    use dp_census::{Certificate, Method};

    #[test]
    fn only_a_small_enough_residual_is_a_proof() {
        let with = |method, residual| {
            let certificate = Certificate { feasible: true, residual, distance: 0.5 };
            proof(method, certificate, 1_000).is_some()
        };
        for method in Method::ALL {
            assert!(with(method, 0.0) && !with(method, f64::INFINITY) && !with(method, f64::NAN));
            let near = matches!(method, Method::Fitted | Method::CumulativeTopDown);
            assert_eq!(with(method, 0.5), near, "{method:?}");
            assert_eq!(with(method, 1e-9), near || method == Method::Cumulative);
        }
    }
}
