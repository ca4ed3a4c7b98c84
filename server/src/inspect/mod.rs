//! What a person sees of a running server: the page, the door before it, and the tap behind it.
//!
//! | file | what |
//! |---|---|
//! | `tap` | every frame and handshake message, offered by the sockets' tasks |
//! | `queue` | what waits for one listener, and what it lost |
//! | `pcapng` | what a listener is told, as blocks of a file |
//! | `stream` | that file in the chunks in which it is sent |
//! | `door` | one-use codes, sessions, the command line's token |
//! | `token_file` | that token in the run directory |
//! | `ask` | the command line's question to a running server |
//! | `guard` | Host, Origin and the headers of every answer |
//! | `http` | the addresses |
//! | `ws` | the tap as a WebSocket |
//! | `assets` | the built page |
//! | `listen` | connections and their bounds |
//!
//! ```no_run
//! # use twolane::inspect::{Config, Inspect};
//! # async fn serve(run_dir: &std::path::Path, stop: impl Future<Output = ()>) -> Result<(), Box<dyn std::error::Error>> {
//! let inspect = Inspect::new(Config::default())?;
//! let tap = inspect.tap(); // for every socket's task
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//! let address = listener.local_addr()?;
//! let _token = inspect.publish_token(run_dir)?; // removed when dropped
//! println!("page  {}", inspect.page_url(address)?);
//! inspect.run(listener, stop).await?;
//! # drop(tap);
//! # Ok(())
//! # }
//! ```

pub mod ask;
mod assets;
pub mod door;
mod guard;
pub mod http;
pub mod listen;
mod pcapng;
mod problem;
mod queue;
mod stream;
pub mod tap;
pub mod token_file;
pub mod ws;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use tokio::net::TcpListener;
use tokio::sync::watch;

pub use door::{Door, DoorFault};
pub use tap::{Bounds, Tap};
pub use token_file::TokenFile;

use crate::limits::PAGE_STOP_TIMEOUT;
use crate::stop;
use http::Site;

/// Where the door's time comes from.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Instant + Send + Sync>);

impl Clock {
    /// The clock of this machine.
    #[must_use]
    pub fn of_machine() -> Self {
        Self::new(Instant::now)
    }

    /// Any other; it must not go back.
    #[must_use]
    pub fn new(now: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    fn now(&self) -> Instant {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// What may be chosen.
#[derive(Debug, Clone)]
pub struct Config {
    /// What the tap may cost.
    pub tap: Bounds,
    /// The door's clock.
    pub clock: Clock,
}

impl Default for Config {
    fn default() -> Self {
        Self { tap: Bounds::default(), clock: Clock::of_machine() }
    }
}

/// The page, its door and the tap of one server; clones are the same.
#[derive(Debug, Clone)]
pub struct Inspect(Arc<Site>);

impl Inspect {
    /// Nobody is in, and nothing was offered yet.
    ///
    /// # Errors
    ///
    /// The system's random source failed.
    pub fn new(config: Config) -> Result<Self, DoorFault> {
        let (stopper, stop) = stop::channel();
        Ok(Self(Arc::new(Site {
            door: Door::new()?,
            tap: Tap::new(config.tap),
            clock: config.clock,
            assets: assets::Assets::embedded(),
            stopper,
            stop,
            open: watch::Sender::new(0),
        })))
    }

    /// The tap to offer to.
    #[must_use]
    pub fn tap(&self) -> Tap {
        self.0.tap.clone()
    }

    /// Who may come in.
    #[must_use]
    pub fn door(&self) -> &Door {
        &self.0.door
    }

    /// All addresses of the page's server, guarded.
    pub fn router(&self) -> axum::Router {
        http::router(Arc::clone(&self.0))
    }

    /// The address for a person, with a fresh one-use code in its fragment.
    ///
    /// # Errors
    ///
    /// The system's random source failed.
    pub fn page_url(&self, address: SocketAddr) -> Result<String, DoorFault> {
        let code = self.0.door.issue_code(self.0.now())?;
        Ok(page_address(address, &code.text()))
    }

    /// Writes the token for the command line into the run directory, mode 0600.
    ///
    /// # Errors
    ///
    /// The directory is missing or cannot be written.
    pub fn publish_token(&self, run_dir: &Path) -> io::Result<TokenFile> {
        TokenFile::publish(run_dir, self.0.door.token())
    }

    /// Serves until `shutdown`, then ends every tap and returns within a few seconds.
    ///
    /// # Errors
    ///
    /// The listener can be reached from other machines.
    pub async fn run(&self, listener: TcpListener, shutdown: impl Future<Output = ()>) -> io::Result<()> {
        listen::check_loopback(&listener)?;
        let mut serving = pin!(listen::listen(listener, self.router(), self.0.stop.clone()));
        tokio::select! {
            () = serving.as_mut() => {}
            () = shutdown => {
                self.0.stopper.stop();
                serving.await;
            }
        }
        let mut open = self.0.open.subscribe();
        let _ = tokio::time::timeout(PAGE_STOP_TIMEOUT, open.wait_for(|open| *open == 0)).await;
        Ok(())
    }
}

/// The code is in the fragment, which no browser sends anywhere.
fn page_address(address: SocketAddr, code: &str) -> String {
    format!("http://{address}/#code={code}")
}
