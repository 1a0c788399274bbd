//! Households by size in a small country: tables that add up, and no household that can be read off.
//!
//! `cargo run -p dp-census --example households -- [EPSILON]`
#![allow(clippy::print_stdout, reason = "a program that prints what it finds")]

use dp_census::{
    Census, CensusSettings, From0, GroupSizes, Hierarchy, Mechanism, Privacy, chacha_from_os,
};

const CENSUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets/examples/census/");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let epsilon = std::env::args().nth(1).map_or(Ok(1.0), |word| word.parse())?;
    // Public: the regions, and the sizes that are told apart.
    let regions = std::fs::read_to_string(format!("{CENSUS}regions.csv"))?;
    let regions: Vec<(&str, &str)> =
        regions.lines().skip(1).filter_map(|line| line.split_once(',')).collect();
    let parents =
        regions.iter().map(|&(name, parent)| (name, Some(parent).filter(|p| !p.is_empty())));
    let country = Hierarchy::new(parents)?;
    let sizes = From0::up_to(4)?;
    // Private: how many households of each size each region has.
    let table = std::fs::read_to_string(format!("{CENSUS}sizes.csv"))?;
    let mut rows = Vec::new();
    for line in table.lines().skip(1) {
        let words: Vec<&str> = line.split(',').collect();
        if let [region, size, groups] = words[..] {
            rows.push((region, size.parse()?, groups.parse()?));
        }
    }
    let households = GroupSizes::from_rows(&country, sizes, rows.iter().copied())?;
    // Public: how many households there are.
    let number: i64 = rows.iter().map(|(_, _, groups)| groups).sum();

    let privacy = Privacy::pure(epsilon)?;
    let plan = Census::new(country.clone(), sizes, number, privacy, CensusSettings::default())?;
    println!("{}\n", plan.receipt());
    let release = plan.release(&households, &mut chacha_from_os()?)?.output;
    println!("{:<16}{:>7}{:>7}{:>7}{:>7}{:>7}", "persons", 0, 1, 2, 3, "4+");
    for (region, (name, _)) in regions.iter().enumerate() {
        let cells = release[region].iter().map(|groups| format!("{groups:>7}"));
        println!("{name:<16}{}", cells.collect::<String>());
    }
    println!("\nEach region is the sum of its parts, and there are {number} households in all.");
    Ok(())
}
