//! Water meters on a map: where are they dense, without showing where any of them is?
//!
//! `cargo run -p dp-cluster --example meters -- [EPSILON]`
#![allow(clippy::print_stdout, reason = "a program that prints what it finds")]

use dp_cluster::private_kmeans::{PrivateKMeans, PrivateKMeansSettings};
use dp_cluster::{Budget, Mechanism, Points, PublicBox, chacha_from_os};

const FILE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets/examples/places/meters.csv");
/// The map is 40 km wide and high: public, and in no way computed from the file.
const SIDE: f64 = 40.0;
/// Characters of the picture across and down.
const PICTURE: (usize, usize) = (40, 20);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let epsilon = std::env::args().nth(1).map_or(Ok(2.0), |word| word.parse())?;
    let mut coords = Vec::new();
    for line in std::fs::read_to_string(FILE)?.lines().skip(1) {
        // What is no number counts as the middle of the map: a refusal would tell that there is such a record.
        coords.extend(line.split(',').skip(1).map(|word| word.parse().unwrap_or(f64::NAN)));
    }
    let meters = Points::new(coords, 2)?;
    let map = PublicBox::cube(2, 0.0, SIDE)?;

    // About how many there are is public; a guess will do.

    let settings = PrivateKMeansSettings { expected_records: Some(300), ..Default::default() };
    let plan = PrivateKMeans::new(map, 3, Budget::new(epsilon, 1e-6)?, settings)?;
    println!("{}\n", plan.receipt());
    let clusters = plan.release(meters.view(), &mut chacha_from_os()?)?.output;

    let mut picture = vec![vec![' '; PICTURE.0]; PICTURE.1];
    for (centre, count) in clusters.centres.view().rows().zip(&clusters.counts) {
        println!(
            "about {count:>4} meters around {:4.1} km east, {:4.1} km north",
            centre[0], centre[1]
        );
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "inside the map"
        )]
        let at = |x: f64, cells: usize| ((x / SIDE * cells as f64) as usize).min(cells - 1);
        let row = PICTURE.1 - 1 - at(centre[1], PICTURE.1);
        picture[row][at(centre[0], PICTURE.0)] = '*';
    }
    println!("\n+{}+", "-".repeat(PICTURE.0));
    for row in picture {
        println!("|{}|", row.into_iter().collect::<String>());
    }
    println!("+{}+", "-".repeat(PICTURE.0));
    Ok(())
}
