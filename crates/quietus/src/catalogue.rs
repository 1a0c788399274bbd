//! Which items there could be: public, and with a number each.

use crate::error::Error;
use crate::table::{Form, Rows, Secrecy};
use clap::Args;
use dp_stream::Universe;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What rows are about, on the command line.
#[derive(Clone, Debug, Args)]
#[command(group = clap::ArgGroup::new("which").required(true).args(["items", "items_from", "numbers_below"]))]
pub struct CatalogueArgs {
    /// The column that says which item a row is about
    #[arg(long, value_name = "COLUMN")]
    pub item: String,
    /// Public: the items there could be, between commas; from elsewhere, never from the people
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub items: Vec<String>,
    /// Public: the items there could be, in the column `item` of a file; from elsewhere, never from the people
    #[arg(long, value_name = "FILE")]
    pub items_from: Option<PathBuf>,
    /// Public: items are the whole numbers from 0 to below this one
    #[arg(long, value_name = "N")]
    pub numbers_below: Option<u64>,
}

/// Which items there could be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Items {
    /// These names.
    Named(Vec<String>),
    /// The whole numbers from 0 to below this one.
    NumbersBelow(u64),
}

/// Items by name and by number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Items", into = "Items")]
pub struct Catalogue {
    items: Items,
    places: BTreeMap<String, u64>,
}

impl TryFrom<Items> for Catalogue {
    type Error = Error;

    fn try_from(items: Items) -> Result<Self, Error> {
        let mut places = BTreeMap::new();
        if let Items::Named(names) = &items {
            for (name, place) in names.iter().zip(0..) {
                if places.insert(name.clone(), place).is_some() {
                    let reason = format!("`{name}` is there twice");
                    return Err(Error::Library { what: "the items", reason });
                }
            }
        }
        Ok(Self { items, places })
    }
}

impl From<Catalogue> for Items {
    fn from(catalogue: Catalogue) -> Self {
        catalogue.items
    }
}

impl Catalogue {
    /// Names that were listed, or are in the column `item` of a public file, or numbers below a limit.
    pub(crate) fn said(args: &CatalogueArgs) -> Result<Self, Error> {
        let items = match (&args.items_from, args.numbers_below) {
            (Some(path), _) => {
                let mut rows = Rows::open(path, Secrecy::Public, &Form::default())?;
                rows.choose(&["item"])?;
                let mut names = Vec::new();
                while rows.advance()? {
                    names.push(rows.name(0)?.into_owned());
                }
                Items::Named(names)
            }
            (None, Some(size)) => Items::NumbersBelow(size),
            (None, None) => {
                Items::Named(args.items.iter().map(|name| name.trim().to_owned()).collect())
            }
        };
        items.try_into()
    }

    /// As the monitor knows them.
    pub(crate) fn universe(&self) -> Universe {
        let size = match &self.items {
            Items::Named(names) => names.len() as u64,
            Items::NumbersBelow(size) => *size,
        };
        Universe::Range { size }
    }

    /// The number of an item, if it is one of them.
    pub(crate) fn number(&self, text: &str) -> Option<u64> {
        match self.items {
            Items::Named(_) => self.places.get(text).copied(),
            Items::NumbersBelow(size) => text.parse().ok().filter(|item| *item < size),
        }
    }

    /// The item with a number.
    pub(crate) fn name(&self, item: u64) -> String {
        match &self.items {
            Items::Named(names) => {
                let place = usize::try_from(item).unwrap_or(usize::MAX);
                names.get(place).cloned().unwrap_or_default()
            }
            Items::NumbersBelow(_) => item.to_string(),
        }
    }
}
