#[cfg(feature = "parquet")]
pub(crate) mod parquet;
#[cfg(feature = "parquet")]
mod parquet_random;
#[cfg(feature = "parquet")]
mod parquet_texts;

use super::{Form, Rows, Secrecy, TableError, for_each_row};
use std::io::{Read, Write};
use std::path::Path;

fn rows(text: &str, columns: &[&str]) -> Result<Vec<Vec<i64>>, String> {
    let mut seen = Vec::new();
    for_each_row(text.as_bytes(), Path::new("a.csv"), columns, |row| seen.push(row.to_vec()))
        .map(|rows| assert_eq!(rows, seen.len()))
        .map_err(|error| error.to_string())?;
    Ok(seen)
}

fn refused(text: &str, columns: &[&str]) -> String {
    rows(text, columns).unwrap_err()
}

/// All cells as text, from a file of this name.
fn texts(name: &str, content: &[u8], columns: &[&str]) -> Result<Vec<Vec<String>>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    texts_of(&path, columns)
}

/// All cells as text; errors name the folder DIR.
fn texts_of(path: &Path, columns: &[&str]) -> Result<Vec<Vec<String>>, String> {
    let read = || {
        let mut rows = Rows::open(path, Secrecy::Public, &Form::default())?;
        rows.choose(columns)?;
        let mut seen = Vec::new();
        while rows.advance()? {
            let cells = (0..columns.len()).map(|i| Ok(rows.text(i)?.into_owned()));
            seen.push(cells.collect::<Result<_, _>>()?);
        }
        Ok(seen)
    };
    read().map_err(|error: TableError| {
        let folder = path.parent().unwrap().display().to_string();
        error.to_string().replace(&folder, "DIR")
    })
}

#[test]
fn columns_come_in_the_order_asked_for() {
    assert_eq!(rows("a,b,c\n1,2,3\n4,5,6\n", &["c", "a"]), Ok(vec![vec![3, 1], vec![6, 4]]));
    assert_eq!(rows("a\n", &["a"]), Ok(vec![]));
}

#[test]
fn what_cannot_be_read_is_named_by_line_and_column() {
    insta::assert_snapshot!(refused("a,b\n1,2\n3,x\n", &["b"]), @"a.csv, line 3: column 2 (b): `x` is not a whole number of 64 bits");
    insta::assert_snapshot!(refused("a,b\n\n\n3,1.5", &["b"]), @"a.csv, line 4: column 2 (b): `1.5` is not a whole number of 64 bits");
    insta::assert_snapshot!(refused("a,b\n", &["z"]), @"a.csv, line 1: there is no column `z`; these exist: a, b");
    insta::assert_snapshot!(refused("a,b,a\n", &["a"]), @"a.csv, line 1: two columns are called `a`");
    insta::assert_snapshot!(refused("a,b\n1,2\n3\n", &["a"]), @"a.csv, line 3: column 2 is missing: 1 cells, the header has 2");
    insta::assert_snapshot!(refused("a\n1,2\n", &["a"]), @"a.csv, line 2: column 2 is too many: 2 cells, the header has 1");
    insta::assert_snapshot!(refused("", &["a"]), @"a.csv: the file is empty");
}

/// What a private file says, row by row, and how many rows were passed over.
fn private(text: &[u8], form: &Form, column: &str) -> Result<(Vec<Option<String>>, u64), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.csv");
    std::fs::write(&path, text).unwrap();
    let read = || {
        let mut rows = Rows::open(&path, Secrecy::Private, form)?;
        rows.choose(&[column])?;
        let mut seen = Vec::new();
        while rows.advance()? {
            seen.push(rows.text_or_none(0).map(std::borrow::Cow::into_owned));
        }
        Ok((seen, rows.passed_over()))
    };
    let shown = |error: TableError| error.to_string();
    read().map_err(|error| shown(error).replace(&folder.path().display().to_string(), "DIR"))
}

#[test]
fn an_error_in_a_private_file_does_not_show_its_first_line() {
    let error = private(b"secret,1\n", &Form::default(), "unit").unwrap_err();
    insta::assert_snapshot!(error, @"DIR/p.csv, line 1: the first line must name the columns, and none is called `unit`; `quietus check` shows them, `--column unit=THERE` says what it is called");
}

#[test]
fn no_cell_and_no_row_ends_the_reading_of_a_private_file() {
    let text = b"a,b\n1,2\n3\n4,5,6\n\xff,1\n\"x\ny\",2\n ,3\n9,\"\n\"\n";
    let some = |text: &str| Some(text.to_owned());
    let (seen, passed_over) = private(text, &Form::default(), "a").unwrap();
    assert_eq!(seen, [some("1"), None, some(""), some("9")]);
    assert_eq!(passed_over, 3, "too few, too many, and one that goes over two lines");
}

#[test]
fn other_delimiters_and_other_names_are_read() {
    let form = Form {
        delimiter: b';',
        renamed: vec![("unit".to_owned(), "Haus, Nr".to_owned())],
        ..Form::default()
    };
    let text = "\u{feff}Haus, Nr;n\r\n\"a;b\";1\r\nc,d;2\r\n".as_bytes();
    let (seen, _) = private(text, &form, "unit").unwrap();
    assert_eq!(seen, [Some("a;b".to_owned()), Some("c,d".to_owned())]);
}

/// Whoever is longer than any should be is left out, and stops nobody: also where the cell goes on for lines, or has the quotes of what was typed.
#[test]
fn a_record_that_is_too_long_is_passed_over_in_a_private_file_and_refused_in_a_public_one() {
    let (some, form) = (|text: &str| Some(text.to_owned()), Form::default());
    let counted = vec![some("1"), some("9")];
    for (unit, often) in
        [("x", 1 << 20), ("\"\"", 1 << 19), ("\n", (1 << 20) + 1), ("a\n,\"\"", 1 << 18)]
    {
        let long = unit.repeat(often);
        for (before, after) in [("\"", "\",2"), ("7,\"", "\""), ("\"", "\"")] {
            let long = format!("{before}{long}{after}\n");
            let text = format!("a,b\n1,2\n{long}9,\"3\"\n{long}");
            let seen = private(text.as_bytes(), &form, "a").unwrap();
            assert_eq!(seen, (counted.clone(), 2), "{before}{unit}");
            let error = texts("p.csv", text.as_bytes(), &["a"]).unwrap_err();
            let want = "DIR/p.csv, line 3: a record begins here that is longer than 1048576 bytes";
            assert_eq!(error, want);
            // Lines are counted on, as far as they are kept in mind.
            if unit != "\n" {
                let lines = 4 + text.matches('\n').count() - 3;
                let wrong = private((text + "\"x\"y,1\n").as_bytes(), &form, "a").unwrap_err();
                let want = format!("DIR/p.csv, line {lines}: a quote begins a cell here, and");
                assert!(wrong.starts_with(&want), "{before}{unit}: {wrong}");
            }
        }
    }
    // To the byte, the end of the line included; and without quotes.
    for long in (1 << 20) - 8..(1 << 20) + 8 {
        let x = "x".repeat(long);
        for (row, length) in [(format!("7,\"{x}\"\n"), long + 5), (format!("7,{x}\n"), long + 3)] {
            let text = format!("a,b\n1,2\n{row}9,3\n");
            let (seen, passed_over) = private(text.as_bytes(), &form, "a").unwrap();
            assert_eq!(
                (seen.len(), passed_over == 1),
                (3 - usize::from(length > 1 << 20), length > 1 << 20)
            );
        }
    }
    let header = format!("a,{}\n1,2\n", "b".repeat(1 << 20));
    let error = private(header.as_bytes(), &form, "a").unwrap_err();
    assert_eq!(error, "DIR/p.csv, line 1: a record begins here that is longer than 1048576 bytes");
}

/// Nor is it one by having as many cells as there are columns, where a blank line is above their names.
#[test]
fn what_is_cut_is_no_row_below_a_blank_line() {
    let long = "x".repeat(1 << 21);
    for above in ["", "\n", "\r\n\n"] {
        let text = format!("{above}a,b\n1,2\n{long},2\n9,3\n");
        let seen = private(text.as_bytes(), &Form::default(), "a").unwrap();
        assert_eq!(seen, (["1", "9"].map(|cell| Some(cell.to_owned())).to_vec(), 1), "{above:?}");
    }
}

/// As a file of three gigabytes in one line, packed or not: it is refused at its end, or that of the file, and takes no memory until then.
#[test]
fn what_never_ends_is_refused() {
    for unit in ["x", "\"\"", "\n"] {
        let text = format!("a,b\n1,2\n\"{}", unit.repeat(1_100_000));
        let error = private(text.as_bytes(), &Form::default(), "a").unwrap_err();
        assert_eq!(error, "DIR/p.csv, line 3: a quote begins a cell here and none ends it");
    }
    let fine = format!("a,b\n1,{}\n", "x".repeat(1_000_000));
    assert_eq!(private(fine.as_bytes(), &Form::default(), "a").unwrap().0.len(), 1);
    let form = Form { most_bytes: 1_000, ..Form::default() };
    let error = private(fine.as_bytes(), &form, "a").unwrap_err();
    assert!(error.contains("there is more than 1000 bytes"), "{error}");
}

#[test]
fn whole_numbers_may_have_a_point_and_stop_where_integers_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.csv");
    let cells = ["99999999999999999999", "-99999999999999999999", "1.5", "7"];
    // As programs write whole numbers in a column with gaps, and what is none.
    let reals = ["2.0", " -3.00 ", "1e3", "1e40", "-1e299", "1e300", "inf", "NaN", "0x1", "1_0"];
    std::fs::write(&path, format!("a\n{}\n{}\n", cells.join("\n"), reals.join("\n"))).unwrap();
    let mut rows = Rows::open(&path, Secrecy::Private, &Form::default()).unwrap();
    rows.choose(&["a"]).unwrap();
    let mut seen = Vec::new();
    while rows.advance().unwrap() {
        seen.push(rows.whole_or_none(0));
    }
    assert_eq!(seen[..4], [Some(i64::MAX), Some(i64::MIN), None, Some(7)]);
    assert_eq!(seen[4..9], [Some(2), Some(-3), Some(1_000), Some(i64::MAX), Some(i64::MIN)]);
    assert_eq!(seen[9..], [None; 5]);
}

#[test]
fn text_is_trimmed_and_may_have_commas_and_quotes() {
    let text =
        "\u{feff}name , n\r\n\" Main St, 1 \",1\r\n\"the \"\"old\"\" mill\",2\r\n,\"3\"\r\n\r\n";
    let want = [["Main St, 1", "1"], ["the \"old\" mill", "2"], ["", "3"]];
    assert_eq!(texts("t.csv", text.as_bytes(), &["name", "n"]).unwrap(), want);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    assert_eq!(texts("t.csv.GZ", &packed, &["name", "n"]).unwrap(), want);
    let error = texts("t.csv.gz", &packed[..packed.len() / 2], &["name"]).unwrap_err();
    assert!(error.starts_with("DIR/t.csv.gz: "), "{error}");
    insta::assert_snapshot!(texts("t.csv", b"a,b\n\xff,1\n", &["b", "a"]).unwrap_err(), @"DIR/t.csv, line 2: column 1 (a) is not UTF-8");
    assert_eq!(texts("t.csv", b"a,b\n\xff,1\n", &["b"]).unwrap(), [["1"]], "not asked for");
}

/// A cell that takes in the lines after it would lose them without a word.
#[test]
fn a_quote_that_goes_astray_is_named_by_line() {
    let refused = |text: &str| texts("t.csv", text.as_bytes(), &["a"]).unwrap_err();
    insta::assert_snapshot!(refused("a,b\n1,\"x\n2,y\n"), @"DIR/t.csv, line 2: a quote begins a cell here and none ends it");
    insta::assert_snapshot!(refused("a,b\n\n1,\"x\n2,\"y\"\n"), @"DIR/t.csv, line 3: a quote begins a cell here, and behind the one that ends it there is more");
    insta::assert_snapshot!(refused("a,b\n0,0\n\"1,x\n2\",y\n"), @"DIR/t.csv, line 3: column 1 (a) has a line break");
    insta::assert_snapshot!(refused("a,\"b\n1,x\"\n2,y\n"), @"DIR/t.csv, line 1: the name of column 2 has a line break");
    insta::assert_snapshot!(refused("a,b\r1,x\r2,y\r"), @"DIR/t.csv, line 1: the name of column 2 has a line break");
    insta::assert_snapshot!(refused("a,b\n1,\"x\" \"\n2,y\n"), @"DIR/t.csv, line 2: a quote begins a cell here, and behind the one that ends it there is more");
    insta::assert_snapshot!(refused("\"a"), @"DIR/t.csv, line 1: a quote begins a cell here and none ends it");
    let fine = "\u{feff}\"a\",\"b\"\",\"\n1,5\" pipe\r\n2,\"5\"\" pipe,\n\"\"new\"\"\" \n3,\"\"\"\"\n4,\"\"";
    assert_eq!(texts("t.csv", fine.as_bytes(), &["a"]).unwrap(), [["1"], ["2"], ["3"], ["4"]]);
}

/// Long parts without quotes are passed over as a whole.
#[test]
fn a_stray_quote_is_found_far_down() {
    for (rows, line) in [(1, 3), (9_999, 10_001), (200_000, 200_002)] {
        let text = format!("a,b\n{}1,\"x\n2,y\n", "12345,678\n".repeat(rows));
        let error = texts("t.csv", text.as_bytes(), &["a"]).unwrap_err();
        assert!(error.contains(&format!("line {line}: a quote begins")), "{error}");
        let text = text.replace("1,\"x", "1,\"x,\n\"");
        assert_eq!(texts("t.csv", text.as_bytes(), &["a"]).unwrap().len(), rows + 2);
    }
}

#[test]
fn blank_lines_are_skipped_however_lines_end() {
    for end in ["\n", "\r\n"] {
        let text = ["", "a", "", "1", "2", "", ""].join(end);
        assert_eq!(texts("t.csv", text.as_bytes(), &["a"]).unwrap(), [["1"], ["2"]], "{end:?}");
        let text = ["a,b", "", "1,x", "2", ""].join(end);
        let error = texts("t.csv", text.as_bytes(), &["a"]).unwrap_err();
        assert!(error.contains("line 4: column 2 is missing"), "{error}");
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn without_the_feature_parquet_is_answered_with_the_command() {
    insta::assert_snapshot!(texts("t.parquet", b"PAR1", &["a"]).unwrap_err(), @"DIR/t.parquet: this build cannot read Parquet: install it with `--features parquet`");
}

/// Rows that are made up while they are read.
struct Endless {
    left: usize,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let row = b"123456789,1\n";
        let whole = (buffer.len() / row.len()).min(self.left);
        buffer.chunks_exact_mut(row.len()).take(whole).for_each(|to| to.copy_from_slice(row));
        self.left -= whole;
        Ok(whole * row.len())
    }
}

#[test]
fn rows_are_visited_while_the_file_is_still_being_read() {
    let header: &[u8] = b"person,unit\n";
    let (mut sum, file) = (0, header.chain(Endless { left: 200_000 }));
    let rows = for_each_row(file, Path::new("b.csv"), &["unit"], |row| sum += row[0]).unwrap();
    assert_eq!((rows, sum), (200_000, 200_000));
}

/// Records of a text as they stand there, by the plainest rule: a line break ends one unless it is in a quoted cell.
fn raw_records(text: &str) -> Vec<String> {
    let (mut records, mut record, mut letters) =
        (Vec::new(), String::new(), text.chars().peekable());
    let (mut quoted, mut start) = (false, true);
    while let Some(letter) = letters.next() {
        record.push(letter);
        if quoted && letter == '"' && letters.peek() == Some(&'"') {
            record.extend(letters.next());
            continue;
        }
        quoted = if quoted { letter != '"' } else { start && letter == '"' };
        start = !quoted && [',', '\n'].contains(&letter);
        if start && letter == '\n' {
            records.push(std::mem::take(&mut record));
        }
    }
    records
}

/// What is too long is left out and changes nothing else, however the text is cut into reads.
#[test]
fn without_what_is_too_long_a_file_is_what_it_was() {
    use super::Source;
    use super::csv_file::CsvFile;
    use super::limits::Limits;
    use super::quotes::Long;
    use rand::rngs::ChaCha20Rng;
    use rand::{RngExt, SeedableRng};

    /// A few bytes at once.
    struct Bits<'a>(&'a [u8], usize);
    impl Read for Bits<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let most = self.1.min(buffer.len());
            self.0.read(&mut buffer[..most])
        }
    }
    let read = |text: &str, most_record: u64, at_once: usize| {
        let limits = Limits { most_bytes: 1 << 20, most_record };
        let bits = Bits(text.as_bytes(), at_once);
        let mut file = CsvFile::open(bits, false, b',', limits, Long::Ragged).ok()?;
        file.choose(&[0, 1]).ok()?;
        let mut rows = Vec::new();
        while file.advance().ok()? {
            if file.shape().is_none() {
                let cell = |place| match file.cell(place) {
                    super::Cell::Text(text) => text.to_vec(),
                    other => panic!("{other:?}"),
                };
                rows.push([cell(0), cell(1)]);
            }
        }
        Some(rows)
    };
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let (mut whole, mut cut) = (0, 0);
    for _ in 0..4_000 {
        let piece = |rng: &mut ChaCha20Rng| {
            [",", "\n", "\"", "\"\"", "a", "bb", " ", "\r\n", ",\"", "\",", "\"\n"]
                [rng.random_range(0..11)]
        };
        let pieces: String = (0..rng.random_range(0..60)).map(|_| piece(&mut rng)).collect();
        let text = format!("a,b\n{pieces}\n");
        let Some(rows) = read(&text, 1 << 20, 1 << 20) else { continue };
        whole += usize::from(rows.len() > 1);
        let fits = |record: &String| record.len() <= 12;
        let kept: Vec<String> = raw_records(&text).into_iter().filter(fits).collect();
        let without = read(&kept.concat(), 1 << 20, 1 << 20).unwrap();
        cut += usize::from(without.len() < rows.len() && !without.is_empty());
        for at_once in [1, 2, 3, 7, 1 << 20] {
            assert_eq!(read(&text, 12, at_once).as_ref(), Some(&without), "{text:?} by {at_once}");
        }
    }
    assert!(whole > 100 && cut > 10, "{whole} {cut}");
}
