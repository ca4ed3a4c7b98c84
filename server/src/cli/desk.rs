//! Who answers questions about the store of replies: the server that holds it, or this process where none does.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::{Exit, Failure, Global, environment};
use crate::admin::client::{AskFault, Asking};
use crate::admin::desk::{Ask, Closed, Desk as Answering, Said};
use crate::admin::endpoint::Endpoint;
use crate::config::Config;
use crate::connector::serve::STORE_FILE;
use crate::limits::ADMIN_WHERE_TIMEOUT;
use crate::store::{EngineFault, RedbEngine, Store};

/// Which store, and which server may hold it.
#[derive(Args, Debug)]
pub(super) struct Which {
    /// Directory of the store [default: the setting data_dir]
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<String>,
    /// Directory in which the server's files are [default: the setting run_dir]
    #[arg(long, global = true, value_name = "DIR")]
    run_dir: Option<String>,
}

impl Which {
    fn config(self, global: &Global) -> Result<Config, Failure> {
        let layers = global.layers().flag("data_dir", self.data_dir).flag("run_dir", self.run_dir);
        Ok(layers.resolve(&environment())?.typed()?)
    }
}

/// One of the two.
pub(super) struct Desk {
    runtime: Runtime,
    who: Who,
}

enum Who {
    Server(Asking),
    Here(Answering<Closed>),
}

impl Desk {
    /// The server that runs with the configured run directory, if it holds the configured store; else the store
    /// itself.
    pub(super) fn open(global: &Global, which: Which) -> Result<Self, Failure> {
        let config = &which.config(global)?;
        let failed = |fault| Failure::new(Exit::Failed, fault);
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (who, silent) = match runtime.block_on(server(config)) {
            Ok(Some(asking)) => (Who::Server(asking), None),
            Ok(None) => (Who::Here(open(config, None)?), None),
            // A file that a killed server left behind, or one that is not ours to ask.
            Err(fault) => (Who::Here(open(config, Some(&fault))?), Some(fault)),
        };
        if let Some(fault) = silent {
            tracing::debug!(%fault, "the store is opened here");
        }
        Ok(Self { runtime, who })
    }

    /// The server alone: what is asked concerns what it has in hand.
    pub(super) fn of_server(global: &Global, which: Which) -> Result<Self, Failure> {
        let config = &which.config(global)?;
        let failed = |fault| Failure::new(Exit::Failed, fault);
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let nobody = || {
            let (file, store) = (Endpoint::file(&config.run_dir), config.data_dir.join(STORE_FILE));
            format!("no server with {} serves from {}", file.display(), store.display())
        };
        match runtime.block_on(server(config)) {
            Ok(Some(asking)) => Ok(Self { runtime, who: Who::Server(asking) }),
            Ok(None) => Err(Failure::new(Exit::Unreachable, format!("{}; name its --run-dir", nobody()))),
            Err(fault) => Err(Failure::new(Exit::Unreachable, format!("{}: {fault}", nobody()))),
        }
    }

    /// One question, one answer. What could not be done is a failure.
    pub(super) fn ask(&mut self, ask: Ask) -> Result<Said, Failure> {
        let said = match &mut self.who {
            Who::Server(asking) => {
                let said = self.runtime.block_on(asking.ask(&ask));
                said.map_err(|fault| Failure::new(Exit::Unreachable, fault))?
            }
            Who::Here(desk) => self.runtime.block_on(desk.answer(ask)),
        };
        match said {
            Said::Failed(words) => Err(Failure::new(Exit::Failed, words)),
            said => Ok(said),
        }
    }
}

/// The running server, if the store is its.
async fn server(config: &Config) -> Result<Option<Asking>, AskFault> {
    let Some(mut asking) = Asking::connect(&config.run_dir).await? else { return Ok(None) };
    let asked = timeout(ADMIN_WHERE_TIMEOUT, asking.ask(&Ask::Where)).await;
    let silent = |_| AskFault::Broken("it does not answer; is the server stopped?".into());
    let holds = match asked.map_err(silent)?? {
        Said::Here { data_dir, .. } => config.data_dir.canonicalize().is_ok_and(|ours| ours == data_dir),
        _ => false,
    };
    Ok(holds.then_some(asking))
}

fn open(config: &Config, silent: Option<&AskFault>) -> Result<Answering<Closed>, Failure> {
    let path = config.data_dir.join(STORE_FILE);
    if !path.exists() {
        return Err(Failure::new(Exit::Failed, format!("there is no store at {}", path.display())));
    }
    let engine = RedbEngine::open(&path).map_err(|fault| opening(&path, &fault, config, silent))?;
    let store = Store::start(engine).map_err(|fault| Failure::new(Exit::Failed, fault))?;
    Ok(Answering::new(Arc::new(Closed(store)), &config.data_dir))
}

fn opening(path: &Path, fault: &EngineFault, config: &Config, silent: Option<&AskFault>) -> Failure {
    if !matches!(fault, EngineFault::Locked) {
        let exit = if matches!(fault, EngineFault::Damaged { .. }) { Exit::Damaged } else { Exit::Failed };
        return Failure::new(exit, format!("{}: {fault}", path.display()));
    }
    let file = Endpoint::file(&config.run_dir);
    let why = match silent {
        Some(fault) => format!("{}: {fault}", file.display()),
        None => format!("{} does not tell where to ask it", file.display()),
    };
    let advice = "name the server's --run-dir, or stop the server";
    Failure::new(Exit::Unreachable, format!("{}: {fault}; {why}; {advice}", path.display()))
}
