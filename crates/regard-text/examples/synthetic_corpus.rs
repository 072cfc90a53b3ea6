//! Writes a corpus of made-up sentences as TSV, quickly and always the same: 4 to 12 words a side of a list of 5,000.
//!
//! `cargo run --release -p regard-text --example synthetic_corpus 10000000 pairs.tsv`

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};

/// Knuth's linear congruential generator, the high bits.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Two to four syllables, another word for every number.
fn word(mut number: u64) -> String {
    let mut word = String::new();
    while word.len() < 4 || number > 0 {
        word.push(char::from(b"bdfghklmnprstvz"[(number % 15) as usize]));
        word.push(char::from(b"aeiou"[(number / 15 % 5) as usize]));
        number /= 75;
    }
    word
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [count, path] = args.as_slice() else { return Err("usage: synthetic_corpus PAIRS FILE".into()) };
    let count: u64 = count.parse()?;
    let words: Vec<String> = (0..5000).map(word).collect();
    let mut random = Random(1);
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut line = String::new();
    for _ in 0..count {
        line.clear();
        for end in ['\t', '\n'] {
            for _ in 0..4 + random.below(9) {
                line.push_str(&words[random.below(5000) as usize]);
                line.push(' ');
            }
            line.pop();
            line.push(end);
        }
        file.write_all(line.as_bytes())?;
    }
    Ok(file.flush()?)
}
