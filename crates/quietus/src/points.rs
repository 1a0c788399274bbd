//! Rows to points: by which rules a row of a private file is one, whatever stands in it.

use crate::cli::FileArgs;
use crate::cluster::Axis;
use crate::error::Error;
use crate::persons::{Persons, Whose};
use crate::run::{PRIVATE, form};
use crate::table::{Rows, Secrecy, is_binary};
use crate::value::Decimal;
use dp_cluster::Points;
use std::fmt::Write as _;

/// Which rows are points, and of what.
///
/// A row of a wrong shape, without a person where one is asked for, that is not the first of its person, or without a number in some column
/// is left out. Where the number of rows is public every row is a point, and what is no number is the middle of its range. Numbers outside of
/// the bounds count as the closer bound.
pub(crate) struct PointRows<'a> {
    pub(crate) file: &'a FileArgs,
    pub(crate) axes: &'a [Axis],
    pub(crate) person: Option<&'a str>,
    /// Whether the number of rows is public.
    pub(crate) every_row: bool,
    /// A number within the bounds of its column, as the mechanism takes it.
    pub(crate) inwards: Box<dyn Fn(usize, f64) -> f64 + 'a>,
}

/// How many rows met what end. Private.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Met {
    points: u64,
    no_number: u64,
    nobodys: u64,
    again: u64,
    passed_over: u64,
    /// By column: below and above its bounds.
    outside: Vec<(u64, u64)>,
}

impl Met {
    /// How many points are outside of the bounds of each column.
    pub(crate) fn outside(&self) -> Vec<i64> {
        self.outside.iter().map(|(below, above)| (below + above).cast_signed()).collect()
    }
}

impl PointRows<'_> {
    /// Reads all points once.
    ///
    /// # Errors
    /// Of the file as a file, and those of `each`. What rows say is never one.
    pub(crate) fn each(
        &self,
        met: &mut Met,
        each: &mut dyn FnMut(&[f64]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Self { file, axes, person, every_row, inwards } = self;
        let decimal = if file.decimal_comma { Decimal::Comma } else { Decimal::Point };
        let mut rows = Rows::open(&file.data, Secrecy::Private, &form(&file.form)?)?;
        let columns = axes.iter().map(|axis| axis.column.as_str());
        let chosen: Vec<&str> = columns.chain(*person).collect();
        rows.choose(&chosen)?;
        if *every_row && rows.header().len() == 1 && !is_binary(&file.data) {
            // A reader of text skips blank lines, so one empty point would change the number of rows, and with it whether there is a release.
            return Err(Error::Setting {
                name: "--data",
                got: "a file of one column".to_owned(),
                want: "a file of two columns or more where the number of rows is public: in one, an empty row is a blank line",
            });
        }
        let middle = |(at, axis): (usize, &Axis)| inwards(at, f64::midpoint(axis.low, axis.high));
        let middles: Vec<f64> = axes.iter().enumerate().map(middle).collect();
        let dim = axes.len();
        let mut persons = Persons::new(person.is_some());
        met.passed_over = 0;
        let (mut numbers, mut point) = (Vec::with_capacity(dim), Vec::with_capacity(dim));
        met.outside = vec![(0, 0); dim];
        loop {
            let is_there = rows.advance()?;
            // A row of a wrong shape is a row, and has its place: if it went to the end, it would move all rows after it.
            let passed_over =
                rows.passed_over() - std::mem::replace(&mut met.passed_over, rows.passed_over());
            if *every_row {
                met.points += passed_over;
                for _ in 0..passed_over {
                    each(&middles)?;
                }
            }
            if !is_there {
                break;
            }
            if persons.whose(|| rows.name_or_none(dim)) != Whose::First {
                continue;
            }
            numbers.clear();
            numbers.extend((0..dim).map(|axis| rows.number_or_none(axis, decimal)));
            if numbers.contains(&None) {
                met.no_number += 1;
                if !every_row {
                    continue;
                }
            }
            met.points += 1;
            point.clear();
            for (at, (axis, number)) in axes.iter().zip(&numbers).enumerate() {
                let Some(number) = *number else {
                    point.push(middles[at]);
                    continue;
                };
                met.outside[at].0 += u64::from(number < axis.low);
                met.outside[at].1 += u64::from(number > axis.high);
                point.push(inwards(at, number.clamp(axis.low, axis.high)));
            }
            each(&point)?;
        }
        (met.nobodys, met.again) = (persons.nobodys, persons.again);
        Ok(())
    }

    /// Reads all points, and keeps them.
    ///
    /// # Errors
    /// Those of [`each`](Self::each).
    pub(crate) fn keep(&self, met: &mut Met) -> Result<Points, Error> {
        let mut coords = Vec::new();
        self.each(met, &mut |point| {
            coords.extend_from_slice(point);
            Ok(())
        })?;
        Points::new(coords, self.axes.len()).map_err(|error| Error::library("the points", &error))
    }

    /// What a release would use, for the holder only; `records` is what the number of rows is said to be.
    ///
    /// # Errors
    /// Those of [`each`](Self::each).
    pub(crate) fn check(&self, records: Option<u64>) -> Result<String, Error> {
        let mut text = PRIVATE.to_owned();
        let rows = Rows::open(&self.file.data, Secrecy::Private, &form(&self.file.form)?)?;
        let _ = writeln!(text, "columns: {}", crate::shown::names(rows.header()));
        let mut met = Met::default();
        self.each(&mut met, &mut |_| Ok(()))?;
        let Met { points, no_number, nobodys, again, passed_over, outside } = met;
        let odd = if self.every_row { 0 } else { no_number + passed_over };
        let fate = if self.every_row { "in the middle" } else { "left out" };
        for (number, what) in [
            (points + nobodys + again + odd, "rows".to_owned()),
            (points, "points".to_owned()),
            (no_number, format!("{fate}: no number in some column")),
            (nobodys, "left out: nobody's".to_owned()),
            (again, "left out: not the first of their person".to_owned()),
            (
                passed_over,
                format!("{fate}: too few or too many cells, a line break in one, or above 1 MB"),
            ),
        ] {
            let _ = writeln!(text, "{number:12}  {what}");
        }
        for (Axis { column, low, high }, (below, above)) in self.axes.iter().zip(outside) {
            let _ = writeln!(
                text,
                "{below:12}  points below {low} in `{column}`, {above} above {high}"
            );
            if 2 * (below + above) > points {
                let _ = writeln!(
                    text,
                    "More than half of the points are outside in `{column}`: are the bounds in its unit?"
                );
            }
        }
        if self.every_row && records != Some(points) {
            let _ = writeln!(text, "--rows must be {points}.");
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::{Met, PointRows};
    use crate::cli::{Cli, ClusterArgs, Command, Family};
    use crate::cluster::Axis;
    use clap::Parser;
    use tempfile::TempDir;

    /// A file with this in it, in a folder that lasts, and what is said to have it checked.
    fn checked(text: &str) -> (TempDir, ClusterArgs) {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("p.csv");
        std::fs::write(&path, text).unwrap();
        let words = "quietus check cluster --k 2 --data FILE --range a=0,10 --epsilon 1";
        let words = words.replace("FILE", path.to_str().unwrap());
        match Cli::try_parse_from(words.split(' ')).unwrap().command {
            Command::Check { family: Family::Cluster(args) } => (home, args),
            other => panic!("{other:?}"),
        }
    }

    fn axis(column: &str) -> Axis {
        Axis { column: column.to_owned(), low: 0.0, high: 10.0 }
    }

    #[test]
    fn numbers_beyond_their_range_stop_at_its_ends() {
        let (_home, args) = checked("a,b\n-5,1\n99,2\n");
        let (file, axes) = (&args.file, [axis("a")]);
        let inwards = Box::new(|_, number| number);
        let rows = PointRows { file, axes: &axes, person: None, every_row: false, inwards };
        let points = rows.keep(&mut Met::default()).unwrap();
        assert!(points.view().rows().map(|point| point[0]).eq([0.0, 10.0]));
    }

    /// How many are outside may be released: an end of a range is in it, and who is not counted is nowhere.
    #[test]
    fn only_points_beyond_the_ends_of_a_range_are_outside() {
        let (_home, args) = checked("a,b\n0,1\n10,1\n-5,1\n99,1\n99,\n");
        let axes = [axis("a"), axis("b")];
        let inwards = Box::new(|_, number| number);
        let rows =
            PointRows { file: &args.file, axes: &axes, person: None, every_row: false, inwards };
        let mut met = Met::default();
        rows.keep(&mut met).unwrap();
        assert_eq!(met.outside(), [2, 0]);
    }

    /// Where every row is a point, one of a wrong shape has its place; and where not, none.
    #[test]
    fn rows_of_a_wrong_shape_keep_their_place() {
        let (_home, args) = checked("a,b\n0,1\n5\n2,x\n3,9\n1,2,3\n9,9,9\n4,4\n7\n");
        let (middle, axes) = ([5.0, 5.0], [axis("a"), axis("b")]);
        let kept = |every_row: bool| {
            let inwards = Box::new(|_, number| number);
            let rows =
                PointRows { file: &args.file, axes: &axes, person: None, every_row, inwards };
            let mut met = Met::default();
            let points = rows.keep(&mut met).unwrap();
            assert_eq!((met.points, met.passed_over), (points.len() as u64, 4));
            points.view().rows().map(<[f64]>::to_vec).collect::<Vec<_>>()
        };
        let all = [[0.0, 1.0], middle, [2.0, 5.0], [3.0, 9.0], middle, middle, [4.0, 4.0], middle];
        assert_eq!(kept(true), all);
        assert_eq!(kept(false), [[0.0, 1.0], [3.0, 9.0], [4.0, 4.0]]);
    }
}
