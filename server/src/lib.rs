//! The `twolane` server and its command line.
//!
//! | module | what |
//! |---|---|
//! | [`config`] | settings: one table, four layers |
//! | [`net`] | sockets, handshakes, connections with two lanes |
//! | [`limits`] | every bound of the page, the tap and the runs that is no setting |
//! | [`provider`] | where a run's events come from |
//! | [`inspect`] | the page, the door before it, the tap behind it |
//! | [`server`] | all of it together |
//! | [`stop_points`] | where tests let the process die; empty in what is released |
//! | [`admin`] | what an operator asks of the store of replies |
//! | [`cli`] | the commands |

pub mod admin;
pub mod cli;
pub mod config;
pub mod connector;
pub mod inspect;
pub mod limits;
pub mod net;
pub mod provider;
pub mod server;
pub mod stop;
pub mod stop_points;
pub mod store;
