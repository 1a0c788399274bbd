//! Questions that come from anywhere.

use super::*;

/// Questions with changed bytes and a sum that fits: each is refused, or counts records into a table of a stated size.
#[test]
fn any_question_is_refused_or_counts() {
    let kmeans = |settings| PrivateKMeans::new(cube(4), 3, budget(), settings).expect("valid");
    let finds = PrivateKMeansSettings { finds_k: true, ..Default::default() };
    let recentred = DpmRecentred::new(cube(4), budget(), DpmRecentredSettings::default());
    let lsh = LshSplitsSettings::default();
    let ball = PublicBall::new(vec![0.0; 4], 20.0).expect("valid");
    let map = PrivateMap::add_remove(cube(2), budget(), PrivateMapSettings::default());
    let mut tried = [0, 0];
    odd_questions(kmeans(finds), 4, &mut tried);
    odd_questions(kmeans(PrivateKMeansSettings::default()), 4, &mut tried);
    odd_questions(recentred.expect("valid"), 4, &mut tried);
    odd_questions(LshSplits::new(ball, 3, budget(), lsh).expect("valid"), 4, &mut tried);
    odd_questions(map.expect("valid"), 2, &mut tried);
    let [counted, refused] = tried;
    assert!(counted > 500 && refused > 500, "{counted} counted, {refused} refused");
}

fn odd_questions<P>(plan: P, dim: usize, [counted, refused]: &mut [u32; 2])
where
    P: ByPasses<Question = Question>,
{
    let (points, mut rng) = (records(300, dim), rng(9));
    let mut passes = Passes::new(plan).expect("has tables");
    loop {
        let whole = passes.asked().to_bytes();
        for _ in 0..60 {
            let mut bytes = whole[..whole.len() - 8].to_vec();
            for _ in 0..rng.random_range(1..3) {
                let at = rng.random_range(8..bytes.len());
                bytes[at] = match rng.random_range(0..3) {
                    0 => rng.random(),
                    1 => [0, 0x7f, 0x80, 0xff][rng.random_range(0..4)],
                    _ => bytes[at] ^ (1 << rng.random_range(0..8)),
                };
            }
            // The sum finds damage only; it is made to fit.
            let next =
                |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
            let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325, next);
            bytes.extend_from_slice(&sum.to_le_bytes());
            let tally = Asked::<Question>::from_bytes(&bytes).and_then(|asked| asked.tally());
            match tally {
                Ok(mut tally) => {
                    *counted += u32::from(tally.add(points.view()).is_ok());
                    assert!(tally.table().to_bytes().len() < 1 << 28);
                }
                Err(_) => *refused += 1,
            }
        }
        let table = answer(passes.asked(), points.view(), 300);
        if passes.simulate(&table, &mut rng).expect("of all records").is_some() {
            return;
        }
    }
}
