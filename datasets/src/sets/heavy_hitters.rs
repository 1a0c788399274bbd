//! The streams of the suite: steps of events from tables, baskets and a generator.

use super::{Shelf, text_of};
use crate::Error;
use crate::files;
use crate::seed::named_rng;
use crate::store;
use dp_stream::{Event, StreamShape, Universe};
use rand::RngExt;

/// A stream and how it is looked at. Everything here is public.
#[derive(Debug)]
pub struct Source {
    /// Its name.
    pub id: &'static str,
    origin: Origin,
    /// Bound on users.
    pub users: u32,
    /// Steps.
    pub steps: u64,
    /// Items are `0..items`.
    pub items: u64,
    /// Items of one user that count in a step.
    pub items_per_step: u8,
    /// From how many users on an item should be found.
    pub heavy: u32,
}

#[derive(Clone, Copy, Debug)]
enum Origin {
    /// Generated, with so many events per step.
    Drift { per_step: usize },
    /// A table of hour, user, item; so many hours make a step.
    CheckIns { hours: u64 },
    /// Pick-ups at latitude and longitude, each by somebody else, in cells of a hundredth of a degree.
    PickUps { hours: u64 },
    /// Trips, each by somebody else, by the zone where they began.
    Zones { hours: u64 },
    /// Lines of items, each of a customer of its own; so many lines make a step.
    Baskets { per_step: usize },
}

/// The grid of the pick-ups: south, west, rows and columns of cells.
const GRID: (f64, f64, u64, u64) = (40.4, -74.4, 80, 110);

/// All of them.
pub static SOURCES: [Source; 6] = [
    Source {
        id: "zipf-drift",
        origin: Origin::Drift { per_step: 5_000 },
        users: 50_000,
        steps: 100,
        items: 1 << 16,
        items_per_step: 1,
        heavy: 100,
    },
    Source {
        id: "gowalla_nyc_stream",
        origin: Origin::CheckIns { hours: 28 * 24 },
        users: 8_192,
        steps: 20,
        items: 21_509,
        items_per_step: 4,
        heavy: 60,
    },
    Source {
        id: "foursquare_stream",
        origin: Origin::CheckIns { hours: 28 * 24 },
        users: 8_192,
        steps: 19,
        items: 8_000,
        items_per_step: 4,
        heavy: 60,
    },
    Source {
        id: "uber_apr14_part",
        origin: Origin::PickUps { hours: 6 },
        users: 100_000,
        steps: 120,
        items: GRID.2 * GRID.3,
        items_per_step: 1,
        heavy: 60,
    },
    Source {
        id: "nyc_green_2022_01",
        origin: Origin::Zones { hours: 24 },
        users: 65_536,
        steps: 31,
        items: 266,
        items_per_step: 1,
        heavy: 60,
    },
    Source {
        id: "retail",
        origin: Origin::Baskets { per_step: 5_000 },
        users: 88_162,
        steps: 18,
        items: 16_470,
        items_per_step: 16,
        heavy: 1_000,
    },
];

/// The stream of this name.
///
/// # Errors
/// If there is no such set, or its file is not the one of the manifest.
pub fn source(id: &str) -> Result<&'static Source, Error> {
    let unknown = || {
        let what = "data set of the suite heavy-hitters";
        Error::unknown(what, id, SOURCES.iter().map(|source| source.id))
    };
    SOURCES.iter().find(|source| source.id == id).ok_or_else(unknown)
}

impl Source {
    /// Whether it needs no file.
    pub fn is_generated(&self) -> bool {
        matches!(self.origin, Origin::Drift { .. })
    }

    /// With the universe of the source, or a larger one.
    pub fn shape(&self, universe: Option<Universe>) -> StreamShape {
        let universe = universe.unwrap_or(Universe::Range { size: self.items });
        StreamShape { universe, users: self.users, steps: self.steps }
    }
}

/// A stream in memory.
#[derive(Debug)]
pub struct Stream {
    /// What it was made from.
    pub source: &'static Source,
    /// One entry per step.
    pub steps: Vec<Vec<Event>>,
    /// SHA-256 over all events.
    pub checksum: String,
}

/// The stream, or `None` if its file is not here.
///
/// # Errors
/// If there is no such set, or its file is not the one of the manifest.
pub fn read(source: &'static Source, shelf: &Shelf<'_>) -> Result<Option<Stream>, Error> {
    let steps = match source.origin {
        Origin::Drift { per_step } => Some(drift(source, per_step)),
        Origin::Baskets { per_step } => baskets(source, shelf, per_step)?,
        origin => store::read_table(shelf.folder, shelf.manifest.set(source.id)?)?
            .map(|(table, _)| rows(source, origin, &table.values, table.columns.len())),
    };
    let Some(steps) = steps else { return Ok(None) };
    let mut bytes = Vec::new();
    for (time, events) in steps.iter().enumerate() {
        bytes.extend((time as u64).to_le_bytes());
        for event in events {
            bytes.extend(event.user.to_le_bytes());
            bytes.extend(event.item.to_le_bytes());
        }
    }
    let checksum = files::sha256_hex(&bytes);
    Ok(Some(Stream { source, steps, checksum }))
}

/// The generated stream of a source, if it is generated.
pub fn drift_of(source: &Source) -> Option<Vec<Vec<Event>>> {
    match source.origin {
        Origin::Drift { per_step } => Some(drift(source, per_step)),
        _ => None,
    }
}

/// Items of a Zipf law whose ranks shift by one place in every step, so that what is popular changes;
/// users uniform.
fn drift(source: &Source, per_step: usize) -> Vec<Vec<Event>> {
    let mut rng = named_rng(&["stream", source.id]);
    // Inverse of the distribution function of rank^-1 on 1..=items, in the continuous approximation.
    let reach = (source.items as f64).ln();
    let mut event = |time: u64| {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^32")]
        let rank = rng.random_range(0.0..reach).exp() as u64 - 1;
        Event { user: rng.random_range(0..source.users), item: (rank + 7 * time) % source.items }
    };
    (0..source.steps).map(|time| (0..per_step).map(|_| event(time)).collect()).collect()
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked columns")]
fn rows(source: &Source, origin: Origin, values: &[f64], width: usize) -> Vec<Vec<Event>> {
    let last = usize::try_from(source.steps - 1).expect("few steps");
    let mut steps = vec![Vec::new(); last + 1];
    for (number, row) in (0..).zip(values.chunks_exact(width)) {
        let (hour, hours, user, item) = match origin {
            Origin::CheckIns { hours } => (row[0], hours, row[1] as u32, row[2] as u64),
            Origin::PickUps { hours } => {
                let place = |x: f64, from: f64, cells: u64| {
                    ((x - from) * 100.0).clamp(0.0, cells as f64 - 1.0) as u64
                };
                let (south, west, high, wide) = GRID;
                (
                    row[2],
                    hours,
                    number,
                    place(row[0], south, high) * wide + place(row[1], west, wide),
                )
            }
            Origin::Zones { hours } => (row[0], hours, number, row[2] as u64),
            Origin::Drift { .. } | Origin::Baskets { .. } => unreachable!("not a table"),
        };
        let step = (hour as u64 / hours) as usize;
        steps[step.min(last)].push(Event { user, item });
    }
    steps
}

fn baskets(
    source: &Source,
    shelf: &Shelf<'_>,
    per_step: usize,
) -> Result<Option<Vec<Vec<Event>>>, Error> {
    let Some((bytes, path)) = shelf.bytes(source.id, None)? else { return Ok(None) };
    let text = text_of(&bytes, &path)?;
    let mut steps = vec![Vec::new(); usize::try_from(source.steps).expect("few steps")];
    let last = steps.len() - 1;
    for (user, line) in (0..).zip(text.lines()) {
        let step = (user as usize / per_step).min(last);
        for word in line.split_whitespace() {
            let wrong = || format!("line {}: `{word}` is not an item number", user + 1);
            let item = word.parse().map_err(|_| Error::malformed(&path, wrong()))?;
            steps[step].push(Event { user, item });
        }
    }
    Ok(Some(steps))
}
