//! Semismooth Newton for the duals of least squares under order constraints.
//!
//! In the words of the field: the *multipliers* are the Lagrange multipliers of "children add up to their parent"; the *reaction* is minus a
//! generalised Hessian of the dual, an element of Clarke's generalised Jacobian of its gradient, which exists although the gradient has
//! kinks where pieces merge or split; the *damping* is that of Levenberg and Marquardt.

/// Some multipliers, the gradient of the dual there, and how it reacts to changes.
#[derive(Debug, Default)]
pub(super) struct Point<R> {
    pub(super) multipliers: Vec<f64>,
    pub(super) gradient: Vec<f64>,
    pub(super) reaction: R,
}

/// A concave dual with a piecewise linear gradient.
pub(super) trait Dual {
    /// Newton steps after which the search gives up.
    const MAX_STEPS: usize = 300;
    /// Newton steps in a row without a smaller residual that end the search. On the way, the dual rises at every step but its
    /// residual need not fall.
    const MAX_STALLED: usize = 60;

    /// The least damping on the way, while the residual is far above the tolerance. Where pieces change with each step, little of it means long searches for directions
    /// that are then cut short. Near the end, and where it leads no further, it is [`LITTLE_DAMPING`].
    const LEAST_DAMPING: f64 = LITTLE_DAMPING;

    /// How the gradient reacts to changes of the multipliers.
    type Reaction: Default;
    /// What makes [`solve_approximately`](Self::solve_approximately) fast.
    type Factors;

    /// Multipliers to begin with.
    fn start(&self) -> Vec<f64>;
    /// Gradient and reaction at the multipliers of `point`; a point nearby makes it faster.
    fn evaluate(&self, point: &mut Point<Self::Reaction>, from: Option<&Point<Self::Reaction>>);
    /// How much the gradient falls when the multipliers move by `direction`, plus `damping` times the direction in a fixed scale: a
    /// symmetric positive definite map. `scratch` is working memory of the same length.
    fn react(
        &self,
        point: &Point<Self::Reaction>,
        damping: f64,
        direction: &[f64],
        out: &mut [f64],
        scratch: &mut [f64],
    );
    fn precondition(&self, point: &Point<Self::Reaction>, damping: f64) -> Self::Factors;
    /// Solves roughly what [`react`](Self::react) maps, in place.
    fn solve_approximately(&self, factors: &Self::Factors, rhs: &mut [f64], scratch: &mut [f64]);
}

/// Damping that keeps a step solvable, and lets multipliers go as far as they have to if the gradient depends little on them.
const LITTLE_DAMPING: f64 = 1e-5;
/// [`Dual::MAX_STALLED`] near the end, where only rounding is left.
const MAX_STALLED_AT_THE_END: usize = 6;
/// Cuts of a step in the line search, by a factor of 2 to 20 each.
const MAX_CUTS: usize = 40;
/// Conjugate gradient steps per Newton step.
const MAX_INNER_STEPS: usize = 400;

/// Maximises the dual by semismooth Newton steps and returns the smallest residual found (largest
/// entry of the gradient) with its multipliers.
///
/// The gradient is piecewise linear, so Newton's method with the reaction of the current pieces ends
/// after finitely many steps close to the optimum. Each step is solved by preconditioned conjugate
/// gradients. Damping keeps it solvable where the reaction is singular (all leaves at zero) and
/// grows where the pieces of a step do not hold along it: where the line search had to cut it short.
/// It falls only with the residual, or two sets of pieces could take turns.
pub(super) fn maximise<D: Dual>(
    dual: &D,
    tolerance: f64,
    most_steps: usize,
) -> (f64, Vec<f64>, Point<D::Reaction>) {
    let (mut point, mut next) = (Point::default(), Point::default());
    point.multipliers = dual.start();
    dual.evaluate(&mut point, None);
    let mut best = (largest(&point.gradient), point.multipliers.clone());
    let (mut damping, mut stalled): (f64, usize) = (0.0, 0);
    let mut again = false;
    for _ in 0..most_steps {
        let at_the_end = best.0 <= 1e3 * tolerance;
        let patience = if at_the_end && !again { MAX_STALLED_AT_THE_END } else { D::MAX_STALLED };
        // Where the best residual is small, damping has been little anyway.
        let is_damped = !again && D::LEAST_DAMPING * best.0.min(1.0) > LITTLE_DAMPING;
        if best.0 <= tolerance || stalled > patience && !is_damped {
            break;
        }
        if stalled > patience {
            // Much damping keeps steps short. They have to be long where noise outweighs all groups, and for a sum that moves far less with its multiplier than the mean of
            // them: once more from the best point.
            (again, damping, stalled) = (true, 0.0, 0);
            next.multipliers.clone_from(&best.1);
            dual.evaluate(&mut next, Some(&point));
            std::mem::swap(&mut point, &mut next);
        }
        // From a few groups of a split on: from more, dense splits take longer, and from less, some rows of very many groups do not add up.
        let is_near = best.0 <= 3e2 * tolerance;
        let least_damping = if again || is_near { LITTLE_DAMPING } else { D::LEAST_DAMPING };
        // The gradient is what is missing in each sum, so that its largest entry is how far the rows are from adding up.
        let residual = largest(&point.gradient);
        // In proportion to the residual, so that it vanishes towards the optimum and the last steps are pure Newton steps.
        damping = damping.max(least_damping * residual.min(1.0));
        let direction = newton_direction(dual, &point, damping, tolerance);
        let step = line_search(dual, &point, &direction, &mut next);
        std::mem::swap(&mut point, &mut next);
        let before = residual;
        let residual = largest(&point.gradient);
        // A step that was cut short says that the quadratic model holds nearby only; more damping makes the next one shorter and more
        // along the gradient. A whole step that helped earns a model that is trusted further.
        damping *= if step < 0.2 {
            10.0
        } else if step < 1.0 || residual > before {
            1.0
        } else {
            0.1
        };
        stalled = if residual < best.0 { 0 } else { stalled + 1 };
        if residual < best.0 {
            best.0 = residual;
            best.1.copy_from_slice(&point.multipliers);
        }
    }
    (best.0, best.1, point)
}

/// The step `d` with `(reaction + damping) d = gradient`, by conjugate gradients with a preconditioner (Hestenes and Stiefel, 1952). The map is symmetric positive definite, so that every partial solution is a direction of ascent.
fn newton_direction<D: Dual>(
    dual: &D,
    point: &Point<D::Reaction>,
    damping: f64,
    tolerance: f64,
) -> Vec<f64> {
    let factors = dual.precondition(point, damping);
    let mut residual = point.gradient.clone();
    let mut direction = vec![0.0; residual.len()];
    let mut scratch = vec![0.0; residual.len()];
    // The preconditioned residual; its product with the residual is the residual's squared norm in the metric of the preconditioner.
    let mut scaled = residual.clone();
    dual.solve_approximately(&factors, &mut scaled, &mut scratch);
    let mut search = scaled.clone();
    let mut product = vec![0.0; residual.len()];
    let start = dot(&residual, &residual).sqrt();
    // An inexact Newton method (Dembo, Eisenstat, Steihaug, 1982) with a forcing term in proportion to the residual, from 0.2 to 1e-4.
    // Loose at first, when pieces still change with each step, and never closer than is asked for.
    let target = (start * (0.01 * start).clamp(1e-4, 0.2)).max(0.02 * tolerance);
    let mut energy = dot(&residual, &scaled);
    for _ in 0..MAX_INNER_STEPS {
        if energy.is_nan() || energy <= 0.0 || dot(&residual, &residual).sqrt() <= target {
            break;
        }
        dual.react(point, damping, &search, &mut product, &mut scratch);
        let curvature = dot(&search, &product);
        // Positive but for rounding; what was found so far is the best direction then.
        if curvature.is_nan() || curvature <= 0.0 {
            break;
        }
        // The maximum of the quadratic model along the search direction.
        let step = energy / curvature;
        axpy(&mut direction, step, &search);
        axpy(&mut residual, -step, &product);
        scaled.copy_from_slice(&residual);
        dual.solve_approximately(&factors, &mut scaled, &mut scratch);
        let next = dot(&residual, &scaled);
        // Makes the next search direction conjugate to all before it.
        let turn = next / energy;
        energy = next;
        search.iter_mut().zip(&scaled).for_each(|(s, z)| *s = z + turn * *s);
    }
    direction
}

/// The step taken; `next` is the point after it.
///
/// Looks at the slope along the direction instead of the value of the dual, which near the end
/// drowns in the rounding of its many terms: a step is accepted unless it overshoots so far that the
/// slope has turned by more than half of what it was.
fn line_search<D: Dual>(
    dual: &D,
    point: &Point<D::Reaction>,
    direction: &[f64],
    next: &mut Point<D::Reaction>,
) -> f64 {
    let before = dot(&point.gradient, direction);
    let mut step = 1.0;
    for _ in 0..MAX_CUTS {
        next.multipliers.clone_from(&point.multipliers);
        axpy(&mut next.multipliers, step, direction);
        dual.evaluate(next, Some(point));
        let slope = dot(&next.gradient, direction);
        if slope >= -0.5 * before {
            return step;
        }
        // Where the secant of the slope is zero, within reason.
        let cut = before / (before - slope);
        step *= if cut.is_finite() { cut.clamp(0.05, 0.5) } else { 0.05 };
    }
    // No step to be found: the caller stalls, and damps more.
    next.multipliers.clone_from(&point.multipliers);
    dual.evaluate(next, Some(point));
    0.0
}

/// The largest absolute value; infinite if one is not a number.
fn largest(values: &[f64]) -> f64 {
    let larger = |most: f64, value: &f64| {
        if value.is_finite() { value.abs().max(most) } else { f64::INFINITY }
    };
    values.iter().fold(0.0, larger)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Independent partial sums: the order is fixed, and the additions need not wait for each other.
    let mut sums = [0.0; 8];
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a_chunks.zip(b_chunks) {
        sums.iter_mut().zip(x.iter().zip(y)).for_each(|(sum, (x, y))| *sum += x * y);
    }
    sums.iter().sum::<f64>() + rest
}

fn axpy(to: &mut [f64], factor: f64, row: &[f64]) {
    to.iter_mut().zip(row).for_each(|(cell, value)| *cell += factor * value);
}
