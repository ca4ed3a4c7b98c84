//! Standard error that nobody reads, or that is gone: the server serves all the same.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr};

use rustix::process::{Pid, Signal, kill_process};
use twolane::net::connection_file;

use crate::bench::{FINISHED, Runner, gist, twolane};

/// More than a pipe and the queue behind it hold, at some hundred bytes a line.
const LINES: usize = 3000;

struct Served {
    child: Child,
    stderr: Option<BufReader<ChildStderr>>,
    file: PathBuf,
}

impl Served {
    fn start(dir: &Path) -> Self {
        let script = dir.join("script.toml");
        std::fs::write(&script, format!("start = \"connect\"\n{FINISHED}")).unwrap();
        let run_dir = dir.join("run");
        let arguments = ["serve", "--no-http", "--script", script.to_str().unwrap(), "--run-dir"];
        let mut command = twolane(&arguments);
        let mut child = command.arg(&run_dir).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("try ") {
            assert_ne!(stderr.read_line(&mut said).unwrap(), 0, "ended:\n{said}");
        }
        Self { child, stderr: Some(stderr), file: run_dir.join("providers.json") }
    }

    /// Makes the server log a line for each of many peers that it refuses.
    fn provoke(&self) {
        let address = connection_file::read(&self.file).unwrap().addresses[0];
        for _ in 0..LINES {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(b"\0\0\0\0").unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            // A reset is an end too.
            let _ = stream.read_to_end(&mut Vec::new());
        }
    }

    fn stop(mut self) -> (Option<i32>, String) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        let mut rest = String::new();
        if let Some(mut stderr) = self.stderr.take() {
            stderr.read_to_string(&mut rest).unwrap();
        }
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn a_pipe_that_nobody_reads_stops_nothing_and_what_was_dropped_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let server = Served::start(dir.path());
    server.provoke();
    let mut runner = Runner::attach(&server.file).await;
    assert_eq!(gist(&runner.next().await.unwrap()).3, "finished");
    drop(runner);
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    let written = said.lines().filter(|line| line.contains("not authenticated")).count();
    let dropped: usize = said
        .lines()
        .filter(|line| line.contains("standard error was not read"))
        .map(|line| line.split(' ').nth(1).unwrap().replace(',', "").parse::<usize>().unwrap())
        .sum();
    assert!(written > 0 && dropped > 0, "{written} written, {dropped} dropped");
    assert!((LINES..LINES + 10).contains(&(written + dropped)), "{written} written, {dropped} dropped");
}

#[tokio::test]
async fn a_pipe_whose_reader_is_gone_stops_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Served::start(dir.path());
    drop(server.stderr.take());
    for _ in 0..3 {
        let mut runner = Runner::attach(&server.file).await;
        assert_eq!(gist(&runner.next().await.unwrap()).3, "finished");
    }
    assert_eq!(server.stop().0, Some(0));
}
