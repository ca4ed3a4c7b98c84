//! PostgreSQL as Debian packages it: a row claimed by its key, then its answer; both commits synchronous.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use tokio_postgres::{Client, Config, NoTls, Statement};

use super::{Keeper, Process, RECORD_BYTES, missing, patiently};

const INSTALL: &str = "sudo apt-get install postgresql";

/// Where Debian puts its programs, a folder for each version.
const PROGRAMS: &str = "/usr/lib/postgresql";

const TABLE: &str = "CREATE TABLE turns (key text PRIMARY KEY, record bytea NOT NULL, reply bytea)";
const CLAIM: &str = "INSERT INTO turns (key, record) VALUES ($1, $2) ON CONFLICT DO NOTHING";
const FINISH: &str = "UPDATE turns SET record = $2, reply = $3 WHERE key = $1";

pub(crate) struct Postgres {
    /// Before the folders that it writes to.
    _server: Process,
    sockets: TempDir,
    reply: Vec<u8>,
}

pub(crate) struct Connected {
    client: Client,
    claim: Statement,
    finish: Statement,
}

impl Postgres {
    /// A new data base in `folder`, with answers of so many bytes.
    pub(crate) async fn start(folder: &Path, reply_bytes: usize) -> Result<Self, String> {
        let programs = programs().ok_or_else(|| format!("no PostgreSQL in {PROGRAMS}; try: {INSTALL}"))?;
        let data = folder.join("postgres");
        let sockets = tempfile::tempdir().map_err(|fault| fault.to_string())?;
        std::fs::create_dir(&data).map_err(|fault| fault.to_string())?;
        if rustix::process::geteuid().is_root() {
            give_to_postgres(&[folder, &data, sockets.path()])?;
        }
        let mut init = unprivileged(&programs.join("initdb"));
        init.arg("--pgdata").arg(&data).args(["--username=bench", "--auth=trust", "--encoding=UTF8"]);
        let done = init
            .stdout(Stdio::null())
            .output()
            .map_err(|fault| missing(&init, &fault.to_string(), INSTALL))?;
        if !done.status.success() {
            return Err(format!("initdb: {}", String::from_utf8_lossy(&done.stderr)));
        }
        let mut server = unprivileged(&programs.join("postgres"));
        server.arg("-D").arg(&data).arg("-k").arg(sockets.path());
        server.args(["-c", "listen_addresses=", "-c", "synchronous_commit=on", "-c", "fsync=on"]);
        let started =
            Self { _server: Process::start(&mut server, INSTALL)?, sockets, reply: vec![0x42; reply_bytes] };
        let client = patiently("PostgreSQL", async || started.connect().await).await?;
        client.batch_execute(TABLE).await.map_err(|fault| fault.to_string())?;
        Ok(started)
    }

    async fn connect(&self) -> Result<Client, tokio_postgres::Error> {
        let mut config = Config::new();
        config.host_path(self.sockets.path()).user("bench").dbname("postgres");
        let (client, connection) = config.connect(NoTls).await?;
        tokio::spawn(connection);
        Ok(client)
    }
}

/// The newest version's.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir(PROGRAMS).ok()?.flatten().map(|version| version.path().join("bin"));
    versions.filter(|bin| bin.join("postgres").exists()).max()
}

/// It does not run as root: then as the user that its package made.
fn unprivileged(program: &Path) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
    command
}

fn give_to_postgres(folders: &[&Path]) -> Result<(), String> {
    let id = |which| {
        let said =
            Command::new("id").args([which, "postgres"]).output().map_err(|fault| fault.to_string())?;
        String::from_utf8_lossy(&said.stdout)
            .trim()
            .parse()
            .map_err(|_| format!("no user postgres; try: {INSTALL}"))
    };
    let (user, group) = (id("-u")?, id("-g")?);
    for folder in folders {
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder, open)
            .and_then(|()| chown(folder, Some(user), Some(group)))
            .map_err(|fault| fault.to_string())?;
    }
    Ok(())
}

impl Keeper for Postgres {
    type Caller = Connected;

    async fn caller(&self) -> Connected {
        let client = self.connect().await.expect("a connection");
        let claim = client.prepare(CLAIM).await.expect("a statement");
        let finish = client.prepare(FINISH).await.expect("a statement");
        Connected { client, claim, finish }
    }

    async fn turn(&self, caller: &mut Connected, key: String) {
        let Connected { client, claim, finish } = caller;
        let record = [0_u8; RECORD_BYTES].as_slice();
        let claimed = client.execute(&*claim, &[&key, &record]).await.expect("a claim");
        assert_eq!(claimed, 1, "a new key");
        let finished = client.execute(&*finish, &[&key, &record, &self.reply]).await.expect("an answer");
        assert_eq!(finished, 1, "the same key");
    }
}
