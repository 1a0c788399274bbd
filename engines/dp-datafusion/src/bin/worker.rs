//! `dp-datafusion-worker ADDRESS:PORT`: counts passes of records that it reads itself, for the release node.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use datafusion::execution::runtime_env::RuntimeEnv;
use dp_datafusion::workers::serve;
use tokio::net::TcpListener;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a program")]
#[tokio::main]
async fn main() -> ExitCode {
    let address = std::env::args().nth(1).map(|text| text.parse::<SocketAddr>());
    let Some(Ok(address)) = address else {
        eprintln!(
            "usage: dp-datafusion-worker ADDRESS:PORT, such as 127.0.0.1:7070\nWhoever reaches it reads what it may read."
        );
        return ExitCode::from(2);
    };
    let served = async {
        let listener = TcpListener::bind(address).await?;
        println!("listening on {}", listener.local_addr()?);
        serve(listener, Arc::new(RuntimeEnv::default())).await.map_err(std::io::Error::other)
    };
    match served.await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{address}: {error}");
            ExitCode::FAILURE
        }
    }
}
