//! `twolane open-page` as a process of its own.

use std::path::Path;
use std::process::{Command, Output};

use super::client::Running;

async fn open_page(run_dir: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_twolane"));
    command.arg("open-page").arg("--run-dir").arg(run_dir).args(more);
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

fn write_ports(run_dir: &Path, http: &serde_json::Value) {
    let ports = serde_json::json!({ "pid": 1, "providers": "127.0.0.1:1", "http": http });
    std::fs::write(run_dir.join("ports.json"), ports.to_string()).unwrap();
}

#[tokio::test]
async fn the_printed_address_opens_the_door() {
    let running = Running::start().await;
    let dir = tempfile::tempdir().unwrap();
    write_ports(dir.path(), &running.address.to_string().into());
    let _token = running.inspect.publish_token(dir.path()).unwrap();
    let output = open_page(dir.path(), &[]).await;
    assert!(output.status.success(), "{output:?}");
    let url = String::from_utf8(output.stdout).unwrap();
    let code = url.strip_prefix(&format!("http://{}/#code=", running.address)).unwrap();
    assert_eq!(running.enter(code.strip_suffix('\n').unwrap()).send(&running).await.status, 200);
    assert!(output.stderr.is_empty());

    let output = open_page(dir.path(), &["--json"]).await;
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(line["expires_in_s"], 600);
    assert!(line["url"].as_str().unwrap().contains("/#code="));
    running.stop().await;
}

#[tokio::test]
async fn without_a_server_it_says_how_to_start_one() {
    let dir = tempfile::tempdir().unwrap();
    let output = open_page(dir.path(), &[]).await;
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("twolane serve") && text.contains(dir.path().to_str().unwrap()), "{text}");
}

#[tokio::test]
async fn another_servers_token_is_named_and_not_shown() {
    let (running, other) = (Running::start().await, Running::start().await);
    let dir = tempfile::tempdir().unwrap();
    write_ports(dir.path(), &running.address.to_string().into());
    let _token = other.inspect.publish_token(dir.path()).unwrap();
    let output = open_page(dir.path(), &[]).await;
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("tap-token") && !text.contains(&other.token()), "{text}");
    running.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn the_token_is_not_sent_off_this_machine_nor_read_from_an_open_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let running = Running::start().await;
    let dir = tempfile::tempdir().unwrap();
    let _token = running.inspect.publish_token(dir.path()).unwrap();
    write_ports(dir.path(), &"192.0.2.1:80".into());
    let text = String::from_utf8(open_page(dir.path(), &[]).await.stderr).unwrap();
    assert!(text.contains("no loopback address"), "{text}");

    write_ports(dir.path(), &running.address.to_string().into());
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(dir.path().join("tap-token"), open).unwrap();
    let output = open_page(dir.path(), &[]).await;
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8(output.stderr).unwrap().contains("0644"));

    write_ports(dir.path(), &serde_json::Value::Null);
    let output = open_page(dir.path(), &[]).await;
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("--no-http"));
    running.stop().await;
}
