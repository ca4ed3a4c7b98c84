//! An operator's questions to a server that runs, and to a store that none holds.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use redb::TableDefinition;
use serde_json::Value;
use tokio::time::sleep;
use twolane_core::connector::document::{FailureKind, Refusal};

use crate::ask::Ask;
use crate::place::{Place, ask_within, exchange, ports};
use crate::world::{Told, sealed, secret, told};

const LIFE: Duration = Duration::from_secs(240);

/// A server, and the command line beside it.
struct Office {
    place: Place,
    server: Ending,
    address: String,
}

/// A process that ends with the test, however that ends.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Office {
    async fn open(place: Place) -> Self {
        let server = Ending(place.start());
        loop {
            match ports(&place.path("run")) {
                Some((address, pid)) if pid == server.0.id() => return Self { place, server, address },
                _ => sleep(Duration::from_millis(2)).await,
            }
        }
    }

    async fn ask(&self, ask: &Ask) -> Vec<u8> {
        exchange(&self.address, &sealed(&ask.invocation(), &secret(1))).await.unwrap()
    }

    /// Killed as by `kill -9`, and started again.
    async fn again(mut self) -> Self {
        self.place.kill(&mut self.server.0);
        Self::open(self.place).await
    }

    fn place_killed(mut self) {
        self.place.kill(&mut self.server.0);
    }

    fn twolane(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        twolane(&self.place.path("data"), &self.place.path("run"), arguments)
    }
}

fn twolane(data_dir: &Path, run_dir: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_twolane"));
    command.args(arguments).arg("--data-dir").arg(data_dir).arg("--run-dir").arg(run_dir);
    let output = command.env("HOME", run_dir).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The states of all requests by their ids.
fn states(said: &str) -> Vec<(String, String)> {
    let word = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    let rows = said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.map(|row| (word(&row, "request_id"), word(&row, "state"))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(id, state)| ((*id).to_owned(), (*state).to_owned())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_runs_is_asked_about_its_store_and_decides_what_a_person_may() {
    let office = Office::open(Place::new(4)).await;
    let done = ask_within("done", LIFE);
    assert!(matches!(told(&done, 1, &office.ask(&done).await), Told::Text(_)));
    // One that its program holds.
    let (address, held) = (office.address.clone(), ask_within("held", LIFE));
    let frame = sealed(&held.invocation(), &secret(1));
    tokio::spawn(async move { exchange(&address, &frame).await });
    while !office.place.book().lines().any(|line| line == "held") {
        sleep(Duration::from_millis(2)).await;
    }

    let (code, said, wrong) = office.twolane(&["replay", "list", "--json"]);
    assert_eq!(
        (code, states(&said)),
        (Some(0), pairs(&[("done", "finished"), ("held", "running")])),
        "{wrong}"
    );
    let (code, _, wrong) = office.twolane(&["replay", "resolve", "caller-1", "held", "--as", "retired"]);
    assert_eq!(code, Some(1));
    assert!(wrong.contains("it is running"), "{wrong}");
    let (_, said, _) = office.twolane(&["replay", "show", "caller-1", "done"]);
    assert!(said.contains("finished") && said.contains("bytes under key"), "{said}");

    let office = office.again().await;
    let (_, said, _) = office.twolane(&["replay", "list", "--json"]);
    assert_eq!(states(&said), pairs(&[("done", "finished"), ("held", "indeterminate")]));
    let (code, said, _) =
        office.twolane(&["replay", "resolve", "caller-1", "held", "--as", "retired", "--json"]);
    assert_eq!((code, states(&said)), (Some(0), pairs(&[("held", "retired")])));
    let answer = told(&held, 1, &office.ask(&held).await);
    assert_eq!(answer, Told::Refused(Refusal::Retired));
    let clock = |arguments: &[&str]| -> (u64, u64) {
        let said: Value = serde_json::from_str(&office.twolane(arguments).1).unwrap();
        (said["mark_unix_ms"].as_u64().unwrap(), said["clock_unix_ms"].as_u64().unwrap())
    };
    let (_, before) = clock(&["replay", "clock", "--json"]);
    let (mark, after) = clock(&["replay", "clock", "accept", "--json"]);
    assert!(before <= mark && mark <= after, "{before} {mark} {after}");
    office.again().await.place_killed();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_resolved_as_failed_is_answered_so_byte_for_byte_and_never_runs_again() {
    let office = Office::open(Place::new(4)).await;
    let held = ask_within("held", LIFE);
    let (address, frame) = (office.address.clone(), sealed(&held.invocation(), &secret(1)));
    tokio::spawn(async move { exchange(&address, &frame).await });
    while !office.place.book().lines().any(|line| line == "held") {
        sleep(Duration::from_millis(2)).await;
    }
    let office = office.again().await;
    let told_now = told(&held, 1, &office.ask(&held).await);
    assert_eq!(told_now, Told::Refused(Refusal::Indeterminate));
    let resolve = ["replay", "resolve", "caller-1", "held", "--as", "failed", "--json"];
    let (code, said, wrong) = office.twolane(&resolve);
    assert_eq!((code, states(&said)), (Some(0), pairs(&[("held", "resolved")])), "{wrong}");
    // Also for the life after this one.
    let office = office.again().await;
    let answer = office.ask(&held).await;
    assert_eq!(told(&held, 1, &answer), Told::Failed(FailureKind::Internal));
    let office = office.again().await;
    assert_eq!(office.ask(&held).await, answer);
    let (_, said, _) = office.twolane(&["replay", "list", "--json"]);
    assert_eq!(states(&said), pairs(&[("held", "finished")]));
    let (code, _, wrong) = office.twolane(&resolve);
    assert_eq!(code, Some(1));
    assert!(wrong.contains("it is finished"), "{wrong}");
    assert_eq!(office.place.book().lines().filter(|line| *line == "held").count(), 1, "it ran once");
    office.place_killed();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_made_while_a_server_runs_answers_what_was_answered() {
    let office = Office::open(Place::new(4)).await;
    let done = ask_within("done", LIFE);
    let answer = office.ask(&done).await;
    let copy = Place::new(4);
    fs::create_dir(copy.path("data")).unwrap();
    fs::set_permissions(copy.path("data"), fs::Permissions::from_mode(0o700)).unwrap();
    let file = copy.path("data/replay.redb");
    let (code, said, wrong) = office.twolane(&["store", "backup", file.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{wrong}");
    assert!(said.contains("bytes in"), "{said}");
    let (code, _, wrong) = office.twolane(&["store", "backup", file.to_str().unwrap()]);
    assert_eq!(code, Some(1));
    assert!(wrong.contains("not overwritten"), "{wrong}");
    let (code, said, _) = office.twolane(&["store", "check"]);
    assert_eq!(code, Some(0));
    assert!(
        said.starts_with("0 claimed, 1 finished, 0 retired\n1 replies") && said.contains("nothing is wrong"),
        "{said}"
    );
    office.place_killed();

    let copied = Office::open(copy).await;
    assert_eq!(copied.ask(&done).await, answer, "byte for byte");
    assert_eq!(copied.place.book(), "", "nothing ran");
    copied.place_killed();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn admin_json_is_ones_own_and_goes_with_its_server() {
    let mut office = Office::open(Place::new(4)).await;
    let file = office.place.path("run/admin.json");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // The key of another endpoint of the same server, whose file comes last, opens nothing.
    while !office.place.path("run/providers.json").exists() {
        sleep(Duration::from_millis(2)).await;
    }
    let own = fs::read(&file).unwrap();
    let mut other: Value = serde_json::from_slice(&own).unwrap();
    other["key"] =
        serde_json::from_slice::<Value>(&fs::read(office.place.path("run/providers.json")).unwrap()).unwrap()
            ["key"]
            .clone();
    fs::write(&file, serde_json::to_vec(&other).unwrap()).unwrap();
    let (code, _, wrong) = office.twolane(&["store", "check"]);
    assert_eq!(code, Some(3), "{wrong}");
    assert!(wrong.contains("another process holds the store") && wrong.contains("admin.json"), "{wrong}");
    fs::write(&file, own).unwrap();
    assert_eq!(office.twolane(&["store", "check"]).0, Some(0));
    let pid = rustix::process::Pid::from_child(&office.server.0);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(office.server.0.wait().unwrap().success());
    assert!(!file.exists());
    // Now the store is opened by who asks.
    assert_eq!(office.twolane(&["store", "check"]).0, Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_whose_tables_disagree_is_named_as_damaged() {
    let office = Office::open(Place::new(4)).await;
    let done = ask_within("done", LIFE);
    office.ask(&done).await;
    let mut office = office;
    let pid = rustix::process::Pid::from_child(&office.server.0);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    office.server.0.wait().unwrap();
    let replies: TableDefinition<'_, (&str, &str, &[u8; 16]), &[u8]> = TableDefinition::new("replies");
    let database = redb::Database::open(office.place.path("data/replay.redb")).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction.open_table(replies).unwrap().retain(|_, _| false).unwrap();
    transaction.commit().unwrap();
    drop(database);
    let (code, said, _) = office.twolane(&["store", "check"]);
    assert_eq!(code, Some(4));
    assert!(
        said.contains("wrong: request done of caller caller-1: it is finished and has no reply"),
        "{said}"
    );
    let (_, said, _) = office.twolane(&["store", "check", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&said).unwrap()["faults"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_change_while_a_server_runs_and_a_file_that_cannot_be_used_changes_nothing() {
    let office = Office::open(Place::new(4)).await;
    let reload = || office.twolane(&["reload"]);
    let under = async |key: u8, name: &str| {
        let ask = ask_within(name, LIFE);
        let reply = exchange(&office.address, &sealed(&ask.invocation(), &secret(key))).await.unwrap();
        told(&ask, key, &reply)
    };
    // A failure that nothing seals is the answer to a key that nobody has.
    let refused = |told: Told| matches!(told, Told::Hint(_));
    // A turn that runs under a key while it goes.
    let (address, held) = (office.address.clone(), ask_within("held", LIFE));
    let frame = sealed(&held.invocation(), &secret(2));
    let running = tokio::spawn(async move { exchange(&address, &frame).await });
    while !office.place.book().lines().any(|line| line == "held") {
        sleep(Duration::from_millis(2)).await;
    }
    fs::write(office.place.path("key-3"), crate::world::secret_text(3)).unwrap();
    fs::set_permissions(office.place.path("key-3"), fs::Permissions::from_mode(0o600)).unwrap();
    let file = office.place.path("callers.toml");
    let before = fs::read_to_string(&file).unwrap();
    fs::write(&file, before.replace("\"key-1\", \"key-2\"", "\"key-3\", \"key-1\"")).unwrap();
    assert!(refused(under(3, "new-key-too-early").await), "nobody has the new key yet");
    assert_eq!(reload(), (Some(0), "1 callers\n".to_owned(), String::new()));
    assert_eq!(under(3, "new-key").await, Told::Text("done".to_owned()));
    assert_eq!(under(1, "kept-key").await, Told::Text("done".to_owned()));
    assert!(refused(under(2, "key-that-went").await));
    fs::write(office.place.path("gate"), "").unwrap();
    let reply = running.await.unwrap().unwrap();
    assert_eq!(told(&held, 2, &reply), Told::Text("done".to_owned()), "under the key that it was asked with");

    fs::write(&file, "[[caller]]\nid = \"caller-1\"\n").unwrap();
    let (code, _, wrong) = reload();
    assert_eq!(code, Some(1));
    assert!(wrong.contains("key_files") && wrong.contains("those from before"), "{wrong}");
    assert_eq!(under(3, "still-there").await, Told::Text("done".to_owned()));
    office.place_killed();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_finds_the_connector_of_the_server_that_runs() {
    let office = Office::open(Place::new(4)).await;
    let (key, calls) = (office.place.path("key-1"), office.place.path("calls"));
    let call = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_twolane"));
        command.arg("call").arg("--run-dir").arg(office.place.path("run")).arg("--key-file").arg(&key);
        command.args(["--caller", "caller-1", "--model", "model-1", "Hello"]).arg("--store").arg(&calls);
        let output = command.env("HOME", office.place.path("home")).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, said, wrong) = call();
    assert_eq!((code, said.trim_end()), (Some(0), "done"), "{wrong}");
    fs::remove_file(office.place.path("run/ports.json")).unwrap();
    let (code, _, wrong) = call();
    assert_eq!(code, Some(3));
    assert!(wrong.contains("no server runs with") && wrong.contains("--run-dir"), "{wrong}");
    office.place_killed();
}
