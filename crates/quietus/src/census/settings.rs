//! What the command line says about a release of group sizes; all of it public.

use crate::cli::CensusArgs;
use crate::error::Error;
use dp_census::{From0, LevelShares, Method, Privacy};

/// Settings that can be checked before any file is read.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) bins: From0,
    pub(super) privacy: Privacy,
    pub(super) method: Method,
    pub(super) shares: LevelShares,
}

impl Settings {
    pub(super) fn new(args: &CensusArgs) -> Result<Self, Error> {
        let bins = From0::up_to(args.largest);
        Ok(Self {
            bins: bins.map_err(|error| Error::library("--largest", &error))?,
            privacy: privacy(args)?,
            method: args.method.as_deref().map_or(Ok(Method::default()), method)?,
            shares: shares(&args.shares)?,
        })
    }
}

fn privacy(args: &CensusArgs) -> Result<Privacy, Error> {
    match (args.epsilon, args.rho, args.delta) {
        (Some(epsilon), None, None) => {
            Privacy::pure(epsilon).map_err(|error| Error::library("--epsilon", &error))
        }
        (None, Some(rho), Some(delta)) => {
            Privacy::zcdp(rho, delta).map_err(|error| Error::library("--rho and --delta", &error))
        }
        _ => Err(Error::Setting {
            name: "the loss",
            got: "another choice".to_owned(),
            want: "--epsilon alone, or --rho with --delta",
        }),
    }
}

fn method(id: &str) -> Result<Method, Error> {
    let found = Method::ALL.into_iter().find(|method| method.id() == id);
    found.ok_or_else(|| Error::Unknown {
        what: "method",
        got: id.to_owned(),
        known: Method::ALL.map(|method| method.id().to_owned()).to_vec(),
    })
}

fn shares(text: &str) -> Result<LevelShares, Error> {
    match text {
        "chosen" => Ok(LevelShares::Chosen),
        "equal" => Ok(LevelShares::Equal),
        "roots" => Ok(LevelShares::RootOfRegions),
        "10/20/70" => Ok(LevelShares::ten_twenty_seventy()),
        _ => {
            let numbers = text.split(',').map(|share| share.trim().parse());
            let fixed = numbers.collect::<Result<_, _>>().map(LevelShares::Fixed);
            fixed.map_err(|_| Error::Setting {
                name: "--shares",
                got: format!("`{text}`"),
                want: "chosen, equal, 10/20/70, roots, or one number per level like 0.2,0.3,0.5",
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{method, shares};
    use dp_census::{LevelShares, Method};

    #[test]
    fn names_and_numbers_are_understood_and_others_are_answered() {
        assert_eq!(shares("0.2, 0.8").unwrap(), LevelShares::Fixed(vec![0.2, 0.8]));
        assert_eq!(shares("10/20/70").unwrap(), LevelShares::ten_twenty_seventy());
        insta::assert_snapshot!(shares("half").unwrap_err(), @"--shares must be chosen, equal, 10/20/70, roots, or one number per level like 0.2,0.3,0.5, got `half`");
        assert_eq!(method("top-down").unwrap(), Method::TopDown);
        insta::assert_snapshot!(method("best").unwrap_err(), @"there is no method `best`; these exist: m-c-fitted, m-c-top-down, m-c-exact, m-c-dp, m-h-dp, top-down, root-spread, m-c-chain");
    }
}
