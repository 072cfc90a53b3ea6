//! From a loss to checkpoints: how a model is trained.
//!
//! ```text
//! recipe ─→ trainer ─ update ─ report ─ validation ─ checkpoint ─→ the best model
//!             ↑    (schedule, sampling, noise)          │
//!             └────────────── resume ───────────────────┘
//! ```
//!
//! A [`Recipe`] says everything that decides a run; a [`Trainer`] goes through it and tells an [`Observer`]; a
//! [`Validator`] judges the model on the way. Budgets are in updates and epochs, and the library reads no clock: two runs
//! of one recipe leave the same bytes, however many threads they had and however often they were stopped and resumed,
//! but for the time fields of the log.
//!
//! What lies in the directory of a run:
//!
//! | | |
//! |---|---|
//! | `config.json`, `model.safetensors`, … | the best model |
//! | `checkpoints/step-N/` | a model with `training_state.json` and `training_state.safetensors` |
//! | `training_log.jsonl` | a [`Record`] a line |

mod adversary;
mod average;
mod config;
mod early_stopping;
mod error;
mod frozen;
mod gradients;
mod guided_alignment;
mod identity;
mod log;
mod noise;
mod objective;
mod observer;
mod recipe;
mod recorder;
mod resampler;
mod run;
mod run_directory;
mod sampling;
mod schedule;
mod tensorboard;
mod trainer;
mod training_state;
mod validation;

pub use adversary::Adversary;
pub use average::{Ema, average};
pub use config::{OptimizerConfig, TrainingConfig, TrainingPrecision};
pub use early_stopping::BestScore;
pub use error::{Result, TrainError};
pub use frozen::Frozen;
pub use gradients::{GradientInput, UpdateGradients};
pub use guided_alignment::{GuidedAlignment, GuidedAlignmentConfig, GuidedStep};
pub use identity::Identity;
pub use log::{LOG_FILE, Record, TrainingLog, ValidRecord};
pub use noise::noise_key;
pub use objective::Objective;
pub use observer::{Event, Observer, Silent, Update};
pub use recipe::{
    CorpusRecipe, DataRecipe, FiltersRecipe, Metric, ModelRecipe, MosesUse, RECIPE_FILE, Recipe,
    TokenizerKind, TokenizerRecipe, TrainingCorpus, ValidationRecipe,
};
pub use resampler::Resampler;
pub use run::Outcome;
pub use run_directory::{Checkpoint, RunDirectory, checkpoints};
pub use sampling::SamplingConfig;
pub use schedule::{Schedule, ScheduleConfig, ScheduleState};
pub use tensorboard::EventFile;
pub use trainer::Trainer;
pub use training_state::{Progress, TrainingState, Window};
pub use validation::{LossValidator, Validation, Validator};
