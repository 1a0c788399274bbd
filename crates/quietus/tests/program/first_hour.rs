//! Files as people have them, settings, and the commands of the page.

use super::{Home, with_ledger};
use std::fs;
use std::path::Path;

/// The same flags from a file.
#[test]
fn settings_come_from_a_file() {
    let home = with_ledger("1");
    home.write("plan.toml", b"by = 'town'\ngroups = ['A', 'B', 'C']\ndata = 'people.csv'\nepsilon = 5\nledger = 'data.ledger'\n");
    let error = home.refused("release count --settings plan.toml --out out");
    assert!(error.contains("budget exceeded"), "{error}");
    home.ok("release count --settings plan.toml --epsilon 0.5 --out out");
    home.ok("verify out --ledger data.ledger");
    assert!(home.ok("--version").starts_with("quietus "));
}

/// As spreadsheets, other systems and other languages write them; one command each.
#[test]
fn six_files_of_six_shapes_take_one_command_each() {
    let home = Home::new();
    let town = |i: u32| ["Ahlen", "Brunn", "Calw"][i as usize % 3];
    let rows = |of: &dyn Fn(u32) -> String, n: u32| (0..n).map(of).collect::<String>();
    let age = |i: u32| i * 37 % 91;
    let files = [
        (
            "semicolons.csv",
            format!("town;age\n{}", rows(&|i| format!("{};{},5\n", town(i), age(i)), 900)),
        ),
        (
            "mark.csv",
            format!("\u{feff}town,age\n{}", rows(&|i| format!("{},{}\n", town(i), age(i)), 900)),
        ),
        (
            "windows.csv",
            format!("town,age\r\n{}", rows(&|i| format!("{},{}\r\n", town(i), age(i)), 900)),
        ),
        (
            "names.csv",
            format!("Ort,Alter\n{}", rows(&|i| format!("{},{}\n", town(i), age(i)), 900)),
        ),
        (
            "dates.csv",
            format!(
                "town,day\n{}",
                rows(&|i| format!("{},2024-{:02}-11\n", town(i), 1 + i % 12), 900)
            ),
        ),
        (
            "million.csv",
            format!("town,age\n{}", rows(&|i| format!("{},{}\n", town(i), age(i)), 1_000_000)),
        ),
    ];
    for (name, content) in &files {
        home.write(name, content.as_bytes());
    }
    let by = "--by town --groups Ahlen,Brunn,Calw";
    for (words, file, lines, most) in [
        (
            format!("mean --of age --bounds 0,100 {by} --delimiter semicolon --decimal-comma"),
            0,
            4,
            300.0,
        ),
        (format!("count {by}"), 1, 4, 300.0),
        ("histogram --of age --bounds 0,100 --bins 10".to_owned(), 2, 11, 100.0),
        (
            format!("mean --of age --bounds 0,100 {by} --column town=Ort --column age=Alter"),
            3,
            4,
            300.0,
        ),
        ("histogram --of day --bounds 2024-01-01,2025-01-01 --bins 12".to_owned(), 4, 13, 75.0),
        (format!("count {by}"), 5, 4, 333_333.0),
    ] {
        let (out, name) = (format!("out{file}"), files[file].0);
        home.ok(&format!("release {words} --data {name} --epsilon 2 --out {out} --no-ledger"));
        let table = fs::read_to_string(home.path(&out).join("groups.csv")).unwrap();
        let first: Vec<&str> = table.lines().nth(1).unwrap().split(',').collect();
        let count: f64 = first[if words.starts_with("histogram") { 3 } else { 1 }].parse().unwrap();
        assert!(table.lines().count() == lines && (count - most).abs() < 30.0, "{name}: {table}");
    }
}

/// Every command of the page, as written there, on the made-up files.
#[test]
fn the_commands_of_the_page_work_as_they_are_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/own-files.md")).unwrap().replace("\\\n", " ");
    let home = Home::new();
    copy(&root.join("datasets/examples"), &home.path("datasets/examples"));
    let commands: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("quietus ")).collect();
    assert!(commands.len() >= 17, "{commands:?}");
    for words in commands {
        home.ok(words);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(from, to).unwrap();
        }
    }
}
