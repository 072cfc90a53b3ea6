//! What is said about the text that a model reads and writes.

use clap::Args;

/// Options of the commands that give text to a model.
#[derive(Args, Clone)]
pub(super) struct TextOptions {
    /// Put a tag of the model before every source line, such as <2fr>; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub(super) tags: Vec<String>,
    /// The text has been through Moses' tokenizer, and what is written stays so
    #[arg(long)]
    pub(super) pretokenized: bool,
}
