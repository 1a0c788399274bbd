//! The privacy profile of a composition: many questions, each answered from what was composed before where that is as good.

use super::accuracy::Accuracy;
use super::bound::{Bound, Contradiction};
use super::composition::Composition;
use super::curve::Curve;
use super::event::Direction;
use super::evidence::{Answer, Method, Piece, Proof, Question};
use super::grid::Query;
use super::pair::leak;
use crate::outward::{Between, Lower, Upper};
use crate::params::{Delta, Epsilon};

/// The curve of delta over epsilon of one composition, as far as it was asked for.
///
/// It keeps the composed laws: the second question costs a fraction of the first.
#[derive(Debug)]
pub struct Profile {
    composition: Composition,
    /// The curves that were looked at, by direction.
    curves: [Option<Curve>; 2],
    accuracy: Accuracy,
    leaked: Between,
    most_loss: Upper,
}

impl Composition {
    /// The profile, each answer as accurate as `accuracy` says.
    pub fn profile(&self, accuracy: Accuracy) -> Profile {
        Profile {
            composition: self.clone(),
            curves: [None, None],
            accuracy,
            leaked: self.leaked(),
            most_loss: self.most_loss(),
        }
    }
}

impl Profile {
    /// The answer to `question` in the worse direction, with what proves it.
    ///
    /// # Errors
    /// [`Contradiction`] if two bounds contradict each other: a fault of this crate, after which no answer is given.
    pub fn ask(&mut self, question: Question) -> Result<Answer, Contradiction> {
        let mut proofs = Vec::new();
        let mut between = self.prove(Direction::Remove, question, &mut proofs)?;
        // A single use has a closed form: looking is cheaper than asking whether to look.
        let single = matches!(self.composition.parts(), [(_, 1)]);
        let symmetric = self.composition.is_symmetric();
        let leaks = self.leaked.upper.get() > 0.0;
        let other = match question {
            _ if symmetric || single => None,
            Question::Epsilon(delta) => {
                let least = self.left_of(delta).0.get();
                (least > 0.0).then_some(Query::Epsilon(least))
            }
            Question::Delta(epsilon) => (!leaks).then_some(Query::Delta(epsilon.get())),
        };
        let mut enough = symmetric;
        if let Some(query) = other {
            let piece = self.curve(Direction::Add).by_moments(query);
            if piece.bound.upper() <= between.lower.get() {
                enough = true;
                let leaked = Bound::new(self.leaked)?;
                proofs.push(Proof { direction: Direction::Add, leaked, pieces: vec![piece] });
            }
        }
        if !enough {
            between = between.max(self.prove(Direction::Add, question, &mut proofs)?);
        }
        let bound = Bound::new(between)?;
        Ok(Answer { question, composition: self.composition.clone(), bound, proofs })
    }

    /// The answer to `question` in one direction.
    ///
    /// # Errors
    /// As [`Profile::ask`].
    pub fn ask_in(
        &mut self,
        direction: Direction,
        question: Question,
    ) -> Result<Answer, Contradiction> {
        let mut proofs = Vec::new();
        let bound = Bound::new(self.prove(direction, question, &mut proofs)?)?;
        Ok(Answer { question, composition: self.composition.clone(), bound, proofs })
    }

    fn curve(&mut self, direction: Direction) -> &mut Curve {
        // One question can look at two directions, of which the second often costs little, and where mass leaks at two deltas in each.
        let share = match direction {
            _ if self.composition.is_symmetric() => 1.0,
            Direction::Remove => 0.7,
            Direction::Add => 0.3,
        };
        let deltas = if self.leaked.upper.get() > 0.0 { 2.0 } else { 1.0 };
        let accuracy = self.accuracy.share(share / deltas);
        let composition = &self.composition;
        self.curves[usize::from(direction == Direction::Add)]
            .get_or_insert_with(|| Curve::new(composition.finite_parts(), direction, accuracy))
    }

    /// Both sides in one direction; the proof is added to `proofs`.
    fn prove(
        &mut self,
        direction: Direction,
        question: Question,
        proofs: &mut Vec<Proof>,
    ) -> Result<Between, Contradiction> {
        let mut pieces = Vec::new();
        let between = match question {
            Question::Epsilon(delta) => self.epsilon(direction, delta, &mut pieces)?,
            Question::Delta(epsilon) => self.delta(direction, epsilon, &mut pieces)?,
        };
        proofs.push(Proof { direction, leaked: Bound::new(self.leaked)?, pieces });
        Ok(between)
    }

    /// What the leaks leave over of `delta`, from below and from above.
    fn left_of(&self, delta: Delta) -> (Lower, Upper) {
        if self.leaked.upper.get() <= 0.0 {
            return (Lower::new(delta.get()), Upper::new(delta.get()));
        }
        let left = |leaked: f64| (delta.get() - leaked) / (1.0 - leaked);
        let least = Lower::new(left(self.leaked.upper.get())).lowered(8.0);
        let most = Upper::new(left(self.leaked.lower.get())).raised(8.0);
        (least, most.or(Upper::new(Delta::MAX.get())))
    }

    fn epsilon(
        &mut self,
        direction: Direction,
        delta: Delta,
        pieces: &mut Vec<Piece>,
    ) -> Result<Between, Contradiction> {
        let pure = self.most_loss;
        let largest = |lower: Lower, upper: Upper, delta: Delta| {
            let bound = Bound::new(Between { lower, upper })?;
            let (question, by) =
                (Question::Epsilon(delta), Method::LargestLoss { sum: pure.get() });
            Ok(Piece { question, bound, by })
        };
        if delta == Delta::ZERO {
            let leaks = self.composition.parts().iter().any(|(event, _)| leak(*event) > 0.0);
            let (lower, upper) =
                if leaks { (f64::INFINITY, Upper::UNKNOWN) } else { (pure.get(), pure) };
            // More than the sum of the largest losses can have been raised by.
            let units = 4096.0 + 8.0 * self.composition.parts().len() as f64;
            let lower = Lower::new(lower).lowered(units);
            pieces.push(largest(lower, upper, delta)?);
            return Ok(Between { lower, upper });
        }
        let (least, most) = self.left_of(delta);
        if least.get() <= 0.0 {
            let none = most.get() <= 0.0;
            let lower = Lower::new(if none { f64::INFINITY } else { 0.0 });
            return Ok(Between { lower, upper: Upper::UNKNOWN });
        }
        let cap = Between { lower: Lower::ZERO, upper: pure };
        if pure.is_known() {
            let least = Delta::of(least.get()).unwrap_or(Delta::MAX);
            pieces.push(largest(Lower::ZERO, pure, least)?);
        }
        let leaks = self.leaked.upper.get() > 0.0;
        let curve = self.curve(direction);
        let tight = curve.answer(Query::Epsilon(least.get()), pieces)?.and(cap);
        if !leaks {
            return Ok(tight);
        }
        let lower = curve.answer(Query::Epsilon(most.get()), pieces)?.lower;
        Ok(Between { lower, upper: tight.upper })
    }

    fn delta(
        &mut self,
        direction: Direction,
        epsilon: Epsilon,
        pieces: &mut Vec<Piece>,
    ) -> Result<Between, Contradiction> {
        // Only where no output loses more is the answer 0.
        let sum = self.most_loss.get();
        let inner = if epsilon.get() >= sum {
            let bound = Bound::new(Between::ZERO)?;
            let (question, by) = (Question::Delta(epsilon), Method::LargestLoss { sum });
            pieces.push(Piece { question, bound, by });
            Between::ZERO
        } else {
            self.curve(direction).answer(Query::Delta(epsilon.get()), pieces)?
        };
        // l + (1 - l) d, which rises with both.
        let leaked = self.leaked;
        let kept_most = Upper::ONE - leaked.lower;
        let kept_least = Lower::new(1.0) - leaked.upper;
        Ok(Between {
            lower: leaked.lower + kept_least.times(inner.lower),
            upper: (leaked.upper + kept_most.times(inner.upper)).or(Upper::ONE),
        })
    }
}
