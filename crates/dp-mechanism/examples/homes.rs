//! People per place from a file of homes: one noisy number for each public place, lived in or not.
//!
//! `cargo run -p dp-mechanism --example homes -- [EPSILON]`
#![allow(clippy::print_stdout, reason = "a program that prints what it releases")]

use dp_accounting::{AddRemove, Budget, Epsilon, Receipt, Step};
use dp_mechanism::{
    Algorithm, Draws, Mechanism, MechanismError, NoisyCount, Private, chacha_from_os,
};

const PLACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets/examples/places/");

/// How many people live at each place. Everybody lives at one, so all counts together cost what one costs.
struct PerPlace {
    places: Vec<String>,
    epsilon: f64,
    count: NoisyCount,
}

impl Algorithm for PerPlace {
    type Relation = AddRemove;
    type Data<'a> = &'a [String];
    /// Nothing about the data is public.
    type Shape = ();
    type Output = Vec<i64>;
    type Error = MechanismError;

    fn cost(&self) -> Receipt<AddRemove> {
        let one = Step::spend("people at a place", self.count.loss());
        let budget = Budget::new(self.epsilon, 0.0).expect("checked before");
        Receipt::new("per-place", AddRemove, budget, Step::parallel("places", vec![one]))
    }

    fn shape(_: &&[String]) {}

    fn check(&self, (): &()) -> Result<(), MechanismError> {
        Ok(())
    }

    fn run(&self, homes: Private<&[String]>, draws: &mut Draws<'_>) -> Vec<i64> {
        let one = |(number, place): (u64, &String)| {
            let here = homes.map(|all| all.iter().filter(|home| *home == place).count() as u64);
            self.count.release(here, &mut draws.part("people at a place", 0, number))
        };
        (0..).zip(&self.places).map(one).collect()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let epsilon = std::env::args().nth(1).map_or(Ok(1.0), |word| word.parse())?;
    let column = |file: &str, number: usize| -> Result<Vec<String>, std::io::Error> {
        let text = std::fs::read_to_string(format!("{PLACES}{file}"))?;
        let cell = |line: &str| line.split(',').nth(number).unwrap_or_default().to_owned();
        Ok(text.lines().skip(1).map(cell).collect())
    };
    // The places are public; who lives where is not.
    let (places, homes) = (column("clinics.csv", 0)?, column("homes.csv", 1)?);
    let plan = PerPlace { places, epsilon, count: NoisyCount::geometric(Epsilon::new(epsilon)?)? };
    println!("{}\n", plan.receipt());
    let release = plan.release(&homes, &mut chacha_from_os()?)?;
    for (place, people) in plan.places.iter().zip(release.output) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a short bar")]
        let bar = "#".repeat((people.clamp(0, 150) / 2) as usize);
        println!("{place:>10} {people:>5}  {bar}");
    }
    println!("\neach with a standard deviation of {:.1}", plan.count.standard_deviation());
    Ok(())
}
