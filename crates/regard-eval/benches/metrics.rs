//! Speed of the metrics on one thread: `cargo bench -p regard-eval`. Uses WMT21 de-en where the shared data is there, else
//! sentences that are made up.

use regard_eval::{
    BleuOptions, ChrfOptions, Corpus, Metric, PairedTest, Resampling, SegmentStatistics, TerOptions,
};
use std::path::Path;
use std::time::Instant;

/// Seconds of the fastest of several runs.
fn fastest(mut run: impl FnMut()) -> f64 {
    let (start, mut best) = (Instant::now(), f64::INFINITY);
    while start.elapsed().as_secs_f64() < 1.0 || best.is_infinite() {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

/// Two systems and a reference.
fn texts() -> [Vec<String>; 3] {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/wmt21");
    let names = [
        "system-outputs/newstest2021.de-en.hyp.Online-A.en",
        "system-outputs/newstest2021.de-en.hyp.Borderline.en",
        "references/newstest2021.de-en.ref.A.en",
    ];
    names.map(|name| match std::fs::read_to_string(root.join(name)) {
        Ok(text) => text.trim_end().split('\n').map(str::to_owned).collect(),
        Err(_) => made_up(name.len() as u64),
    })
}

/// A thousand sentences of 25 of the same hundred words.
fn made_up(mut seed: u64) -> Vec<String> {
    let mut word = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("word{}", (seed >> 33) % 100)
    };
    (0..1000).map(|_| (0..25).map(|_| word()).collect::<Vec<_>>().join(" ")).collect()
}

fn main() {
    let [baseline, system, reference] = texts();
    let references = [reference];
    let metrics: [&dyn Metric; 4] =
        [&BleuOptions::default(), &ChrfOptions::default(), &ChrfOptions::plus_plus(), &TerOptions::default()];
    let corpora = [&baseline, &system].map(|lines| Corpus::new(lines, &references));
    let [Ok(baseline), Ok(system)] = corpora else { return };
    for metric in metrics {
        let [first, second] = [&baseline, &system].map(|corpus| SegmentStatistics::new(metric, corpus));
        let count = fastest(|| drop(SegmentStatistics::new(metric, &baseline)));
        println!("{:8} {:6} lines  {:8.2} ms", metric.name(), first.lines(), count * 1e3);
        for (test, resampling) in [
            (PairedTest::Bootstrap, Resampling::BOOTSTRAP),
            (PairedTest::ApproximateRandomization, Resampling::APPROXIMATE_RANDOMIZATION),
        ] {
            let seconds = fastest(|| drop(test.p_value(metric, &first, &second, resampling)));
            println!("  {test:?}, {} samples  {:8.2} ms", resampling.samples, seconds * 1e3);
        }
    }
}
