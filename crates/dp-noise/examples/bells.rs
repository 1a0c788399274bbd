//! What the noise looks like: draws of a discrete Laplace and of a rounded Gaussian of the same spread.
//!
//! `cargo run --release -p dp-noise --example bells`
#![allow(clippy::print_stdout, reason = "a program that prints what it draws")]

use dp_noise::{DiscreteLaplace, Ratio, RoundedGaussian, SecureBits, chacha_from_os};

const DRAWS: u32 = 400_000;
const REACH: i128 = 12;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut rng = chacha_from_os()?;
    let mut bits = SecureBits::new(&mut rng);
    // Scale 2 has a variance of about 7.8.
    let laplace = DiscreteLaplace::new(Ratio::new(2, 1)?)?;
    let gaussian = RoundedGaussian::new(Ratio::new(39, 5)?)?;
    show("discrete Laplace, scale 2", || laplace.sample(&mut bits));
    show("rounded Gaussian, variance 7.8", || gaussian.sample(&mut bits));
    Ok(())
}

/// A line per value: how often it was drawn.
fn show(name: &str, mut draw: impl FnMut() -> i128) {
    let draws: Vec<i128> = (0..DRAWS).map(|_| draw()).collect();
    println!("{name}");
    for value in -REACH..=REACH {
        let percent =
            100.0 * draws.iter().filter(|&&drawn| drawn == value).count() as f64 / f64::from(DRAWS);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 100")]
        let bar = "#".repeat((3.0 * percent) as usize);
        println!("{value:>4} {percent:>6.2} % {bar}");
    }
    println!();
}
