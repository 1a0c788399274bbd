//! Which cells get a sum, and what is made of it: released values only.

use dp_geometry::PublicBox;
use dp_mechanism::passes::{StateError, TableError};
use serde::{Deserialize, Serialize};

use super::cells::{GroupSums, Layout, RingCells};
use super::round::RingRound;
use crate::passes::LARGEST;
use crate::residual::UNITS;
use crate::sized_sum::NO_GROUP;

/// Cells are a group if their noisy counts add up to this many standard deviations of their noise, at least.
const LEAST: f64 = 2.0;

/// And this part of the largest that noise alone is expected to make of so many. A few groups of noise, of small weight, cost less than small
/// clusters that are missed.
const OF_LARGEST: f64 = 0.82;
/// Nor may one be further from a centre than nearly all records are from each other, where it costs more than all else.
const OF_LARGEST_BEYOND: f64 = 1.25;

/// A group has a record, also where its count is the mean of several.
const ONE: f64 = 1.0;
/// The same where there is one cluster: a group of noise far away costs much, as records then seem to reach as far, and there is no small one to miss.
const ALONE: [f64; 2] = [1.3, 2.0];

/// The records of a centre may hide in its cells if they have so many that it is likelier by this, as a logarithm, that there are some than that there are none,
const LIKELIER: f64 = 1.0;
/// and no more than so many deviations of noise are expected of them, as that is all that could be hidden;
const MOST_HIDDEN: f64 = 3.0;
/// but not those of a centre with fewer than this part of what the usual one has: noise makes such.
const OF_USUAL: f64 = 0.5;

/// A few groups of noise do not say how far records are.
const MOST: f64 = 0.9;
/// But those of one centre are further than their groups where the next two rings seem to have so many deviations of noise.
const FURTHER: f64 = 2.0;
/// Nor may one be so many times further from a centre than that: beside clusters that are near each other and tight, it costs more than all they have. Measured.
const BEYOND: f64 = 32.0;

/// Cells of one ring of one centre that get a sum together.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Group {
    pub(super) centre: usize,
    pub(super) ring: usize,
    /// Noisy number of records.
    pub(super) count: f64,
}

/// The groups of a round.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Groups {
    pub(super) all: Vec<Group>,
    /// [`NO_GROUP`] where a cell is in none.
    pub(super) of_cell: Vec<u32>,
    /// Of each ring of each centre, what is in no group.
    left: Vec<Rest>,
}

/// Noisy number of records in cells that are in no group yet, and how many cells these are.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Rest {
    count: f64,
    cells: f64,
}

impl Groups {
    /// Cells with more records than noise explains, which takes more where they are further from a centre than nearly all records are from theirs, or
    /// `apart` from each other. `alone` says that there is one cluster.
    pub(super) fn new(
        layout: &Layout,
        noisy_counts: &[f64],
        count_noise: f64,
        alone: bool,
        apart: f64,
    ) -> Self {
        let within = |near| Self::near(layout, noisy_counts, count_noise, alone, near);
        let groups = within(apart);
        if groups.all.is_empty() {
            return groups;
        }
        let near = BEYOND * groups.reach(layout);
        if near < apart { within(near) } else { groups }
    }

    /// Cells with more records than noise explains, which takes more for rings that begin beyond `near`. What is left is looked at without the last
    /// hyperplane, then without the one before it, up to the ring as a whole: a cluster that some hyperplane cuts is found by the others.
    fn near(
        layout: &Layout,
        noisy_counts: &[f64],
        count_noise: f64,
        alone: bool,
        near: f64,
    ) -> Self {
        let of_largest = if alone { ALONE } else { [OF_LARGEST, OF_LARGEST_BEYOND] };
        let [least, beyond] = of_largest.map(|of| (of * largest_noise(layout)).max(LEAST));
        let begins = |ring: usize| if ring == 0 { 0.0 } else { layout.radii()[ring - 1] };
        let deviations = |ring: usize| if begins(ring) < near { least } else { beyond };
        let rings = layout.rings();
        let (all, left) = (Vec::new(), Vec::with_capacity(layout.planes.len() * rings));
        let mut groups = Self { all, of_cell: vec![NO_GROUP; layout.len()], left };
        for centre in 0..layout.planes.len() {
            for ring in 0..rings {
                let cells = layout.ring(centre, ring);
                let counts = noisy_counts[cells.clone()].iter();
                let mut rests: Vec<Rest> =
                    counts.map(|&count| Rest { count, cells: 1.0 }).collect();
                for planes in (0..=layout.planes[centre]).rev() {
                    for (place, rest) in rests.iter_mut().take(1 << planes).enumerate() {
                        let least = deviations(ring) * count_noise * rest.cells.sqrt();
                        if rest.cells > 0.0 && rest.count > least && rest.count >= ONE {
                            let number = u32::try_from(groups.all.len()).expect("one per cell");
                            let here = &mut groups.of_cell[cells.clone()];
                            let here = here.iter_mut().skip(place).step_by(1 << planes);
                            for group in here.filter(|group| **group == NO_GROUP) {
                                *group = number;
                            }
                            groups.all.push(Group { centre, ring, count: rest.count });
                            *rest = Rest::default();
                        }
                    }
                    // The last plane of a cell is the highest bit of its number.
                    let half = (1 << planes) / 2;
                    for place in 0..half {
                        let other = rests[place + half];
                        rests[place].count += other.count;
                        rests[place].cells += other.cells;
                    }
                }
                groups.left.push(rests[0]);
            }
            groups.join_rings(layout, centre, count_noise, deviations);
        }
        groups
    }

    /// A cluster that lies across the end of a ring can have too few records on either side: what is in no group of two rings is looked at together.
    fn join_rings(
        &mut self,
        layout: &Layout,
        centre: usize,
        count_noise: f64,
        deviations: impl Fn(usize) -> f64,
    ) {
        let first = self.left.len() - layout.rings();
        for ring in 1..layout.rings() {
            let [inner, outer] = [ring - 1, ring].map(|ring| self.left[first + ring]);
            let (count, cells) = (inner.count + outer.count, inner.cells + outer.cells);
            let is_left = inner.cells > 0.0 && outer.cells > 0.0;
            if is_left && count >= ONE && count > deviations(ring) * count_noise * cells.sqrt() {
                let number = u32::try_from(self.all.len()).expect("one per cell");
                let here = layout.ring(centre, ring - 1).start..layout.ring(centre, ring).end;
                let here = self.of_cell[here].iter_mut();
                here.filter(|group| **group == NO_GROUP).for_each(|group| *group = number);
                self.all.push(Group { centre, ring, count });
                self.left[first + ring - 1..=first + ring].fill(Rest::default());
            }
        }
    }

    /// Centres of this round whose records are likely to be there still, though noise hides them, and how many these are: no group near them says where they went.
    /// `counts` are what the centres had in the round before. Released values only.
    pub(super) fn hidden(
        &self,
        layout: &Layout,
        counts: &[f64],
        count_noise: f64,
    ) -> Vec<(usize, f64)> {
        let mut sorted = counts.to_vec();
        sorted.sort_by(f64::total_cmp);
        let least = OF_USUAL * sorted[sorted.len() / 2];
        let of_rings = self.of_rings(layout);
        let [first, last] = [1.0 - MOST, MOST].map(|share| ring_up_to(&of_rings, share));
        let hides = |centre: usize| {
            let rests = &self.left[centre * layout.rings()..][first.saturating_sub(1)..=last];
            let (seen, cells) = rests
                .iter()
                .fold((0.0, 0.0), |(seen, cells), rest| (seen + rest.count, cells + rest.cells));
            let (before, variance) = (counts[centre], count_noise * count_noise * cells);
            let expected = before.min(MOST_HIDDEN * variance.sqrt());
            // Of two normal laws with this variance, one around what is expected and one around 0.
            let likelier = expected * (seen - 0.5 * expected) / variance;
            // The mean of both rounds by their precisions.
            let count = (before * cells + seen) / (cells + 1.0);
            (likelier > LIKELIER && before >= least).then_some((centre, count))
        };
        self.unseen(counts.len(), last).into_iter().filter_map(hides).collect()
    }

    /// Of so many centres, those around which no group is up to this ring.
    pub(super) fn unseen(&self, centres: usize, last: usize) -> Vec<usize> {
        let mut is_seen = vec![false; centres];
        let near = self.all.iter().filter(|group| group.ring <= last);
        near.for_each(|group| is_seen[group.centre] = true);
        (0..centres).filter(|&centre| !is_seen[centre]).collect()
    }

    /// Noisy number of records of each ring of each centre. What is left of two rings counts in the outer one.
    pub(super) fn of_all_rings(&self, layout: &Layout) -> Vec<f64> {
        let mut counts: Vec<f64> = self.left.iter().map(|rest| rest.count).collect();
        for group in &self.all {
            counts[group.centre * layout.rings() + group.ring] += group.count;
        }
        counts
    }

    /// Noisy number of records of all groups of each ring.
    fn of_rings(&self, layout: &Layout) -> Vec<f64> {
        let mut counts = vec![0.0; layout.rings()];
        self.all.iter().for_each(|group| counts[group.ring] += group.count);
        counts
    }

    /// How many of the `missing` records, those of no group, were near each centre of this round: released values only.
    ///
    /// Cells that are in no group say so with much noise, and only those of the rings next to a group are likely to have any. As far as noise
    /// hides what they say, a centre has the share of them that it has of the records in groups.
    fn ungrouped(&self, layout: &Layout, missing: f64, count_noise: f64) -> Vec<f64> {
        let (centres, in_rings) = (layout.planes.len(), layout.rings());
        let mut grouped = vec![0.0; centres];
        let mut rings = vec![(in_rings, 0); centres];
        for group in &self.all {
            grouped[group.centre] += group.count;
            let (first, last) = &mut rings[group.centre];
            (*first, *last) = ((*first).min(group.ring), (*last).max(group.ring));
        }
        let all: f64 = grouped.iter().sum();
        let expected = |centre: usize| {
            let usual = missing * grouped[centre] / all;
            let rests = self.left[centre * in_rings..][..in_rings].iter().enumerate();
            let (first, last) = rings[centre];
            let near = rests.filter(|(ring, _)| ring + 1 >= first && *ring <= last + 1);
            let (seen, cells) = near.fold((0.0, 0.0), |(seen, cells), (_, rest)| {
                (seen + rest.count, cells + rest.cells)
            });
            // Twice as many and none are as likely, before the cells are looked at.
            let (prior, noise) = (usual * usual, count_noise * count_noise * cells);
            let trust = if prior > 0.0 { prior / (prior + noise) } else { 0.0 };
            (usual + trust * (seen - usual)).max(0.0)
        };
        let expected: Vec<f64> = (0..centres).map(expected).collect();
        let sum: f64 = expected.iter().sum();
        let scale = if sum > 0.0 { missing / sum } else { 0.0 };
        expected.into_iter().map(|records| scale * records).collect()
    }

    /// Adds the `missing` records, those of no group, to the counts of new centres, of which `of_groups` is that of each group: those near an old
    /// centre go where its groups went, in the same shares.
    pub(super) fn add_missing(
        &self,
        layout: &Layout,
        (missing, count_noise): (f64, f64),
        of_groups: &[u32],
        counts: &mut [f64],
    ) {
        let ungrouped = self.ungrouped(layout, missing, count_noise);
        let mut grouped = vec![0.0; ungrouped.len()];
        for group in &self.all {
            grouped[group.centre] += group.count;
        }
        for (group, &to) in self.all.iter().zip(of_groups) {
            let share = group.count / grouped[group.centre];
            counts[to as usize] += share * ungrouped[group.centre];
        }
    }

    /// That they can be made of these cells.
    pub(super) fn fits(&self, layout: &Layout) -> Result<(), TableError> {
        let within = StateError::unless_within;
        let (centres, number) = (layout.planes.len(), self.all.len());
        within("number of groups", number as f64, [1.0, layout.len() as f64])?;
        StateError::unless_equal("number of cells", self.of_cell.len(), layout.len())?;
        let of_cells = self.of_cell.iter().filter(|group| **group != NO_GROUP);
        let most = [0.0, number as f64 - 1.0];
        StateError::unless_all_within("group of a cell", of_cells.map(|&g| f64::from(g)), most)?;
        StateError::unless_equal("number of rings", self.left.len(), centres * layout.rings())?;
        self.all.iter().try_for_each(|group| {
            within("centre of a group", group.centre as f64, [0.0, centres as f64 - 1.0])?;
            within("ring of a group", group.ring as f64, [0.0, layout.rings() as f64 - 1.0])?;
            within("count of a group", group.count, [ONE, LARGEST])
        })?;
        self.left.iter().try_for_each(|rest| {
            within("count of no group", rest.count, [-LARGEST, LARGEST])?;
            within("cells of no group", rest.cells, [0.0, layout.len() as f64])
        })
    }

    /// What is asked about them: sums of residuals that are clipped to a part of the radius at which the group's ring ends.
    pub(super) fn sums(&self, cells: RingCells, layout: &Layout, round: &RingRound) -> GroupSums {
        let radius = |group: &Group| round.clip(group, cells.dim()) * layout.radii()[group.ring];
        let radii = self.all.iter().map(radius).collect();
        GroupSums { cells, of_cell: self.of_cell.clone(), radii }
    }

    /// The radius of the ring up to which [`MOST`] of the records in groups are, of which there are some.
    pub(super) fn reach(&self, layout: &Layout) -> f64 {
        layout.radii()[ring_up_to(&self.of_rings(layout), MOST)]
    }

    /// The same of one centre, or twice that where the next two rings have more than noise, if not enough to be a group.
    pub(super) fn reach_alone(&self, layout: &Layout, count_noise: f64) -> f64 {
        let ring = ring_up_to(&self.of_rings(layout), MOST);
        let (rings, centres) = (layout.rings(), layout.planes.len());
        // Between rounds there may be two centres.
        let counts = self.of_all_rings(layout);
        let next = (ring + 1..rings).take(2);
        let noise = count_noise * ((next.len() * centres) as f64).sqrt();
        let of_centres = |ring| counts[ring..].iter().step_by(rings).sum::<f64>();
        let is_further = next.map(of_centres).sum::<f64>() > FURTHER * noise;
        layout.radii()[ring + usize::from(is_further)]
    }

    /// The radius of the outermost ring with a group that is more than noise anywhere, if there is one.
    pub(super) fn farthest(&self, layout: &Layout, count_noise: f64) -> Option<f64> {
        let least = OF_LARGEST_BEYOND * largest_noise(layout) * count_noise;
        let groups = self.all.iter().zip(self.cells());
        let sure = groups.filter(|(group, cells)| group.count > least * f64::from(*cells).sqrt());
        sure.map(|(group, _)| layout.radii()[group.ring]).max_by(f64::total_cmp)
    }

    /// How many cells each group has.
    pub(super) fn cells(&self) -> Vec<u32> {
        let mut cells = vec![0; self.all.len()];
        let in_groups = self.of_cell.iter().filter(|group| **group != NO_GROUP);
        in_groups.for_each(|&group| cells[group as usize] += 1);
        cells
    }

    /// Where each group lies: its noisy mean, shrunk towards the centre as far as noise explains it, row-major, and the squared length that is
    /// expected of the noise that is left in it.
    pub(super) fn means(
        &self,
        layout: &Layout,
        noisy_sums: &[i64],
        round: &RingRound,
        public_box: &PublicBox,
    ) -> (Vec<f64>, Vec<f64>) {
        let dim = public_box.dim();
        let mut coords = Vec::with_capacity(noisy_sums.len());
        let mut variances = Vec::with_capacity(self.all.len());
        for (group, sum) in self.all.iter().zip(noisy_sums.chunks_exact(dim)) {
            // In radii that residuals were clipped to.
            let mean = |units: i64| units as f64 / UNITS as f64 / group.count;
            let noise = (round.sum_noise() / group.count).powi(2);
            let squared = sum.iter().map(|&units| mean(units).powi(2)).sum::<f64>() / dim as f64;
            let explained = (squared - noise).max(0.0);
            let (share, radius) = (explained / (explained + noise), layout.radii()[group.ring]);
            let clipped = round.clip(group, dim) * radius;
            let gain = share * clipped;
            variances.push(share * noise * clipped.powi(2) * dim as f64);
            let centre = layout.centre(group.centre).iter().zip(sum);
            coords.extend(
                centre
                    .enumerate()
                    .map(|(i, (c, &units))| public_box.clip_coordinate(i, c + gain * mean(units))),
            );
        }
        (coords, variances)
    }
}

/// The ring up to which this share of the records are, of so many in each.
pub(super) fn ring_up_to(counts: &[f64], share: f64) -> usize {
    let enough = share * counts.iter().sum::<f64>();
    let mut within = 0.0;
    let ring = counts.iter().position(|count| {
        within += count;
        within >= enough
    });
    ring.unwrap_or(counts.len() - 1)
}

/// The largest count that noise alone is expected to make of cells and of those added up, which doubles their number, in standard deviations.
pub(super) fn largest_noise(layout: &Layout) -> f64 {
    (2.0 * (2.0 * layout.len() as f64).ln()).sqrt()
}

#[cfg(test)]
mod tests {
    use dp_accounting::Mu;

    use super::*;
    use crate::recentring::Labels;

    /// Three centres had 100 records each, as seen, and one more 40, too few for one that hides. A group is near the first; around the second are 82 in two rings that no group
    /// has, around the third 20; around the last more than there were.
    #[test]
    fn a_centre_whose_records_noise_hides_stays() {
        let public_box = PublicBox::cube(2, -10.0, 10.0).expect("valid");
        let nearly_all = public_box.diagonal();
        let centres = vec![-5.0, -5.0, 5.0, 5.0, -5.0, 5.0, 5.0, -5.0];
        let labels = Labels::nearest(public_box, centres);
        let cells = RingCells { labels, nearly_all, normals: vec![1.0, 0.0], planes: vec![0; 4] };
        let layout = cells.layout().expect("cells of a plan");
        let mut counts = vec![0.0; layout.len()];
        for (centre, ring, count) in
            [(0, 11, 100.0), (1, 10, 41.0), (1, 11, 41.0), (2, 11, 20.0), (3, 11, 50.0)]
        {
            counts[layout.ring(centre, ring).start] = count;
        }
        let groups = Groups::new(&layout, &counts, 22.0, false, f64::INFINITY);
        assert_eq!(groups.all.len(), 1, "{:?}", groups.all);
        let hidden = |noise| groups.hidden(&layout, &[100.0, 100.0, 100.0, 40.0], noise);
        // Two rings are looked at: the mean of 100, and 82 with twice the variance.
        let [(centre, count)] = hidden(22.0)[..] else { panic!("{:?}", hidden(22.0)) };
        assert!(centre == 1 && (count - 94.0).abs() < 1e-9, "{count}");
        // More noise would make any of them.
        assert!(hidden(100.0).is_empty());
    }

    /// Rings around two centres in the plane, cut in half by one hyperplane.
    fn cells() -> RingCells {
        let public_box = PublicBox::cube(2, -10.0, 10.0).expect("valid");
        let nearly_all = public_box.diagonal();
        let labels = Labels::nearest(public_box, vec![-5.0, -5.0, 5.0, 5.0]);
        RingCells { labels, nearly_all, normals: vec![1.0, 0.0], planes: vec![1; 2] }
    }

    /// What two rings of one centre have in no group is one group, of the outer ring: no cell of another group or centre is, and none is counted twice.
    #[test]
    fn what_is_left_of_two_rings_is_one_group() {
        let layout = cells().layout().expect("cells of a plan");
        let cell = |centre, ring, half| layout.ring(centre, ring).start + half;
        let mut counts = vec![0.0; layout.len()];
        // Enough for a group is 27 in a cell, 38 in two, 46 in three and 53 in four.
        for (centre, ring, halves) in [
            (0, 10, [10.0, 5.0]),
            (0, 11, [12.0, 3.0]),
            (1, 9, [1.0, 2.0]),
            (1, 10, [200.0, 26.0]),
            (1, 11, [17.0, 19.0]),
            (1, 12, [16.0, 20.0]),
        ] {
            counts[layout.ring(centre, ring)].copy_from_slice(&halves);
        }
        let groups = Groups::new(&layout, &counts, 10.0, false, f64::INFINITY);
        let found = groups.all.iter().map(|group| (group.centre, group.ring, group.count));
        assert_eq!(found.collect::<Vec<_>>(), [(1, 10, 200.0), (1, 11, 26.0 + 17.0 + 19.0)]);
        let mut of_cell = vec![NO_GROUP; layout.len()];
        of_cell[cell(1, 10, 0)] = 0;
        for (ring, half) in [(10, 1), (11, 0), (11, 1)] {
            of_cell[cell(1, ring, half)] = 1;
        }
        assert_eq!(groups.of_cell, of_cell);
        let left = |centre: usize, ring: usize| groups.left[centre * layout.rings() + ring];
        let rest = |rest: Rest| [rest.count, rest.cells];
        assert_eq!([(1, 10), (1, 11)].map(|(c, r)| rest(left(c, r))), [[0.0; 2]; 2]);
        assert_eq!(
            [(1, 9), (1, 12), (0, 10)].map(|(c, r)| rest(left(c, r))),
            [[3.0, 2.0], [36.0, 2.0], [15.0, 2.0]]
        );
        // Too few for so many cells are no group.
        counts[cell(1, 11, 0)] = 0.0;
        counts[cell(1, 12, 1)] = 0.0;
        assert_eq!(Groups::new(&layout, &counts, 10.0, false, f64::INFINITY).all.len(), 1);
    }

    /// In rings that begin at 32 times the radius of nine records in ten, or beyond `apart`, what would be a group elsewhere may be noise.
    #[test]
    fn a_group_far_beyond_the_others_needs_more_records() {
        let layout = cells().layout().expect("cells of a plan");
        // Enough is 27 in a cell, and 41 far beyond.
        for (ring, apart, least) in
            [(15, f64::INFINITY, 27.0), (16, f64::INFINITY, 41.0), (15, layout.radii()[14], 41.0)]
        {
            let found = |count: f64| {
                let mut counts = vec![0.0; layout.len()];
                counts[layout.ring(0, 10).start] = 1_000.0;
                counts[layout.ring(1, ring).start] = count;
                Groups::new(&layout, &counts, 10.0, false, apart).all.len() == 2
            };
            assert!(!found(least - 1.0) && found(least), "{ring} {apart}");
        }
    }

    /// Of one centre: rings that noise hides, next to groups, are within reach, and what noise makes far away is not a group as soon as it would be near.
    #[test]
    fn one_centre_reaches_as_far_as_records_seem_to() {
        let public_box = PublicBox::cube(2, -10.0, 10.0).expect("valid");
        let nearly_all = public_box.diagonal();
        let labels = Labels::nearest(public_box, vec![0.0, 0.0]);
        let one = RingCells { labels, nearly_all, normals: vec![1.0, 0.0], planes: vec![0] };
        let layout = one.layout().expect("cells of a plan");
        let of = |others: &[(usize, f64)], apart: f64| {
            let mut counts = vec![0.0; layout.len()];
            counts[10] = 100.0;
            for &(ring, count) in others {
                counts[ring] = count;
            }
            Groups::new(&layout, &counts, 10.0, true, apart)
        };
        let reach = |others: &[(usize, f64)]| {
            let groups = of(others, f64::INFINITY);
            assert_eq!(groups.all.len(), 1, "{:?}", groups.all);
            layout.radii().iter().position(|&r| r >= groups.reach_alone(&layout, 10.0))
        };
        // 28 in two rings is more than noise, and 50 would be a group.
        assert_eq!(reach(&[]), Some(10));
        assert_eq!(reach(&[(11, 14.0), (12, 14.0)]), Some(10));
        assert_eq!(reach(&[(11, 15.0), (12, 14.0)]), Some(11));
        assert_eq!(reach(&[(11, 20.0), (12, 25.0), (13, 20.0)]), Some(11));
        assert_eq!(reach(&[(12, 14.0), (13, 35.0)]), Some(10));
        // Of two centres, in the last rings and before them.
        let two = cells().layout().expect("cells of a plan");
        let last = two.rings() - 1;
        for (ring, next, want) in
            [(last, 35.0, last), (last - 1, 35.0, last), (last - 1, 20.0, last - 1)]
        {
            let groups = Groups {
                all: vec![Group { centre: 1, ring, count: 100.0 }],
                of_cell: vec![NO_GROUP; layout.len()],
                left: (0..2 * two.rings())
                    .map(|i| Rest {
                        count: if i == last || i == last + 1 { next } else { 0.0 },
                        cells: 1.0,
                    })
                    .collect(),
            };
            let reach = groups.reach_alone(&two, 10.0);
            assert_eq!(reach.to_bits(), two.radii()[want].to_bits(), "{ring} {next}");
        }
        // Noise makes 27.5 of this, and 36 is a group: 55 beyond where records are.
        let apart = layout.radii()[12];
        for (ring, least) in [(12, 36.0), (13, 56.0)] {
            assert_eq!(of(&[(ring, least - 1.0)], apart).all.len(), 1, "{ring}");
            assert_eq!(of(&[(ring, least)], apart).all.len(), 2, "{ring}");
        }
    }

    /// It is the noise of the sum, times how far a unit of that moves the mean, in each direction: as far as residuals were clipped.
    #[test]
    fn what_is_stated_of_a_mean_is_how_far_noise_moves_it() {
        let cells = cells();
        let layout = cells.layout().expect("cells of a plan");
        let count = 1e5;
        let groups = Groups {
            all: vec![Group { centre: 1, ring: 18, count }],
            of_cell: vec![NO_GROUP; layout.len()],
            left: vec![],
        };
        let round = RingRound::new(Mu::new(1.0).expect("valid"), 1.0).expect("valid");
        let asked = groups.sums(cells.clone(), &layout, &round);
        // A quarter of what residuals are clipped to, and that with noise.
        #[allow(clippy::cast_possible_truncation, reason = "far below 2^63")]
        let sums =
            [0.0, round.sum_noise()].map(|noise| (UNITS as f64 * (0.25 * count + noise)) as i64);
        let of = |sum| {
            let public_box = &cells.labels.public_box;
            groups.means(&layout, &[sum, 0], &round, public_box)
        };
        let [(mean, variances), (with_noise, _)] = sums.map(of);
        let [stated, moved] = [(variances[0] / 2.0).sqrt(), with_noise[0] - mean[0]];
        assert!((moved / stated - 1.0).abs() < 1e-3, "{moved}, {stated} stated");
        let away = mean[0] - 5.0;
        assert!((away / (0.25 * asked.radii[0]) - 1.0).abs() < 1e-3, "{away}: {asked:?}");
    }
}
