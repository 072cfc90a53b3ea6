//! Parallel text as JSON Lines, with fields at the top and below it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regard_fuzz::file;
use regard_text::{CorpusSource, ParallelText};

fuzz_target!(|data: &[u8]| {
    let path = file("pairs.jsonl", data);
    for [source_field, target_field] in
        [["source", "target"], ["translation.en", "translation.fr"]].map(|fields| fields.map(str::to_owned))
    {
        let source = CorpusSource::JsonLines { path: path.clone(), source_field, target_field };
        if let Ok(text) = ParallelText::read(&source) {
            assert_eq!(text.pairs.len(), text.report.kept);
            assert!(text.pairs.iter().all(|pair| !pair.source.contains('\n') && !pair.target.contains('\n')));
        }
    }
});
