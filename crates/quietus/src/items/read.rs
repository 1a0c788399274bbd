//! From rows to events of steps, by rules that no row can break.

use super::{ItemsArgs, ItemsPlan};
use crate::error::Error;
use crate::table::{Form, Rows, Secrecy};
use dp_stream::Event;
use std::collections::BTreeMap;
use std::ops::Range;

/// How many rows met what end. Private.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Met {
    pub(super) used: u64,
    pub(super) nobodys: u64,
    pub(super) no_time: u64,
    pub(super) unknown: u64,
    pub(super) outside: u64,
    pub(super) late: u64,
    pub(super) early: u64,
    pub(super) passed_over: u64,
    /// How many rows each user has in each step.
    pub(super) shown: BTreeMap<(u64, u32), u64>,
}

/// Users by first appearance. Private.
#[derive(Clone, Default)]
pub(super) struct Users {
    places: BTreeMap<Box<str>, u32>,
    names: Vec<Box<str>>,
}

impl Users {
    pub(super) fn new(names: Vec<Box<str>>) -> Self {
        let places = names.iter().cloned().zip(0..).collect();
        Self { places, names }
    }

    /// In the order in which they came.
    pub(super) fn names(&self) -> &[Box<str>] {
        &self.names
    }

    /// How many there are.
    pub(super) fn number(&self) -> u32 {
        u32::try_from(self.names.len()).expect("fewer names fit into memory")
    }

    fn place(&mut self, name: &str) -> u32 {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let next = self.number();
        self.places.insert(name.into(), next);
        self.names.push(name.into());
        next
    }
}

/// The events of these steps, with the places of users for their numbers. Rows that are not of one of them, of nobody, of no public item or of a wrong shape are left out.
pub(super) fn read(
    args: &ItemsArgs,
    plan: &ItemsPlan,
    form: &Form,
    steps: Range<u64>,
    users: &mut Users,
    met: &mut Met,
) -> Result<Vec<Vec<Event>>, Error> {
    let (clock, catalogue) = (&plan.settings().clock, &plan.settings().items);
    let mut rows = Rows::open(&args.file.data, Secrecy::Private, form)?;
    rows.choose(&[&args.user, &args.catalogue.item, &args.time])?;
    let new = usize::try_from(steps.end.saturating_sub(steps.start)).unwrap_or(0);
    let mut events = vec![Vec::new(); new];
    while rows.advance()? {
        let time = if clock.dates() {
            rows.text_or_none(2).and_then(|text| clock.time(&text))
        } else {
            rows.whole_or_none(2)
        };
        let Some(time) = time else {
            met.no_time += 1;
            continue;
        };
        let Some(step) = clock.step_at(time) else {
            met.outside += 1;
            continue;
        };
        if step < steps.start {
            met.late += 1;
            continue;
        }
        let place = usize::try_from(step - steps.start).unwrap_or(usize::MAX);
        let Some(batch) = events.get_mut(place) else {
            met.early += 1;
            continue;
        };
        let Some(item) = rows.text_or_none(1).and_then(|text| catalogue.number(&text)) else {
            met.unknown += 1;
            continue;
        };
        let Some(name) = rows.name_or_none(0) else {
            met.nobodys += 1;
            continue;
        };
        let user = users.place(&name);
        met.used += 1;
        *met.shown.entry((step, user)).or_default() += 1;
        batch.push(Event { user, item });
    }
    met.passed_over = rows.passed_over();
    Ok(events)
}
