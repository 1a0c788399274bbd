//! Questions in SQL, for engines that do not run our code.
//!
//! What is written is plain enough for `DuckDB` and Spark: doubles and whole numbers of 64 bits, floors, `CASE` and `GROUP BY`; every step is exact, so
//! that an engine whose doubles are those of IEEE 754 counts what [`Tally`](super::Tally) counts. Numbers with a fraction are written as the
//! shortest text that is read back as the same double.

use std::fmt::Write as _;

use dp_geometry::{Cloud, NestedGrid, PublicBox};
use dp_mechanism::passes::Asked;

use super::Question;
use super::question::What;
use crate::dpm::{Fate, LeafSums, Level, Path, Walk};
use crate::map::Vertices;

/// The statement that counts a table. `records` is SQL for all records, with coordinates `x0`, `x1`, .. that are doubles of IEEE 754, none of
/// them missing, "not a number" or infinite. None where SQL does not round as counting does, in rounds of re-centring, and for maps that are finer in a part.
///
/// What it returns is described at [`Asked::sql`].
pub fn sql(asked: &Asked<Question>, records: &str) -> Option<String> {
    let cells = match &asked.question().what {
        What::Rows => {
            "cells AS (SELECT 0 AS entry, 0 AS value FROM records WHERE 1 = 0)".to_owned()
        }
        What::Level(level) => of_level(level)?,
        What::LeafSums(sums) => of_leaves(sums)?,
        What::Vertices(vertices) if vertices.is_finer_in_a_part() => return None,
        What::Vertices(vertices) => of_vertices(vertices),
        What::Gaps(_)
        | What::Radii(_)
        | What::Sums(_)
        | What::Nest(_)
        | What::RingCells(_)
        | What::GroupSums(_)
        | What::Codes(_)
        | What::PartSums(_)
        | What::Savings(_) => return None,
    };
    Some(asked.sql(&format!("records AS (\n{records}\n),\n{cells}")))
}

/// A double that is read back as the same.
pub fn sql_double(x: f64) -> String {
    format!("CAST('{x:e}' AS DOUBLE)")
}

/// `name0, name1, ..`
fn columns(name: &str, dim: usize) -> String {
    let all: Vec<String> = (0..dim).map(|i| format!("{name}{i}")).collect();
    all.join(", ")
}

/// `f(0), f(1), ..`
fn each(dim: usize, f: impl Fn(usize) -> String) -> String {
    (0..dim).map(f).collect::<Vec<_>>().join(", ")
}

/// The cell of a coordinate among so many: a product, a floor, and the ends.
fn cell(i: usize, public_box: &PublicBox, cells: f64, last: f64) -> String {
    let (min, factor) = (sql_double(public_box.min(i)), sql_double(cells / public_box.width(i)));
    let last = sql_double(last);
    format!("CAST(LEAST(GREATEST(FLOOR((x{i} - {min}) * {factor}), 0e0), {last}) AS BIGINT)")
}

/// Grid cells `c`, half-intervals `b`, and the node of the level after a path: below 0 in a leaf of it.
fn of_path(path: &Path) -> Option<(String, String)> {
    let (walk, public_box) = (Walk::new(path)?, path.public_box());
    let dim = public_box.dim();
    let (cells, per_bin) = (walk.cells(), walk.cells_per_bin());
    let mut text = format!(
        "grid AS (SELECT {} FROM records),\n",
        each(dim, |i| {
            format!("{} AS c{i}", cell(i, public_box, f64::from(cells), f64::from(cells - 1)))
        })
    );
    let _ = write!(
        text,
        "level0 AS (SELECT {}, {}, 0 AS node FROM grid)",
        columns("c", dim),
        each(dim, |i| format!("CAST(FLOOR(c{i} / {per_bin}e0) AS BIGINT) AS b{i}"))
    );
    let mut last = "level0".to_owned();
    for (number, fates) in path.levels.iter().enumerate() {
        let mut node = "CASE node".to_owned();
        for (from, fate) in fates.iter().enumerate() {
            let _ = match *fate {
                Fate::Leaf { number } => {
                    write!(node, " WHEN {from} THEN -{}", u32::from(number) + 1)
                }
                Fate::Stay { node: to } => write!(node, " WHEN {from} THEN {to}"),
                Fate::Cut { dimension, cut, left } => write!(
                    node,
                    " WHEN {from} THEN CASE WHEN b{dimension} >= {cut} THEN {} ELSE {left} END",
                    u32::from(left) + 1
                ),
            };
        }
        let here = format!("level{}", number + 1);
        let (c, b) = (columns("c", dim), columns("b", dim));
        let _ = write!(
            text,
            ",\n{here} AS (SELECT {c}, {b}, {node} ELSE node END AS node FROM {last})"
        );
        last = here;
    }
    Some((text, last))
}

fn of_level(level: &Level) -> Option<String> {
    level.counter()?;
    let (mut text, last) = of_path(&level.path)?;
    let dim = level.path.public_box().dim();
    let Level { first, nodes, .. } = level;
    let (end, bins) = (first + nodes, level.path.half_intervals());
    let mut entry = "CASE".to_owned();
    for i in 0..dim {
        let _ = write!(entry, " WHEN GROUPING(b{i}) = 0 THEN b{i} + {}", i * bins);
    }
    let sets = each(dim, |i| format!("(node, b{i})"));
    let _ = write!(
        text,
        ",\ncells AS (SELECT (node - {first}) * {} + {entry} END AS entry, COUNT(*) AS value FROM {last} \
         WHERE node >= {first} AND node < {end} GROUP BY GROUPING SETS ({sets}))",
        dim * bins
    );
    Some(text)
}

fn of_leaves(sums: &LeafSums) -> Option<String> {
    sums.counter()?;
    let (mut text, last) = of_path(&sums.path)?;
    let dim = sums.path.public_box().dim();
    let leaves = sums.path.ends()?.leaves;
    let c = columns("c", dim);
    let _ = write!(
        text,
        ",\nleaves AS (SELECT {c}, CASE WHEN node < 0 THEN -node - 1 ELSE node + {leaves} END AS leaf FROM {last}),\ncells AS ("
    );
    for i in 0..dim {
        let mut middle = "CASE leaf".to_owned();
        for (leaf, middles) in sums.middles.chunks(dim).enumerate() {
            let _ = write!(middle, " WHEN {leaf} THEN {}", middles[i]);
        }
        let union = if i > 0 { "\nUNION ALL " } else { "" };
        let _ = write!(
            text,
            "{union}SELECT leaf * {dim} + {i} AS entry, SUM(2 * c{i} + 1 - {middle} END) AS value FROM leaves GROUP BY leaf"
        );
    }
    text.push(')');
    Some(text)
}

/// Shares among the corners of a cell are products along its axes, in units of `2^-30`, of which each is cut off to whole units; what is
/// cut off stays at the lowest corner, whose offset is 0.
fn of_vertices(vertices: &Vertices) -> String {
    let (dim, public_box) = (vertices.dim(), vertices.public_box());
    let last = (1_u64 << NestedGrid::POSITION_BITS) as f64;
    let one = 1_u64 << Cloud::FRACTION_BITS;
    let mut text = format!(
        "places AS (SELECT {} FROM records)",
        each(dim, |i| format!("{} AS p{i}", cell(i, public_box, last, last)))
    );
    let mut all = String::new();
    let mut first = 0;
    for (level, size) in vertices.levels() {
        let shift = NestedGrid::POSITION_BITS - level;
        let (cells, within) = (1_u64 << shift, 1_u64 << (shift - Cloud::FRACTION_BITS));
        let most = (1_u64 << level) - 1;
        let key = |i| format!("LEAST(CAST(FLOOR(p{i} / {cells}e0) AS BIGINT), {most})");
        let _ = write!(
            text,
            ",\nkeys{level} AS (SELECT {}, {} FROM places)",
            columns("p", dim),
            each(dim, |i| format!("{} AS k{i}", key(i)))
        );
        let fraction =
            |i| format!("CAST(FLOOR((p{i} - k{i} * {cells}) / {within}e0) AS BIGINT) AS f{i}");
        let per_axis = (1_usize << level) + 1;
        let stride = |i: usize| (i + 1..dim).fold(1, |stride, _| stride * per_axis);
        let lowest: Vec<String> = (0..dim).map(|i| format!("k{i} * {}", stride(i))).collect();
        let _ = write!(
            text,
            ",\ncorners{level}x0 AS (SELECT {}, {} AS lowest, 0 AS aside, {one} AS share FROM keys{level})",
            each(dim, fraction),
            lowest.join(" + ")
        );
        for i in 0..dim {
            let product = format!("(share * CASE bit WHEN 1 THEN f{i} ELSE {one} - f{i} END)");
            let _ = write!(
                text,
                ",\ncorners{level}x{} AS (SELECT {}, lowest, aside + bit * {} AS aside, \
                 CAST(({product} - {product} % {one}) / {one}e0 AS BIGINT) AS share \
                 FROM corners{level}x{i} CROSS JOIN (SELECT 0 AS bit UNION ALL SELECT 1 AS bit) AS bits)",
                i + 1,
                columns("f", dim),
                stride(i)
            );
        }
        let unit = format!("CAST(FLOOR(share / {}e0) AS BIGINT)", one / Cloud::UNITS);
        let _ = write!(
            text,
            ",\nshares{level} AS (SELECT lowest + aside AS vertex, CASE WHEN aside = 0 THEN {} ELSE {unit} END AS share FROM corners{level}x{dim} \
             UNION ALL SELECT lowest, -{unit} FROM corners{level}x{dim} WHERE aside > 0)",
            Cloud::UNITS
        );
        let union = if first > 0 { "\nUNION ALL " } else { "" };
        let _ = write!(
            all,
            "{union}SELECT {first} + vertex AS entry, SUM(share) AS value FROM shares{level} GROUP BY vertex"
        );
        first += size;
    }
    let _ = write!(text, ",\ncells AS ({all})");
    text
}

#[cfg(test)]
mod tests {
    use dp_geometry::{Points, PublicBox};
    use dp_mechanism::ChaCha20Rng;
    use dp_mechanism::passes::{ByPasses, Passes};
    use rand::SeedableRng;

    use super::{sql, sql_double};
    use crate::Budget;
    use crate::dpm::{Dpm, DpmSettings};
    use crate::map::{PrivateMap, PrivateMapSettings};
    use crate::passes::Question;
    use crate::recentring::{DpmRecentred, DpmRecentredSettings};

    #[test]
    fn doubles_are_read_back_as_they_were() {
        for x in [0.1, -1e300, 5e-324, 0.0, 1.0, f64::MAX, 1.0 / 3.0, 4_294_967_296.5] {
            let text = sql_double(x);
            let digits = text.strip_prefix("CAST('").and_then(|text| text.split('\'').next());
            assert_eq!(digits.and_then(|digits| digits.parse().ok()), Some(x), "{text}");
        }
    }

    /// What they count is compared with `DuckDB` by hand: see docs/own-files.md.
    #[test]
    fn statements_are_whole_and_rounds_have_none() {
        let (public_box, budget) = (PublicBox::cube(2, -1.0, 1.0), Budget::new(1.0, 1e-6));
        let (public_box, budget) = (public_box.expect("valid"), budget.expect("valid"));
        let side = PublicBox::cube(1, 0.0, 1.0).expect("valid");
        let settings = PrivateMapSettings { levels: Some(1..=1), ..Default::default() };
        let map = PrivateMap::add_remove(side, budget, settings).expect("valid");
        let settings = DpmSettings { max_depth: 1, counters: 1, ..Default::default() };
        let dpm = Dpm::new(public_box.clone(), budget, settings).expect("valid");
        let settings = DpmRecentredSettings { max_depth: 1, ..Default::default() };
        let recentred = DpmRecentred::new(public_box, budget, settings);
        let mut texts = statements(map, 1);
        texts.extend(statements(dpm, 2));
        assert!(texts.len() >= 3, "{texts:?}");
        let last = "SELECT 'SIGNATURE', 'cells', CAST(COUNT(*) AS BIGINT) FROM cells\n";
        for text in &texts {
            assert!(text.starts_with("WITH records AS (\nSELECT 1 FROM points\n),\n"), "{text}");
            assert!(text.ends_with(last) && text.matches('(').count() == text.matches(')').count());
        }
        assert!(
            texts[1].contains("GROUP BY GROUPING SETS ((node, b0), (node, b1))"),
            "{}",
            texts[1]
        );
        assert!(texts.iter().any(|text| text.contains("level1 AS")), "a cut is drawn");
        let names = statements(recentred.expect("valid"), 2);
        assert!(names.iter().any(|name| name == "distances to the centres"), "{names:?}");
        assert!(names.iter().any(|name| name == "sums around the centres"), "{names:?}");
        assert_eq!(names.iter().filter(|name| name.starts_with("WITH")).count(), 1);
    }

    /// One that changed is to be compared by hand again. In two dimensions, so that axes and their strides are told apart.
    #[test]
    fn statements_are_those_that_were_compared() {
        let budget = Budget::new(50.0, 1e-6).expect("valid");
        let sides = PublicBox::new(vec![-0.5, 0.0], vec![1.0, 2.0]).expect("valid");
        let settings = PrivateMapSettings { levels: Some(1..=2), ..Default::default() };
        let map = PrivateMap::add_remove(sides.clone(), budget, settings).expect("valid");
        let settings = DpmSettings { max_depth: 2, counters: 1, ..Default::default() };
        let dpm = Dpm::new(sides, budget, settings).expect("valid");
        let texts = [statements(map, 2), statements(dpm, 2)].concat();
        assert!(texts.iter().any(|text| text.contains("level1 AS")), "a level after a path");
        let hash = |text: &String| {
            let next = |sum: u64, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            text.bytes().fold(0xcbf2_9ce4_8422_2325, next)
        };
        let found: Vec<u64> = texts.iter().map(hash).collect();
        assert_eq!(
            found,
            [0xb875_64eb_4ddb_71b0, 0x0609_c40e_2e43_40a2, 0x0584_e449_d932_ad28],
            "{texts:#?}"
        );
    }

    /// The statement of each pass over a few records, or the name of its question where it has none.
    fn statements<P: ByPasses<Question = Question>>(plan: P, dim: usize) -> Vec<String> {
        let points = Points::new((0..40 * dim).map(|i| (i % 2) as f64).collect(), dim);
        let points = points.expect("whole rows");
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let (mut passes, mut texts) = (Passes::new(plan).expect("has tables"), Vec::new());
        loop {
            let asked = passes.asked();
            let text = sql(asked, "SELECT 1 FROM points");
            let text = text.map(|text| text.replace(&asked.signature(), "SIGNATURE"));
            texts.push(text.unwrap_or_else(|| asked.question().name().to_owned()));
            let mut tally = asked.tally().expect("has a table");
            tally.add(points.view()).expect("few");
            let table = tally.into_table();
            if passes.simulate(&table, &mut rng).expect("of all").is_some() {
                return texts;
            }
        }
    }
}
