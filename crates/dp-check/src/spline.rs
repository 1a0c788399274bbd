//! Sums of losses of Laplace noise and of bounded range: between its ends, the density of one such loss is
//! `c e^(l / 2)` on `(-w, w)`, so that a sum has `e^(s / 2)` times the density of a sum of uniforms.

use crate::interval::Interval;

/// One kind of loss, used `count` times.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) width: Interval,
    pub(crate) count: u64,
    /// Laplace noise has mass 1/2 at `w`, `e^-w / 2` at `-w`, and `c = e^(-w/2) / 4`; bounded range has no atoms.
    pub(crate) atoms: bool,
}

impl Part {
    fn factor(&self) -> Interval {
        let half = (-&self.width.scaled(-1)).exp();
        if self.atoms {
            return half.scaled(-2);
        }
        &half.scaled(-1) / &(&Interval::one() - &(&half * &half))
    }
}

/// How many of the uses of each part are between the ends, and the atom of the others.
#[derive(Clone)]
struct Case {
    inside: Vec<u64>,
    /// `ln` of nothing: the mass of the atom, its loss.
    mass: Interval,
    loss: Interval,
}

fn choose(n: u64, k: u64) -> Interval {
    (0..k).fold(Interval::one(), |sum, i| {
        // Whole numbers all along, so that nothing is rounded while they are short.
        let next = &sum * &Interval::whole(n - i);
        &next / &Interval::whole(i + 1)
    })
}

fn cases(parts: &[Part]) -> Vec<Case> {
    let start = Case { inside: Vec::new(), mass: Interval::one(), loss: Interval::zero() };
    parts.iter().fold(vec![start], |all, part| {
        let mut next = Vec::new();
        for case in all {
            let ends = if part.atoms { part.count } else { 0 };
            for up in 0..=ends {
                for down in 0..=ends - up {
                    let k = part.count;
                    let ways = &choose(k, up) * &choose(k - up, down);
                    let low = (-&(&part.width * &Interval::whole(down))).exp();
                    let halves = i64::try_from(up + down).expect("few");
                    let mut case = case.clone();
                    case.mass = &(&case.mass * &ways) * &low.scaled(-halves);
                    let shift = &Interval::whole(up) - &Interval::whole(down);
                    case.loss = &case.loss + &(&part.width * &shift);
                    case.inside.push(k - up - down);
                    next.push(case);
                }
            }
        }
        next
    })
}

/// `sum over j of (1/2)^(2j+1) d^(n+2j+1) / (n+2j+1)!`, which is `1 / (n-1)!` times the integral of
/// `sinh((d - u) / 2) u^(n-1)` from 0 to `d`.
fn tail(n: u64, d: &Interval) -> Interval {
    let mut term = d.scaled(-1);
    // d^(n+1) / (n+1)!, halved.
    for i in 2..=n + 1 {
        term = &(&term * d) / &Interval::whole(i);
    }
    let (quarter, mut sum, mut i) = ((d * d).scaled(-2), Interval::zero(), n + 1);
    loop {
        sum = &sum + &term;
        let ratio = &quarter / &Interval::whole((i + 1) * (i + 2));
        term = &term * &ratio;
        i += 2;
        if ratio.is_below(0.5) && term.hi.top() < sum.hi.top() - 300 {
            return &sum + &Interval::zero().hull(&term.scaled(1));
        }
    }
}

/// `E (1 - e^(epsilon - L))_+` of the sum `L` of all losses.
pub(crate) fn hockey_stick(parts: &[Part], epsilon: &Interval) -> Interval {
    let factors: Vec<Interval> = parts.iter().map(Part::factor).collect();
    let mut total = Interval::zero();
    for case in cases(parts) {
        let n: u64 = case.inside.iter().sum();
        let from = epsilon - &case.loss;
        if n == 0 {
            let part = (&Interval::one() - &from.exp()).positive_part();
            total = &total + &(&case.mass * &part);
            continue;
        }
        // Corners of the box of all losses between the ends: sums of +w and -w, the sign by the number of -w.
        let mut corners = vec![(Interval::one(), Interval::zero(), 0)];
        let mut scale = case.mass.clone();
        for ((part, factor), inside) in parts.iter().zip(&factors).zip(&case.inside) {
            scale = &scale * &factor.power(*inside);
            let mut next = Vec::new();
            for (ways, place, minuses) in &corners {
                for minus in 0..=*inside {
                    let shift = &Interval::whole(inside - minus) - &Interval::whole(minus);
                    let ways = ways * &choose(*inside, minus);
                    next.push((ways, place + &(&part.width * &shift), minuses + minus));
                }
            }
            corners = next;
        }
        let mut sum = Interval::zero();
        for (ways, place, minuses) in corners {
            let d = &place - &from;
            if d.is_nowhere_positive() {
                continue;
            }
            let term = &ways * &tail(n, &d.positive_part());
            sum = if minuses % 2 == 0 { &sum + &term } else { &sum - &term };
        }
        let grown = &scale.scaled(1) * &from.scaled(-1).exp();
        total = &total + &(&grown * &sum).positive_part();
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known curve of one use: `1 - e^((x - w) / 2)` for Laplace noise, its square over `1 - e^-w` for bounded range.
    #[test]
    fn one_use_has_its_closed_form() {
        for w in [1e-9, 0.3, 1.0, 20.0, 150.0] {
            for share in [0.0, 1e-6, 0.3, 0.9, 0.999_999] {
                let (width, x) = (Interval::of(w), Interval::of(w * share));
                let root = &Interval::one() - &(&x - &width).scaled(-1).exp();
                let all = &Interval::one() - &(-&width).exp();
                for (atoms, want) in [(true, root.clone()), (false, &(&root * &root) / &all)] {
                    let parts = [Part { width: width.clone(), count: 1, atoms }];
                    let got = hockey_stick(&parts, &x);
                    let off = &(&got - &want) / &want;
                    assert!(off.is_above(-1e-50) && off.is_below(1e-50), "{w} {share} {off}");
                    assert!(got.relative_width() < 1e-40, "{w} {share} {got}");
                }
            }
        }
    }
}
