//! What the plans of a run promised, and whether all of its draws were theirs.

use dp_accounting::AnyRelation;

use crate::NotNeighbours;

/// The relations of the receipts that a run drew under.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Promises {
    made: Vec<AnyRelation>,
    /// How many plans have begun and not ended: one may run within another.
    open: usize,
    drew: bool,
    /// Whether something was drawn while no plan was open.
    beside: bool,
}

impl Promises {
    /// As [`Source::promised`](dp_mechanism::Source::promised) says it.
    pub(crate) fn note(&mut self, relation: Option<AnyRelation>) {
        match relation {
            Some(relation) => {
                self.open += 1;
                self.include(relation);
            }
            // An end that nothing begins is of a source that hides where plans begin.
            None if self.open == 0 => self.beside = true,
            None => self.open -= 1,
        }
    }

    fn include(&mut self, relation: AnyRelation) {
        if !self.made.contains(&relation) {
            self.made.push(relation);
        }
    }

    /// Something is drawn.
    pub(crate) fn draw(&mut self) {
        self.drew = true;
        self.beside |= self.open == 0;
    }

    /// Those of another run of the same code, which is over, too.
    pub(crate) fn merge(&mut self, other: &Self) {
        // A run that drew is not excused by another run's promise.
        let unsaid = |one: &Self| one.drew && one.made.is_empty();
        self.beside |= other.beside || unsaid(other) || other.open > 0;
        self.drew |= other.drew;
        for relation in &other.made {
            self.include(*relation);
        }
    }

    /// Whether no plan began.
    fn is_empty(&self) -> bool {
        self.made.is_empty()
    }

    /// Whether what is found on neighbours of this kind says something about the receipts.
    pub(crate) fn cover(&self, compared: AnyRelation) -> Result<(), NotNeighbours> {
        match self.made.iter().find(|promised| !promised.covers(compared)) {
            Some(&promised) => Err(NotNeighbours::Relation { compared, promised }),
            None => Ok(()),
        }
    }

    /// The same of a run that is over and whose every draw has to have a receipt.
    pub(crate) fn cover_all_draws(&self, compared: AnyRelation) -> Result<(), NotNeighbours> {
        self.cover(compared)?;
        // A plan that goes on when the run is over may have been taken for that of any draw.
        match (self.drew && self.made.is_empty(), self.beside || self.open > 0) {
            (true, _) => Err(NotNeighbours::NoReceipt { compared }),
            (_, true) => Err(NotNeighbours::BesidePlan { compared }),
            _ => Ok(()),
        }
    }
}

/// What a law may be held against: what was promised, and what its owner says about it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    promises: Promises,
    /// Whether the owner answers for draws that no receipt stands behind.
    without_receipt: bool,
    under: Option<AnyRelation>,
}

impl Standing {
    pub(crate) fn new(promises: Promises) -> Self {
        Self { promises, ..Self::default() }
    }

    pub(crate) fn without_receipt(self) -> Self {
        Self { without_receipt: true, ..self }
    }

    pub(crate) fn under(self, relation: AnyRelation) -> Result<Self, NotNeighbours> {
        if self.without_receipt {
            self.promises.cover(relation)?;
        } else {
            self.promises.cover_all_draws(relation)?;
        }
        Ok(Self { under: Some(relation), ..self })
    }

    /// Of what needs no plan: nothing was drawn.
    fn is_constant(&self) -> bool {
        self.promises.is_empty() && !self.promises.drew
    }

    /// Whether somebody has said what it is about.
    fn is_told(&self) -> bool {
        let raw = self.without_receipt && self.promises.is_empty();
        self.is_constant() || self.under.is_some() || raw
    }

    /// Whether the difference between two laws says something about what was promised.
    pub(crate) fn speaks_of(&self, other: &Self) -> bool {
        let any = self.is_constant() || other.is_constant();
        let one_kind = any || self.without_receipt == other.without_receipt;
        let one_relation = match (self.under, other.under) {
            (Some(here), Some(there)) => here == there,
            (None, None) => true,
            _ => any,
        };
        self.is_told() && other.is_told() && one_kind && one_relation
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

    /// One plan within another has an end of its own, and after the last of them nothing is covered.
    #[test]
    fn a_plan_ends_where_it_began() {
        let compared = AddRemove.any();
        let told = |steps: &str| {
            let mut promises = Promises::default();
            for step in steps.chars() {
                match step {
                    '(' => promises.note(Some(compared)),
                    ')' => promises.note(None),
                    _ => promises.draw(),
                }
            }
            let mut over = Promises::default();
            over.merge(&promises);
            let [here, there] = [promises, over].map(|all| all.cover_all_draws(compared).is_ok());
            assert_eq!(here, there, "{steps}");
            here
        };
        assert!(told("(.)(.)") && told("(.(.).)") && told("()"));
        assert!(
            !told("(.(.)).") && !told("(.(.)") && !told("(.") && !told("(.))") && !told(".(.)")
        );
    }
}
