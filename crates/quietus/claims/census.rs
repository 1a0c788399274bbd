//! The command from files to files as a claim: on the private files of two neighbours it gives away what its receipt says.

use dp_accounting::MemberOfGroup;
use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Method as By, Neighbours, compare};
use dp_census::{Census, GroupSizes, Method};
use dp_mechanism::{Mechanism, SecureSource, Source};
use quietus::cli::{CensusArgs, FormArgs, TargetArgs};
use quietus::{Gate, RealDisk, release_census};
use rand::RngExt;
use std::fs;
use std::num::NonZeroU32;
use std::path::Path;

pub(crate) fn checks() -> Vec<Check> {
    let what = "Census, the command from files to files: release census";
    vec![Check::new("quietus-census-command", what, "member-of-group", By::Exact, on_files)]
}

/// A way to call the command: what is public, and the header of the private file.
#[derive(Clone, Copy, Debug)]
struct Way {
    regions: &'static str,
    /// `None` for a table of sizes.
    units: Option<&'static str>,
    header: &'static str,
    most_quantity: u32,
    zcdp: bool,
    shares: &'static str,
}

const REGIONS: &str = "region,parent\nUS,\nGA,US\nNY,US\n";
const WITH_GROUPS: &str = "region,parent,groups\nUS,,3\nGA,US,2\nNY,US,1\n";
const UNITS: &str = "unit,region\nA,GA\nB,GA\nC,NY\n";

const BY_PEOPLE: Way = Way {
    regions: REGIONS,
    units: Some(UNITS),
    header: "unit",
    most_quantity: 1,
    zcdp: false,
    shares: "equal",
};

/// Every kind of input, and of everything that is asked for.
const WAYS: [Way; 6] = [
    BY_PEOPLE,
    Way { header: "unit,quantity", most_quantity: 2, ..BY_PEOPLE },
    Way { header: "person,unit", zcdp: true, regions: WITH_GROUPS, ..BY_PEOPLE },
    Way { header: "quantity,unit,person", most_quantity: 2, shares: "roots", ..BY_PEOPLE },
    Way { header: "region,size,groups", units: None, ..BY_PEOPLE },
    Way {
        header: "region,size,groups",
        units: None,
        shares: "0.3,0.7",
        regions: WITH_GROUPS,
        ..BY_PEOPLE
    },
];

impl Way {
    const RHO: f64 = 0.5;

    /// The command line, with files in a folder.
    fn args(self, home: &Path, method: Method) -> CensusArgs {
        let by_table = self.units.is_none();
        let file = |name: &str| home.join(name);
        CensusArgs {
            regions: file("regions.csv"),
            table: by_table.then(|| file("private.csv")),
            units: (!by_table).then(|| file("units.csv")),
            data: (!by_table).then(|| file("private.csv")),
            explain_sql: false,
            from_tables: None,
            groups: by_table.then_some(3),
            largest: 2,
            epsilon: (!self.zcdp).then_some(1.0),
            rho: self.zcdp.then_some(Self::RHO),
            delta: self.zcdp.then_some(1e-9),
            method: Some(method.id().to_owned()),
            shares: self.shares.to_owned(),
            most_quantity: NonZeroU32::new(self.most_quantity).expect("above 0"),
            form: FormArgs { delimiter: ",".to_owned(), columns: Vec::new(), most_bytes: 1 << 20 },
            target: TargetArgs { out: Some(file("out")), ledger: None, no_ledger: true },
        }
    }

    /// The rows of everybody else, and those of one individual who may be there or not.
    fn rows(self, random: &mut impl RngExt) -> [Vec<String>; 2] {
        let mut of = |person: &str, odd: bool| {
            let unit = ["A", "B", "C", "nowhere", "\"A\nB\""][random.random_range(0..5)];
            let quantities = ["-99999999999999999999", "0", "1", "two", "9223372036854775807"];
            let quantity = if odd { quantities[random.random_range(0..5)] } else { "1" };
            let cell = |name| match name {
                "unit" => unit,
                "quantity" => quantity,
                _ => person,
            };
            self.header.split(',').map(cell).collect::<Vec<_>>().join(",")
        };
        let others = ["1", "2", "3"].map(|person| of(person, false)).to_vec();
        // Who has no name in the file is in one row of it.
        let rows = if self.header.contains("person") { 3 } else { 1 };
        [others, (0..rows).map(|_| of("one", true)).collect()]
    }

    /// Two private files: with one individual less and more.
    fn neighbours(self, random: &mut impl RngExt) -> [Private; 2] {
        if self.units.is_some() {
            let [others, own] = self.rows(random);
            let before: Vec<(usize, String)> = (1..).zip(others).collect();
            // The first row of the one who comes is before all others, the rest after them.
            let own: Vec<(usize, String)> = own.into_iter().map(|row| (0, row)).collect();
            let after = [&own[..1], &before, &own[1..]].concat();
            return [before, after].map(Private::Rows);
        }
        let sizes = [(); 3].map(|()| random.random_range(0..=3));
        let mut grown = sizes;
        grown[random.random_range(0..3)] += 1;
        [sizes, grown].map(Private::Sizes)
    }
}

/// What the file holds, from which both the file and its individuals follow: what is compared is what the command reads.
#[derive(Clone, Debug)]
enum Private {
    /// Rows as they stand in the file, each with whose it is.
    Rows(Vec<(usize, String)>),
    /// How many members each of three groups has.
    Sizes([u64; 3]),
}

impl Private {
    /// The text of the file under this header.
    fn file(&self, header: &str) -> String {
        let rows: Vec<String> = match self {
            Self::Rows(rows) => rows.iter().map(|(_, row)| row.clone()).collect(),
            Self::Sizes(sizes) => {
                let row = |(region, size): (&str, &u64)| format!("{region},{size},1");
                ["GA", "GA", "NY"].into_iter().zip(sizes).map(row).collect()
            }
        };
        format!("{header}\n{}\n", rows.join("\n"))
    }

    /// Each individual: all rows of one, or the group of a member.
    fn individuals(&self) -> Vec<String> {
        match self {
            Self::Rows(rows) => {
                let mut of = std::collections::BTreeMap::<usize, String>::new();
                for (who, row) in rows {
                    let own = of.entry(*who).or_default();
                    own.push_str(row);
                    own.push('\n');
                }
                of.into_values().collect()
            }
            Self::Sizes(sizes) => {
                let members = |(group, &size): (usize, &u64)| {
                    (0..size).map(move |_| format!("of group {group}"))
                };
                sizes.iter().enumerate().flat_map(members).collect()
            }
        }
    }
}

/// Whether the second has one individual more.
fn one_more(before: &Private, after: &Private) -> bool {
    let mut left = after.individuals();
    let all_there = before.individuals().iter().all(|own| {
        left.iter().position(|other| other == own).map(|place| left.swap_remove(place)).is_some()
    });
    all_there && left.len() == 1
}

/// What somebody sees of the command: the words that are printed and whether it ends well, and every byte of every file; or the error.
type Seen = Result<(String, bool, Vec<(String, Vec<u8>)>), String>;

fn seen(args: &CensusArgs, private: &str, source: &mut dyn Source) -> Seen {
    let home = args.regions.parent().expect("in a folder");
    let plain = "a folder of our own";
    fs::write(home.join("private.csv"), private).expect(plain);
    let draw = |plan: &Census, sizes: &GroupSizes| plan.with_evidence().replay(sizes, source).0;
    let said = release_census(args, &Gate::default(), &RealDisk, draw);
    let out = args.target.out.as_deref().expect("it is asked for");
    let mut files = Vec::new();
    if out.exists() {
        for entry in fs::read_dir(out).expect(plain) {
            let path = entry.expect(plain).path();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            let name = name.unwrap_or_default();
            // Its name is random.
            let named = name == "release.json";
            files.push((name, if named { Vec::new() } else { fs::read(&path).expect(plain) }));
        }
        files.sort();
        fs::remove_dir_all(out).expect(plain);
    }
    let said = said.map_err(|error| error.to_string())?;
    Ok((said.text + &said.aside, said.unproved, files))
}

fn on_files(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(90);
    let home = tempfile::tempdir().expect("a place for files");
    for way in WAYS {
        fs::write(home.path().join("regions.csv"), way.regions).expect("a folder of our own");
        if let Some(units) = way.units {
            fs::write(home.path().join("units.csv"), units).expect("a folder of our own");
        }
        for method in Method::ALL {
            let args = way.args(home.path(), method);
            for _ in 0..effort.of(2, 40) {
                let [before, after] = way.neighbours(&mut rng);
                let run = |private: &Private, source: &mut dyn Source| {
                    seen(&args, &private.file(way.header), source)
                };
                let comparison = compare(
                    &Neighbours::tested(MemberOfGroup, one_more),
                    run,
                    &before,
                    &after,
                    &mut SecureSource::new(&mut rng),
                );
                let share =
                    if way.zcdp { comparison.rho() / Way::RHO } else { comparison.pure_loss() };
                found.see(share, || format!("{method:?}, {way:?}: {before:?} and {after:?}"));
            }
        }
    }
    found
}
