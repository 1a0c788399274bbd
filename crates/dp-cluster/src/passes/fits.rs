//! What states of clusterings may hold that came from bytes. Each says which question goes with it, so that a state and a question that passed
//! together are of one size; what is left to look at are numbers.

use dp_geometry::PublicBox;
use dp_mechanism::passes::{StateError, TableError};

use super::Question;

/// No count of a state is larger: as many records as there may be, in as many cells, with noise.
pub(crate) const LARGEST: f64 = 1e30;

/// A box that was found is narrower than the plan's by no more than this.
const NARROWEST: f64 = 1.0 / (1_u64 << 49) as f64;

/// That a state goes with this question.
pub(crate) fn asks(question: &Question, of_state: &Question) -> Result<(), TableError> {
    if question == of_state { Ok(()) } else { Err(TableError::OtherQuestion) }
}

/// That something is there.
pub(crate) fn is_there(what: &'static str, there: bool) -> Result<(), TableError> {
    StateError::unless_equal(what, usize::from(there), 1)
}

/// That a box is one that a search can find in that of the plan.
pub(crate) fn is_inside(found: &PublicBox, of_plan: &PublicBox) -> Result<(), TableError> {
    StateError::unless_equal("dimension of the box", found.dim(), of_plan.dim())?;
    for i in 0..of_plan.dim() {
        let sides = [of_plan.min(i), of_plan.max(i)];
        StateError::unless_within("lower side of the box", found.min(i), sides)?;
        StateError::unless_within("upper side of the box", found.max(i), sides)?;
        let widths = [NARROWEST * of_plan.width(i), of_plan.width(i)];
        StateError::unless_within("width of the box", found.width(i), widths)?;
    }
    Ok(())
}

/// That coordinates are those of whole points in a box, or beside it as far as means round.
pub(crate) fn are_in(coords: &[f64], public_box: &PublicBox) -> Result<(), TableError> {
    let rows = coords.chunks(public_box.dim());
    rows.flat_map(|row| row.iter().enumerate()).try_for_each(|(i, &x)| {
        let width = public_box.width(i);
        let sides = [public_box.min(i) - width, public_box.max(i) + width];
        let finite = sides.map(|side| side.clamp(f64::MIN, f64::MAX));
        StateError::unless_within("coordinate of a centre", x, finite)
    })
}
