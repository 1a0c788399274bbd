//! Passes that processes on other machines count, by `datafusion-distributed`.

mod node;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_distributed::grpc::{BoxCloneSyncChannel, create_worker_client};
use datafusion_distributed::{
    ChannelResolver, DistributedExt, GetWorkerInfoRequest, SessionStateBuilderExt, Worker,
    WorkerChannel, WorkerQueryContext, WorkerResolver,
};
use futures::future::join_all;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::{Channel, Server};
use url::Url;

use self::node::{ShareCodec, SharesOfPasses};
use crate::Error;

/// What workers and those who ask them have in common: both have to read and count alike.
const VERSION: &str = concat!("dp-datafusion ", env!("CARGO_PKG_VERSION"));

/// How often it is asked which workers are there.
const LOOK: Duration = Duration::from_secs(1);

/// How long a worker may take to say that it is there. One that says nothing for so long in the middle of a pass is lost, and the pass fails.
const LOST: Duration = Duration::from_secs(2);

/// Processes elsewhere that count passes, each a [`serve`]: files are split between those that answer.
///
/// A worker that dies fails the pass that it counts; the pass that is put to the engine [again](crate::Run::attempts) goes to those that are left. One
/// that comes back is given work again. Whoever listens to the network between them sees exact tables.
pub struct Workers {
    alive: watch::Receiver<Vec<Url>>,
    look: JoinHandle<()>,
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers").field("alive", &*self.alive.borrow()).finish_non_exhaustive()
    }
}

/// Nobody looks after them any more.
impl Drop for Workers {
    fn drop(&mut self) {
        self.look.abort();
    }
}

impl Workers {
    /// Looks which of them are there, and goes on looking for as long as it lives.
    ///
    /// # Errors
    /// [`Error::Name`] of what is no URL; [`Error::NoWorker`] if none is there, or all are of another version.
    pub async fn connect(urls: &[&str]) -> Result<Self, Error> {
        let parsed = urls.iter().map(|url| Url::parse(url).map_err(|_| Error::Name((*url).into())));
        let all: Vec<Url> = parsed.collect::<Result<_, _>>()?;
        let first = those_there(&all).await;
        if first.is_empty() {
            return Err(Error::NoWorker(urls.join(", ")));
        }
        let (tell, alive) = watch::channel(first);
        let look = tokio::spawn(async move {
            loop {
                sleep(LOOK).await;
                tell.send_replace(those_there(&all).await);
            }
        });
        Ok(Self { alive, look })
    }

    /// How many answered when they were last asked.
    pub fn count(&self) -> usize {
        self.alive.borrow().len()
    }

    /// A session whose plans they run. Each opens the files of its share by the names that they have here, so these have to lead to the
    /// same files everywhere.
    ///
    /// # Errors
    /// If the engine refuses the settings.
    pub fn session(&self, config: SessionConfig) -> Result<SessionContext, Error> {
        let state = SessionStateBuilder::new()
            .with_config(config)
            .with_default_features()
            .with_distributed_worker_resolver(Alive(self.alive.clone()))
            .with_distributed_channel_resolver(Channels)
            .with_distributed_user_codec(ShareCodec)
            .with_physical_optimizer_rule(Arc::new(SharesOfPasses))
            // They hold the number of rows.
            .with_distributed_metrics_collection(false)?
            .with_distributed_planner()
            .build();
        Ok(SessionContext::new_with_state(state))
    }
}

/// Those that answer, and are of this version.
async fn those_there(all: &[Url]) -> Vec<Url> {
    let there = join_all(all.iter().map(|url| async move {
        let version = async {
            let mut worker = client(url).await?;
            worker.get_worker_info(GetWorkerInfoRequest {}).await
        };
        matches!(timeout(LOST, version).await, Ok(Ok(found)) if found.version == VERSION)
    }));
    all.iter().zip(there.await).filter(|(_, there)| *there).map(|(url, _)| url.clone()).collect()
}

struct Alive(watch::Receiver<Vec<Url>>);

impl WorkerResolver for Alive {
    fn get_urls(&self) -> Result<Vec<Url>> {
        let urls = self.0.borrow().clone();
        let none = || DataFusionError::Execution("none of the workers answers".to_owned());
        if urls.is_empty() { Err(none()) } else { Ok(urls) }
    }
}

/// A connection of its own for each share of a pass, there are few; it is lost when the other end no longer says anything.
#[derive(Clone)]
struct Channels;

#[async_trait]
impl ChannelResolver for Channels {
    async fn get_worker_client_for_url(&self, url: &Url) -> Result<Box<dyn WorkerChannel>> {
        client(url).await
    }
}

async fn client(url: &Url) -> Result<Box<dyn WorkerChannel>> {
    let failed = |error| DataFusionError::External(Box::new(error));
    let endpoint = Channel::from_shared(url.to_string())
        .map_err(|error| DataFusionError::External(Box::new(error)))?
        .connect_timeout(LOST)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(LOOK)
        .keep_alive_timeout(LOST);
    let channel = endpoint.connect().await.map_err(failed)?;
    Ok(create_worker_client(BoxCloneSyncChannel::new(channel)))
}

/// Counts for everybody who can reach this address, until the process ends: what such a one may ask for is what this process may read, so
/// that only the [`Workers`] of a release should reach it. `runtime` knows the stores of files that are not on a disk.
///
/// # Errors
/// [`Error::Network`].
pub async fn serve(listener: TcpListener, runtime: Arc<RuntimeEnv>) -> Result<(), Error> {
    let worker = Worker::from_session_builder(session_of_a_worker);
    let worker = worker.with_version(VERSION).with_runtime_env(runtime);
    let served = Server::builder()
        .http2_keepalive_interval(Some(LOOK))
        .add_service(worker.into_worker_server())
        .serve_with_incoming(TcpListenerStream::new(listener));
    served.await.map_err(|error| Error::Network(error.into()))
}

async fn session_of_a_worker(context: WorkerQueryContext) -> Result<SessionState> {
    let builder = context.builder.with_distributed_user_codec(ShareCodec);
    Ok(builder.with_distributed_channel_resolver(Channels).build())
}
