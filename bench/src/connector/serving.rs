//! The server of these benches, and the way to it.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use twolane::connector::script::Script;
use twolane::connector::serve::STORE_FILE;
use twolane::connector::{
    Bounds, Caller, Callers, ListenBounds, Plan, Service, Serving, Settings, SystemClock,
};
use twolane::store::{RedbEngine, Store};
use twolane_core::connector::replay::Retention;

use super::asked::{CALLER, id, key};

/// Bytes of a frame, either way.
const FRAME_MAX: u64 = 64 * 1024;

const SKEW: Duration = Duration::from_secs(300);
const RUN_TIME: Duration = Duration::from_secs(60);
const GRACE: Duration = Duration::from_secs(1);

/// The one caller, who may do whatever the benches do.
fn caller() -> Caller {
    let bounds = Bounds {
        models: Vec::new(),
        output_tokens_max: NonZeroU32::new(1000).expect("not zero"),
        running_max: 1024,
        payload_max: 32 * 1024,
    };
    Caller::new(id(CALLER), vec![key()], bounds)
}

/// Serves the script from the store in `folder`, as `twolane serve` would.
pub(super) async fn serve(folder: &Path) -> Serving {
    let plan = Plan {
        address: SocketAddr::from(([127, 0, 0, 1], 0)),
        data_dir: folder.to_owned(),
        callers: vec![caller()],
        frame_max: FRAME_MAX,
        skew: SKEW,
        run_time: RUN_TIME,
        grace: GRACE,
        retention: Retention::default(),
        bounds: ListenBounds::default(),
        callers_file: None,
        run_dir: None,
    };
    twolane::connector::start(Script::new(Duration::ZERO), plan).await.expect("a connector")
}

/// The same without sockets.
pub(super) fn service(folder: &Path) -> Arc<Service<Script, RedbEngine>> {
    let store = RedbEngine::open(&folder.join(STORE_FILE)).expect("a store");
    let store = Arc::new(Store::start(store).expect("a thread"));
    let settings = Settings {
        skew: SKEW,
        run_time: RUN_TIME,
        grace: GRACE,
        frame_max: FRAME_MAX,
        data_dir: Some(folder.to_owned()),
    };
    let callers = Callers::new(vec![caller()], FRAME_MAX).expect("a caller");
    let clock = Box::new(SystemClock::default());
    let service = Service::new(Arc::new(Script::new(Duration::ZERO)), store, callers, clock, settings);
    service.expect("a service")
}

/// A frame there, a frame back, a connection for each.
pub(super) async fn exchange(address: SocketAddr, frame: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    stream.write_all(frame).await?;
    let mut reply = Vec::with_capacity(8 * 1024);
    stream.read_to_end(&mut reply).await?;
    Ok(reply)
}
