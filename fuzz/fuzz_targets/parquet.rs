//! Parallel text as Parquet.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regard_fuzz::file;
use regard_text::CorpusSource;

// The reader catches panics of the library below it: only those that come through are findings.
fuzz_target!(init: std::panic::set_hook(Box::new(|_| {})), |data: &[u8]| {
    let path = file("pairs.parquet", data);
    for [source_field, target_field] in [["source", "target"], ["translation.en", "translation.fr"]].map(|fields| fields.map(str::to_owned)) {
        let source = CorpusSource::Parquet { path: path.clone(), source_field, target_field };
        if let Ok(pairs) = source.open() {
            // A few bytes may stand for any number of rows.
            let read = pairs.take(10_000).take_while(Result::is_ok).flatten();
            assert!(read.filter(|(source, target)| source.contains('\n') || target.contains('\n')).count() == 0);
        }
    }
});
