//! Files of people and of the program: tables, ledgers, settings, folders of releases, manifests; and what is kept as JSON.

use crate::bytes::Choices;
use crate::plans::{budget, cube, data, nation, records, whole};
use crate::{Kind, Target, json, rng};
use clap::Parser;
use dp_accounting::{
    Accuracy, AddRemove, Composition, Delta, Event, Ledger, Receipt, Relation, ReplaceOne, Within,
};
use dp_census::{
    Census, CensusSettings, From0, GroupSizes, GroupTable, Hierarchy, Privacy, RealGroupTable,
};
use dp_cluster::kmeans::{KMeans, KMeansFit, KMeansSettings};
use dp_cluster::map::{PrivateMap, PrivateMapSettings, ReleasedMap};
use dp_cluster::{Clustering, Points};
use dp_geometry::{FixedPointGrid, NestedGrid, PublicBall, PublicBox};
use dp_mechanism::{Mechanism, Release};
use dp_stream::{Question, StreamShape, Universe, Wanted, advise, advise_settings};
use parquet::basic::{Compression, GzipLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use quietus::cli::{Cli, Command};
use quietus::table::numbers;
use quietus::{Gate, LedgerFile, RealDisk, check, release, run_ledger, verify, with_settings};
use quietus_datasets::manifest::Manifest;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::Arc;

pub(crate) const TARGETS: [Target; 17] = [
    target("table-csv", Kind::Bytes, tables, table),
    target("table-gz", Kind::Bytes, packed_tables, table),
    target("table-parquet", Kind::Bytes, parquet_tables, table),
    target(
        "table-numbers",
        Kind::Bytes,
        || vec![b"a,b\n1,2\n-3.5e2,1\n".to_vec(), b"\"a\"\n1\n\n2\n".to_vec()],
        |bytes| numbers::parse(bytes, Path::new("t.csv")).map_err(one_line).is_ok(),
    ),
    target("ledger", Kind::Bytes, ledgers, ledger),
    target(
        "settings",
        Kind::Bytes,
        || {
            vec![
                b"epsilon = 0.5\nby = \"town\"\ngroups = [\"a\", \"b\"]\nno-ledger = true\n"
                    .to_vec(),
            ]
        },
        settings,
    ),
    target("release", Kind::Json, releases, folder),
    target(
        "manifest",
        Kind::Bytes,
        || {
            let line = |name: &str| format!("{name} = \"x\"\n");
            let words = ["name", "shape", "columns", "licence", "publisher", "published"]
                .map(line)
                .concat();
            let file = "[[set.file]]\npath = \"x/x.csv\"\nrows = 3\nbytes = 9\nsha256 = \"0a\"\n";
            vec![format!("[[set]]\n{words}copied_from = [\"y\"]\n{file}").into_bytes()]
        },
        |bytes| {
            let Ok(text) = std::str::from_utf8(bytes) else { return false };
            Manifest::parse(text, Path::new("m.toml"))
                .map_err(one_line)
                .is_ok_and(|all| all.files().count() > 0)
        },
    ),
    target(
        "json-ledger",
        Kind::Json,
        || {
            let mut ledger =
                Ledger::new(AddRemove, dp_accounting::Budget::new(9.0, 0.5).expect("valid"));
            let receipt = release_of_a_map().receipt;
            ledger.spend(&receipt).and_then(|()| ledger.spend(&receipt)).expect("below its limit");
            vec![json(&ledger)]
        },
        |bytes| {
            account::<AddRemove>(bytes) || account::<ReplaceOne>(bytes) || account::<Within>(bytes)
        },
    ),
    target(
        "json-composition",
        Kind::Json,
        || {
            let event = |sampled| {
                let event = Event::gaussian(2.0).expect("valid");
                if sampled { event.poisson_sampled(0.01).expect("valid") } else { event }
            };
            let with = |composition: Composition, event| composition.with(event, 3).expect("valid");
            let both = with(Composition::new(), Event::laplace(3.0).expect("valid"));
            vec![json(&with(Composition::new(), event(true))), json(&with(both, event(false)))]
        },
        |bytes| {
            let Some(composition) = read::<Composition>(bytes) else { return false };
            let rough =
                Accuracy::within(0.5).and_then(|rough| rough.with_effort(100_000)).expect("valid");
            let delta = Delta::new(1e-6).expect("valid");
            let answer = composition.profile(rough).ask(dp_accounting::Question::Epsilon(delta));
            answer.is_ok_and(|answer| !format!("{answer:?}").contains("NaN"))
        },
    ),
    target(
        "json-census",
        Kind::Json,
        || {
            let privacy = Privacy::pure(1.0).expect("valid");
            let plan = Census::new(
                nation(),
                whole(),
                data(whole()).groups(),
                privacy,
                CensusSettings::default(),
            );
            let table =
                plan.expect("valid").simulate(&data(whole()), &mut rng()).expect("its data").output;
            vec![json(&nation()), json(&data(whole())), json(&table)]
        },
        |bytes| {
            let hierarchy = read::<Hierarchy>(bytes).map(|all| assert!(!json(&all).is_empty()));
            let sizes = read::<GroupSizes<From0>>(bytes).map(|all| assert!(all.groups() >= 0));
            let table = read::<GroupTable>(bytes).map(|all| assert!(!all[0].is_empty()));
            let real = read::<RealGroupTable>(bytes).map(|all| assert!(!all[0].is_empty()));
            hierarchy.or(sizes).or(table).or(real).is_some()
        },
    ),
    target(
        "json-geometry",
        Kind::Json,
        || {
            let (square, ball) = (cube(2), PublicBall::around(&cube(2)).expect("valid"));
            let grid = FixedPointGrid::new(cube(2), 16).expect("valid");
            let nested = NestedGrid::new(cube(2)).expect("valid");
            let points = Points::new(vec![0.5, 2.0, -1.0, 3.0], 2).expect("pairs");
            vec![json(&square), json(&ball), json(&grid), json(&nested), json(&points)]
        },
        geometry,
    ),
    target(
        "json-clustering",
        Kind::Json,
        || {
            let settings = KMeansSettings::default();
            let points = Points::new((0..40).map(f64::from).collect(), 2).expect("pairs");
            let kmeans = KMeans::new(3, settings).expect("valid");
            let fit = kmeans.exact_fit(points.view(), None, &mut rng()).expect("more than 3");
            let plan = crate::plans::any_clustering();
            vec![json(&fit), json(&kmeans), json(&plan)]
        },
        |bytes| {
            let fit = read::<KMeansFit>(bytes).map(|fit| assert!(!json(&fit).is_empty()));
            let plan = read::<KMeans>(bytes).map(|plan| assert!(!json(&plan).is_empty()));
            let clusters = read::<Clustering>(bytes).map(|all| {
                assert!(!json(&all).is_empty());
                if all.centres.dim() == records().dim() {
                    let _ = dp_cluster::nearest(records().view(), all.centres.view());
                }
            });
            fit.or(plan).or(clusters).is_some()
        },
    ),
    target(
        "json-map",
        Kind::Json,
        || vec![json(&release_of_a_map().output)],
        |bytes| {
            let Some(map) = read::<ReleasedMap>(bytes) else { return false };
            assert!(!map.coreset().is_empty() && map.vertices_per_dimension() > 0);
            true
        },
    ),
    target(
        "json-release",
        Kind::Json,
        || vec![json(&release_of_a_map())],
        |bytes| {
            let read = serde_json::from_slice::<Release<ReleasedMap, AddRemove>>(bytes);
            read.is_ok_and(|release| {
                !format!("{:?} {:#}", release.receipt, release.receipt).is_empty()
            })
        },
    ),
    target(
        "json-advice",
        Kind::Json,
        || {
            let shape =
                StreamShape { universe: Universe::Range { size: 1_000 }, users: 10_000, steps: 50 };
            let question = Question {
                shape,
                budget: budget(),
                reports_per_user: 3,
                items_per_step: 2,
                reports_in_all: 50,
                beta: 1e-3,
                miss: 1e-3,
            };
            vec![json(&question)]
        },
        |bytes| {
            read::<Question>(bytes)
                .is_some_and(|question| advise(&question).map_err(one_line).is_ok())
        },
    ),
    target(
        "json-wanted",
        Kind::Json,
        || vec![json(&wanted())],
        |bytes| {
            read::<Wanted>(bytes)
                .is_some_and(|wanted| advise_settings(&wanted).map_err(one_line).is_ok())
        },
    ),
];

const fn target(
    name: &'static str,
    kind: Kind,
    seeds: fn() -> Vec<Vec<u8>>,
    run: fn(&[u8]) -> bool,
) -> Target {
    Target { name, kind, seeds, run }
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok()
}

#[allow(clippy::needless_pass_by_value, reason = "what `map_err` hands over")]
fn one_line(error: impl std::fmt::Display) {
    let text = error.to_string();
    assert!(!text.is_empty() && text.lines().count() == 1, "{text}");
}

fn account<R: Relation>(bytes: &[u8]) -> bool {
    let Some(mut ledger) = read::<Ledger<R>>(bytes) else { return false };
    let receipts: Vec<Receipt<R>> = ledger.entries().to_vec();
    for receipt in receipts {
        let _ = ledger.spend(&receipt).map_err(one_line);
        assert!(!format!("{receipt:#}").is_empty());
        let _ = receipt.for_groups(std::num::NonZeroU32::MAX);
    }
    ledger.spent().is_none_or(|spent| spent.get() >= 0.0)
}

fn geometry(bytes: &[u8]) -> bool {
    let mut used = false;
    if let Some(domain) = read::<PublicBox>(bytes) {
        domain.clip(&mut vec![f64::NAN; domain.dim()]).expect("of its dimension");
        used = true;
    }
    if let Some(ball) = read::<PublicBall>(bytes) {
        ball.clip(&mut vec![1e300; ball.dim()]).expect("of its dimension");
        used = true;
    }
    if let Some(grid) = read::<FixedPointGrid>(bytes) {
        grid.cells_of(&vec![f64::NAN; grid.dim()], &mut vec![0; grid.dim()]);
        used = true;
    }
    if let Some(grid) = read::<NestedGrid>(bytes) {
        grid.positions(&vec![f64::INFINITY; grid.dim()], &mut vec![0; grid.dim()]);
        used = true;
    }
    if let Some(points) = read::<Points>(bytes) {
        assert_eq!(points.view().rows().count(), points.len());
        used = true;
    }
    used
}

fn wanted() -> Wanted {
    let shape = StreamShape { universe: Universe::Bits64, users: 10_000, steps: 50 };
    Wanted {
        shape,
        budget: budget(),
        users: 800,
        items_of_a_user: 2,
        within: 3,
        reports_of_a_user: 2,
        beta: 1e-3,
    }
}

fn release_of_a_map() -> Release<ReleasedMap, AddRemove> {
    let map = PrivateMap::add_remove(cube(2), budget(), PrivateMapSettings::default());
    map.expect("valid").simulate(records().view(), &mut rng()).expect("of two dimensions")
}

// The program.

fn command(words: &str) -> Command {
    Cli::try_parse_from(words.split_whitespace()).expect("words that there are").command
}

const CHECKS: [&str; 8] = [
    "count --by a --groups x,y --epsilon 1",
    "histogram --of b --bounds 0,10 --bins 3 --person a --epsilon 1",
    "mean --of b --bounds -1,1 --by a --groups x --delimiter semicolon --decimal-comma --epsilon 1",
    "cluster --range a=0,1 --range b=-5,1e9 --k 2 --epsilon 1",
    "coverage --k 1 --person a --set b --sets x,y --epsilon 1",
    "map --range a=0,1 --range b=-5,1e9 --unit m --within 3 --rows 2 --k 2 --epsilon 1 --delta 1e-6",
    "census --regions FOLDER/regions.csv --units FOLDER/units.csv --largest 3 --epsilon 1 --column unit=a --column person=b",
    "top --person a --item b --items 1,2,3 --epsilon 1",
];

/// The first byte says which release the table is for, the second which kind of file it is. A census has the table for its directory, too.
fn table(bytes: &[u8]) -> bool {
    let mut choices = Choices::new(bytes);
    let (words, ending) = (choices.below(CHECKS.len()), choices.below(3));
    let home = tempfile::tempdir().expect("a disk");
    let folder = home.path().to_str().expect("a plain name");
    let path = format!("{folder}/p.{}", ["csv", "csv.gz", "parquet"][ending]);
    let rest = bytes.get(2..).unwrap_or_default();
    for (name, text) in
        [("regions.csv", "region,parent\nUS,\nGA,US\n"), ("units.csv", "unit,region\nx,GA\ny,GA\n")]
    {
        let is_table = ending == 0 && rest.starts_with(&text.as_bytes()[..4]);
        fs::write(home.path().join(name), if is_table { rest } else { text.as_bytes() })
            .expect("a disk");
    }
    fs::write(&path, rest).expect("a disk");
    let words = CHECKS[words].replace("FOLDER", folder);
    let Command::Check { family } = command(&format!("quietus check {words} --data {path}")) else {
        unreachable!("a check")
    };
    check(&family).map_err(one_line).is_ok_and(|text| text.starts_with("PRIVATE: "))
}

const TEXTS: [&str; 4] = [
    "a,b,c\nx,1,2\ny,2.5,3\n,,\n",
    "a;b;c\nx;0,5;2\n\"y\";-0,1;3\n",
    "a,b,c\n0.5,-4,\"x\"\"y\"\n1e-3,7,2\n",
    "region,parent\nUS,\nGA,US\nNY,US\n",
];

fn tables() -> Vec<Vec<u8>> {
    let with = |(words, text): (u8, &str)| [&[words, 0], text.as_bytes()].concat();
    let all = (0..8).map(|words| (words, TEXTS[usize::from(words) % 3]));
    all.chain([(6, TEXTS[3]), (6, "unit,region\nx,GA\n")]).map(with).collect()
}

fn packed_tables() -> Vec<Vec<u8>> {
    let pack = |mut whole: Vec<u8>| {
        let packed = gzipped(&whole.split_off(2));
        [vec![whole[0], 1], packed].concat()
    };
    tables().into_iter().map(pack).collect()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packer, bytes).expect("memory");
    packer.finish().expect("memory")
}

/// Texts and numbers, in pages of three rows, by each codec and form.
fn parquet_tables() -> Vec<Vec<u8>> {
    let schema = "message people { required byte_array a (UTF8); optional double b; }";
    let schema = parquet::schema::parser::parse_message_type(schema).expect("a schema");
    let codecs =
        [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::GZIP(GzipLevel::default())];
    let versions = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];
    let file = |(codec, version)| {
        let settings =
            WriterProperties::builder().set_compression(codec).set_writer_version(version);
        let settings = settings.set_data_page_row_count_limit(3).set_write_batch_size(1).build();
        let mut bytes = vec![0, 2];
        let mut writer =
            SerializedFileWriter::new(&mut bytes, Arc::new(schema.clone()), Arc::new(settings))
                .expect("memory");
        let mut group = writer.next_row_group().expect("memory");
        let names: Vec<ByteArray> = (0..20).map(|row| ["x", "y"][row % 2].into()).collect();
        let mut column = group.next_column().expect("memory").expect("the first");
        column.typed::<ByteArrayType>().write_batch(&names, None, None).expect("memory");
        column.close().expect("memory");
        let numbers: Vec<f64> = (0..15).map(f64::from).collect();
        let levels: Vec<i16> = (0..20).map(|row| i16::from(row % 4 > 0)).collect();
        let mut column = group.next_column().expect("memory").expect("the second");
        column.typed::<DoubleType>().write_batch(&numbers, Some(&levels), None).expect("memory");
        column.close().expect("memory");
        group.close().expect("memory");
        writer.close().expect("memory");
        bytes
    };
    let mut all: Vec<Vec<u8>> = codecs
        .into_iter()
        .flat_map(|codec| versions.map(|version| (codec, version)))
        .map(file)
        .collect();
    for (words, file) in (0..).zip(&mut all) {
        file[0] = words % 2;
    }
    all
}

const RELEASES: [&str; 7] = [
    "count --by a --groups x,y --epsilon 1",
    "histogram --of b --bounds 0,10 --bins 3 --person a --epsilon 1",
    "coverage --k 1 --person a --set b --sets 1,2 --epsilon 1",
    "top --person a --item b --items 1,2,3 --epsilon 1",
    "cluster --range b=0,9 --k 2 --rows 10 --simulations 0 --epsilon 1 --delta 1e-6",
    "cluster --range b=0,9 --unscaled --within 1 --k 2 --rows 2 --simulations 0 --epsilon 1 --delta 1e-6",
    "map --range b=0,9 --range c=0,9 --unit m --k 2 --simulations 0 --epsilon 1 --delta 1e-6",
];

fn released(home: &Path, words: &str, out: &str, account: &str) {
    fs::write(home.join("p.csv"), "a,b,c\nx,1,2\ny,2,3\n").expect("a disk");
    let folder = home.to_str().expect("a plain name");
    let words =
        format!("quietus release {words} --data {folder}/p.csv --out {folder}/{out} {account}");
    let Command::Release { family } = command(&words) else { unreachable!("a release") };
    release(&family, &Gate::default(), &RealDisk).expect("a disk");
}

const PARTS: [&str; 3] = ["plan", "receipt", "release"];

fn releases() -> Vec<Vec<u8>> {
    let home = tempfile::tempdir().expect("a disk");
    let part = |out: &str, name: &str| -> Value {
        let bytes = fs::read(home.path().join(format!("{out}/{name}.json"))).expect("a disk");
        serde_json::from_slice(&bytes).expect("JSON")
    };
    let one = |(number, words): (usize, &&str)| {
        let out = format!("out{number}");
        released(home.path(), words, &out, "--no-ledger");
        let [plan, receipt, release] = PARTS.map(|name| part(&out, name));
        json(&json!({ "plan": plan, "receipt": receipt, "release": release }))
    };
    RELEASES.iter().enumerate().map(one).collect()
}

/// The plan is read as what it says that it is, so its hash is made to fit.
fn folder(bytes: &[u8]) -> bool {
    let Some(mut whole) = read::<Value>(bytes).filter(|whole| whole["release"].is_object()) else {
        return false;
    };
    let home = tempfile::tempdir().expect("a disk");
    whole["release"]["plan"] = digest(&json(&whole["plan"])).into();
    for name in PARTS {
        fs::write(home.path().join(format!("{name}.json")), json(&whole[name])).expect("a disk");
    }
    verify(home.path(), None).map_err(one_line).is_ok()
}

fn digest(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let hash = hmac_sha256::Hash::hash(bytes);
    hash.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("memory");
        text
    })
}

/// Lines without their hashes.
fn ledgers() -> Vec<Vec<u8>> {
    let home = tempfile::tempdir().expect("a disk");
    let ledger = home.path().join("l");
    let words = format!("quietus ledger new {} --dataset d --epsilon 9", ledger.display());
    let Command::Ledger { command: new } = command(&words) else { unreachable!("a ledger") };
    run_ledger(&new, &RealDisk).expect("a disk");
    for out in ["one", "two"] {
        let account = format!("--ledger {}", ledger.display());
        released(home.path(), RELEASES[0], out, &account);
    }
    let text = fs::read_to_string(ledger).expect("a disk");
    let text = text.replace(home.path().to_str().expect("a plain name"), "/home");
    let lines = text.lines().map(|line| format!("{}\n", line.split_once(' ').expect("a hash").1));
    vec![lines.collect::<String>().into_bytes()]
}

/// Each line gets the hash that fits.
fn ledger(bytes: &[u8]) -> bool {
    let home = tempfile::tempdir().expect("a disk");
    let path = home.path().join("l");
    let (mut text, mut last) = (Vec::new(), String::new());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        last = digest(&[last.as_bytes(), content].concat());
        text.extend_from_slice(&[last.as_bytes(), b" ", line].concat());
    }
    fs::write(&path, text).expect("a disk");
    let Ok(book) = LedgerFile::at(&path).read().map_err(one_line) else { return false };
    let _ = (
        book.account::<ReplaceOne>().map_err(one_line),
        book.account::<Within>().map_err(one_line),
    );
    book.account::<AddRemove>().map_err(one_line).is_ok() && book.show().map_err(one_line).is_ok()
}

fn settings(bytes: &[u8]) -> bool {
    let home = tempfile::tempdir().expect("a disk");
    let path = home.path().join("s.toml");
    fs::write(&path, bytes).expect("a disk");
    let words = ["quietus", "release", "count", "--settings"].map(OsString::from);
    let Ok(words) =
        with_settings(words.into_iter().chain([path.into_os_string()])).map_err(one_line)
    else {
        return false;
    };
    drop(Cli::try_parse_from(words));
    true
}
