//! Random questions to the library, each answered a second time by `dp-check`:
//! `cargo run --release -p dp-accounting --example check_queries -- NUMBER SEED [FAMILY]`. Without a family, all come up, slow ones rarely.

#![allow(clippy::disallowed_methods, reason = "plain numbers are compared")]
#![allow(clippy::print_stdout, reason = "what a program is for")]

#[path = "../tests/checker/queries.rs"]
mod queries;

use std::panic::catch_unwind;
use std::time::Instant;

use queries::{Cases, Query, Verdict, sides};

/// How often each kind of mix comes up, in a thousand questions.
const WEIGHTS: [u32; 10] = [330, 5, 20, 320, 140, 181, 1, 1, 1, 1];

fn pick(cases: &mut Cases) -> u32 {
    let mut left = cases.up_to(WEIGHTS.iter().sum());
    for (family, weight) in (1..).zip(WEIGHTS) {
        if left <= weight {
            return family;
        }
        left -= weight;
    }
    unreachable!("at most the sum of the weights")
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|x| x.parse::<u64>().expect("a number"));
    let (number, seed) = (arguments.next().unwrap_or(1000), arguments.next().unwrap_or(1));
    let only = arguments.next().map(|x| u32::try_from(x).expect("one of the families"));
    let mut times = [(0, 0.0, 0.0); WEIGHTS.len()];
    let mut cases = Cases::new(seed);
    let (mut holds, mut open, mut broken) = (0, 0, 0);
    let start = Instant::now();
    for i in 0..number {
        let family = only.unwrap_or_else(|| pick(&mut cases));
        let query = Query::random(&mut cases, family);
        let before = Instant::now();
        let Ok(bound) = catch_unwind(|| query.answer()) else {
            broken += 1;
            println!("PANICKED {i}: {query:?}");
            continue;
        };
        let asked = before.elapsed().as_secs_f64();
        let verdict = query.verdict(sides(bound));
        let checked = before.elapsed().as_secs_f64() - asked;
        let time = &mut times[family as usize - 1];
        *time = (time.0 + 1, time.1 + asked, time.2 + checked);
        if asked.max(checked) > 1.0 {
            println!("slow {i}: {asked:.1} s, check {checked:.1} s: {query:?}");
        }
        match verdict {
            Verdict::Holds => holds += 1,
            Verdict::Open(why) => {
                open += 1;
                println!("open {i}: {query:?} {bound} {why}");
            }
            Verdict::Broken(why) => {
                broken += 1;
                println!("BROKEN {i}: {query:?} {bound} {why}");
            }
        }
    }
    println!("{number} questions from seed {seed}: {holds} hold, {open} open, {broken} broken");
    for (family, (number, asked, checked)) in (1..).zip(times) {
        println!("family {family}: {number} questions, {asked:.3} s asked, {checked:.3} s checked");
    }
    println!("{:.1} s", start.elapsed().as_secs_f64());
}
