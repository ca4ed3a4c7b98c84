//! Opens the page in the person's browser.

use std::env;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::command::program;
use crate::setup::text_of;

const TRIES: u32 = 50;
const BETWEEN: Duration = Duration::from_millis(200);

const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Whether a browser has somewhere to appear.
pub(crate) fn has_screen() -> bool {
    cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Waits for the server that runs with this directory to hand out a code, then opens the page with it.
///
/// The address printed by the server itself stays unused: its code works once.
pub(crate) fn page(binary: &Path, run_dir: &Path) {
    for _ in 0..TRIES {
        let answer = text_of(program(binary).args(["open-page", "--run-dir"]).arg(run_dir));
        if let Some(address) = answer.ok().as_deref().and_then(address) {
            let opened = program(OPENER)
                .arg(address)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            if opened.is_ok_and(|status| status.success()) {
                return;
            }
            break;
        }
        thread::sleep(BETWEEN);
    }
    eprintln!("no browser could be opened; open the address above");
}

fn address(text: &str) -> Option<&str> {
    text.split_whitespace().find(|word| word.starts_with("http://") || word.starts_with("https://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_found_among_words() {
        let text = "page  http://127.0.0.1:7000/#code=abc (10 minutes)";
        assert_eq!(address(text), Some("http://127.0.0.1:7000/#code=abc"));
        assert_eq!(address("no server runs"), None);
    }
}
