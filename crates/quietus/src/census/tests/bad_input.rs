//! What is wrong is named, and nothing is written.

use super::{BY_PEOPLE, BY_TABLE, Home, TABLE};
use crate::cli::Cli;
use clap::Parser;

#[test]
fn bad_regions_are_named_by_line() {
    let refused = |lines: &str| {
        Home::with("r.csv", &format!("region,parent\nUS,\n{lines}")).refused(BY_PEOPLE)
    };
    insta::assert_snapshot!(refused("GA,US\nNY,US\nF,GA\nF,NY\n"), @"r.csv, line 6: region `F` has two parents");
    insta::assert_snapshot!(refused("GA,NY\nNY,GA\n"), @"r.csv, line 3: region `GA` does not lie in the top region: its parents go round in a circle");
    insta::assert_snapshot!(refused("GA,US\nNY,XX\n"), @"r.csv, line 4: the parent `XX` of region `NY` is not a region");
    insta::assert_snapshot!(refused("GA,US\nNY,\n"), @"r.csv, line 4: `US` and `NY` both have no parent, but only one region may");
    insta::assert_snapshot!(refused("GA,US\nNY,US\nF,GA\n"), @"r.csv, line 4: region `NY` has no parts although it is above the lowest level");
    insta::assert_snapshot!(refused("GA,US\n,US\n"), @"r.csv, line 4: column 1 (region) is empty");
    insta::assert_snapshot!(refused("GA\n"), @"r.csv, line 3: column 2 is missing: 1 cells, the header has 2");
    insta::assert_snapshot!(Home::with("r.csv", "region,parent\n").refused(BY_PEOPLE), @"r.csv: the number of regions must be between 1 and 2^32 - 2, got 0");
    insta::assert_snapshot!(Home::with("r.csv", "US,\nGA,US\n").refused(BY_PEOPLE), @"r.csv, line 1: there is no column `region`; these exist: US,");
    let missing = Home::new().refused("--regions none.csv --table t.csv --groups 3");
    assert!(missing.starts_with("none.csv: "), "{missing}");
}

#[test]
fn groups_in_the_wrong_place_are_named_by_line() {
    let units = |lines: &str| {
        Home::with("u.csv", &format!("unit,region\nA,GA\n{lines}")).refused(BY_PEOPLE)
    };
    insta::assert_snapshot!(units("B,XX\n"), @"u.csv, line 3: `XX` is not a region of the lowest level");
    insta::assert_snapshot!(units("B,US\n"), @"u.csv, line 3: `US` is not a region of the lowest level");
    insta::assert_snapshot!(units("B,NY\nA,NY\n"), @"u.csv, line 4: unit `A` is in `GA` and in `NY`");
    insta::assert_snapshot!(units(",NY\n"), @"u.csv, line 3: column 1 (unit) is empty");
    let table = |line: &str| Home::with("t.csv", &format!("{TABLE}{line}\n")).refused(BY_TABLE);
    insta::assert_snapshot!(table("XX,1,1"), @"t.csv, line 5: column 1 (region) is not a region of the lowest level");
    insta::assert_snapshot!(table("US,1,1"), @"t.csv, line 5: column 1 (region) is not a region of the lowest level");
}

#[test]
fn private_cells_that_are_no_numbers_are_named_by_place_only() {
    let table = |line: &str| Home::with("t.csv", &format!("{TABLE}{line}\n")).refused(BY_TABLE);
    insta::assert_snapshot!(table("GA,-1,1"), @"t.csv, line 5: column 2 (size) is below 0");
    insta::assert_snapshot!(table("GA,1,-1"), @"t.csv, line 5: column 3 (groups) is below 0");
    insta::assert_snapshot!(table("GA,1,some"), @"t.csv, line 5: column 3 (groups) is not a whole number of 64 bits");
    insta::assert_snapshot!(table("GA,1,9223372036854775807"), @"t.csv: there must be at most 68719476736 groups");
    let people = |text: &str| Home::with("p.csv", text).refused(BY_PEOPLE);
    insta::assert_snapshot!(people("home\nA\n"), @"p.csv, line 1: the first line must name the columns, and none is called `unit`; `quietus check` shows them, `--column unit=THERE` says what it is called");
}

/// Ten of them in all, each of which is left out or cut to size; the others count.
#[test]
fn odd_people_are_left_out_or_cut_to_size_and_nobody_is_told() {
    for (header, rows) in [
        (
            "unit,quantity",
            ["A,two", ",1", "A", "A,1,1", "\"A\n\",1", "nowhere,99999999999999999999"],
        ),
        (
            "unit,person,quantity",
            ["A,,1", "A,9,1.5", ",9,1", "A,9", "\"\n\",9,1", "A,9,-99999999999999999999"],
        ),
    ] {
        let fine = match header {
            "unit,quantity" => "A,1\nA,1\nC,99999999999999999999\n",
            _ => "A,1,1\nA,2,1\nC,3,99999999999999999999\n",
        };
        let home = Home::with("p.csv", &format!("{header}\n{}\n{fine}", rows.join("\n")));
        assert_eq!(home.sizes(BY_PEOPLE), [1, 0, 1, 0, 1, 0], "{header}");
        let not_text =
            [format!("{header}\n").as_bytes(), b"\xff,\xff,\xff\n\xff,\xff\n", fine.as_bytes()]
                .concat();
        std::fs::write(home.path("p.csv"), not_text).unwrap();
        assert_eq!(home.sizes(BY_PEOPLE), [1, 0, 1, 0, 1, 0], "{header}");
        let said = super::release(&home.args(BY_PEOPLE)).unwrap();
        let plain = Home::with("p.csv", &format!("{header}\n{fine}"));
        assert_eq!(said.text, super::release(&plain.args(BY_PEOPLE)).unwrap().text);
    }
}

/// Whoever has no number is left out, and is not one.
#[test]
fn people_without_a_quantity_do_not_count() {
    for text in ["unit,quantity\nA,\nA,one\nC,1\n", "unit,person,quantity\nA,1,\nA,2,one\nC,3,1\n"]
    {
        assert_eq!(Home::with("p.csv", text).sizes(BY_PEOPLE), [2, 0, 0, 0, 1, 0], "{text}");
    }
}

/// The private file, which is not there, would be an error of its own.
#[test]
fn what_is_public_is_refused_before_the_private_file_is_opened() {
    let parts: Vec<String> = (0..128).map(|i| format!("R{i},US\n")).collect();
    let home = Home::with("r.csv", &format!("region,parent\nUS,\n{}", parts.concat()));
    let refused =
        |words: &str| home.refused(&format!("--regions r.csv --table none.csv --groups 3 {words}"));
    insta::assert_snapshot!(refused("--largest 16777215"), @"the table: 129 regions times 16777216 sizes are 2164260864 cells, which take about 64 GB of memory; at most 2147483648 cells can be released");
    let below_a_file = refused("--out r.csv/out");
    assert!(below_a_file.starts_with("r.csv is not a folder"), "{below_a_file}");
    assert!(refused("--out new/out").starts_with("none.csv: "));
}

#[test]
fn a_file_is_not_public_and_private() {
    let home = Home::new();
    insta::assert_snapshot!(home.refused("--regions r.csv --units u.csv --data u.csv"), @"the files: --units and --data are the same file, but what is public must not come from the people");
    insta::assert_snapshot!(home.refused("--regions r.csv --table ./r.csv --groups 3"), @"the files: --regions and --table are the same file, but what is public must not come from the people");
    insta::assert_snapshot!(home.refused("--regions r.csv --from-tables r.csv --groups 3"), @"the files: --regions and --from-tables are the same file, but what is public must not come from the people");
}

/// A column that counts only under one name would be left out without a word under another.
#[test]
fn nearly_right_names_of_columns_are_refused() {
    let people = |header: &str| Home::with("p.csv", &format!("{header}\nA,1\n")).refused(BY_PEOPLE);
    insta::assert_snapshot!(people("unit,Person"), @"p.csv, line 1: column 2 is called `Person`: rename it to `person` if that is what it is, and to something else if not");
    for (header, want) in
        [("unit,_person 1", "person"), ("unit,PER-SON", "person"), ("unit,Quantity:", "quantity")]
    {
        assert!(people(header).contains(&format!("rename it to `{want}`")), "{header}");
    }
    let regions = "region,parent,Groups\nUS,,\nGA,US,2\nNY,US,1\n";
    insta::assert_snapshot!(Home::with("r.csv", regions).refused(BY_PEOPLE), @"r.csv, line 1: column 3 is called `Groups`: rename it to `groups` if that is what it is, and to something else if not");
    let both = "unit,Person,person\nA,x,1\nA,y,1\nC,z,2\n";
    assert_eq!(Home::with("p.csv", both).sizes(BY_PEOPLE), [1, 1, 0, 0, 1, 0]);
}

/// Records behind a stray quote would be left out of a release without a word.
#[test]
fn a_stray_quote_does_not_swallow_people() {
    let people = |text: &str| Home::with("p.csv", text).refused(BY_PEOPLE);
    insta::assert_snapshot!(people("person,unit\n1,A\n2,\"A\n3,C\n4,C\n"), @"p.csv, line 3: a quote begins a cell here and none ends it");
    insta::assert_snapshot!(people("unit,note\nA,ok\nA,\"5 inch\nC,x\nC,y\nB,z\n"), @"p.csv, line 3: a quote begins a cell here and none ends it");
    insta::assert_snapshot!(people("unit,note\nA,\"5 inch\nC,x\nC,\"y\"\n"), @"p.csv, line 2: a quote begins a cell here, and behind the one that ends it there is more");
}

#[test]
fn numbers_of_groups_that_do_not_match_are_refused() {
    let home = Home::new();
    insta::assert_snapshot!(home.refused("--regions r.csv --table t.csv"), @"--groups must be given with --table: the number is public and is not counted from private data, got none");
    insta::assert_snapshot!(home.refused("--regions r.csv --table t.csv --groups 4"), @"t.csv: the table has 3 groups, the public number is 4");
    insta::assert_snapshot!(home.refused("--regions r.csv --table t.csv --groups -1"), @"the plan: the number of groups must be between 0 and 2^36, got -1");
    insta::assert_snapshot!(home.refused(&format!("{BY_PEOPLE} --groups 4")), @"the public number of groups: 4 by --groups, 3 by --units");
    let regions = |us: &str, ga: &str, ny: &str| {
        let text = format!("region,parent,groups\nUS,,{us}\nGA,US,{ga}\nNY,US,{ny}\n");
        Home::with("r.csv", &text)
    };
    let words = "--regions r.csv --table t.csv";
    assert_eq!(regions("", "2", "1").sizes(words), [1, 0, 1, 0, 1, 0]);
    assert_eq!(regions("3", "2", "1").sizes(BY_PEOPLE), [1, 0, 1, 0, 1, 0]);
    insta::assert_snapshot!(regions("", "1", "2").refused(words), @"t.csv: region `GA` has 2 groups, its public number is 1");
    insta::assert_snapshot!(regions("", "1", "2").refused(BY_PEOPLE), @"u.csv: region `GA` has 2 groups, its public number is 1");
    insta::assert_snapshot!(regions("4", "2", "1").refused(words), @"r.csv, line 2: region `US` has 4 groups, its parts have 3");
    let twice = "region,parent,groups\nUS,,\nGA,US,2\nGA,US,1\nNY,US,1\n";
    insta::assert_snapshot!(Home::with("r.csv", twice).refused(words), @"r.csv, line 4: region `GA` has two numbers of groups");
    insta::assert_snapshot!(regions("", "2", "").refused(words), @"r.csv, line 4: region `NY` has no number of groups");
    insta::assert_snapshot!(regions("", "2", "2").refused(BY_TABLE), @"the public number of groups: 3 by --groups, 4 by --regions");
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let refused = |words: &str| Home::new().refused(&format!("{BY_TABLE} {words}"));
    insta::assert_snapshot!(refused("--shares 0.5,0.4"), @"--shares: the shares of the levels must add up to 1, got 0.9");
    insta::assert_snapshot!(refused("--shares 10/20/70"), @"--shares: there must be one share per level, got 3 for 2 levels");
    insta::assert_snapshot!(refused("--shares -0.5,1.5"), @"--shares: the share of level 1 must be finite and > 0, got -0.5");
    insta::assert_snapshot!(refused("--epsilon 0"), @"--epsilon: epsilon must be finite and > 0 and at most 100, got 0");
    insta::assert_snapshot!(refused("--rho 0.5 --delta 1"), @"--rho and --delta: delta must be at least 0 and below 1, got 1");
    insta::assert_snapshot!(refused("--largest 0"), @"--largest: the largest size must be between 1 and 2^24 - 1, got 0");
    insta::assert_snapshot!(refused("--method best"), @"there is no method `best`; these exist: m-c-fitted, m-c-top-down, m-c-exact, m-c-dp, m-h-dp, top-down, root-spread, m-c-chain");
    insta::assert_snapshot!(refused("--out r.csv"), @"r.csv is not a folder");
    for words in ["--regions r.csv", "--regions r.csv --units u.csv"] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(Home::new().refused(words), @"the data must be --table, or --units with --data, got neither");
        }
    }
    for words in [
        "--table t --units u --data p --largest 2 --epsilon 1 --out x",
        "--table t --largest 2 --epsilon 1 --rho 1 --delta 0.1 --out x",
        "--table t --largest 2 --rho 1 --out x",
        "--table t --largest 2 --epsilon 1 --most-quantity 0 --out x",
    ] {
        let words = format!("quietus release census --regions r {words}");
        assert!(Cli::try_parse_from(words.split(' ')).is_err(), "{words}");
    }
}
