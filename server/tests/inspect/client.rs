//! A server under test, and a client that sends exactly the bytes it is told to.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use twolane::inspect::{Clock, Config, Inspect};

/// A running server whose door's clock is moved by hand.
pub(crate) struct Running {
    pub(crate) inspect: Inspect,
    pub(crate) address: SocketAddr,
    now: Arc<Mutex<Instant>>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<std::io::Result<()>>,
}

impl Running {
    pub(crate) async fn start() -> Self {
        Self::start_at("127.0.0.1:0", Config::default()).await
    }

    pub(crate) async fn start_at(address: &str, config: Config) -> Self {
        let now = Arc::new(Mutex::new(Instant::now()));
        let clock = Arc::clone(&now);
        let clock = Clock::new(move || *clock.lock().unwrap());
        let inspect = Inspect::new(Config { clock, ..config }).unwrap();
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let running = inspect.clone();
        let task = tokio::spawn(async move {
            running
                .run(listener, async {
                    let _ = stopped.await;
                })
                .await
        });
        Self { inspect, address, now, stop, task }
    }

    pub(crate) fn wait(&self, duration: Duration) {
        *self.now.lock().unwrap() += duration;
    }

    pub(crate) async fn stop(self) {
        let _ = self.stop.send(());
        self.task.await.unwrap().unwrap();
    }

    /// A fresh one-use code, as a person finds it in the printed address.
    pub(crate) fn code(&self) -> String {
        let url = self.inspect.page_url(self.address).unwrap();
        url.split_once("/#code=").unwrap().1.to_owned()
    }

    pub(crate) fn token(&self) -> String {
        self.inspect.door().token().text()
    }

    /// `name=value` of a fresh session's cookie.
    pub(crate) async fn cookie(&self) -> String {
        let answer = self.enter(&self.code()).send(self).await;
        assert_eq!(answer.status, 200);
        answer.header("set-cookie").split(';').next().unwrap().to_owned()
    }

    /// The page's request to be let in.
    pub(crate) fn enter(&self, code: &str) -> Ask {
        Ask::new("POST", "/api/enter").origin(self).body(&format!(r#"{{"code":"{code}"}}"#))
    }

    pub(crate) async fn is_in(&self, cookie: &str) -> bool {
        let answer = Ask::new("GET", "/api/session").header("Cookie", cookie).send(self).await;
        assert_eq!(answer.status, 200);
        answer.json()["valid"].as_bool().unwrap()
    }
}

/// A request.
#[derive(Clone)]
pub(crate) struct Ask {
    line: String,
    host: Option<String>,
    headers: String,
    body: Option<String>,
}

impl Ask {
    pub(crate) fn new(method: &str, target: &str) -> Self {
        Self { line: format!("{method} {target} HTTP/1.1"), host: None, headers: String::new(), body: None }
    }

    /// Another Host than the server's address.
    pub(crate) fn host(mut self, host: &str) -> Self {
        self.host = Some(host.to_owned());
        self
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers += &format!("{name}: {value}\r\n");
        self
    }

    /// The Origin of the server's own page.
    pub(crate) fn origin(self, running: &Running) -> Self {
        let origin = format!("http://{}", running.address);
        self.header("Origin", &origin)
    }

    pub(crate) fn bearer(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn upgrade(self) -> Self {
        self.header("Connection", "Upgrade")
            .header("Upgrade", "websocket")
            .header("Sec-WebSocket-Version", "13")
            .header("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
    }

    pub(crate) fn body(mut self, body: &str) -> Self {
        self.body = Some(body.to_owned());
        self
    }

    pub(crate) fn text(&self, address: SocketAddr) -> String {
        let mut text = format!("{}\r\n{}", self.line, self.headers);
        match &self.host {
            Some(host) if host.is_empty() => {}
            Some(host) => text += &format!("Host: {host}\r\n"),
            None => text += &format!("Host: {address}\r\n"),
        }
        if !self.headers.contains("Connection:") {
            text += "Connection: close\r\n";
        }
        if let Some(body) = &self.body {
            text += &format!("Content-Length: {}\r\n", body.len());
        }
        text + "\r\n" + self.body.as_deref().unwrap_or_default()
    }

    pub(crate) async fn send(&self, running: &Running) -> Answer {
        send(running.address, self.text(running.address).as_bytes()).await
    }
}

/// Sends the bytes and reads one answer: to the end it announces, else until the server closes.
pub(crate) async fn send(address: SocketAddr, request: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // A server that answers before it read all of a request may close: what matters is its answer.
    let _ = stream.write_all(request).await;
    let mut bytes = Vec::new();
    loop {
        let read = stream.read_buf(&mut bytes).await.unwrap_or(0);
        if read == 0 || is_whole(&bytes) {
            return Answer::parse(&bytes);
        }
    }
}

fn is_whole(bytes: &[u8]) -> bool {
    let Some(end) = bytes.windows(4).position(|end| end == b"\r\n\r\n") else {
        return false;
    };
    let answer = Answer::parse(bytes);
    let announced = answer.headers.iter().find(|(name, _)| name == "content-length");
    answer.status == 101
        || announced.is_some_and(|(_, len)| bytes.len() - end - 4 >= len.parse::<usize>().unwrap())
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|end| end == b"\r\n\r\n").expect("an answer with a head");
        let head = std::str::from_utf8(&bytes[..end]).unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        Self { status, headers, body: bytes[end + 4..].to_vec() }
    }

    /// The header's only value.
    pub(crate) fn header(&self, name: &str) -> &str {
        let mut values = self.headers.iter().filter(|(have, _)| have == name);
        let value = values.next().unwrap_or_else(|| panic!("no {name} in {self:?}"));
        assert!(values.next().is_none(), "{name} twice in {self:?}");
        &value.1
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(have, _)| have == name)
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn reason(&self) -> String {
        self.json()["reason"].as_str().unwrap().to_owned()
    }
}
