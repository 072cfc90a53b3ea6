//! Sequence-to-sequence learning with attention: train, translate, and see where the model looks.
//!
//! This crate is the facade: the parts are crates of their own, named here. With the feature `cli` (on by default) it
//! also holds the `regard` program; with `serve`, on by default too, its server.
//!
//! ```
//! use regard::model::Preset;
//! let model = Preset::Luong.config().build(50, 60, 1)?;
//! assert_eq!(model.target_vocabulary(), 60);
//! # Ok::<(), regard::model::ModelError>(())
//! ```

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod demo;

pub use regard_decode as decode;
pub use regard_eval as eval;
pub use regard_look as look;
pub use regard_model as model;
#[cfg(feature = "serve")]
pub use regard_serve as serve;
pub use regard_tensor as tensor;
pub use regard_text as text;
pub use regard_train as train;
