//! What a budget means for one person, and what the noise that spends it does:
//! `cargo run -p dp-accounting --example what_it_means -- 1 1e-6`.

#![allow(clippy::print_stdout, reason = "what a program is for")]

use dp_accounting::{
    Budget, Composition, Epsilon, Event, Meaning, epsilon_for, noise_for, uses_for,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers = std::env::args().skip(1).map(|x| x.parse()).collect::<Result<Vec<f64>, _>>()?;
    let budget = match numbers[..] {
        [] => Budget::new(1.0, 1e-6)?,
        [epsilon, delta] => Budget::new(epsilon, delta)?,
        _ => return Err("two numbers: epsilon and delta".into()),
    };
    println!("{}\n", Meaning::new(budget.epsilon(), budget.delta()));

    println!(
        "The best attack at each rate of false accusations, on whatever keeps that promise, and on one release:"
    );
    let Some(noise) = noise_for(budget, 1, Event::gaussian)? else {
        println!("(Gaussian noise needs a delta.)");
        let counts = uses_for(budget, Event::laplace(10.0)?);
        println!("Counts with Laplace noise of scale 10: {counts}.");
        return Ok(());
    };
    let gaussian = Event::gaussian(noise)?;
    let release = Composition::new().with(gaussian, 1)?;
    let alarms = [0.001, 0.01, 0.1, 0.3, 0.5, 0.9];
    let grid = (0..60).map(|i| Epsilon::new(f64::from(i) / 10.0)).collect::<Result<Vec<_>, _>>()?;
    println!("{:>12} {:>12} {:>12}", "false", "promised", "Gaussian");
    for (alarm, missed) in alarms.into_iter().zip(release.trade_off(&grid, &alarms)) {
        let promised = 100.0 * Meaning::new(budget.epsilon(), budget.delta()).detection(alarm);
        let found = 100.0 * (1.0 - missed.lower());
        println!("{:>10.1} % {promised:>10.2} % {found:>10.2} %", 100.0 * alarm);
    }
    let success = 100.0 * release.attack_success(0.5).upper();
    println!(
        "\nGaussian noise {noise:.4} spends it in one release; a guess is then right in {success:.1} % of the cases."
    );
    for uses in [10, 100] {
        let more = noise_for(budget, uses, Event::gaussian)?.ok_or("too many uses")?;
        println!("For {uses} releases it takes {more:.2} each.");
    }
    let counts = uses_for(budget, Event::laplace(100.0)?);
    println!("Counts with Laplace noise of scale 100: {counts}.");
    let twice = epsilon_for(gaussian, 2, budget.delta())?.upper();
    println!(
        "Twice the release would cost an epsilon of {twice:.4}, not {:.4}.",
        2.0 * budget.epsilon().get()
    );
    Ok(())
}
