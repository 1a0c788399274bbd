use dp_stream::*;
#[test]
fn probe() {
    for k in [1u8, 4, 16, 64] {
        let shape = StreamShape { universe: Universe::Range { size: 1 << 32 }, users: 10, steps: 10_000 };
        let t = std::time::Instant::now();
        let advice = advise(&Question { shape, budget: Budget::new(1.0, 1e-6).unwrap(), reports_per_user: k, reports_in_all: 1000, beta: 0.1, miss: 1e-6 }).unwrap();
        println!("k {k} {:?}\n{advice}", t.elapsed());
    }
}
