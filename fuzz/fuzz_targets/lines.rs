//! The lines of a plain, gzip or zstandard file.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use regard_text::Lines;

fuzz_target!(|data: &[u8]| {
    let open = || Lines::from_reader("fuzz", Cursor::new(data.to_vec()));
    let (Ok(mut lines), Ok(mut texts)) = (open(), open()) else { return };
    let mut read = Vec::new();
    while let Some(Ok(line)) = lines.next() {
        assert!(!line.contains('\n'));
        read.push(line);
        assert_eq!(lines.line(), read.len());
    }
    assert!(lines.next().is_none());
    let text: String = std::iter::from_fn(|| texts.next_text()?.ok()).collect();
    assert!(text.lines().eq(read));
});
