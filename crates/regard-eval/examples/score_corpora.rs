//! Scores the first N of the corpora that `tests/goldens/make_metrics.py` draws, one JSON list a line; the script's `--compare N`
//! holds the scores against sacreBLEU's.

#[path = "../tests/common/corpora.rs"]
#[allow(missing_docs, unreachable_pub, reason = "shared with tests")]
mod corpora;

fn main() {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(500);
    for index in 0..count {
        println!("{:?}", corpora::scores(index));
    }
}
