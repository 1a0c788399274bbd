//! Rows that no file should have: the same words for all neighbours.

use super::{Home, ITEMS};
use std::fs;

/// Rows that no log should have: each run ends well and says the same words, whoever is in it.
#[test]
fn odd_users_of_a_log_change_no_exit_code_no_word_and_no_name_of_a_file() {
    let long = [b"x,A,\"", &vec![b'0'; 1 << 21][..], b"\""].concat();
    let odd: [&[u8]; 13] = [
        &long,
        b"x,A,0",
        b"x,A,",
        b",A,0",
        b"x,,0",
        b"x,A,99999999999999999999",
        b"x,A,-5",
        b"\xff,\xfe,\xff",
        b"u1,A,0",
        b"x,nowhere,0",
        b"x,A",
        b"\"A\n\",\"x\ny\",0",
        b"x,A,2024-01-01",
    ];
    let mut seen = Vec::new();
    // With others, alone, and nobody.
    let others: &[u8] = b"u1,A,0\nu2,B,1\n";
    let logs = odd.map(|row| [others, row, b"\n"].concat()).into_iter();
    let logs = logs.chain([[odd[8], b"\n"].concat(), [odd[2], b"\n"].concat(), vec![]]);
    for (number, rows) in logs.enumerate() {
        let home = Home::new();
        home.write("log.csv", &[&b"who,what,when\n"[..], &rows].concat());
        home.ok("ledger new data.ledger --dataset log --epsilon 1");
        let words = ITEMS.replace("--epsilon 100", "--epsilon 1").replace("254", "2");
        let mut said = Vec::new();
        for until in [1, 2, 70] {
            let output = home.run(&format!("{words} --until {until}"));
            assert_eq!(output.status.code(), Some(0), "row {number}");
            said.push((output.stdout, output.stderr));
        }
        let mut names: Vec<_> = fs::read_dir(home.path("out"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        seen.push((said, names));
        let check =
            home.ok(&words.replace("release", "check").replace("--out out", "--out elsewhere"));
        let all = number < odd.len();
        assert!(check.starts_with("PRIVATE: "), "{check}");
        assert!(!all || check.contains("3  rows\n"), "{check}");
    }
    assert!(seen.iter().all(|one| *one == seen[0]));
}

/// Rows that no file should have: each release ends well and says the same words, whoever is in it.
#[test]
fn odd_individuals_change_no_exit_code_no_word_and_no_name_of_a_file() {
    let long = [b"A,3,\"", &vec![b'1'; 1 << 21][..], b"\""].concat();
    let odd: [&[u8]; 11] = [
        &long,
        b"A,seven,1",
        b"A,,1",
        b",,",
        b"A,99999999999999999999999,1",
        b"A,-5e300,1",
        b"\xff\xfe,\xff,\xff",
        b"A,3,1",
        b"nowhere,3,77",
        b"A,3",
        b"\"A\n\",NaN,\"x\ny\"",
    ];
    for words in [
        "count --by town --groups A,B",
        "histogram --of x --bounds 0,10 --bins 2 --by town --groups A,B --person who",
        "mean --of x --bounds 0,10 --by town --groups A,B --person who",
        "cluster --range x=0,10 --range who=0,9 --k 1 --delta 1e-6",
        "cluster --range x=0,10 --k 1 --person who",
        "cluster --range x=0,10 --k 2 --delta 1e-6 --outside 0.5 --simulations 2",
        "cluster --range x=0,10 --k 1 --delta 1e-6 --unscaled --within 2 --rows 3 --simulations 2",
        "cluster --range x=0,10 --range who=0,9 --k 2 --delta 1e-6 --unscaled --within 50 --rows 3 --outside 0.5 --simulations 2",
        "cover --person who --set town --sets A,B",
        "coverage --k 1 --person who --set town --sets A,B,C",
        "locate --places places.csv --at at --k 1 --rows 9 --place town --person who",
        "map --range x=0,10 --unit km --k 1,3 --delta 1e-6 --simulations 2",
        "map --range x=0,10 --unit m --within 2 --rows 3 --k 1 --delta 1e-6 --simulations 2",
        "top --person who --item town --items A,B",
        "census --regions regions.csv --units units.csv --largest 3 --column unit=town --column person=who",
        "cluster --range x=0,10 --k 1 --delta 1e-6 --out-of-core",
        "map --range x=0,10 --unit km --k 1 --delta 1e-6 --simulations 2 --out-of-core",
    ] {
        let family = words.split(' ').next();
        let places = matches!(family, Some("cluster" | "map" | "top"));
        let released = match family {
            Some("top") => "out/items.csv",
            Some("cluster" | "map" | "locate") => "out/centres.csv",
            Some("cover" | "coverage") => "out/sets.csv",
            _ => "out/groups.csv",
        };
        let mut seen = Vec::new();
        let others: &[u8] = b"A,1,1\nB,2,2\n";
        let mut files = odd.map(|row| [others, row, b"\n"].concat()).to_vec();
        if !words.contains("--rows 3") {
            // Alone, of some use or none, and nobody.
            files.extend([[odd[7], b"\n"].concat(), [odd[10], b"\n"].concat(), vec![]]);
        }
        for (number, rows) in files.iter().enumerate() {
            let home = Home::new();
            home.write("p.csv", &[&b"town,x,who\n"[..], rows].concat());
            home.write("regions.csv", b"region,parent\nUS,\nGA,US\nAL,US\n");
            home.write("units.csv", b"town,region\nA,GA\nB,AL\n");
            home.write("places.csv", b"place,at\nA,0\nB,4\n");
            let output = home
                .run(&format!("release {words} --data p.csv --epsilon 1 --out out --no-ledger"));
            assert_eq!(output.status.code(), Some(0), "{words}, row {number}");
            let mut names: Vec<_> = fs::read_dir(home.path("out"))
                .unwrap()
                .map(|entry| entry.unwrap().file_name())
                .collect();
            names.sort();
            // How many centres there are is noisy; groups are public.
            let table = fs::read_to_string(home.path(released)).unwrap();
            let lines = if places { table.lines().count().min(1) } else { table.lines().count() };
            // How many passes there are follows from what was drawn.
            let passes = words.contains("--out-of-core");
            let said = if passes { vec![] } else { output.stderr };
            seen.push((output.stdout, said, names, lines));
        }
        assert!(seen.iter().all(|one| *one == seen[0]), "{words}");
    }
}

#[test]
fn a_check_is_private_on_its_first_line_and_counts_every_row() {
    let home = Home::new();
    home.write("p.csv", "Stadt;Alter\nA;31,5\nB;200\nC;-3\nb;7\nA;alt\nA\n".as_bytes());
    let words = "--data p.csv --delimiter ; --decimal-comma --column town=Stadt --column age=Alter --by town --groups A,B,C --of age --bounds 0,120 --epsilon 1";
    let text = home.ok(&format!("check mean {words}"));
    assert!(text.starts_with("PRIVATE: "), "{text}");
    for want in [
        "columns: Stadt, Alter",
        "6  rows",
        "3  count",
        "1  of them as the lower bound",
        "1  of them as the upper bound",
        "1  left out: of no public group",
        "1  left out: no number",
        "1  left out: too few",
        "1  rows of `b`",
        "Less than 90 %",
    ] {
        assert!(text.contains(want), "{want}: {text}");
    }
    let plan = home.ok(&format!("plan mean {words}"));
    assert!(plan.contains("error of mean") && !plan.contains("PRIVATE"), "{plan}");
    assert!(home.folders().is_empty());
}

#[test]
fn more_persons_change_no_exit_code_and_no_word() {
    let said = |rows: &[u8]| {
        let home = Home::new();
        home.write("shown.csv", &[b"who,what\n", rows].concat());
        let output = home.run(
            "release top --data shown.csv --person who --item what --items A,B --items-per-person 1 --epsilon 1 --no-ledger --out out",
        );
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        (output.stdout, output.stderr)
    };
    assert_eq!(said(b"1,A\n2,B\n"), said(b"1,A\n2,B\n3,A\n4,nowhere\n"));
}
