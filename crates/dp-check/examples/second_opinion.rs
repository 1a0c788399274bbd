//! What many small answers add up to: the delta of their composition at some epsilons, known for certain to many digits.
//!
//! `cargo run --release -p dp-check --example second_opinion`
#![allow(clippy::print_stdout, reason = "a program that prints what it finds")]

use dp_check::{Composed, Effort, Law, Side};

const EPSILONS: [f64; 5] = [0.0, 0.5, 1.0, 1.5, 2.0];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let effort = Effort { atoms: 4_000, cells: 400, terms: 1_000, places: 100 };
    println!("delta at epsilon{:>9.1}{:>12.1}{:>12.1}{:>12.1}{:>12.1}", 0.0, 0.5, 1.0, 1.5, 2.0);
    for (name, law, uses) in [
        ("20 x randomised response .1", Law::RandomisedResponse { epsilon: 0.1 }, 20),
        ("20 x discrete Laplace .1", Law::DiscreteLaplace { rate: 0.1, sensitivity: 1 }, 20),
        ("20 x Gaussian 10", Law::Gaussian { multiplier: 10.0 }, 20),
        (" 1 x Gaussian 10 / root 20", Law::Gaussian { multiplier: 10.0 / 20.0_f64.sqrt() }, 1),
    ] {
        let composed = Composed::new(&[(law, uses)], Side::Remove, effort);
        let composed = composed.ok_or("these laws have too many atoms for the effort")?;
        let deltas = EPSILONS.map(|epsilon| composed.delta(epsilon));
        let shown = deltas.iter().map(|delta| format!("{:>12.2e}", delta.approximate()));
        println!("{name:28}{}", shown.collect::<String>());
        let width = deltas.iter().map(dp_check::Interval::relative_width).fold(0.0, f64::max);
        println!("{:28}known to {width:.0e} of it at worst", "");
    }
    println!(
        "\nTwenty answers of .1 add up to epsilon 2 without a delta, and to epsilon 1 with the third column's."
    );
    Ok(())
}
