//! `training_log.jsonl`: one JSON object a report, in the order of the updates.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use regard_model::checkpoint;
use serde::Serialize;

use crate::error::{Result, io_error};
use crate::validation::Validation;

/// The name of the log in the directory of a run.
pub const LOG_FILE: &str = "training_log.jsonl";

/// What happened since the last record. `seconds` and `tokens_per_s` are the only fields that differ between two runs of
/// one recipe.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    /// The update, from 1.
    pub step: u64,
    /// The pass over the data, from 1.
    pub epoch: u64,
    /// Target tokens since the beginning of the training, end symbols included.
    pub tokens: u64,
    /// Seconds since the beginning of the training, pauses left out.
    pub seconds: f64,
    /// The training loss per target token since the last record, label smoothing included (natural logarithm).
    pub loss: f64,
    /// e to the training loss per target token, label smoothing left out.
    pub perplexity: f64,
    /// The learning rate of the update.
    pub learning_rate: f64,
    /// The norm of all gradients of the update, before clipping.
    pub gradient_norm: f64,
    /// Target tokens a second since the last record; where there were none, that of the last record.
    pub tokens_per_s: f64,
    /// The verdict on the model after the update, where it was validated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid: Option<ValidRecord>,
}

/// A validation in the log.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ValidRecord {
    /// The verdict.
    #[serde(flatten)]
    pub validation: Validation,
    /// Whether it is the best so far.
    pub best: bool,
}

/// The log of a run, open for appending.
pub struct TrainingLog {
    path: PathBuf,
    file: File,
}

impl TrainingLog {
    /// Opens the log in `directory`, keeping at most its first `keep` records: what came after a checkpoint is written
    /// again.
    ///
    /// # Errors
    /// Where the file cannot be read or written.
    pub fn open(directory: &Path, keep: u64) -> Result<Self> {
        let path = directory.join(LOG_FILE);
        let kept = kept_lines(&path, keep)?;
        checkpoint::write_file(&path, &kept)?;
        let file = File::options().append(true).open(&path).map_err(io_error(&path))?;
        Ok(Self { path, file })
    }

    /// Writes a record.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn append(&mut self, record: &Record) -> Result<()> {
        let json = serde_json::to_string(record).map_err(|error| io_error(&self.path)(error.into()))?;
        self.file.write_all(format!("{json}\n").as_bytes()).map_err(io_error(&self.path))
    }

    /// Sees that what was written is on the disk.
    ///
    /// # Errors
    /// Where it is not.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(io_error(&self.path))
    }
}

fn kept_lines(path: &Path, keep: u64) -> Result<Vec<u8>> {
    let mut bytes = match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        read => read.map_err(io_error(path))?,
    };
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(place, _)| place + 1);
    let end = ends.take(keep as usize).last().unwrap_or(0);
    bytes.truncate(end);
    Ok(bytes)
}

/// The end of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LogEnd {
    /// Complete records.
    pub(crate) records: u64,
    /// The `seconds` of the last one; 0 where there is none.
    pub(crate) seconds: f64,
    /// Its `tokens_per_s`.
    pub(crate) tokens_per_s: f64,
}

/// The end of the log in a directory.
pub(crate) fn last_record(directory: &Path) -> LogEnd {
    let text = fs::read_to_string(directory.join(LOG_FILE)).unwrap_or_default();
    let complete = text.rsplit_once('\n').map_or("", |(complete, _)| complete);
    let last = complete.rsplit('\n').next().unwrap_or_default();
    let last: serde_json::Value = serde_json::from_str(last).unwrap_or_default();
    let records = if complete.is_empty() { 0 } else { 1 + complete.matches('\n').count() as u64 };
    let number = |field: &str| last[field].as_f64().unwrap_or(0.0);
    LogEnd { records, seconds: number("seconds"), tokens_per_s: number("tokens_per_s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(step: u64) -> Record {
        Record {
            step,
            epoch: 1,
            tokens: 100 * step,
            seconds: 0.5,
            loss: 2.5,
            perplexity: 9.0,
            learning_rate: 0.001,
            gradient_norm: 1.25,
            tokens_per_s: 200.0,
            valid: None,
        }
    }

    #[test]
    fn fields_in_their_order() {
        let valid = Some(ValidRecord { validation: Validation::by_loss(0.0).with_bleu(50.0), best: true });
        assert_eq!(
            serde_json::to_string(&Record { valid, ..record(3) }).unwrap(),
            r#"{"step":3,"epoch":1,"tokens":300,"seconds":0.5,"loss":2.5,"perplexity":9.0,"learning_rate":0.001,"gradient_norm":1.25,"tokens_per_s":200.0,"valid":{"loss":0.0,"perplexity":1.0,"bleu":50.0,"score":50.0,"best":true}}"#
        );
    }

    #[test]
    fn what_came_after_a_checkpoint_is_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(LOG_FILE);
        let mut log = TrainingLog::open(directory.path(), 0).unwrap();
        for step in 1..=3 {
            log.append(&record(step)).unwrap();
        }
        let whole = fs::read_to_string(&path).unwrap();
        let end = LogEnd { records: 3, seconds: 0.5, tokens_per_s: 200.0 };
        assert_eq!(last_record(directory.path()), end);
        // A kill in the middle of a line.
        fs::write(&path, format!("{whole}{{\"step\":4,")).unwrap();
        assert_eq!(last_record(directory.path()), end);
        let mut log = TrainingLog::open(directory.path(), 2).unwrap();
        log.append(&record(3)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), whole);
    }

    #[test]
    fn p11_a_full_disk_is_reported() {
        let full = Path::new("/dev/full");
        if !full.exists() {
            println!("skipped: no /dev/full (p11_a_full_disk_is_reported)");
            return;
        }
        let file = File::options().append(true).open(full).unwrap();
        let mut log = TrainingLog { path: full.to_owned(), file };
        assert!(log.append(&record(1)).unwrap_err().to_string().starts_with("/dev/full: "));
    }
}
