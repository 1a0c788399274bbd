//! What is remembered of users from one step to the next.

use std::num::NonZeroU32;

use dp_mechanism::{Draws, PoissonSample, Private};
use serde::{Deserialize, Serialize};

use super::GONE;
use crate::files::Checksum;
use crate::{ItemOrder, MonitorPlan};

/// Secret coins and charges of users. All users have the same law before they show something, so it does not matter which number anybody has.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Standing {
    /// Reports that each user was in, or [`GONE`].
    pub(crate) charges: Vec<u8>,
    /// What mixes the items of each user, under [`ItemOrder::Spread`]; otherwise none.
    pub(crate) tags: Vec<u32>,
}

/// Whose coins are tossed, and which.
#[derive(Clone, Copy)]
pub(crate) struct Coins<'a> {
    pub(crate) sample: Option<&'a PoissonSample>,
    pub(crate) order: ItemOrder,
}

impl Coins<'_> {
    /// So many users who have shown nothing yet.
    pub(crate) fn toss(self, users: Private<usize>, draws: &mut Draws<'_>) -> Private<Standing> {
        let (users, tagged) = users.map(|users| (users, users)).unzip();
        let kept = match self.sample {
            Some(sample) => sample.sample(users, draws),
            None => users.map(|users| vec![true; users]),
        };
        let charges = kept.map(|kept| -> Vec<u8> {
            kept.into_iter().map(|kept| if kept { 0 } else { GONE }).collect()
        });
        let tags = match self.order {
            ItemOrder::ReportedFirst => Private::new(()).map(|()| Vec::new()),
            ItemOrder::Spread => draws.uniform_each(tagged, NonZeroU32::MAX),
        };
        charges.zip(tags).map(|(charges, tags)| Standing { charges, tags })
    }
}

impl Standing {
    /// Those from one number on, up to another.
    pub(crate) fn of(&self, users: std::ops::Range<usize>) -> Self {
        let tags = if self.tags.is_empty() { &[][..] } else { &self.tags[users.clone()] };
        Self { charges: self.charges[users].to_vec(), tags: tags.to_vec() }
    }

    /// And others, whose numbers follow.
    pub(crate) fn and(mut self, others: &Self) -> Self {
        self.charges.extend_from_slice(&others.charges);
        self.tags.extend_from_slice(&others.tags);
        self
    }

    /// Whether a run of this plan can have left it between two steps.
    pub(crate) fn is_possible(&self, plan: &MonitorPlan) -> bool {
        let limit = plan.limit().unwrap_or(1);
        let tags = match plan.item_order() {
            ItemOrder::ReportedFirst => 0,
            ItemOrder::Spread => self.charges.len(),
        };
        self.charges.iter().all(|&charge| charge < limit || charge == GONE)
            && self.tags.len() == tags
    }

    pub(crate) fn add_to(&self, sum: &mut Checksum) {
        let Self { charges, tags } = self;
        sum.bytes(charges);
        sum.number(tags.len() as u64);
        for tag in tags {
            sum.number((*tag).into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MonitorSettings, StreamShape, Universe};

    fn standing(charges: &[u8], tags: &[u32]) -> Standing {
        Standing { charges: charges.to_vec(), tags: tags.to_vec() }
    }

    #[test]
    fn everybody_has_a_tag_or_nobody() {
        let shape = StreamShape { universe: Universe::Range { size: 20 }, users: 3, steps: 9 };
        let plan = |item_order| {
            let settings = MonitorSettings { item_order, ..Default::default() };
            crate::testing::pure(shape.clone(), 1.0, 2, settings).expect("valid")
        };
        let (shared, spread) = (plan(ItemOrder::ReportedFirst), plan(ItemOrder::Spread));
        for tags in [&[][..], &[4], &[4, 5, 6], &[4, 5, 6, 7]] {
            let users = standing(&[0, 1, GONE], tags);
            assert_eq!(users.is_possible(&shared), tags.is_empty(), "{tags:?}");
            assert_eq!(users.is_possible(&spread), tags.len() == 3, "{tags:?}");
        }
    }

    #[test]
    fn whatever_is_remembered_counts_for_the_sum() {
        let sum = |charges: &[u8], tags: &[u32]| {
            let mut sum = Checksum::new();
            standing(charges, tags).add_to(&mut sum);
            sum.finish()
        };
        let whole = sum(&[0, 1], &[7, 1 << 31]);
        assert_eq!(sum(&[0, 1], &[7, 1 << 31]), whole);
        for (charges, tags) in [
            ([0, 2], &[7, 1 << 31][..]),
            ([0, 1], &[6, 1 << 31]),
            ([0, 1], &[7, 0]),
            ([0, 1], &[1 << 31, 7]),
            ([0, 1], &[7]),
            ([0, 1], &[]),
        ] {
            assert_ne!(sum(&charges, tags), whole, "{charges:?} {tags:?}");
        }
    }
}
