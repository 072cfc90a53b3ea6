//! The directory of a run: the best model at the top, checkpoints below it.

use std::fs;
use std::path::{Path, PathBuf};

use regard_model::checkpoint::{self, ModelInfo};
use regard_model::{Parameters, Seq2Seq};

use crate::error::{Result, TrainError, io_error};
use crate::log::LOG_FILE;
use crate::recipe::RECIPE_FILE;
use crate::training_state::TrainingState;

const CHECKPOINTS: &str = "checkpoints";

/// The directory of a run.
#[derive(Clone, Debug)]
pub struct RunDirectory {
    path: PathBuf,
    info: ModelInfo,
}

impl RunDirectory {
    /// A directory for a model of this kind; nothing is written yet.
    #[must_use]
    pub fn new(path: &Path, info: ModelInfo) -> Self {
        Self { path: path.to_owned(), info }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a model or a checkpoint is already there.
    #[must_use]
    pub fn holds_run(path: &Path) -> bool {
        path.join("config.json").exists() || checkpoints(path).is_ok_and(|found| !found.is_empty())
    }

    /// Makes the directories and removes what an interrupted write has left.
    pub(crate) fn prepare(&self) -> Result<()> {
        let checkpoints = self.path.join(CHECKPOINTS);
        fs::create_dir_all(&checkpoints).map_err(io_error(&checkpoints))?;
        checkpoint::tidy(&self.path, &["config.json", "model.safetensors", LOG_FILE, RECIPE_FILE])?;
        Ok(checkpoint::tidy(&checkpoints, &["step-"])?)
    }

    /// Writes a checkpoint whole, then removes all but the newest `keep`. Those of later steps, which a run that fell
    /// back to an older one has left, stay until they are written again.
    pub(crate) fn save(&self, model: &dyn Seq2Seq, state: &TrainingState, keep: usize) -> Result<PathBuf> {
        let step = state.progress.step;
        let path = self.path.join(CHECKPOINTS).join(format!("step-{step}"));
        checkpoint::write_directory(&path, |directory| -> Result<()> {
            checkpoint::save(directory, &self.info, model.parameters())?;
            state.save(directory, model.parameters().names())
        })?;
        let found = checkpoints(&self.path)?;
        let older: Vec<_> = found.into_iter().filter(|(found, _)| *found <= step).collect();
        for (_, path) in older.iter().rev().skip(keep) {
            fs::remove_dir_all(path).map_err(io_error(path))?;
        }
        Ok(path)
    }

    /// Puts a model at the top.
    pub(crate) fn save_best(&self, parameters: &Parameters) -> Result<()> {
        Ok(checkpoint::replace(&self.path, &self.info, parameters)?)
    }
}

/// A checkpoint that was read.
pub struct Checkpoint {
    /// The directory of its run.
    pub directory: RunDirectory,
    /// What the model is; its tokenizers are those to go on with.
    pub info: ModelInfo,
    /// The model.
    pub model: Box<dyn Seq2Seq>,
    /// Where the run stood.
    pub state: TrainingState,
    /// Newer checkpoints that are damaged, and what is wrong with each: to be told to the user.
    pub skipped: Vec<(PathBuf, TrainError)>,
}

impl Checkpoint {
    /// Reads the newest checkpoint of a run that is not damaged.
    ///
    /// # Errors
    /// Where there is none.
    pub fn newest(run: &Path) -> Result<Self> {
        let mut skipped = Vec::new();
        for (_, path) in checkpoints(run)?.into_iter().rev() {
            let read = || -> Result<_> {
                let (info, model) = checkpoint::load(&path)?;
                let state = TrainingState::load(&path, model.parameters())?;
                Ok((info, model, state))
            };
            match read() {
                Ok((info, model, state)) => {
                    let directory = RunDirectory::new(run, info.clone());
                    return Ok(Self { directory, info, model, state, skipped });
                }
                Err(error) => skipped.push((path, error)),
            }
        }
        match skipped.first() {
            None => Err(TrainError::NoCheckpoint { path: run.to_owned() }),
            Some((_, newest)) => {
                Err(TrainError::AllDamaged { path: run.join(CHECKPOINTS), newest: newest.to_string() })
            }
        }
    }
}

/// The checkpoints of a run, oldest first.
///
/// # Errors
/// Where the directory cannot be read; one that is not there holds none.
pub fn checkpoints(run: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let directory = run.join(CHECKPOINTS);
    if !directory.exists() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(&directory).map_err(io_error(&directory))? {
        let path = entry.map_err(io_error(&directory))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if let Some(step) = name.strip_prefix("step-").and_then(|step| step.parse().ok()) {
            found.push((step, path));
        }
    }
    found.sort();
    Ok(found)
}
