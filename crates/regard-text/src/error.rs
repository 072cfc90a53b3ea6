//! What can go wrong between a file and a batch.

use std::io;

/// An error of this crate; the message names the file, the line where there is one, and the next step.
///
/// Lines are counted from 1 and end at LF only.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// A file could not be opened or read (also: a damaged `.gz` or `.zst`).
    #[error("{file}: cannot be read{}: {source}", after(*line))]
    Read {
        /// The file, or `standard input`.
        file: String,
        /// Complete lines read before the fault.
        line: usize,
        /// The system's reason.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {file}: {source}")]
    Write {
        /// The file.
        file: String,
        /// The system's reason.
        source: io::Error,
    },
    /// A line is not UTF-8.
    #[error("{file}:{line}: not valid UTF-8; convert the file first, for example with `iconv -t UTF-8`")]
    InvalidUtf8 {
        /// The file, or `standard input`.
        file: String,
        /// The line with the first bad byte.
        line: usize,
    },
    /// The two sides of a parallel corpus have different numbers of lines.
    #[error(
        "{source_file} has {source_lines} lines but {target_file} has {target_lines}; \
         line n of one must translate line n of the other"
    )]
    UnequalLines {
        /// The source file.
        source_file: String,
        /// Its number of lines.
        source_lines: usize,
        /// The target file.
        target_file: String,
        /// Its number of lines.
        target_lines: usize,
    },
    /// A TSV line has too few columns.
    #[error(
        "{file}:{line}: no column {column} (counted from 0): the line has {found}; columns are separated by tabs"
    )]
    MissingColumn {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// The column that was asked for, from 0.
        column: usize,
        /// Columns in the line.
        found: usize,
    },
    /// A line of JSON Lines or a row of a Parquet file that is not what it should be; with line 0, the file.
    #[error("{file}{}: {problem}", if *line == 0 { String::new() } else { format!(":{line}") })]
    BadRecord {
        /// The file, or `standard input`.
        file: String,
        /// The line or the row, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A Parquet file, and a program that was built without what reads it.
    #[error(
        "{file}: this program was built without Parquet; build it with `cargo build --release --features parquet`, \
         or convert the file to JSON Lines"
    )]
    ParquetLeftOut {
        /// The file.
        file: String,
    },
    /// A corpus holds no pair with text on both sides.
    #[error("{file}: no pair with text on both sides ({lines} lines, {blank} with a blank side)")]
    NoPairs {
        /// The source file.
        file: String,
        /// Lines read.
        lines: usize,
        /// Lines with a blank side.
        blank: usize,
    },
    /// A cache of ids that cannot be used; it has to be made anew.
    #[error("{file}: cannot be used as a cache: {problem}")]
    BadCache {
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A shortlist that was cut, damaged or made for other vocabularies.
    #[error("{file}:{line}: {problem}; make the shortlist anew with `regard shortlist`")]
    BadShortlist {
        /// The file.
        file: String,
        /// The line; 0 in an empty file.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A vocabulary with a doubled, empty or misplaced entry.
    #[error("{file}:{line}: entry `{token}` {problem}")]
    BadVocabulary {
        /// The file, or `vocabulary` for one made in memory.
        file: String,
        /// The entry's line (id + 1).
        line: usize,
        /// The entry.
        token: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A BPE codes file that is not subword-nmt's version 0.2.
    #[error("{file}:{line}: {problem}")]
    BadCodes {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// What is wrong and what is expected.
        problem: String,
    },
    /// What cannot be a tag.
    #[error("tag `{tag}`: write it as <NAME>, without spaces; the names of control symbols are taken")]
    BadTag {
        /// What was given.
        tag: String,
    },
    /// A tag that the model does not have.
    #[error("tag `{tag}` is not one of the model's: {}", if known.is_empty() { "it has none" } else { known })]
    UnknownTag {
        /// What was given.
        tag: String,
        /// The tags that there are, spaces between.
        known: String,
    },
    /// A glossary of BPE that cannot be used.
    #[error("glossary `{pattern}`: {problem}; it must be a regular expression that matches some text")]
    BadGlossary {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A SentencePiece file that is cut, damaged, or something else.
    #[error(
        "{file}: cannot be used as a SentencePiece model: {problem}; fetch it again, or train one with `regard tokenizer train --kind sentencepiece`"
    )]
    BadModel {
        /// The file, or what it was called.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A SentencePiece model that cannot be trained as asked.
    #[error("the SentencePiece model cannot be trained: {problem}")]
    BadTraining {
        /// What is impossible, and what is possible.
        problem: String,
    },
    /// Several segmentations were asked of a SentencePiece model that has only one.
    #[error("only a unigram model has several segmentations of a text; this one is of another kind")]
    NoNbest,
    /// A `*.tokenizer.json` that cannot be understood.
    #[error("{file}: {problem}")]
    BadTokenizer {
        /// The file.
        file: String,
        /// What is wrong.
        problem: String,
    },
}

/// Where a fault is; a file that could not be opened has no lines.
fn after(line: usize) -> String {
    if line == 0 { String::new() } else { format!(" after line {line}") }
}
