//! `twolane keygen`: the secret of one caller.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use clap::Args;
use twolane_client::durable;
use twolane_core::connector::seal::{KeyId, SealKey};
use zeroize::Zeroizing;

use super::{Exit, Failure, written};

/// Random bytes of a secret; as text they are 43 characters.
const SECRET_BYTES: usize = 32;

/// Where to.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    twolane keygen -o runner-1.key             then name it in the server's callers file\n  \
    twolane keygen -o runner-1.key --force     a new secret; the old one opens nothing more\n\n\
    The file holds the secret, for its owner alone; caller and server read the same one.\n\
    What is printed is the key's id, which tells nothing of it.")]
pub(super) struct Options {
    /// File to write, which must not exist
    #[arg(long, short = 'o', value_name = "FILE")]
    output: PathBuf,
    /// Write over an existing file
    #[arg(long)]
    force: bool,
}

/// Writes a secret and prints its key id.
pub(super) fn run(options: &Options) -> Result<Exit, Failure> {
    let failed = |fault: String| Failure::new(Exit::Failed, fault);
    let path = &options.output;
    if path == Path::new("-") {
        return Err(Failure::new(Exit::Usage, "a secret goes to a file: -o FILE"));
    }
    let (secret, id) = secret().map_err(failed)?;
    match put(path, &secret, options.force) {
        Ok(()) => {}
        Err(fault) if fault.kind() == io::ErrorKind::AlreadyExists => {
            let words = "exists already: take another name, or lose the secret in it with --force";
            return Err(failed(format!("{} {words}", path.display())));
        }
        Err(fault) => return Err(failed(format!("cannot write {}: {fault}", path.display()))),
    }
    written(writeln!(io::stdout(), "{id}"))?;
    Ok(Exit::Done)
}

/// A secret as the line of a key file, and its key's id.
fn secret() -> Result<(Zeroizing<String>, KeyId), String> {
    let mut random = Zeroizing::new([0; SECRET_BYTES]);
    getrandom::fill(random.as_mut()).map_err(|fault| format!("the system gives no random bytes: {fault}"))?;
    let mut line = Zeroizing::new(String::with_capacity(64));
    BASE64_URL_SAFE_NO_PAD.encode_string(random.as_ref(), &mut line);
    let id = SealKey::from_secret(&line).map_err(|fault| fault.to_string())?.id();
    line.push('\n');
    Ok((line, id))
}

/// Puts the whole file in its place, readable by its owner alone.
fn put(path: &Path, line: &str, force: bool) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    if force {
        durable::replace(folder, name, line.as_bytes())
    } else {
        durable::create(folder, name, line.as_bytes())
    }
}
