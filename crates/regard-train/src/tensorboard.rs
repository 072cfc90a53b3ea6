//! Event files for TensorBoard, written by hand: the format needs four messages.
//!
//! A file is a list of records (TFRecord): the length as u64, its masked CRC-32C, the bytes, their masked CRC-32C, all
//! little-endian. Each record is a protocol buffer `tensorflow.Event` (`tensorflow/core/util/event.proto`).

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::{Result, io_error};
use crate::log::Record;

/// An event file, open for appending.
pub struct EventFile {
    path: PathBuf,
    file: File,
}

impl EventFile {
    /// Begins a file in `directory`. `wall_time` is in seconds since 1970; a run that resumes after update `step` says so,
    /// and TensorBoard then drops what older files have after it.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn create(directory: &Path, wall_time: f64, step: u64) -> Result<Self> {
        fs::create_dir_all(directory).map_err(io_error(directory))?;
        // TensorBoard reads the files of a directory in the order of their names.
        let name = format!("events.out.tfevents.{:010}.{step}.regard", wall_time as u64);
        let path = directory.join(name);
        let file = File::create(&path).map_err(io_error(&path))?;
        let mut events = Self { path, file };
        events.write(&event(wall_time, 0, 3, b"brain.Event:2"))?;
        if step > 0 {
            // SessionLog { status: START }.
            events.write(&event(wall_time, step, 7, &[0x08, 1]))?;
        }
        Ok(events)
    }

    /// Writes the numbers of a record under `train/` and `valid/`.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn record(&mut self, wall_time: f64, record: &Record) -> Result<()> {
        let mut scalars = vec![
            ("train/loss", record.loss),
            ("train/perplexity", record.perplexity),
            ("train/learning_rate", record.learning_rate),
            ("train/gradient_norm", record.gradient_norm),
            ("train/tokens_per_s", record.tokens_per_s),
            ("train/epoch", record.epoch as f64),
        ];
        if let Some(valid) = record.valid.map(|valid| valid.validation) {
            scalars.extend([("valid/loss", valid.loss), ("valid/perplexity", valid.perplexity)]);
            scalars.extend(valid.bleu.map(|bleu| ("valid/bleu", bleu)));
            scalars.extend(valid.exposure_gap.map(|gap| ("valid/exposure_gap", gap)));
        }
        self.scalars(wall_time, record.step, &scalars)
    }

    /// Writes named numbers of a step.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn scalars(&mut self, wall_time: f64, step: u64, scalars: &[(&str, f64)]) -> Result<()> {
        let mut summary = Vec::new();
        for (tag, value) in scalars {
            // Summary.Value { tag = 1, simple_value = 2 } is field 1 of Summary.
            let mut entry = Vec::new();
            bytes_field(&mut entry, 1, tag.as_bytes());
            entry.push(2 << 3 | 5);
            entry.extend((*value as f32).to_le_bytes());
            bytes_field(&mut summary, 1, &entry);
        }
        self.write(&event(wall_time, step, 5, &summary))
    }

    fn write(&mut self, event: &[u8]) -> Result<()> {
        self.file.write_all(&frame(event)).map_err(io_error(&self.path))
    }
}

/// `Event { wall_time = 1, step = 2, … }` with one more field that holds bytes.
fn event(wall_time: f64, step: u64, field: u8, bytes: &[u8]) -> Vec<u8> {
    let mut event = vec![1 << 3 | 1];
    event.extend(wall_time.to_le_bytes());
    if step > 0 {
        event.push(2 << 3);
        varint(&mut event, step);
    }
    bytes_field(&mut event, field, bytes);
    event
}

fn bytes_field(message: &mut Vec<u8>, field: u8, bytes: &[u8]) {
    message.push(field << 3 | 2);
    varint(message, bytes.len() as u64);
    message.extend(bytes);
}

fn varint(message: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        message.push(number as u8 | 0x80);
        number >>= 7;
    }
    message.push(number as u8);
}

fn frame(bytes: &[u8]) -> Vec<u8> {
    let length = (bytes.len() as u64).to_le_bytes();
    let mut record = length.to_vec();
    record.extend(masked_crc(&length).to_le_bytes());
    record.extend(bytes);
    record.extend(masked_crc(bytes).to_le_bytes());
    record
}

fn masked_crc(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validation::Validation;

    #[test]
    fn checksums_as_tensorflow_has_them() {
        // The head of every event file: 24 bytes follow.
        assert_eq!(frame(&[0; 24])[..12], [0x18, 0, 0, 0, 0, 0, 0, 0, 0xa3, 0x7f, 0x4b, 0x22]);
        // CRC-32C of 32 zeros (RFC 3720, B.4).
        assert_eq!(crc32c::crc32c(&[0; 32]), 0x8a91_36aa);
    }

    #[test]
    fn the_bytes_of_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let mut events = EventFile::create(directory.path(), 1.5, 0).unwrap();
        events.scalars(2.0, 300, &[("a", 0.5)]).unwrap();
        let bytes = fs::read(&events.path).unwrap();
        let first = [&[0x09, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0x1a, 13][..], b"brain.Event:2"].concat();
        let second = [
            &[0x09, 0, 0, 0, 0, 0, 0, 0, 0x40, 0x10, 0xac, 0x02, 0x2a, 10][..],
            &[0x0a, 8, 0x0a, 1, b'a', 0x15, 0, 0, 0, 0x3f],
        ]
        .concat();
        assert_eq!(bytes, [frame(&first), frame(&second)].concat());
        assert_eq!(events.path.file_name().unwrap(), "events.out.tfevents.0000000001.0.regard");
    }

    #[test]
    fn a_record_has_its_names() {
        let directory = tempfile::tempdir().unwrap();
        let mut events = EventFile::create(directory.path(), 1.5, 20).unwrap();
        let validation = Validation::by_loss(1.0).with_bleu(3.0);
        let record = Record {
            step: 21,
            epoch: 1,
            tokens: 1,
            seconds: 1.0,
            loss: 1.0,
            perplexity: 1.0,
            learning_rate: 1.0,
            gradient_norm: 1.0,
            tokens_per_s: 1.0,
            valid: Some(crate::log::ValidRecord { validation, best: true }),
        };
        events.record(2.0, &record).unwrap();
        let text = String::from_utf8_lossy(&fs::read(&events.path).unwrap()).into_owned();
        for tag in ["train/loss", "train/gradient_norm", "valid/perplexity", "valid/bleu"] {
            assert!(text.contains(tag), "{tag}");
        }
        assert!(!text.contains("valid/exposure_gap"));
    }
}
