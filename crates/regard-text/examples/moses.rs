//! Moses' tokenizer and detokenizer as a filter, for comparison with sacremoses: see `tests/goldens/make_moses.py`.
//!
//! ```text
//! moses tokenize|detokenize en|fr|de [--no-escape] [--time] < TEXT
//! ```
//!
//! One line in, one line out, tokens between spaces; `--time` prints the seconds that the work takes instead.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::time::Instant;

use regard_text::{Moses, MosesLanguage};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [task, language, flags @ ..] = args.as_slice() else {
        return Err("usage: moses tokenize|detokenize en|fr|de [--no-escape] [--time] < TEXT".into());
    };
    let flag = |name: &str| flags.iter().any(|flag| flag == name);
    let language = match language.as_str() {
        "en" => MosesLanguage::En,
        "fr" => MosesLanguage::Fr,
        "de" => MosesLanguage::De,
        _ => return Err("the language is en, fr or de".into()),
    };
    let moses = Moses { language, escape: !flag("--no-escape") };
    let run = |line: &str| match task.as_str() {
        "tokenize" => moses.tokenize(line).join(" "),
        _ => moses.detokenize(&line.split(' ').collect::<Vec<_>>()),
    };

    let mut lines = Vec::new();
    for line in io::stdin().lock().split(b'\n') {
        lines.push(String::from_utf8(line?)?);
    }
    let start = Instant::now();
    let out: Vec<String> = lines.iter().map(|line| run(line)).collect();
    let seconds = start.elapsed().as_secs_f64();
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    if flag("--time") {
        writeln!(stdout, "{seconds}")?;
    } else {
        for line in out {
            writeln!(stdout, "{line}")?;
        }
    }
    Ok(stdout.flush()?)
}
