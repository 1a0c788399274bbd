//! k-means of clients who trust nobody.
//!
//! Public coins divide the clients into rounds. Those of the first say in which cell of a grid they are, one of four shifted ones; clusters that
//! explain the noisy histograms give centres. Those of each later round say how they lie from the nearest centre, as a vector in one byte:
//! residual, presence, squared residual. The server moves each centre by what they say and asks the next round with a smaller radius, so the
//! noise shrinks with it. In more than five dimensions cells are those of three or five public projections to four.

mod client;
mod fit;
mod message;
mod mixture;
mod plan;
mod projection;
mod server;
mod session;
mod simulate;
mod solve;
mod start;

pub use client::{Client, NotAnswered};
pub use message::{Message, Question};
pub use plan::{LocalKMeans, LocalKMeansSettings};
pub use server::{LocalCentres, Server};
pub use session::{RoundAnswer, Session};

#[cfg(test)]
mod tests;
