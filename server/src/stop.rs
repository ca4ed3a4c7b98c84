//! Telling tasks that the server stops.

use tokio::sync::watch;

/// The side that tells.
#[derive(Debug)]
pub struct Stopper(watch::Sender<bool>);

/// The side that is told; clones are told together. Also told where the stopper is gone.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<bool>);

/// A new pair.
pub fn channel() -> (Stopper, Stop) {
    let (sender, receiver) = watch::channel(false);
    (Stopper(sender), Stop(receiver))
}

impl Stopper {
    /// Tells everybody, those who ask later too.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// Waits until it is told.
    pub async fn requested(&mut self) {
        // An error is a stopper that is gone: nobody is left who would want to go on.
        let _ = self.0.wait_for(|stopped| *stopped).await;
    }
}
