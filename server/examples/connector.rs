//! A connector for a provider of one's own: implement one trait, start it.
//!
//!     twolane keygen -o runner-1.key
//!     cargo run --example connector -- callers.toml

use std::path::PathBuf;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use twolane::connector::backend::failed;
use twolane::connector::{
    Events, ListenBounds, NotReady, Outcome, Plan, ProviderBackend, Turn, callers_file, start,
};
use twolane_core::connector::document::{Completed, FailureKind, StopReason};
use twolane_core::connector::replay::Retention;
use twolane_core::connector::text::Id;

/// Stands for a provider: takes a while, and says how long the request is.
struct Counts(Id<Box<str>>);

impl ProviderBackend for Counts {
    fn transport(&self) -> Id<&str> {
        self.0.borrow()
    }

    fn readiness(&self) -> Result<(), NotReady> {
        Ok(())
    }

    async fn execute(&self, turn: &Turn, events: &Events, cancel: &CancellationToken) -> Outcome {
        if cancel.run_until_cancelled(tokio::time::sleep(Duration::from_secs(1))).await.is_none() {
            return failed(FailureKind::Internal, "cancelled");
        }
        let items = turn.invocation.request.input.len();
        if let Err(fault) = events.text(&format!("{items} items were asked about.")) {
            return failed(FailureKind::Internal, &fault.to_string());
        }
        Outcome::Completed(Completed {
            stop_reason: StopReason::EndTurn,
            provider_response_id: None,
            input_tokens: None,
            output_tokens: Some(5),
            reasoning_output_tokens: None,
            cached_input_tokens: None,
        })
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let callers = std::env::args_os().nth(1).map_or_else(|| "callers.toml".into(), PathBuf::from);
    let plan = Plan {
        address: "127.0.0.1:7342".parse()?,
        data_dir: "connector-data".into(),
        callers: callers_file::read(&callers)?,
        frame_max: 2 * 1024 * 1024,
        skew: Duration::from_secs(300),
        run_time: Duration::from_secs(60),
        grace: Duration::from_secs(5),
        retention: Retention::default(),
        bounds: ListenBounds::default(),
        callers_file: None,
        run_dir: None,
    };
    let serving = start(Counts(Id::new("counts".into())?), plan).await?;
    println!("sealed turns at {}", serving.address());
    tokio::signal::ctrl_c().await?;
    serving.stop().await;
    Ok(())
}
