//! The lines of a plain, gzip or zstandard file.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use regard_text::Lines;

fuzz_target!(|data: &[u8]| {
    let Ok(mut lines) = Lines::from_reader("fuzz", Cursor::new(data.to_vec())) else { return };
    let mut count = 0;
    while let Some(Ok(line)) = lines.next() {
        count += 1;
        assert!(!line.contains('\n'));
        assert_eq!(lines.line(), count);
    }
    assert!(lines.next().is_none());
});
