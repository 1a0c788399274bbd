//! Locality-sensitive hashing: near points often get the same key, far ones seldom.
//!
//! Keys are functions of one point and of public coins: the generator is an argument of each constructor, hides nothing and may be
//! made from a published seed. Every family knows the probability that two points collide.
//!
//! | family | a key is | two points collide with probability |
//! |---|---|---|
//! | [`SignProjections`] | a bit per plane through the origin | `(1 - angle / pi)^planes` |
//! | [`StableProjections`] | an integer per direction | `P(width / distance)^directions`, see there |
//! | [`ShiftedGrids`] | the number of a cell of a shifted grid | `prod_i max(0, 1 - abs(x_i - y_i) / side_i)` |

mod normal;
mod shifted;
mod sign;
mod stable;

pub use normal::normal_directions;
pub use shifted::ShiftedGrids;
pub use sign::SignProjections;
pub use stable::StableProjections;

#[cfg(test)]
mod tests;
