//! The page's door: one-use codes, sessions, and the token of the command line.
//!
//! Only hashes of codes and sessions are kept, and every comparison takes the same time wherever
//! two values differ. Time is an argument.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroize as _;

use crate::limits::{CODE_LIFE, CODES_MAX, FAILURE_FORGIVEN_AFTER, FAILURES_MAX, SESSION_LIFE, SESSIONS_MAX};

const SECRET_LEN: usize = 32;
type Hash = [u8; 32];

/// 256 random bits. Its `Debug` shows nothing.
#[derive(Clone)]
pub struct Secret([u8; SECRET_LEN]);

impl Secret {
    fn draw() -> Result<Self, DoorFault> {
        let mut bytes = [0; SECRET_LEN];
        getrandom::fill(&mut bytes).map_err(|_| DoorFault::NoRandomness)?;
        Ok(Self(bytes))
    }

    /// 43 characters of base64url: what is put into an address, a cookie or the token file.
    #[must_use]
    pub fn text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    fn hash(&self) -> Hash {
        hash(&self.text())
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Why the door cannot be built or opened; the machine is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DoorFault {
    /// The system's random source failed.
    #[error("the system's random source failed, so no secret can be made")]
    NoRandomness,
}

/// Why somebody is not let in; the caller is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The code was never given out, is used, or is older than [`CODE_LIFE`].
    #[error("the code is wrong, used or older than 10 minutes; `twolane open-page` prints a new one")]
    Code,
    /// Not this server's token.
    #[error("the token is not this server's; read tap-token in its run directory again")]
    Token,
    /// Too many wrong tries.
    #[error("too many wrong tries; wait {} s", .retry_after.as_secs() + 1)]
    TooMany {
        /// When the next try is allowed.
        retry_after: Duration,
    },
    /// The random source failed; not the caller's fault after all.
    #[error(transparent)]
    Door(#[from] DoorFault),
}

/// Who may come in.
#[derive(Debug)]
pub struct Door {
    token: Secret,
    token_hash: Hash,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    codes: Vec<Ticket>,
    sessions: Vec<Ticket>,
    failures: u32,
    last_forgiven: Option<Instant>,
}

/// The hash of a secret and the time at which it stops to count.
#[derive(Debug)]
struct Ticket {
    hash: Hash,
    ends: Instant,
}

impl Door {
    /// A door with a fresh token and nobody in.
    ///
    /// # Errors
    ///
    /// The random source failed.
    pub fn new() -> Result<Self, DoorFault> {
        let token = Secret::draw()?;
        let token_hash = token.hash();
        Ok(Self { token, token_hash, state: Mutex::new(State::default()) })
    }

    /// The token by which the command line is let in.
    #[must_use]
    pub fn token(&self) -> &Secret {
        &self.token
    }

    /// A code that opens the door once within [`CODE_LIFE`].
    ///
    /// # Errors
    ///
    /// The random source failed.
    pub fn issue_code(&self, now: Instant) -> Result<Secret, DoorFault> {
        let code = Secret::draw()?;
        admit(&mut self.lock().codes, Ticket { hash: code.hash(), ends: now + CODE_LIFE }, now, CODES_MAX);
        Ok(code)
    }

    /// Trades a code for a session of [`SESSION_LIFE`]. A code is used by the first who brings
    /// it, whatever happens after.
    ///
    /// # Errors
    ///
    /// A code that does not open the door, or too many of those before.
    pub fn enter(&self, code: &str, now: Instant) -> Result<Secret, Refusal> {
        let session = Secret::draw()?;
        let mut state = self.lock();
        state.check_failures(now)?;
        let Some(at) = find(&state.codes, &hash(code), now) else {
            state.fail();
            return Err(Refusal::Code);
        };
        state.codes.swap_remove(at);
        let ticket = Ticket { hash: session.hash(), ends: now + SESSION_LIFE };
        admit(&mut state.sessions, ticket, now, SESSIONS_MAX);
        Ok(session)
    }

    /// How long the session with this value still lasts; `None` if there is none.
    #[must_use]
    pub fn session_left(&self, value: &str, now: Instant) -> Option<Duration> {
        let state = self.lock();
        let at = find(&state.sessions, &hash(value), now)?;
        state.sessions.get(at).map(|session| session.ends.saturating_duration_since(now))
    }

    /// Whether this is the command line of the same user.
    ///
    /// # Errors
    ///
    /// Another token, or too many of those before.
    pub fn check_token(&self, token: &str, now: Instant) -> Result<(), Refusal> {
        let mut state = self.lock();
        state.check_failures(now)?;
        if bool::from(hash(token).ct_eq(&self.token_hash)) {
            return Ok(());
        }
        state.fail();
        Err(Refusal::Token)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn check_failures(&mut self, now: Instant) -> Result<(), Refusal> {
        let since = now.saturating_duration_since(*self.last_forgiven.get_or_insert(now));
        let forgiven =
            u32::try_from(since.as_nanos() / FAILURE_FORGIVEN_AFTER.as_nanos()).unwrap_or(u32::MAX);
        if forgiven > 0 {
            self.failures = self.failures.saturating_sub(forgiven);
            self.last_forgiven = Some(now);
        }
        if self.failures < FAILURES_MAX {
            return Ok(());
        }
        let since = self.last_forgiven.map_or(Duration::ZERO, |last| now.saturating_duration_since(last));
        Err(Refusal::TooMany { retry_after: FAILURE_FORGIVEN_AFTER.saturating_sub(since) })
    }

    fn fail(&mut self) {
        self.failures = self.failures.saturating_add(1);
    }
}

/// Adds a ticket; what ended leaves, then the oldest, until there is a place.
fn admit(tickets: &mut Vec<Ticket>, ticket: Ticket, now: Instant, max: usize) {
    tickets.retain(|ticket| ticket.ends > now);
    while tickets.len() >= max {
        let Some((oldest, _)) = tickets.iter().enumerate().min_by_key(|(_, ticket)| ticket.ends) else {
            break;
        };
        tickets.swap_remove(oldest);
    }
    tickets.push(ticket);
}

/// The place of a living ticket; looks at every one, whichever it is.
fn find(tickets: &[Ticket], hash: &Hash, now: Instant) -> Option<usize> {
    let mut found = None;
    for (at, ticket) in tickets.iter().enumerate() {
        if bool::from(ticket.hash.ct_eq(hash)) && ticket.ends > now {
            found = Some(at);
        }
    }
    found
}

fn hash(text: &str) -> Hash {
    Sha256::digest(text.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn door() -> (Door, Instant) {
        (Door::new().unwrap(), Instant::now())
    }

    fn code(door: &Door, now: Instant) -> String {
        door.issue_code(now).unwrap().text()
    }

    #[test]
    fn a_code_opens_the_door_once() {
        let (door, now) = door();
        let code = code(&door, now);
        let session = door.enter(&code, now).unwrap().text();
        assert_eq!(door.session_left(&session, now), Some(SESSION_LIFE));
        assert_eq!(door.enter(&code, now).unwrap_err(), Refusal::Code);
        assert_eq!(door.session_left(&session, now), Some(SESSION_LIFE));
    }

    #[test]
    fn of_many_who_bring_the_same_code_at_once_one_gets_in() {
        let (door, now) = door();
        let code = code(&door, now);
        let barrier = std::sync::Barrier::new(8);
        let entered = std::thread::scope(|scope| {
            let tries: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        barrier.wait();
                        door.enter(&code, now).is_ok()
                    })
                })
                .collect();
            tries.into_iter().map(|entered| entered.join().unwrap()).filter(|entered| *entered).count()
        });
        assert_eq!(entered, 1);
    }

    #[test]
    fn a_code_ends_after_ten_minutes_and_a_session_after_twelve_hours() {
        let (door, now) = door();
        let (early, late) = (code(&door, now), code(&door, now));
        let just_before = now + CODE_LIFE - Duration::from_nanos(1);
        let session = door.enter(&early, just_before).unwrap().text();
        assert_eq!(door.enter(&late, now + CODE_LIFE).unwrap_err(), Refusal::Code);
        let ends = just_before + SESSION_LIFE;
        assert!(door.session_left(&session, ends - Duration::from_nanos(1)).is_some());
        assert_eq!(door.session_left(&session, ends), None);
    }

    #[test]
    fn the_oldest_code_and_session_make_place() {
        let (door, now) = door();
        let second = Duration::from_secs(1);
        let codes: Vec<_> =
            (0..=CODES_MAX).map(|nth| code(&door, now + second * u32::try_from(nth).unwrap())).collect();
        let now = now + second * 100;
        assert_eq!(door.enter(&codes[0], now).unwrap_err(), Refusal::Code);
        assert!(door.enter(&codes[1], now).is_ok());
        let sessions: Vec<_> = (0..=SESSIONS_MAX)
            .map(|nth| {
                let now = now + second * u32::try_from(nth).unwrap();
                door.enter(&code(&door, now), now).unwrap().text()
            })
            .collect();
        let now = now + second * 100;
        assert_eq!(door.session_left(&sessions[0], now), None);
        assert!(door.session_left(&sessions[1], now).is_some());
    }

    #[test]
    fn after_ten_wrong_tries_everybody_waits() {
        let (door, now) = door();
        let right = code(&door, now);
        for _ in 0..FAILURES_MAX {
            assert_eq!(door.enter("wrong", now).unwrap_err(), Refusal::Code);
        }
        let wait = Refusal::TooMany { retry_after: FAILURE_FORGIVEN_AFTER };
        assert_eq!(door.enter(&right, now).unwrap_err(), wait);
        assert_eq!(door.check_token(&door.token().text(), now).unwrap_err(), wait);
        let now = now + FAILURE_FORGIVEN_AFTER;
        assert_eq!(door.check_token("wrong", now).unwrap_err(), Refusal::Token);
        assert!(matches!(door.enter(&right, now), Err(Refusal::TooMany { .. })));
        assert!(door.enter(&right, now + FAILURE_FORGIVEN_AFTER).is_ok());
    }

    #[test]
    fn only_the_token_is_the_token() {
        let (door, now) = door();
        let token = door.token().text();
        assert_eq!(token.len(), 43);
        assert!(door.check_token(&token, now).is_ok());
        let code = code(&door, now);
        for wrong in ["", &token[1..], &code, &format!("{token} ")] {
            assert_eq!(door.check_token(wrong, now).unwrap_err(), Refusal::Token);
        }
    }

    #[test]
    fn debug_shows_no_secret() {
        let (door, now) = door();
        let code = door.issue_code(now).unwrap();
        let shown = format!("{door:?} {code:?}");
        assert!(!shown.contains(&door.token().text()) && !shown.contains(&code.text()));
        assert!(shown.contains("Secret(..)"));
    }
}
