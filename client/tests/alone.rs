//! The client is built without the server.

use std::process::Command;

#[test]
fn nothing_of_the_server_comes_with_it() {
    let mut tree = Command::new(env!("CARGO"));
    tree.args(["tree", "--package", "twolane-client", "--edges", "normal", "--prefix", "none"]);
    let output = tree.args(["--format", "{p}", "--locked", "--offline"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    let packages: Vec<&str> = tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(packages.contains(&"twolane-core"), "{tree}");
    for server in ["twolane", "twolane-capture", "axum", "hyper", "redb", "clap", "serde", "serde_json"] {
        assert!(!packages.contains(&server), "{server} in\n{tree}");
    }
}
