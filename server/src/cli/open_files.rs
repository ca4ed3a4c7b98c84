//! How many files this process may have open at once: a connection is one.

use std::fmt;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::Config;
use crate::limits::PAGE_CONNECTIONS_MAX;

/// What a server opens beside its connections: standard streams, listeners, the runtime's, a file that is read or put.
const OTHERS: u64 = 32;

/// A limit that the bounds of the settings exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shortage {
    needed: u64,
    limit: u64,
}

/// Raises the limit as far as it goes, and says where that is too low for what the settings allow.
pub(super) fn raise(config: &Config) -> Option<Shortage> {
    let needed = needed(config);
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // Some systems announce more than they grant.
    for wanted in [maximum, at_most(needed, maximum)] {
        if is_more(wanted, current)
            && setrlimit(Resource::Nofile, Rlimit { current: wanted, maximum }).is_ok()
        {
            break;
        }
    }
    shortage(needed, getrlimit(Resource::Nofile).current)
}

/// `None` is no limit.
fn at_most(needed: u64, maximum: Option<u64>) -> Option<u64> {
    Some(maximum.map_or(needed, |maximum| needed.min(maximum)))
}

fn is_more(wanted: Option<u64>, current: Option<u64>) -> bool {
    current.is_some_and(|current| wanted.is_none_or(|wanted| wanted > current))
}

fn shortage(needed: u64, limit: Option<u64>) -> Option<Shortage> {
    limit.filter(|limit| *limit < needed).map(|limit| Shortage { needed, limit })
}

fn needed(config: &Config) -> u64 {
    let page = if config.http.is_some() { PAGE_CONNECTIONS_MAX } else { 0 };
    let connections = [config.peers, config.pending_peers, config.waiting_peers, page];
    connections.iter().fold(OTHERS, |sum, count| sum.saturating_add(*count as u64))
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { needed, limit } = self;
        write!(
            f,
            "{limit} open at most, the settings allow for {needed}: raise `ulimit -n`, or lower peers, \
             pending_peers and waiting_peers"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_no_shortage() {
        assert_eq!(shortage(1696, None), None);
        assert_eq!(shortage(1696, Some(1696)), None);
        assert_eq!(shortage(1696, Some(1695)), Some(Shortage { needed: 1696, limit: 1695 }));
    }

    #[test]
    fn a_limit_is_raised_and_never_lowered() {
        assert!(is_more(None, Some(1024)) && is_more(Some(1025), Some(1024)));
        assert!(!is_more(Some(1024), Some(1024)) && !is_more(Some(1), None) && !is_more(None, None));
        assert_eq!(
            (at_most(9, Some(7)), at_most(9, Some(11)), at_most(9, None)),
            (Some(7), Some(9), Some(9))
        );
    }
}
