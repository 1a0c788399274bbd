//! Values of a fixed seed. A change here is value-breaking and must be named so in the changelog.

use dp_noise::{
    DiscreteGaussian, DiscreteLaplace, PoissonSkips, RoundedGaussian, SecureBits, TableGaussian,
    TimingSafeLaplace, choose_exponentially, insecure_reproducible, permute_and_flip,
};

use super::ratio;

#[test]
fn values_are_stable() {
    let mut rng = insecure_reproducible(41);
    let mut bits = SecureBits::new(&mut rng);
    let laplace = DiscreteLaplace::new(ratio(25, 2)).expect("valid");
    let drawn: Vec<i128> = (0..8).map(|_| laplace.sample(&mut bits)).collect();
    assert_eq!(drawn, [-4, 5, -26, 16, 0, 1, -50, 2], "laplace");
    let gaussian = DiscreteGaussian::new(ratio(100, 1)).expect("valid");
    let drawn: Vec<i128> = (0..8).map(|_| gaussian.sample(&mut bits)).collect();
    assert_eq!(drawn, [1, -6, 6, 1, 0, 11, 16, -3], "gaussian");
    let digits = TimingSafeLaplace::new(ratio(25, 2)).expect("valid");
    let drawn: Vec<i128> = (0..8).map(|_| digits.sample(&mut bits)).collect();
    assert_eq!(drawn, [-7, 17, 0, 5, 0, 25, 0, -5], "digits");
    let table = TableGaussian::new(ratio(100, 1)).expect("valid");
    let drawn: Vec<i64> = (0..8).map(|_| table.sample(&mut bits)).collect();
    assert_eq!(drawn, [11, -23, -1, -15, -14, -3, 3, -11], "table");
    let scores = [3, 1, 4, 1, 5, 9, 2, 6];
    let drawn: Vec<usize> =
        (0..8).map(|_| choose_exponentially(&mut bits, &scores, ratio(1, 3)).unwrap()).collect();
    assert_eq!(drawn, [5, 5, 3, 5, 5, 4, 5, 5], "choice");
    let drawn: Vec<usize> =
        (0..8).map(|_| permute_and_flip(&mut bits, &scores, ratio(1, 3)).unwrap()).collect();
    assert_eq!(drawn, [1, 7, 5, 5, 7, 5, 5, 5], "permute and flip");
    let skips = PoissonSkips::with_probability(ratio(1, 10)).expect("valid");
    assert_eq!(skips.indexes(60, &mut bits).collect::<Vec<_>>(), [11, 15, 21, 43], "sample");
    let rounded = RoundedGaussian::new(ratio(100, 1)).expect("valid");
    let drawn: Vec<i128> = (0..8).map(|_| rounded.sample(&mut bits)).collect();
    assert_eq!(drawn, [-8, 4, 5, 6, -12, 14, 8, 6], "rounded");
    let rounded = RoundedGaussian::new(ratio(1, 3)).expect("valid");
    let drawn: Vec<i128> = (0..8).map(|_| rounded.sample(&mut bits)).collect();
    assert_eq!(drawn, [-1, 0, 0, 0, 0, 0, 0, 0], "rounded, narrow");
}
