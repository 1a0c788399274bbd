//! Randomness that everybody may know: it hides nothing, and is part of the settings.

use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

/// Public randomness for one purpose. Streams keep the purposes apart, and apart from the stream that a
/// generator starts with, so that it never runs along with that of a release, however it was seeded.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Hyperplanes = 0x7075_6201,
    LshSolver,
    LloydStart,
    Projection,
    Grids,
    EmMcSolver,
    RingPlanes,
    RingSolver,
    MapSolver,
    Buckets,
    BucketSolver,
    Quadtrees,
    EvenCentres,
    SpareCentres,
    Background,
    BackgroundSolver,
}

/// The public generator for a purpose.
pub(crate) fn public_generator(public_seed: u64, purpose: Purpose) -> ChaCha20Rng {
    let mut rng = ChaCha20Rng::seed_from_u64(public_seed);
    rng.set_stream(purpose as u64);
    rng
}
