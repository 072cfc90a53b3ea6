//! Where a run stands, and its files: `training_state.json` and `training_state.safetensors`.
//!
//! Nothing in them depends on the clock, the number of threads or pauses, so two runs of one recipe leave the same bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use regard_model::{Parameters, checkpoint};
use regard_tensor::Tensor;
use regard_tensor::optim::Optimizer;
use serde::{Deserialize, Serialize};

use crate::average::Ema;
use crate::config::OptimizerConfig;
use crate::early_stopping::BestScore;
use crate::error::{Result, TrainError, io_error};
use crate::identity::Identity;
use crate::observer::Update;
use crate::schedule::ScheduleState;

const JSON: &str = "training_state.json";
const TENSORS: &str = "training_state.safetensors";
const FORMAT_VERSION: u32 = 1;

/// Where a run stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// Updates done.
    pub step: u64,
    /// Passes over the data done.
    pub epoch: u64,
    /// Batches done of the pass under way.
    pub batch: usize,
    /// Target tokens trained on, end symbols included.
    pub tokens: u64,
    /// What the next report will be about.
    pub window: Window,
    /// The last update.
    pub last: Option<Update>,
    /// The best validation and the patience used up.
    pub best: BestScore,
    /// What the schedule remembers.
    pub schedule: ScheduleState,
    /// Records in the log.
    pub log_records: u64,
}

/// Sums since the last report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Σ of the training loss over target tokens.
    pub loss: f64,
    /// Σ -log p over target tokens.
    pub negative_log_likelihood: f64,
    /// Target tokens.
    pub tokens: u64,
}

impl Window {
    /// Takes in an update.
    pub fn add(&mut self, update: &Update) {
        self.loss += update.loss * update.tokens as f64;
        self.negative_log_likelihood += update.negative_log_likelihood;
        self.tokens += update.tokens;
    }
}

/// All that a run needs to go on, besides its model.
pub struct TrainingState {
    /// What decides the course of the run.
    pub identity: Identity,
    /// Where it stands.
    pub progress: Progress,
    /// The memory of the optimizer.
    pub optimizer: Optimizer,
    /// The moving average of the weights.
    pub ema: Option<Ema>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StateFile {
    format_version: u32,
    /// CRC-32C of `state`, written without spaces.
    state_crc32c: u32,
    /// CRC-32C of `training_state.safetensors`.
    tensors_crc32c: u32,
    state: Stored,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    identity: Identity,
    progress: Progress,
}

impl Stored {
    fn crc32c(&self) -> serde_json::Result<u32> {
        Ok(crc32c::crc32c(&serde_json::to_vec(self)?))
    }
}

impl TrainingState {
    /// Writes the two files into a directory; `names` are those of the weights.
    ///
    /// # Errors
    /// Where a file cannot be written.
    pub fn save(&self, directory: &Path, names: &[String]) -> Result<()> {
        let (first, second) = self.optimizer.memory();
        let ema = self.ema.as_ref().map(Ema::values).unwrap_or_default();
        let groups = [("first", first), ("second", second), ("ema", ema)];
        let tensors: Vec<(String, Tensor)> = groups
            .into_iter()
            .flat_map(|(group, tensors)| {
                names
                    .iter()
                    .zip(tensors)
                    .map(move |(name, tensor)| (format!("{group}.{name}"), tensor.clone()))
            })
            .collect();
        let path = directory.join(TENSORS);
        checkpoint::write_tensors(&path, &tensors)?;
        let tensors_crc32c = crc32c::crc32c(&fs::read(&path).map_err(io_error(&path))?);

        let path = directory.join(JSON);
        let state = Stored { identity: self.identity.clone(), progress: self.progress.clone() };
        let json = state
            .crc32c()
            .and_then(|state_crc32c| {
                let format_version = FORMAT_VERSION;
                serde_json::to_string_pretty(&StateFile {
                    format_version,
                    state_crc32c,
                    tensors_crc32c,
                    state,
                })
            })
            .map_err(|error| io_error(&path)(error.into()))?;
        Ok(checkpoint::write_file(&path, format!("{json}\n").as_bytes())?)
    }

    /// Reads the two files for a model with these weights.
    ///
    /// # Errors
    /// Where a file is missing or damaged, or belongs to another model.
    pub fn load(directory: &Path, parameters: &Parameters) -> Result<Self> {
        let path = directory.join(JSON);
        let damaged = |reason: String| TrainError::Damaged { path: path.clone(), reason };
        let bytes = fs::read(&path).map_err(io_error(&path))?;
        let file: StateFile = serde_json::from_slice(&bytes)
            .map_err(|error| damaged(format!("is not a training state: {error}")))?;
        if file.format_version != FORMAT_VERSION {
            return Err(damaged(format!(
                "has format version {}, this program reads {FORMAT_VERSION}",
                file.format_version
            )));
        }
        if file.state.crc32c().ok() != Some(file.state_crc32c) {
            return Err(damaged("was changed: its checksum is wrong".to_owned()));
        }
        let tensors = directory.join(TENSORS);
        let tensors = Tensors::read(&tensors, file.tensors_crc32c)?;
        let Stored { identity, progress } = file.state;
        Self::assemble(identity, progress, tensors, parameters)
    }

    fn assemble(
        identity: Identity,
        progress: Progress,
        mut tensors: Tensors,
        parameters: &Parameters,
    ) -> Result<Self> {
        let first = tensors.take("first", parameters)?;
        let second = tensors.take("second", parameters)?;
        let ema = if identity.ema > 0.0 {
            Some(Ema::restore(identity.ema, progress.step, tensors.take("ema", parameters)?))
        } else {
            None
        };
        let optimizer =
            Optimizer::restore(OptimizerConfig::rule(identity.optimizer), progress.step, first, second);
        Ok(Self { identity, progress, optimizer, ema })
    }
}

/// The tensors of a file that has been checked.
struct Tensors<'a> {
    path: &'a Path,
    by_name: BTreeMap<String, Tensor>,
}

impl<'a> Tensors<'a> {
    fn read(path: &'a Path, crc32c: u32) -> Result<Self> {
        let bytes = fs::read(path).map_err(io_error(path))?;
        if crc32c::crc32c(&bytes) != crc32c {
            let reason = format!("was cut or changed: its checksum is not the one in {JSON}");
            return Err(TrainError::Damaged { path: path.to_owned(), reason });
        }
        Ok(Self { path, by_name: checkpoint::read_tensors(path, &bytes)?.into_iter().collect() })
    }

    /// One tensor for each weight.
    fn take(&mut self, group: &str, parameters: &Parameters) -> Result<Vec<Tensor>> {
        let weights = parameters.names().iter().zip(parameters.values());
        weights
            .map(|(name, weight)| {
                let tensor = self.by_name.remove(&format!("{group}.{name}"));
                tensor.filter(|tensor| tensor.shape() == weight.shape()).ok_or_else(|| TrainError::Damaged {
                    path: self.path.to_owned(),
                    reason: format!(
                        "holds no {group}.{name} of the shape {}: it belongs to another model",
                        weight.shape()
                    ),
                })
            })
            .collect()
    }
}
