//! What the run of a cell needs whatever it runs: a generator of its own, a clock, the peak of memory.

use crate::eval::memory;
use crate::eval::record::Record;
use quietus_datasets::seed::named_rng;
use rand::rngs::ChaCha20Rng;
use std::time::Instant;

/// The generator of this cell: the same whatever ran before it.
pub(crate) fn rng_of(cell: &Record) -> ChaCha20Rng {
    named_rng(&[
        "cell",
        &cell.seed.to_string(),
        &cell.dataset,
        &cell.algorithm,
        &cell.variant,
        &cell.epsilon.map_or(String::new(), |epsilon| epsilon.to_string()),
        &cell.run.to_string(),
    ])
}

/// What a piece of work took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) seconds: f64,
    pub(crate) peak_rss_mib: Option<f64>,
}

/// Does the work and measures it.
pub(crate) fn measured<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(T, Cost), E> {
    memory::reset_peak();
    let start = Instant::now();
    let made = work()?;
    let seconds = start.elapsed().as_secs_f64();
    Ok((made, Cost { seconds, peak_rss_mib: memory::peak_mib() }))
}
