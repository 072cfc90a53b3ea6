//! Prints what a SentencePiece model makes of text, for comparison with the package: see
//! `tests/goldens/make_sentencepiece.py`.
//!
//! ```text
//! sentencepiece MODEL [NBEST] < TEXT             a JSON string a line in, a JSON object a line out
//! sentencepiece MODEL --time < TEXT              the seconds that encoding takes on one thread, as JSON
//! sentencepiece MODEL --sample KIND NUMBER N     N drawn segmentations of each line: KIND is all, best or dropout
//! sentencepiece MODEL --train ALGORITHM SIZE THREADS [--bytes] [--identity] < TEXT    writes MODEL
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, BufRead, Write};
use std::time::Instant;

use regard_text::{
    SampleOptions, SentencePiece, SentencePieceAlgorithm, SentencePieceConfig, SentencePieceNormalization,
};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut lines: Vec<String> = Vec::new();
    for line in io::stdin().lock().lines() {
        lines.push(serde_json::from_str(&line?)?);
    }
    match args.as_slice() {
        [model] => {
            let model = SentencePiece::read(model)?;
            print(&lines, |line| describe(&model, line, 0))
        }
        [model, "--time"] => {
            time(&SentencePiece::read(model)?, &lines);
            Ok(())
        }
        [model, "--sample", kind, number, draws] => {
            let model = SentencePiece::read(model)?;
            let options = match *kind {
                "all" => SampleOptions::All { alpha: number.parse()? },
                "best" => SampleOptions::Best { count: 5, alpha: number.parse()? },
                _ => SampleOptions::Dropout(number.parse()?),
            };
            let draws = draws.parse()?;
            print(&lines, |line| Ok(sample(&model, line, options, draws)))
        }
        [model, "--train", algorithm, size, threads, flags @ ..] => {
            let config = SentencePieceConfig {
                algorithm: match *algorithm {
                    "unigram" => SentencePieceAlgorithm::Unigram,
                    _ => SentencePieceAlgorithm::Bpe,
                },
                vocabulary_size: size.parse()?,
                byte_fallback: flags.contains(&"--bytes"),
                normalization: if flags.contains(&"--identity") {
                    SentencePieceNormalization::Identity
                } else {
                    SentencePieceNormalization::NmtNfkc
                },
                ..SentencePieceConfig::default()
            };
            Ok(SentencePiece::train(&lines, &config, threads.parse()?, &mut |_| {})?.write(model)?)
        }
        [model, nbest] => {
            let (model, nbest) = (SentencePiece::read(model)?, nbest.parse()?);
            print(&lines, |line| describe(&model, line, nbest))
        }
        _ => Err("usage: sentencepiece MODEL [NBEST | --time | --sample … | --train …] < TEXT".into()),
    }
}

fn print(
    lines: &[String],
    of_line: impl Fn(&str) -> Result<Value, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut output = io::BufWriter::new(io::stdout().lock());
    for line in lines {
        writeln!(output, "{}", of_line(line)?)?;
    }
    Ok(output.flush()?)
}

fn describe(model: &SentencePiece, line: &str, nbest: usize) -> Result<Value, Box<dyn Error>> {
    let ids = model.encode(line);
    let tokens = model.segment(line);
    let pieces: Vec<&str> = tokens.iter().map(|token| token.piece.as_str()).collect();
    let mut paths = Vec::new();
    if nbest > 0 {
        for path in model.nbest(line, nbest)? {
            let ids: Vec<u32> = path.tokens.iter().map(|token| token.id).collect();
            paths.push(json!({ "ids": ids, "score": path.score }));
        }
    }
    Ok(json!({
        "ids": ids,
        "token_ids": tokens.iter().map(|token| token.id).collect::<Vec<_>>(),
        "pieces": pieces,
        "begin": tokens.iter().map(|token| token.range.start).collect::<Vec<_>>(),
        "end": tokens.iter().map(|token| token.range.end).collect::<Vec<_>>(),
        "decoded": model.decode(&ids),
        "joined": model.join(&pieces),
        "nbest": paths,
    }))
}

/// How often each segmentation came.
fn sample(model: &SentencePiece, line: &str, options: SampleOptions, draws: u64) -> Value {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for key in 0..draws {
        let ids: Vec<String> =
            model.sample(line, options, key).iter().map(|token| token.id.to_string()).collect();
        *counts.entry(ids.join(" ")).or_default() += 1;
    }
    json!(counts)
}

/// The best of several passes.
fn time(model: &SentencePiece, lines: &[String]) {
    let mut best = f64::INFINITY;
    let mut pieces = 0;
    for _ in 0..5 {
        let start = Instant::now();
        pieces = lines.iter().map(|line| model.encode(line).len()).sum();
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{}", json!({ "lines": lines.len(), "pieces": pieces, "seconds": best }));
}
