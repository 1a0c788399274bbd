//! Noisy cumulative counts of leaf regions, drawn towards the shape of the region above them.

use crate::RegionTree;

/// The noisy cumulative table with other rows of leaf regions.
///
/// For each region above and each size, the groups of a part `r` up to that size are expected at `G_r F`, with `F` the released share of
/// the region above and `G_r` the public number of groups. Parts are taken to scatter around that as if each drew its groups with a
/// share of its own: with variance `G_r F (1 - F) + (t G_r)^2`. `t` is estimated by moments from the noisy values, whose noise has a known
/// variance. Each value moves to where the scatter and the noise balance.
pub(super) fn towards_parents(
    tree: &RegionTree,
    noisy: &[i64],
    released: &[i64],
    region_groups: &[i64],
    noise_variance: f64,
) -> Vec<i64> {
    let columns = noisy.len() / tree.len();
    let leaves = tree.leaves();
    let mut shrunk = noisy.to_vec();
    let level = tree.level(tree.levels() - 2);
    for above in level {
        let released = &released[above * columns..(above + 1) * columns];
        let groups: i64 = released.iter().sum();
        if groups == 0 {
            continue; // no shape to go by
        }
        // Parametric empirical Bayes with the shape above as the prior mean (as James and Stein, 1961; Morris, 1983): the variance between
        // parts is what their squared distances from the mean exceed that of noise and sampling by, cut off at zero.
        let mut up_to = 0;
        for (column, &count) in released.iter().enumerate() {
            up_to += count;
            let share = up_to as f64 / groups as f64;
            let cell = |part: usize| part * columns + column;
            let size = |part: usize| region_groups[part - leaves.start] as f64;
            let parts = tree.children(above);
            let off = |part: usize| noisy[cell(part)] as f64 - size(part) * share;
            let drawn = |part: usize| size(part) * share * (1.0 - share);
            let excess = |part: usize| off(part).powi(2) - noise_variance - drawn(part);
            let squares: f64 = parts.clone().map(excess).sum();
            let sizes: f64 = parts.clone().map(|part| size(part).powi(2)).sum();
            let scatter = if sizes > 0.0 { (squares / sizes).max(0.0) } else { 0.0 };
            for part in parts {
                // The posterior mean weighs the part's own value by the share of variance that is not noise.
                let own = drawn(part) + scatter * size(part).powi(2);
                let kept = if own > 0.0 { own / (own + noise_variance) } else { 0.0 };
                let value = size(part) * share + kept * off(part);
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "between two numbers of groups"
                )]
                let value = value.round() as i64;
                shrunk[cell(part)] = value;
            }
        }
    }
    shrunk
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two parts that are alike but for much noise get the shape above; two that differ by more than the noise stay.
    #[test]
    fn what_the_noise_explains_goes_and_the_rest_stays() {
        let tree = RegionTree::from_parents(&[None, Some(0), Some(0)]).expect("valid");
        let released = [500, 500, 0, 0, 0, 0];
        let noise_only = [0, 0, 150, 500, 350, 500];
        let shrunk = towards_parents(&tree, &noise_only, &released, &[500, 500], 1e5);
        assert_eq!(shrunk[2..], [250, 500, 250, 500]);
        let different = [0, 0, 450, 500, 50, 500];
        let shrunk = towards_parents(&tree, &different, &released, &[500, 500], 4.0);
        assert_eq!(shrunk[2..], [450, 500, 50, 500]);
    }

    #[test]
    fn regions_without_groups_and_noise_without_size_do_no_harm() {
        let tree = RegionTree::from_parents(&[None, Some(0)]).expect("valid");
        assert_eq!(towards_parents(&tree, &[3, -4, 5, 6], &[0; 4], &[0], 1.0)[2..], [5, 6]);
        assert_eq!(towards_parents(&tree, &[3, -4, 5, 6], &[1, 1, 0, 0], &[0], 1.0)[2..], [0, 0]);
        let kept = towards_parents(&tree, &[1, 4, 2, 4], &[1, 3, 2, 2], &[4], 0.0);
        assert_eq!(kept[2..], [2, 4]);
    }
}
