//! Which clinics to open first, if nobody may learn which of them a person can reach.
//!
//! `cargo run -p dp-combinatorial --example clinics -- [EPSILON]`
#![allow(clippy::print_stdout, reason = "a program that prints what it finds")]

use dp_combinatorial::set_cover::{SetCoverSelect, SetCoverSelectSettings};
use dp_combinatorial::{Budget, Incidence, Mechanism, chacha_from_os};
use std::collections::BTreeMap;

const PLACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets/examples/places/");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let epsilon = std::env::args().nth(1).map_or(Ok(1.0), |word| word.parse())?;
    // Public: the clinics that there are.
    let text = std::fs::read_to_string(format!("{PLACES}sets.csv"))?;
    let clinics: Vec<&str> = text.lines().skip(1).collect();
    let sets = u32::try_from(clinics.len())?;
    // Private: which of them each person can reach. A name that is no clinic says nothing.
    let mut reach: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for line in std::fs::read_to_string(format!("{PLACES}reach.csv"))?.lines().skip(1) {
        let Some((person, name)) = line.split_once(',') else { continue };
        let near = reach.entry(person.to_owned()).or_default();
        near.extend((0..).zip(&clinics).filter(|(_, clinic)| **clinic == name).map(|(id, _)| id));
    }
    let people = Incidence::from_slices(sets, reach.values().map(Vec::as_slice))?;

    let plan =
        SetCoverSelect::new(sets, Budget::new(epsilon, 0.0)?, SetCoverSelectSettings::default())?;
    println!("{}\n", plan.receipt());
    let order = plan.release(&people, &mut chacha_from_os()?)?.output.order;
    for (place, id) in (1..).zip(order) {
        println!("{place}. {}", clinics[id as usize]);
    }
    println!("\nEverybody goes to the first of these that is near; nobody is named.");
    Ok(())
}
