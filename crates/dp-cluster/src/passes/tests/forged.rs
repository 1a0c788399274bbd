//! States whose bytes were changed, with a checksum that fits.

use super::*;

/// The bytes of a state or a question with a checksum that fits them: 64-bit FNV-1a of all but the last eight.
fn with_a_fitting_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    let next = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let end = bytes.len() - 8;
    let sum = bytes[..end].iter().fold(0xcbf2_9ce4_8422_2325, next);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// Changes bytes of every state that a release goes through, but for what has been drawn, and makes the checksum fit: each of them is refused
/// when it is read, or is as good as one that was left behind. How many were refused and how many went on.
fn forged<P>(plan: &P, points: &Points) -> [usize; 2]
where
    P: ByPasses<Question = Question> + Clone,
{
    let mut rng = rng(6);
    let (mut passes, mut found) = (Passes::new(plan.clone()).expect("has tables"), [0; 2]);
    loop {
        let bytes = passes.to_bytes();
        let rows = [&[1], &(points.len() as u64).to_le_bytes()[..]].concat();
        let public = bytes.windows(rows.len()).rposition(|here| here == rows);
        let places = 16..public.unwrap_or(bytes.len() - 10);
        for at in places.clone().step_by((places.len() / 60).max(1)) {
            for change in [1, 0x80, rng.random_range(1..=u8::MAX)] {
                let mut bytes = bytes.clone();
                bytes[at] ^= change;
                let read = Passes::from_bytes(plan.clone(), &with_a_fitting_checksum(bytes));
                let Ok(mut passes) = read else {
                    found[0] += 1;
                    continue;
                };
                let mut tally = passes.asked().tally().expect("a question that was read");
                if passes.asked().question().dim() == points.dim() {
                    tally.add(points.view()).expect("few");
                    let _ = passes.replay(tally.table(), &mut SecureSource::new(&mut rng));
                    found[1] += 1;
                }
            }
        }
        let table = answer(passes.asked(), points.view(), points.len());
        if passes.replay(&table, &mut SecureSource::new(&mut rng)).expect("its own").is_some() {
            return found;
        }
    }
}

#[test]
fn states_that_were_made_up_are_refused_or_go_on() {
    let points = records(60, 2);
    let small = |found: [usize; 2]| assert!(found[0] > 50 && found[1] > 0, "{found:?}");
    let settings = DpmSettings { max_depth: 3, ..Default::default() };
    small(forged(&Dpm::new(cube(2), budget(), settings).expect("valid"), &points));
    let one_by_one = DpmSettings { counters: 1, ..settings };
    small(forged(&Dpm::new(cube(2), budget(), one_by_one).expect("valid"), &points));
    let rounds = Rounds { shares: vec![1.0; 3], merge_after: 1, ..Rounds::default() };
    let settings = DpmRecentredSettings { max_depth: 2, rounds, ..Default::default() };
    small(forged(&DpmRecentred::new(cube(2), budget(), settings).expect("valid"), &points));
    let ring_settings = RingRoundsSettings { rounds: 2, most_planes: 2, ..Default::default() };
    small(forged(&RingRounds::new(cube(2), 2, budget(), ring_settings).expect("valid"), &points));
    small(forged(&PrivateBox::plan(cube(2), budget()).expect("valid"), &points));
    let ball = PublicBall::new(vec![0.0; 2], 10.0).expect("valid");
    let settings = LshSplitsSettings { depth: 4, ..Default::default() };
    small(forged(&LshSplits::new(ball, 2, budget(), settings).expect("valid"), &points));
    let usual = PrivateKMeansSettings::default();
    for settings in [usual, PrivateKMeansSettings { finds_k: true, ..usual }, even()] {
        let plan = PrivateKMeans::new(cube(2), 3, budget(), settings).expect("valid");
        small(forged(&plan, &points));
    }
}

/// Which value, and which limit.
#[test]
fn a_state_that_was_made_up_says_what_is_wrong_with_it() {
    let plan = Dpm::new(cube(1), budget(), DpmSettings::default()).expect("valid");
    let rings = RingRounds::new(cube(1), 2, budget(), RingRoundsSettings::default());
    let rings = rings.expect("valid");
    let (_, other) = plan.first();
    let (state, _) = rings.first();
    assert_eq!(rings.fits(&state, &other), Err(TableError::OtherQuestion));
    assert!(rings.fits(&state, &rings.first().1).is_ok());
    let within = StateError::unless_within("radius", 7.0, [0.0, 4.5]);
    let text = "no run of this plan leaves this state: radius is 7, the limit is 4.5";
    assert_eq!(within.expect_err("above").to_string(), text);
    assert!(StateError::unless_within("radius", f64::NAN, [0.0, 4.5]).is_err());
}

/// One side further out, too narrow, of another dimension.
#[test]
fn a_box_that_was_found_is_in_that_of_the_plan() {
    let of_plan = cube(2);
    let inside = |sides: [f64; 2]| {
        let found = PublicBox::new(vec![-1.0, sides[0]], vec![1.0, sides[1]]).expect("valid");
        is_inside(&found, &of_plan).is_ok()
    };
    assert!(inside([-10.0, 10.0]) && inside([-1.0, 0.0]));
    assert!(!inside([-11.0, 0.0]) && !inside([-1.0, 11.0]) && !inside([0.0, 1e-15]));
    assert!(is_inside(&of_plan, &of_plan).is_ok() && is_inside(&cube(1), &of_plan).is_err());
}
