//! What groups of the last round say about the clusters that they are of: released values only.

use dp_geometry::{Points, PublicBox};

use super::background::Background;
use super::cells::Layout;
use super::groups::{Groups, largest_noise, ring_up_to};
use crate::coreset::PrivateCoreset;
use crate::nearest::squared_distance;

/// The mean square of distances from its centre of the records of a ring that ends at 1 and begins at a half: most are nearer to its beginning. Measured.
const MEAN_SQUARE: f64 = 0.38;
/// Records are as far from the mean of their group as this part of the squared radius, at least.
const LEAST_SPREAD: f64 = 0.08;
/// And those on one side of a centre are spread no further than so many times as others, in squares,
const FURTHER: f64 = 4.0;
/// if these have that part of all records.
const KNOWN: f64 = 0.25;
/// A ring that begins at so many times the radius at which the usual one of its centre ends is far from that,
const FAR: usize = 3;
/// and has records on several sides if their mean is off by less than this part of the squared radius.
const SEVERAL_SIDES: f64 = 0.125;

/// What all groups say.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) groups: Vec<SeenGroup>,
    /// Records that are in no cluster, if there are any.
    pub(crate) background: Option<Background>,
    /// The largest count that noise alone is expected to make, in standard deviations of its noise.
    pub(crate) largest_noise: f64,
}

/// A group that says where its records are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeenGroup {
    /// The new centre that its mean is nearest to.
    pub(crate) centre: usize,
    /// Noisy number of records.
    pub(crate) count: f64,
    /// Variance of the noise in that.
    pub(crate) count_variance: f64,
    /// Squared distance of its mean from the new centre.
    pub(crate) off: f64,
    /// Squared length of the noise in its mean, as expected.
    pub(crate) variance: f64,
    /// Mean squared distance of its records from their mean, by where its ring is.
    pub(crate) spread: f64,
}

impl Seen {
    /// Of groups with these means, each with the `variances` of its noise and the new centre that it is nearest to.
    pub(super) fn new(
        (groups, layout): (&Groups, &Layout),
        (means, variances): (&PrivateCoreset, &[f64]),
        (centres, of_groups): (&Points, &[u32]),
        count_noise: f64,
        public: (&PublicBox, u64),
    ) -> Self {
        let (usual, cells) = (usual_rings(groups, layout), groups.cells());
        let (mut all, mut one_sided) = (Vec::new(), Vec::new());
        let mut known = Vec::new();
        let rows = groups.all.iter().zip(means.points().rows()).zip(variances).zip(of_groups);
        for ((((group, mean), &variance), &centre), cells) in rows.zip(cells) {
            let squared_radius = layout.radii()[group.ring].powi(2);
            let off = squared_distance(mean, layout.centre(group.centre));
            let is_far = group.ring >= usual[group.centre] + FAR;
            if is_far && has_several_sides(off, layout.radii()[group.ring]) {
                continue;
            }
            let least = LEAST_SPREAD * squared_radius;
            let spread = (MEAN_SQUARE * squared_radius - off).max(least);
            if spread <= least {
                one_sided.push(all.len());
            } else {
                known.push((spread, group.count));
            }
            all.push(SeenGroup {
                centre: centre as usize,
                count: group.count,
                count_variance: f64::from(cells) * count_noise.powi(2),
                off: squared_distance(mean, &centres.view()[centre as usize]),
                variance,
                spread,
            });
        }
        // Records on one side of a centre may be spread as far as others, or less: a ring that is far from them does not say.
        let records = all.iter().map(|group: &SeenGroup| group.count).sum();
        let usual_spread = usual_spread(known, records);
        for i in one_sided {
            all[i].spread = all[i].spread.min(FURTHER * usual_spread);
        }
        let background = Background::new((groups, layout), (means, variances), count_noise, public);
        Self { groups: all, background, largest_noise: largest_noise(layout) }
    }
}

impl Seen {
    /// Squared length of the noise in the place of each of so many new centres, as expected; infinite where no group says.
    pub(crate) fn noise(&self, centres: usize) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); centres];
        for group in &self.groups {
            let (noise, count) = &mut sums[group.centre];
            *noise += group.count.powi(2) * group.variance;
            *count += group.count;
        }
        let mean = |(noise, count): (f64, f64)| noise / count.powi(2);
        sums.into_iter().map(|sum| if sum.1 > 0.0 { mean(sum) } else { f64::INFINITY }).collect()
    }
}

/// The spread that half of the records of these groups have at most, if there are enough of all.
fn usual_spread(mut known: Vec<(f64, f64)>, records: f64) -> f64 {
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: f64 = known.iter().map(|(_, count)| count).sum();
    let mut within = 0.0;
    let half = known.iter().find(|(_, count)| {
        within += count;
        within >= 0.5 * all
    });
    half.filter(|_| all >= KNOWN * records).map_or(f64::INFINITY, |(spread, _)| *spread)
}

/// Whether records of a ring are around its centre, and not on one side of it: their mean is off by this, in squares.
pub(super) fn has_several_sides(off: f64, radius: f64) -> bool {
    off < SEVERAL_SIDES * radius.powi(2)
}

/// The ring of each centre of a round up to which half of its records in groups are.
pub(super) fn usual_rings(groups: &Groups, layout: &Layout) -> Vec<usize> {
    let centres = layout.planes.len();
    let rings = layout.rings();
    let mut counts = vec![0.0; rings * centres];
    groups.all.iter().for_each(|group| counts[group.centre * rings + group.ring] += group.count);
    counts.chunks_exact(rings).map(|counts| ring_up_to(counts, 0.5)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_spread_is_that_of_half_of_enough_records() {
        let known = || vec![(9.0, 30.0), (1.0, 30.0), (4.0, 50.0)];
        assert_eq!(usual_spread(known(), 200.0).to_bits(), 4.0_f64.to_bits());
        // A lump in the middle of a centre does not count for much,
        assert_eq!(
            usual_spread([known(), vec![(1e-12, 9.0)]].concat(), 200.0).to_bits(),
            4.0_f64.to_bits()
        );
        // nor do a few records among many say what is usual.
        assert_eq!(usual_spread(known(), 441.0).to_bits(), f64::INFINITY.to_bits());
        assert_eq!(usual_spread(vec![], 100.0).to_bits(), f64::INFINITY.to_bits());
    }
}
