//! A person at a command line: `twolane call` with a key and a place for its requests.

use std::fs::{self, Permissions};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::world::secret_text;

pub(crate) struct Caller {
    pub(crate) folder: tempfile::TempDir,
}

impl Caller {
    /// With the numbered secret.
    pub(crate) fn new(key: u8) -> Self {
        let caller = Self { folder: tempfile::tempdir().unwrap() };
        caller.put("key", &format!("{}\n", secret_text(key)));
        caller
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file that is its owner's alone.
    pub(crate) fn put(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
        fs::set_permissions(self.path(name), Permissions::from_mode(0o600)).unwrap();
    }

    /// A call that can be changed before it is run.
    pub(crate) fn command(&self, address: SocketAddr, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_twolane"));
        command
            .arg("call")
            .args(["--connector", &address.to_string()])
            .arg("--key-file")
            .arg(self.path("key"));
        command.args(arguments).env("XDG_STATE_HOME", self.path("state")).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// A call of the first caller for its model, to its end.
    pub(crate) async fn call(&self, address: SocketAddr, arguments: &[&str]) -> Output {
        let whole = [&["--caller", "caller-1", "--model", "model-1"], arguments].concat();
        self.command(address, &whole).output().await.unwrap()
    }

    pub(crate) async fn resume(&self, address: SocketAddr, file: &Path, arguments: &[&str]) -> Output {
        let whole = [&["--resume", file.to_str().unwrap()], arguments].concat();
        self.command(address, &whole).output().await.unwrap()
    }

    /// A call with something on standard input.
    pub(crate) async fn call_with(&self, address: SocketAddr, arguments: &[&str], input: &str) -> Output {
        let mut command = self.command(address, arguments);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).await.unwrap();
        child.wait_with_output().await.unwrap()
    }

    /// The requests that were stored.
    pub(crate) fn stored(&self) -> Vec<PathBuf> {
        let Ok(files) = fs::read_dir(self.path("state/twolane/calls")) else { return Vec::new() };
        let files = files.map(|file| file.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|end| end == "invocation")).collect()
    }
}

/// Exit code, standard output, standard error.
pub(crate) fn ended(output: &Output) -> (i32, &str, &str) {
    let text = |bytes| std::str::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}
