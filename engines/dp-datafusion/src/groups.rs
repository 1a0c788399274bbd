//! The table of a census, from a directory and its people.

use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::JoinType;
use datafusion::dataframe::DataFrame;
use datafusion::functions_aggregate::expr_fn::{count, sum};
use datafusion::prelude::{Expr, cast, col, ident, lit, when};
use dp_census::passes::{Asked, GroupCounts, Table};
use dp_census::{Bins, Hierarchy};

use crate::Error;

/// Lets the session count how many groups of each size there are in each leaf region: the one pass of a census.
///
/// `units` is the public directory, with columns `unit` and `region`, the name of a region of the lowest level; equal rows count once. `people` has a row
/// for each individual, with a column `unit` and, where they bring more or less than one, a column `quantity` of whole numbers. A row of an unknown
/// unit or without a quantity is left out, a negative quantity counts as 0, one above the most quantity of the plan as that; so no error depends on a
/// person. Somebody who is in several rows has to be put into one before.
///
/// What leaves the engine is one row for each region and size that occurs. A group that is lost or doubled is found by the public number of groups, before
/// anything is drawn; a person who is in two rows by nothing.
///
/// # Errors
/// Columns that are not there or of another type, a region that is not of the lowest level; [`Error::Engine`].
pub async fn count_groups<B: Bins>(
    asked: &Asked<GroupCounts<B>>,
    hierarchy: &Hierarchy,
    units: DataFrame,
    people: DataFrame,
) -> Result<Table, Error> {
    let question = asked.question();
    let bins = question.bins();
    let (largest, smallest) = (i64::from(bins.largest()), i64::from(B::SMALLEST));
    // Whoever brings more than the largest size fills the last column alone; so no sum leaves 64 bits.
    let most = i64::from(question.most_quantity().get()).min(largest);
    let text = |name: &str| cast(ident(name), DataType::Utf8).alias(format!("{name}_name"));
    for (frame, columns, place) in
        [(&units, &["unit", "region"][..], "the directory"), (&people, &["unit"], "the people")]
    {
        for column in columns {
            if frame.schema().field_with_unqualified_name(column).is_err() {
                return Err(Error::NoColumn { column: (*column).into(), place: place.into() });
            }
        }
    }
    let places = units.select(vec![text("unit"), text("region")])?.distinct()?;
    let members = people
        .clone()
        .select(vec![
            cast(ident("unit"), DataType::Utf8).alias("member_of"),
            within(quantity(&people)?, 0, most)?.alias("brought"),
        ])?
        .aggregate(vec![col("member_of")], vec![sum(col("brought")).alias("size")])?;
    let size = within(col("size"), 0, largest)?;
    let cells = places
        .join(members, JoinType::Left, &["unit_name"], &["member_of"], None)?
        .select(vec![col("region_name"), size.alias("cell")])?
        .filter(col("cell").gt_eq(lit(smallest)))?
        .aggregate(vec![col("region_name"), col("cell")], vec![count(lit(1_i64)).alias("groups")])?
        .collect()
        .await?;

    let (columns, leaf_regions) = (bins.count(), hierarchy.tree().leaves());
    if u32::try_from(leaf_regions.len()).ok() != Some(question.regions()) {
        return Err(Error::OtherHierarchy);
    }
    let (mut rows, mut entries) = (0_u64, Vec::new());
    for batch in &cells {
        let whole = |place: usize| batch.column(place).as_primitive_opt::<Int64Type>();
        let name = cast_to_text(batch.column(0))?;
        let (Some(cells), Some(groups)) = (whole(1), whole(2)) else { return Err(Error::Damaged) };
        for row in 0..batch.num_rows() {
            if name.is_null(row) {
                return Err(Error::NoRegion(String::new()));
            }
            let name = name.value(row);
            let leaf = hierarchy.leaf(name).map_err(|_| Error::NoRegion(name.to_owned()))?;
            let column =
                usize::try_from(cells.value(row) - smallest).map_err(|_| Error::Damaged)?;
            let here = groups.value(row);
            rows = rows.saturating_add(u64::try_from(here).map_err(|_| Error::Damaged)?);
            entries.push((leaf * columns + column, here));
        }
    }
    Ok(asked.table(&asked.signature(), rows, entries)?)
}

fn cast_to_text(column: &dyn Array) -> Result<datafusion::arrow::array::StringArray, Error> {
    let text = datafusion::arrow::compute::cast(column, &DataType::Utf8);
    let text = text.map_err(datafusion::error::DataFusionError::from)?;
    text.as_string_opt::<i32>().cloned().ok_or(Error::Damaged)
}

/// A whole number, cut off at both ends; nothing counts as the lower one.
fn within(number: Expr, least: i64, most: i64) -> Result<Expr, Error> {
    let number = cast(number, DataType::Int64);
    Ok(when(number.clone().gt_eq(lit(most)), lit(most))
        .when(number.clone().gt_eq(lit(least)), number)
        .otherwise(lit(least))?)
}

/// What an individual brings.
fn quantity(people: &DataFrame) -> Result<Expr, Error> {
    let Ok(field) = people.schema().field_with_unqualified_name("quantity") else {
        return Ok(lit(1_i64));
    };
    match field.data_type() {
        DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32 => {}
        got => {
            let (column, place) = ("quantity".to_owned(), "the people".to_owned());
            return Err(Error::NotWhole { column, place, got: got.clone() });
        }
    }
    Ok(ident("quantity"))
}
