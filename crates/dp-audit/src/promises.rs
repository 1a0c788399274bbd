//! What the plans of a run promised, and whether all of its draws were theirs.

use dp_accounting::AnyRelation;

use crate::NotNeighbours;

/// The relations of the receipts that a run drew under.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Promises {
    made: Vec<AnyRelation>,
    /// Whether a plan has begun and not ended.
    open: bool,
    drew: bool,
    /// Whether something was drawn while no plan was open.
    beside: bool,
}

impl Promises {
    /// As [`Source::promised`](dp_mechanism::Source::promised) says it.
    pub(crate) fn note(&mut self, relation: Option<AnyRelation>) {
        self.open = relation.is_some();
        self.made.extend(relation.filter(|relation| !self.made.contains(relation)));
    }

    /// Something is drawn.
    pub(crate) fn draw(&mut self) {
        self.drew = true;
        self.beside |= !self.open;
    }

    /// Those of another run of the same code, too.
    pub(crate) fn merge(&mut self, other: &Self) {
        // A run that drew is not excused by another run's promise.
        let unsaid = |one: &Self| one.drew && one.made.is_empty();
        self.beside |= other.beside || unsaid(other);
        self.drew |= other.drew;
        for relation in &other.made {
            self.note(Some(*relation));
        }
        self.open = false;
    }

    /// Whether no plan began.
    pub(crate) fn is_empty(&self) -> bool {
        self.made.is_empty()
    }

    /// Whether what is found on neighbours of this kind says something about the receipts.
    pub(crate) fn cover(&self, compared: AnyRelation) -> Result<(), NotNeighbours> {
        match self.made.iter().find(|promised| !promised.covers(compared)) {
            Some(&promised) => Err(NotNeighbours::Relation { compared, promised }),
            None => Ok(()),
        }
    }

    /// The same where each draw has to have a receipt.
    pub(crate) fn cover_all_draws(&self, compared: AnyRelation) -> Result<(), NotNeighbours> {
        self.cover(compared)?;
        match (self.drew && self.made.is_empty(), self.beside) {
            (true, _) => Err(NotNeighbours::NoReceipt { compared }),
            (_, true) => Err(NotNeighbours::BesidePlan { compared }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use dp_accounting::{AddRemove, Relation as _, ReplaceOne};

    use super::*;

    /// A run of plans and draws beside them, in order.
    fn run(steps: &[Option<AnyRelation>], beside: bool) -> Promises {
        let mut promises = Promises::default();
        for relation in steps {
            promises.note(Some(relation.unwrap_or(AddRemove.any())));
            promises.draw();
            promises.note(None);
        }
        if beside {
            promises.draw();
        }
        promises
    }

    #[test]
    fn all_promises_must_cover_what_is_compared() {
        let (right, wrong) = (AddRemove.any(), ReplaceOne.any());
        assert!(run(&[Some(right)], false).cover_all_draws(right).is_ok());
        assert!(run(&[Some(right), Some(wrong)], false).cover(right).is_err());
        assert!(Promises::default().cover_all_draws(right).is_ok(), "nothing was drawn");
    }

    #[test]
    fn what_is_drawn_beside_a_plan_has_no_receipt() {
        let compared = AddRemove.any();
        let why = |promises: Promises| promises.cover_all_draws(compared).expect_err("refused");
        assert_eq!(why(run(&[None], true)), NotNeighbours::BesidePlan { compared });
        assert_eq!(why(run(&[], true)), NotNeighbours::NoReceipt { compared });
        assert!(run(&[None], true).cover(compared).is_ok(), "the caller accounts for it");
        // Of all runs: one that draws without a plan is not excused by one with a plan.
        let mut all = run(&[None], false);
        all.merge(&run(&[], true));
        assert_eq!(why(all), NotNeighbours::BesidePlan { compared });
        let mut all = run(&[], true);
        all.merge(&run(&[None], false));
        assert_eq!(why(all), NotNeighbours::BesidePlan { compared });
    }
}
