//! The laws of tables, what is refused, and a release that is taken up again, on a mechanism of two passes.
#![allow(clippy::disallowed_methods, reason = "a test may look")]

use std::collections::BTreeSet;

use dp_accounting::{AddRemove, Budget, Epsilon, Receipt, Step};
use dp_noise::ChaCha20Rng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

use super::machine::Kept;
use super::*;
use crate::{Algorithm, Draws, Mechanism, NoisyCount, Private, SecureSource};

/// How many numbers lie in each of the classes that these bounds make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Classes {
    bounds: Vec<i64>,
}

impl Question for Classes {
    type Chunk<'a> = &'a [i64];
    type Counter = Vec<i64>;

    fn counter(&self) -> Option<Vec<i64>> {
        (!self.bounds.is_empty()).then(|| self.bounds.clone())
    }

    fn entries(&self) -> usize {
        self.bounds.len() + 1
    }

    fn rows(&self, chunk: &[i64]) -> Option<u64> {
        (chunk.first() != Some(&i64::MIN)).then_some(chunk.len() as u64)
    }

    fn count(bounds: &mut Vec<i64>, chunk: &[i64], entries: &mut [i64]) {
        for x in chunk {
            entries[bounds.partition_point(|bound| bound <= x)] += 1;
        }
    }

    fn is_possible(&self, rows: u64, entries: &[i64]) -> bool {
        entries.iter().all(|&count| count >= 0)
            && entries.iter().map(|&count| i128::from(count)).sum::<i128>() == i128::from(rows)
    }
}

/// The number of all records, then of those above half of that.
#[derive(Clone)]
struct Halves {
    noise: NoisyCount,
    bounds: Vec<i64>,
    /// More records than these are not of the shape that the plan is for: their number is public here.
    most: usize,
}

const COUNT: &str = "count";

impl Algorithm for Halves {
    type Relation = AddRemove;
    type Data<'a> = &'a [i64];
    type Shape = u64;
    type Output = [i64; 2];
    type Error = u64;

    fn cost(&self) -> Receipt<AddRemove> {
        let one = Step::spend(COUNT, self.noise.loss());
        let steps = Step::sequential("halves", vec![one.clone(), one]);
        Receipt::new("halves", AddRemove, Budget::new(2.0, 0.0).expect("valid"), steps)
    }

    fn shape(data: &&[i64]) -> u64 {
        data.len() as u64
    }

    fn check(&self, &rows: &u64) -> Result<(), u64> {
        if rows <= self.most as u64 { Ok(()) } else { Err(rows) }
    }

    fn run(&self, data: Private<&[i64]>, draws: &mut Draws<'_>) -> [i64; 2] {
        let (mut state, mut question) = self.first();
        loop {
            let entries = data.map(|data| {
                let mut entries = vec![0; question.entries()];
                Classes::count(&mut question.bounds.clone(), data, &mut entries);
                entries
            });
            let rows = data.map(|data| data.len() as u64);
            let counted = Counted { rows, entries: entries.cells(question.entries()) };
            match self.answer(state, &counted, draws) {
                Next::Ask(next, asked) => (state, question) = (next, asked),
                Next::Done(output) => return output,
            }
        }
    }
}

impl ByPasses for Halves {
    type Question = Classes;
    type State = Option<i64>;

    fn identity(&self) -> impl Serialize {
        &self.bounds
    }

    fn shape_of(&self, _: &Classes, rows: u64) -> u64 {
        rows
    }

    fn fits(&self, state: &Option<i64>, question: &Classes) -> Result<(), TableError> {
        let bounds = state.map_or_else(|| self.bounds.clone(), |count| vec![count / 2]);
        if question.bounds == bounds { Ok(()) } else { Err(TableError::OtherQuestion) }
    }

    fn first(&self) -> (Option<i64>, Classes) {
        (None, Classes { bounds: self.bounds.clone() })
    }

    fn answer(
        &self,
        first: Option<i64>,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Next<Option<i64>, Classes, [i64; 2]> {
        let draw = &mut draws.next(COUNT);
        match first {
            None => {
                let count = self.noise.release(counted.rows, draw);
                Next::Ask(Some(count), Classes { bounds: vec![count / 2] })
            }
            Some(first) => {
                let above = counted.entries.at(1).map(|count| count.unsigned_abs());
                Next::Done([first, self.noise.release(above, draw)])
            }
        }
    }
}

fn plan(bounds: &[i64]) -> Halves {
    let noise = NoisyCount::geometric(Epsilon::new(1.0).expect("valid")).expect("valid");
    Halves { noise, bounds: bounds.to_vec(), most: usize::MAX }
}

fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

fn records() -> Vec<i64> {
    let mut rng = rng(1);
    (0..500).map(|_| rng.random_range(0..1_000)).collect()
}

fn table_of(asked: &Asked<Classes>, parts: &[&[i64]]) -> Table {
    let mut all = asked.tally().expect("has a table");
    for part in parts {
        let mut one = asked.tally().expect("has a table");
        one.add(part).expect("few rows");
        let bytes = one.into_table().to_bytes();
        all.merge(&Table::from_bytes(&bytes).expect("whole")).expect("of one question");
    }
    all.into_table()
}

#[test]
fn merging_is_associative_and_commutative_and_nothing_changes_nothing() {
    let passes = Passes::new(plan(&[100, 400])).expect("has tables");
    let (asked, records) = (passes.asked(), records());
    let mut rng = rng(2);
    let whole = table_of(asked, &[&records]);
    for _ in 0..20 {
        let mut cuts = [0; 4].map(|_| rng.random_range(0..=records.len()));
        cuts.sort_unstable();
        let [a, b, c, _] = cuts;
        let parts = [&records[..a], &records[a..b], &records[b..c], &records[c..], &[]];
        let [one, two, three, four, none] = parts.map(|part| table_of(asked, &[part]));
        let merged = |tables: &[&Table]| {
            let mut all = tables[0].clone();
            for table in &tables[1..] {
                all.merge(table).expect("of one question");
            }
            all
        };
        let left = merged(&[&merged(&[&one, &two]), &merged(&[&three, &four])]);
        let right = merged(&[&one, &merged(&[&two, &merged(&[&three, &four])])]);
        let mixed = merged(&[&four, &none, &two, &one, &three]);
        assert!(left == whole && right == whole && mixed == whole);
        assert!(merged(&[&none, &whole]) == whole && merged(&[&whole, &none]) == whole);
    }
}

#[test]
fn a_release_by_passes_is_that_from_memory_also_when_taken_up_again() {
    let (plan, records) = (plan(&[500]), records());
    let (mut ours, mut theirs) = (rng(7), rng(7));
    let direct = plan.simulate(&records, &mut theirs).expect("any shape");
    let mut source = SecureSource::new(&mut ours);
    let mut passes = Passes::new(plan.clone()).expect("has tables");
    let released = loop {
        let parts: Vec<&[i64]> = records.chunks(37).rev().collect();
        let table = table_of(passes.asked(), &parts);
        let released = passes.replay(&table, &mut source).expect("of all records");
        let bytes = passes.to_bytes();
        passes = Passes::from_bytes(plan.clone(), &bytes).expect("whole");
        assert_eq!(passes.to_bytes(), bytes);
        if let Some(released) = released {
            assert_eq!(passes.replay(&table, &mut source), Err(TableError::Finished));
            break released;
        }
    };
    assert_eq!(released, direct.output);
}

/// A state that has been changed to ask again gets no second draw: both are spent.
#[test]
fn draws_of_all_passes_are_charged_to_one_receipt() {
    let (plan, records) = (plan(&[500]), records());
    let mut rng = rng(7);
    let mut source = SecureSource::new(&mut rng);
    let mut passes = Passes::new(plan.clone()).expect("has tables");
    let first = Passes::new(plan).expect("has tables");
    for end in [Ok(None), Ok(None), Err(TableError::Overdrawn)] {
        let table = table_of(passes.asked(), &[&records]);
        assert_eq!(passes.replay(&table, &mut source), end);
        let again = Passes::from_bytes(first.plan.clone(), &first.to_bytes()).expect("whole");
        passes.kept = Kept { spent: passes.kept.spent, ..again.kept };
    }
}

#[test]
fn what_does_not_answer_the_question_is_refused_before_a_draw() {
    let records = records();
    let mut rng = rng(7);
    let mut source = SecureSource::new(&mut rng);
    let mut passes = Passes::new(plan(&[500])).expect("has tables");
    let first = table_of(passes.asked(), &[&records]);
    let other = Passes::new(plan(&[501])).expect("has tables");
    let theirs = table_of(other.asked(), &[&records]);
    assert_eq!(passes.check(&theirs), Err(TableError::OtherPlan));
    assert_eq!(first.clone().merge(&theirs), Err(TableError::OtherPlan));
    assert!(Passes::from_bytes(plan(&[500]), &other.to_bytes()).is_err());
    let with = |rows, entries: &[i64]| Table { rows, entries: entries.to_vec(), ..first.clone() };
    for (table, why) in [
        (with(500, &[500]), TableError::Entries { want: 2, got: 1 }),
        (with(500, &[501, -1]), TableError::Impossible),
        (with(499, &[500, 0]), TableError::Impossible),
        (with(500, &[i64::MAX, i64::MAX]), TableError::Impossible),
        (with(MAX_ROWS + 1, &[0, 0]), TableError::TooManyRows),
    ] {
        assert_eq!(passes.check(&table), Err(why));
        assert_eq!(passes.replay(&table, &mut source).expect_err("refused"), why);
    }
    assert_eq!(passes.kept.spent, crate::meter::Spent::default());
    assert_eq!(passes.replay(&first, &mut source), Ok(None));
    assert_eq!(passes.check(&first), Err(TableError::OtherPass { want: 1, got: 0 }));
    let twice = table_of(passes.asked(), &[&records, &records[..1]]);
    let without = table_of(passes.asked(), &[&records[1..]]);
    for table in [twice, without] {
        assert_eq!(passes.replay(&table, &mut source), Err(TableError::OtherRows));
    }
    assert_eq!(passes.check(&table_of(passes.asked(), &[&records])), Ok(()));
}

/// By passes as in memory: what `check` refuses is never drawn on, in no pass.
#[test]
fn a_shape_that_the_plan_is_not_for_is_refused_before_a_draw() {
    let few = Halves { most: 499, ..plan(&[500]) };
    let mut rng = rng(7);
    assert_eq!(few.simulate(&records(), &mut rng).map(|release| release.output), Err(500));
    let mut passes = Passes::new(few.clone()).expect("has tables");
    let table = table_of(passes.asked(), &[&records()]);
    assert_eq!(passes.check(&table), Err(TableError::Shape));
    assert_eq!(passes.simulate(&table, &mut rng).err(), Some(TableError::Shape));
    assert_eq!(rng.get_word_pos(), 0);
    assert_eq!(passes.kept.spent, crate::meter::Spent::default());
    let fitting = table_of(passes.asked(), &[&records()[1..]]);
    assert_eq!(passes.simulate(&fitting, &mut rng), Ok(None));
    // And in each pass: the plan that goes on has the shape of its own.
    let mut narrower = Passes::new(Halves { most: 498, ..few }).expect("has tables");
    narrower.kept = passes.kept;
    let again = table_of(narrower.asked(), &[&records()[1..]]);
    assert_eq!(narrower.check(&again), Err(TableError::Shape));
}

#[test]
fn bytes_that_are_not_whole_are_refused() {
    let passes = Passes::new(plan(&[500])).expect("has tables");
    let table = table_of(passes.asked(), &[&records()]);
    let whole = [table.to_bytes(), passes.asked().to_bytes(), passes.to_bytes()];
    let read = |bytes: &[u8]| {
        [
            Table::from_bytes(bytes).is_ok(),
            Asked::<Classes>::from_bytes(bytes).is_ok(),
            Passes::from_bytes(plan(&[500]), bytes).is_ok(),
        ]
    };
    for (number, bytes) in whole.iter().enumerate() {
        assert_eq!(read(bytes), [0, 1, 2].map(|kind| kind == number));
        for cut in 0..bytes.len() {
            assert_eq!(read(&bytes[..cut]), [false; 3]);
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            assert_eq!(read(&damaged), [false; 3], "byte {at}");
        }
    }
}

#[test]
fn rows_stop_where_integers_do() {
    let passes = Passes::new(plan(&[500])).expect("has tables");
    let mut tally = passes.asked().tally().expect("has a table");
    assert_eq!(tally.add(&[i64::MIN]), Err(TableError::Shape));
    let all = i64::try_from(MAX_ROWS).expect("below 2^63");
    let full = Table { rows: MAX_ROWS, entries: vec![all, 0], ..tally.table().clone() };
    tally.merge(&full).expect("as many as there may be");
    assert_eq!(tally.add(&[1]), Err(TableError::TooManyRows));
    assert_eq!(tally.add(&[]), Ok(()));
    let one = Table { rows: 1, entries: vec![1, 0], ..full };
    assert_eq!(tally.merge(&one), Err(TableError::TooManyRows));
    // Nor do they wrap, in a table that nobody has checked.
    let mut made_up = Table { rows: u64::MAX, ..one.clone() };
    assert_eq!(made_up.merge(&one), Err(TableError::TooManyRows));
    let mut ends = Table { rows: 0, entries: vec![i64::MAX, i64::MIN], ..one.clone() };
    ends.merge(&ends.clone()).expect("of one question");
    assert_eq!(ends.entries, [i64::MAX, i64::MIN]);
    assert!(i128::from(MAX_ROWS) << 24 <= i128::from(i64::MAX));
    assert!(Passes::new(plan(&[])).is_err(), "a question without a table");
}

#[test]
fn neighbours_print_the_same() {
    let mut passes = Passes::new(plan(&[500])).expect("has tables");
    let mut rng = rng(7);
    let asked = passes.asked().clone();
    let (one, two) = (table_of(&asked, &[&[3, 4]]), table_of(&asked, &[&[3, 900, 7]]));
    assert_eq!(format!("{one:?}"), format!("{two:?}"));
    let before = format!("{passes:?}");
    assert_eq!(before, "Passes { pass: 0, .. }");
    passes.replay(&one, &mut SecureSource::new(&mut rng)).expect("all records");
    assert_eq!(format!("{passes:?}"), "Passes { pass: 1, .. }");
}

/// Entries that two parts have wrong may add up to right ones.
#[test]
fn a_part_that_no_records_make_is_refused_before_it_is_merged() {
    let passes = Passes::new(plan(&[500])).expect("has tables");
    let mut all = passes.asked().tally().expect("has a table");
    let whole = table_of(passes.asked(), &[&records()]);
    for entries in [vec![505, -5], vec![i64::MAX, 0], vec![500, 1]] {
        let part = Table { entries, ..whole.clone() };
        assert_eq!(all.merge(&part), Err(TableError::Impossible));
    }
    assert_eq!(all.table().rows(), 0);
}

#[test]
fn a_table_of_another_length_is_refused_by_it() {
    let passes = Passes::new(plan(&[500])).expect("has tables");
    let whole = table_of(passes.asked(), &[&records()]);
    for got in [0, 1, 3] {
        let mut entries = whole.entries.clone();
        entries.resize(got, 0);
        let refused = Err(TableError::Entries { want: 2, got });
        let other = Table { entries, ..whole.clone() };
        let mut all = whole.clone();
        assert_eq!((all.merge(&other), passes.check(&other)), (refused, refused));
        assert!(all == whole, "nothing has changed");
    }
}

/// What was drawn at one loss is not taken for drawn at another, nor a state of fewer draws for one of this receipt.
#[test]
fn a_state_is_bound_to_its_receipt() {
    let (mut passes, records) = (Passes::new(plan(&[500])).expect("has tables"), records());
    let table = table_of(passes.asked(), &[&records]);
    assert_eq!(passes.simulate(&table, &mut rng(7)), Ok(None));
    let bytes = passes.to_bytes();
    let noise = NoisyCount::geometric(Epsilon::new(0.1).expect("valid")).expect("valid");
    let other = Passes::from_bytes(Halves { noise, ..plan(&[500]) }, &bytes);
    assert_eq!(other.err(), Some(TableError::OtherPlan));
    let spent = plain(&vec![(1_u64, BTreeSet::<u64>::new())]);
    passes.kept.spent = read(&spent).expect("of one leaf");
    let fewer = Passes::from_bytes(plan(&[500]), &passes.to_bytes());
    assert_eq!(fewer.err(), Some(TableError::Damaged));
}

#[test]
fn values_of_a_state_have_limits_each() {
    let all = |got: [f64; 3]| StateError::unless_all_within("radius", got, [0.0, 2.0]);
    assert_eq!(all([0.0, 1.0, 2.0]), Ok(()));
    for bad in [-0.1, 2.1, f64::NAN, f64::INFINITY] {
        for at in 0..3 {
            let mut got = [1.0; 3];
            got[at] = bad;
            let limit = if bad < 0.0 { 0.0 } else { 2.0 };
            let said = all(got).expect_err("refused").to_string();
            assert!(said.ends_with(&format!("radius is {bad}, the limit is {limit}")), "{said}");
        }
    }
}

type Change<'a> = &'a dyn Fn(&mut Kept<Option<i64>, Classes>);

/// A checksum stops damage only: bytes that fit it and that no run has left behind are refused, with what is wrong about them.
#[test]
fn a_state_that_was_made_up_is_refused_when_it_is_read() {
    let records = records();
    let mut passes = Passes::new(plan(&[500])).expect("has tables");
    let before = passes.to_bytes();
    let table = table_of(passes.asked(), &[&records]);
    assert_eq!(passes.simulate(&table, &mut rng(7)), Ok(None));
    let bytes = passes.to_bytes();
    let read_with = |bytes: &[u8], change: Change<'_>| {
        let mut passes = Passes::from_bytes(plan(&[500]), bytes).expect("as it was left");
        change(&mut passes.kept);
        Passes::from_bytes(plan(&[500]), &passes.to_bytes()).map(|_| ()).map_err(|e| e.to_string())
    };
    assert_eq!(read_with(&before, &|_| ()), Ok(()));
    assert_eq!(read_with(&bytes, &|_| ()), Ok(()));
    let other = read_with(&bytes, &|kept| kept.asked.question.bounds[0] += 1);
    assert_eq!(other, Err("the table answers another question".to_owned()));
    let rows = "no run of this plan leaves this state: whether it has a number of records is";
    let none = read_with(&bytes, &|kept| kept.rows = None);
    assert_eq!(none, Err(format!("{rows} 0, the limit is 1")));
    let early = read_with(&before, &|kept| kept.rows = Some([0; 8]));
    assert_eq!(early, Err(format!("{rows} 1, the limit is 0")));
    let more = "more has been drawn for this state than the receipt of its plan has".to_owned();
    let spent = |uses: [u64; 2], parts: &[u64]| {
        let parts: BTreeSet<u64> = parts.iter().copied().collect();
        read::<crate::meter::Spent>(&plain(&uses.map(|uses| (uses, parts.clone())).to_vec()))
            .expect("of two leaves")
    };
    for (uses, parts) in [([2, 0], &[][..]), ([u64::MAX, 1], &[]), ([1, 0], &[0])] {
        let over = read_with(&bytes, &|kept| kept.spent = spent(uses, parts));
        assert_eq!(over, Err(more.clone()), "{uses:?}");
    }
    assert_eq!(read_with(&before, &|kept| kept.spent = spent([1, 0], &[])), Err(more));
}

#[test]
fn states_of_neighbours_are_of_one_length() {
    let lengths = [0, 127, 128, 500].map(|n| {
        let mut passes = Passes::new(plan(&[500])).expect("has tables");
        let table = table_of(passes.asked(), &[&records()[..n]]);
        // What is released has the length of what is released.
        let mut quiet = rng(7);
        assert_eq!(passes.simulate(&table, &mut quiet), Ok(None));
        passes.kept.asked.question.bounds = vec![1];
        passes.kept.state = Some(None);
        passes.to_bytes().len()
    });
    assert_eq!(lengths, [lengths[0]; 4]);
}

#[test]
fn a_table_that_somebody_else_has_counted_is_as_good_as_ours_or_refused() {
    let (passes, records) = (Passes::new(plan(&[500])).expect("has tables"), records());
    let (asked, ours) = (passes.asked(), table_of(passes.asked(), &[&records]));
    let signature = asked.signature();
    let both = [(1, ours.entries[1]), (0, ours.entries[0])];
    assert_eq!(asked.table(&signature, 500, both), Ok(ours));
    let none = asked.table(&signature, 0, []).expect("what is missing is 0");
    assert_eq!(none, table_of(asked, &[]));
    for entries in [vec![(2, 1)], vec![(0, 1), (0, 1)], vec![(0, 0), (0, 0)]] {
        assert_eq!(asked.table(&signature, 500, entries), Err(TableError::Damaged));
    }
    let [_, plan, pass, question] = signature.split('-').collect::<Vec<_>>()[..] else {
        unreachable!("four words")
    };
    let other = format!("{:016x}", 7);
    for (said, why) in [
        (format!("dptable1-{other}-{pass}-{question}"), TableError::OtherPlan),
        (format!("dptable1-{plan}-1-{question}"), TableError::OtherPass { want: 0, got: 1 }),
        (format!("dptable1-{plan}-{pass}-{other}"), TableError::OtherQuestion),
        (format!("dptable2-{plan}-{pass}-{question}"), TableError::Damaged),
        (format!("{signature}-"), TableError::Damaged),
        (signature.replacen("-0-", "-+0-", 1), TableError::Damaged),
        (signature[..signature.len() - 1].to_owned(), TableError::Damaged),
        (String::new(), TableError::Damaged),
    ] {
        assert_eq!(asked.table(&said, 500, both), Err(why), "{said}");
    }
}
