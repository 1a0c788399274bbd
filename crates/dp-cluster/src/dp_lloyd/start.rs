//! Where to start without looking at the data.

use dp_geometry::{Points, PublicBox};
use rand::RngExt;

use crate::nearest::squared_distance;
use crate::public_coins::{Purpose, public_generator};

/// Candidates per centre, of which the farthest from all centres so far is taken.
const CANDIDATES: usize = 32;

/// `k` places in the box, far away from each other and from the walls: each is the best of some
/// uniform places, where distances to a wall count double, as if centres lay mirrored behind it.
pub(super) fn spread(public_box: &PublicBox, k: usize, public_seed: u64) -> Points {
    let dim = public_box.dim();
    let mut rng = public_generator(public_seed, Purpose::LloydStart);
    let mut coords: Vec<f64> = Vec::with_capacity(k * dim);
    for _ in 0..k {
        let mut best = (f64::NEG_INFINITY, Vec::new());
        for _ in 0..CANDIDATES {
            let place = |i| public_box.min(i) + public_box.width(i) * rng.random::<f64>();
            let place: Vec<f64> = (0..dim).map(place).collect();
            let wall = place.iter().enumerate().map(|(i, x)| {
                let depth = (x - public_box.min(i)).min(public_box.max(i) - x);
                2.0 * depth
            });
            let wall = wall.fold(f64::INFINITY, f64::min);
            let nearest = coords.chunks_exact(dim).map(|centre| distance(centre, &place));
            let score = nearest.fold(wall.max(f64::MIN_POSITIVE), f64::min);
            if score > best.0 {
                best = (score, place);
            }
        }
        coords.extend(best.1.iter().enumerate().map(|(i, &x)| public_box.clip_coordinate(i, x)));
    }
    Points::new(coords, dim).expect("whole rows")
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    squared_distance(a, b).sqrt()
}
