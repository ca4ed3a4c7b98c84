//! The backend that is a program: real programs, well-behaved and not.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use twolane::connector::exec::Exec;
use twolane::connector::{Event, Limits, Outcome, ProviderBackend as _, RunEnd, run};
use twolane_core::connector::document::{FailureKind, StopReason};

use crate::ask::{LIMITS, failure, id, replied, text, transported, turn};

fn shell(script: &str) -> Arc<Exec> {
    Arc::new(Exec::new("sh".into(), vec!["-c".into(), script.into()], id("sh")))
}

async fn said(script: &str, limits: Limits) -> (Vec<Event>, Outcome) {
    let end = run(&shell(script), turn("What is \"this\"?", 7), limits, &CancellationToken::new()).await;
    transported(replied(end))
}

#[tokio::test]
async fn a_program_reads_the_request_and_its_lines_become_events() {
    let script = r#"
        asked=$(cat)
        case "$asked" in *'"max_output_tokens":7,'*'What is \"this\"?'*) ;; *) exit 1;; esac
        echo '{"TextDelta":{"text":"It is "}}'
        echo '{"ToolCall":{"call_id":"c1","name":"look","arguments":"{}"}}'
        echo '{"Completed":{"stop_reason":"ToolUse","output_tokens":3}}'
    "#;
    let (events, outcome) = said(script, LIMITS).await;
    assert_eq!((events.len(), text(&events).as_str()), (2, "It is "));
    let Outcome::Completed(completed) = outcome else { panic!("{outcome:?}") };
    assert_eq!((completed.stop_reason, completed.output_tokens), (StopReason::ToolUse, Some(3)));
}

#[tokio::test]
async fn a_program_that_fails_in_its_own_words_is_quoted() {
    let script =
        r#"echo '{"Failed":{"failure_kind":"RateLimited","message":"slow down","retry_after_ms":5}}'"#;
    assert_eq!(failure(&said(script, LIMITS).await.1), (FailureKind::RateLimited, "slow down"));
}

#[tokio::test]
async fn each_way_of_saying_nothing_is_a_failure_that_says_which() {
    let cases = [
        ("exit 3", "without saying"),
        ("echo 'this is no JSON, and a secret'", "line 1 of the program is no event"),
        (r#"echo '{"TextDelta":{"text":"a"}}'; echo '{"Other":1}'"#, "line 2 of the program is no event"),
        (
            r#"echo '{"ToolCall":{"call_id":" ","name":"n","arguments":"{}"}}'"#,
            "line 1 of the program: call_id",
        ),
        ("head -c 6000000 /dev/zero", "line 1 of the program is longer"),
    ];
    for (script, words) in cases {
        let outcome = said(script, LIMITS).await.1;
        let (kind, found) = failure(&outcome);
        assert_eq!(kind, FailureKind::ProviderStream, "{script}");
        assert!(found.contains(words) && !found.contains("secret"), "{script}: {found}");
    }
    let missing = Arc::new(Exec::new("/nowhere/program".into(), Vec::new(), id("none")));
    assert!(missing.readiness().is_err());
    let end = run(&missing, turn("x", 1), LIMITS, &CancellationToken::new()).await;
    assert_eq!(failure(&transported(replied(end)).1).0, FailureKind::Internal);
}

#[tokio::test]
async fn output_without_end_stops_at_the_callers_bound() {
    let script = r#"while :; do echo '{"TextDelta":{"text":"and on and on"}}'; done"#;
    let (events, outcome) = said(script, LIMITS).await;
    assert_eq!((events.len(), failure(&outcome).0), (0, FailureKind::ResultTooLarge));
}

#[tokio::test]
async fn a_program_that_answers_without_reading_is_not_waited_for() {
    let script = r#"echo '{"Completed":{"stop_reason":"EndTurn"}}'; exec sleep 600"#;
    // More than a pipe holds.
    let turn = turn(&"x".repeat(1_000_000), 7);
    let end = run(&shell(script), turn, LIMITS, &CancellationToken::new()).await;
    assert!(matches!(transported(replied(end)).1, Outcome::Completed(_)));
}

/// Whether a process is there and no zombie.
fn runs(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    status.is_ok_and(|status| !status.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}

/// Waits until `file` holds the numbers of `count` processes.
async fn pids(file: &Path, count: usize) -> Vec<String> {
    for _ in 0..3000 {
        let found = std::fs::read_to_string(file).unwrap_or_default();
        let found: Vec<String> = found.lines().map(str::to_owned).collect();
        if found.len() == count {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the program did not start");
}

/// Waits until a process runs no more.
async fn gone(pid: &str) {
    for _ in 0..3000 {
        if !runs(pid) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{pid} lives on");
}

#[tokio::test]
async fn cancelling_ends_a_program_and_all_that_it_started_also_where_it_will_not() {
    for (trap, ends) in [("", true), ("trap '' TERM;", false)] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pids");
        let script = format!(
            "{trap} echo $$ >>{0}; sh -c '{trap} echo $$ >>{0}; sleep 600; sleep 600'",
            file.display()
        );
        let cancel = CancellationToken::new();
        let running = {
            let (backend, cancel) = (shell(&script), cancel.clone());
            tokio::spawn(async move { run(&backend, turn("x", 1), LIMITS, &cancel).await })
        };
        let pids = pids(&file, 2).await;
        assert!(pids.iter().all(|pid| runs(pid)));
        cancel.cancel();
        let end = running.await.unwrap();
        assert_eq!(matches!(end, RunEnd::Reply(_)), ends, "{end:?}");
        for pid in pids {
            gone(&pid).await;
        }
    }
}

#[tokio::test]
async fn a_line_holds_as_much_text_as_the_caller_takes_however_it_is_written() {
    let script = r#"
        printf '{"TextDelta":{"text":"'
        head -c 5000000 /dev/zero | tr '\0' 'x'
        printf '"}}\n{"Completed":{"stop_reason":"EndTurn"}}\n'
    "#;
    let limits = Limits { result_bytes: 5_100_000, ..LIMITS };
    let (events, outcome) = said(script, limits).await;
    assert!(matches!(outcome, Outcome::Completed(_)), "{outcome:?}");
    assert_eq!(text(&events).len(), 5_000_000);
}

#[tokio::test]
async fn what_a_program_leaves_running_ends_with_it() {
    for trap in ["", "trap '' TERM;"] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pids");
        let script = format!(
            "sh -c '{trap} echo $$ >>{0}; while [ -e {0} ]; do sleep 1; done' & while [ ! -s {0} ]; do sleep 0.01; done
            echo '{{\"Completed\":{{\"stop_reason\":\"EndTurn\"}}}}'",
            file.display()
        );
        assert!(matches!(said(&script, LIMITS).await.1, Outcome::Completed(_)));
        gone(&pids(&file, 1).await[0]).await;
    }
}
