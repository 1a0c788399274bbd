//! A whole session from one generator, for tests and evaluations: no client is ever an object.

use dp_geometry::PointsView;
use dp_mechanism::{ChaCha20Rng, CryptoRng, Draws, Private, SecureSource};
use rand::SeedableRng;
use rayon::prelude::*;

use super::plan::LocalKMeans;
use super::server::Server;
use super::session::{RoundAnswer, Session};
use crate::LocalError;

/// Clients that share a generator.
const CHUNK: usize = 1 << 13;

impl Session {
    /// The answers of the clients of a round to the server that asks, with noise from a generator of the caller's choice: for tests and
    /// evaluations on data that may be published. The law of every answer is that of [`Client::answer`](super::Client::answer).
    ///
    /// `record` gives the record of a client. The same seed gives the same answers for any number of threads.
    ///
    /// # Errors
    /// Those of [`Server::receive`].
    pub fn simulate_round<'d, R: CryptoRng + ?Sized>(
        &self,
        server: &mut Server,
        record: impl Fn(u32) -> Option<&'d [f64]> + Sync,
        rng: &mut R,
    ) -> Result<(), LocalError> {
        let question = server.question().clone();
        let asked: Vec<u32> = (0..self.plan().clients())
            .into_par_iter()
            .filter(|client| self.round_of(*client) == question.round())
            .collect();
        let chunks: Vec<(&[u32], ChaCha20Rng)> =
            asked.chunks(CHUNK).map(|chunk| (chunk, ChaCha20Rng::from_rng(rng))).collect();
        let answers: Vec<Vec<u32>> = chunks
            .into_par_iter()
            .map(|(clients, mut rng)| {
                let mut source = SecureSource::new(&mut rng);
                let answer = |client: &u32| {
                    let answer = RoundAnswer::new(self, &question, *client)?;
                    let record = Private::new(record(*client));
                    Ok(answer.symbol(record, &mut Draws::unplanned(&mut source)))
                };
                clients.iter().map(answer).collect()
            })
            .collect::<Result<_, LocalError>>()?;
        for (client, symbol) in asked.iter().zip(answers.iter().flatten()) {
            server.count(*client, *symbol)?;
        }
        Ok(())
    }
}

impl LocalKMeans {
    /// A whole session on records that may be published; client `i` has record `i`, and those beyond the records have none.
    ///
    /// # Errors
    /// [`LocalError::Dimension`] if the records do not have the dimension of the box.
    pub fn simulate<R: CryptoRng + ?Sized>(
        &self,
        session: u64,
        records: PointsView<'_>,
        rng: &mut R,
    ) -> Result<Server, LocalError> {
        let expected = self.public_box().dim();
        if records.dim() != expected {
            return Err(LocalError::Dimension { expected, got: records.dim() });
        }
        let session = self.session(session);
        let mut server = Server::new(session.clone());
        while !server.is_finished() {
            let record = |client: u32| {
                let at = client as usize;
                (at < records.len()).then(|| &records[at])
            };
            session.simulate_round(&mut server, record, rng)?;
            server.finish_round()?;
        }
        Ok(server)
    }
}
