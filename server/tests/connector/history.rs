//! What was seen of requests while a server was killed, and whether it may have been so.

use std::collections::HashMap;

use twolane_core::connector::document::Refusal;

use crate::world::Told;

/// One answer, in the order in which a request's answers came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The number of the key under which it was asked and answered.
    pub(crate) key: u8,
    pub(crate) told: Told,
    pub(crate) bytes: Vec<u8>,
}

/// All answers of all requests.
#[derive(Debug, Default)]
pub(crate) struct History(HashMap<String, Vec<Seen>>);

impl History {
    pub(crate) fn add(&mut self, request_id: &str, key: u8, told: Told, bytes: Vec<u8>) {
        self.0.entry(request_id.to_owned()).or_default().push(Seen { key, told, bytes });
    }

    /// Requests that have an answer, and how many of each kind.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let has = |told: fn(&Told) -> bool| {
            self.0.values().filter(|seen| seen.iter().any(|one| told(&one.told))).count()
        };
        (
            has(|told| matches!(told, Told::Text(_))),
            has(|told| *told == Told::Refused(Refusal::Indeterminate)),
        )
    }

    /// Requests whose answer was seen.
    pub(crate) fn answered(&self) -> Vec<String> {
        let text = |seen: &&Seen| matches!(seen.told, Told::Text(_));
        self.0
            .iter()
            .filter(|(_, seen)| seen.iter().any(|one| text(&one)))
            .map(|(id, _)| id.clone())
            .collect()
    }

    /// The first promise that was broken; `runs` has the provider's own book, a line for each run.
    pub(crate) fn check(&self, runs: &str) -> Result<(), String> {
        let mut booked = HashMap::new();
        for request_id in runs.lines() {
            *booked.entry(request_id).or_insert(0) += 1;
        }
        if let Some((request_id, times)) = booked.iter().find(|(_, times)| **times > 1) {
            return Err(format!("{request_id} ran {times} times"));
        }
        for (request_id, seen) in &self.0 {
            check_one(request_id, seen)?;
            let answered = seen.iter().any(|one| matches!(one.told, Told::Text(_)));
            if answered && !booked.contains_key(request_id.as_str()) {
                return Err(format!("{request_id} was answered and never ran"));
            }
        }
        Ok(())
    }
}

fn check_one(request_id: &str, seen: &[Seen]) -> Result<(), String> {
    let is_text = |one: &&Seen| matches!(one.told, Told::Text(_));
    for one in seen.iter().skip_while(|one| !is_text(one)) {
        match one.told {
            Told::Text(_) => {
                let first = seen.iter().find(|first| is_text(first) && first.key == one.key);
                if first.is_some_and(|first| first.bytes != one.bytes) {
                    return Err(format!("{request_id} has two answers"));
                }
            }
            Told::Refused(Refusal::Retired) => {}
            ref other => return Err(format!("{request_id} was answered and then {other:?}")),
        }
    }
    let indeterminate = seen.iter().position(|one| one.told == Told::Refused(Refusal::Indeterminate));
    let after = seen.iter().skip(indeterminate.unwrap_or(seen.len()));
    match after.into_iter().find(|one| one.told != Told::Refused(Refusal::Indeterminate)) {
        Some(other) => Err(format!("{request_id} was Indeterminate and then {:?}", other.told)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(seen: &[(&str, Told, &[u8])]) -> History {
        let mut history = History::default();
        for (request_id, told, bytes) in seen {
            let told = match told {
                Told::Text(text) => Told::Text(text.clone()),
                Told::Refused(refusal) => Told::Refused(*refusal),
                _ => panic!("not in these histories"),
            };
            history.add(request_id, bytes[1], told, bytes.to_vec());
        }
        history
    }

    fn text() -> Told {
        Told::Text("x".to_owned())
    }

    #[test]
    fn each_broken_promise_is_found_and_a_kept_one_is_not() {
        let in_flight = || Told::Refused(Refusal::InFlight);
        let indeterminate = || Told::Refused(Refusal::Indeterminate);
        // The second byte is the key's number.
        let kept = history(&[
            ("a", in_flight(), b"11"),
            ("a", text(), b"21"),
            ("a", text(), b"32"),
            ("a", text(), b"21"),
            ("b", indeterminate(), b"31"),
        ]);
        assert_eq!(kept.check("a\nb\n"), Ok(()));
        assert!(kept.check("a\nb\na\n").unwrap_err().contains("2 times"));
        assert!(kept.check("b\n").unwrap_err().contains("never ran"));
        for (seen, words) in [
            (vec![("a", text(), &b"11"[..]), ("a", text(), b"21")], "two answers"),
            (vec![("a", text(), b"11"), ("a", text(), b"22"), ("a", text(), b"32")], "two answers"),
            (vec![("a", text(), b"11"), ("a", in_flight(), b"21")], "answered and then"),
            (vec![("a", indeterminate(), b"11"), ("a", text(), b"22")], "Indeterminate and then"),
        ] {
            assert!(history(&seen).check("a\n").unwrap_err().contains(words));
        }
    }
}
