//! The caller's side of the connector (docs/connector.md): one sealed model turn, paid for once.
//!
//! The exact invocation is on disk before its first byte is sent, so that whoever is killed in between goes on with
//! the same bytes: the server answers a retry with what it answered before and never asks its provider twice.
//!
//! ```no_run
//! use std::{path::Path, time::Duration};
//! use twolane_client::{Bounds, Client, Store, SealKey};
//! # use twolane_client::{OwnedRequest, Valid, Reply};
//! # async fn turn(request: Valid<OwnedRequest>) -> Result<(), Box<dyn std::error::Error>> {
//! let key = SealKey::from_file(&std::fs::read("caller.key")?)?;
//! let store = Store::open(Path::new("calls"))?;
//! let client = Client::new("127.0.0.1:7342".parse()?, "caller-1", key, store, Bounds::default())?;
//! let native = request.sha256()?;
//! let prepared = client.prepare(request, native, Duration::from_secs(240))?;
//! match client.call(&prepared, Duration::from_secs(600), |_| {}).await? {
//!     Reply::Refused(refusal) => println!("{refusal:?}"),
//!     Reply::Transported(transported) => println!("{:?}", transported.events),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! | module | owns |
//! |---|---|
//! | [`client`] | a caller at one address: prepare, send |
//! | [`call`] | the same bytes again, until there is an answer or the time is over |
//! | [`prepared`] | an invocation that is on disk |
//! | [`store`] | the folder that it is in |
//! | [`seals`] | how often a key has sealed, counted ahead on disk |
//! | [`exchange`] | one frame out, one frame in |
//! | [`durable`] | files that are whole or not there |

pub mod call;
pub mod client;
pub mod durable;
pub mod exchange;
pub mod prepared;
pub mod seals;
pub mod store;

pub use call::{Again, CallFault, Waiting};
pub use client::{Client, ClientFault, Event, Hint, Reply, SendFault};
pub use exchange::{Bounds, Lost};
pub use prepared::{Prepared, ResumeFault};
pub use seals::SealsFault;
pub use store::{PrepareFault, Store};
pub use twolane_core::connector::digest::Digest;
pub use twolane_core::connector::document::{OwnedInvocation, OwnedRequest, Refusal, Valid};
pub use twolane_core::connector::seal::SealKey;
