//! How often two points get the same key, by how far they are apart: counted, beside what each family says of itself.
//!
//! `cargo run --release -p dp-geometry --example collisions`
#![allow(clippy::print_stdout, reason = "a program that prints what it counts")]

use dp_geometry::PointsView;
use dp_geometry::lsh::{ShiftedGrids, SignProjections, StableProjections, normal_directions};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

const TRIES: u32 = 4_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{:>8}  {:^17}  {:^17}  {:^17}", "", "4 planes", "2 directions", "shifted grid");
    println!(
        "{:>8}  {:>8} {:>8}  {:>8} {:>8}  {:>8} {:>8}",
        "apart", "counted", "stated", "counted", "stated", "counted", "stated"
    );
    // Public coins: they hide nothing, and a fixed seed will do.
    let mut coins = ChaCha20Rng::seed_from_u64(7);
    for tenths in 0..8 {
        let apart = 0.1 * f64::from(tenths);
        let (here, there) = ([0.5, 0.1], [0.5 - apart, 0.1]);
        let mut equal = [0_u32; 3];
        let mut stated = [0.0; 3];
        for _ in 0..TRIES {
            let normals = normal_directions(4, 2, &mut coins);
            let planes = SignProjections::new(PointsView::new(&normals, 2)?)?;
            equal[0] += u32::from(planes.key(&here, 4) == planes.key(&there, 4));
            let angle = here[1].atan2(here[0]) - there[1].atan2(there[0]);
            stated[0] = SignProjections::collision_probability(angle.abs(), 4);

            let stable = StableProjections::new(2, 2, 0.5, &mut coins)?;
            let (mut a, mut b) = ([0; 2], [0; 2]);
            stable.key(&here, &mut a);
            stable.key(&there, &mut b);
            equal[1] += u32::from(a == b);
            stated[1] = stable.collision_probability(apart);

            let grids = ShiftedGrids::new(vec![1.0, 1.0], 1, 2, &mut coins)?;
            let (mut a, mut b) = ([0; 1], [0; 1]);
            grids.cells(&here, &mut a);
            grids.cells(&there, &mut b);
            equal[2] += u32::from(a == b);
            stated[2] = grids.collision_probability(&[apart, 0.0]);
        }
        let counted = equal.map(|times| f64::from(times) / f64::from(TRIES));
        let pairs = counted.iter().zip(stated);
        let columns = pairs.map(|(counted, stated)| format!("  {counted:>8.3} {stated:>8.3}"));
        println!("{apart:>8.1}{}", columns.collect::<String>());
    }
    Ok(())
}
