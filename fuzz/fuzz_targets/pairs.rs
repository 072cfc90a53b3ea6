//! Parallel text: two files, and the columns of one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regard_fuzz::{file, parts};
use regard_text::{CorpusSource, ParallelText};

fuzz_target!(|data: &[u8]| {
    let [source, target] = parts(data);
    let (source, target) = (file("source", source), file("target", target));
    let tsv = CorpusSource::Tsv { path: file("pairs.tsv", data), source_column: 2, target_column: 0 };
    for corpus in [CorpusSource::files(&source, &target), CorpusSource::tsv(&target), tsv] {
        if let Ok(text) = ParallelText::read(&corpus) {
            assert_eq!(text.pairs.len(), text.report.kept);
            assert_eq!(text.report.lines, text.report.kept + text.report.blank);
        }
    }
});
