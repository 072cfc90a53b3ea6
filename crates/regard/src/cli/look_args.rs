//! Which attention is shown, for the commands that show one.

use clap::Args;
use regard_decode::Look;

#[derive(Args, Clone)]
pub(super) struct WhichLook {
    /// The layer of the decoder whose look at the source is shown, from 0 [default: the last]
    #[arg(long, value_name = "L")]
    layer: Option<usize>,
    /// The head of the layer, from 0 [default: the mean of all heads]
    #[arg(long, value_name = "H")]
    head: Option<usize>,
}

impl WhichLook {
    pub(super) fn look(&self) -> Look {
        Look { layer: self.layer, head: self.head }
    }

    /// Whether one was asked for by name.
    pub(super) fn is_named(&self) -> bool {
        self.layer.is_some() || self.head.is_some()
    }
}
