//! The hard corpora of `tests/goldens/make_metrics.py`, drawn from the same numbers, and the metrics that score them.

use regard_eval::{
    BleuOptions, BleuTokenizer, ChrfOptions, Corpus, Metric, SegmentStatistics, Smoothing, TerOptions,
};

const WORDS: [&str; 64] = [
    "the",
    "The",
    "THE",
    "cat",
    "sat",
    "on",
    "a",
    "mat",
    ".",
    ",",
    "!",
    "3.14",
    "1,000.",
    "it's",
    "John's",
    "(hi)",
    "\"q\"",
    "&amp;",
    "&quot;x",
    "x-y",
    "5-6",
    "-",
    "--",
    "...",
    "a.b,c",
    "<skipped>",
    "/",
    "$5",
    "100%",
    "日本",
    "我們",
    "買了",
    "。",
    "「はい」",
    "カタカナ",
    "한국어",
    "Ａ！",
    "㈱",
    "ㄅ",
    "👩\u{200d}👩\u{200d}👧",
    "👍🏽",
    "e\u{301}",
    "é",
    "É",
    "İ",
    "ẞ",
    "ﬁ",
    "ΟΔΟΣ",
    "«ça»",
    "“q”",
    "—",
    "…",
    "½",
    "²",
    "€5",
    "١٢٣",
    "\u{a0}",
    "\u{200b}",
    "\u{2028}",
    "\u{3000}",
    "\u{1c}",
    "क\u{94d}\u{200d}ष",
    "𠀀",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
];

/// Two systems and one to three references, some of which may be missing.
pub struct Drawn {
    pub systems: [Vec<String>; 2],
    pub references: Vec<Vec<Option<String>>>,
}

/// `SplitMix64` (Steele et al. 2014).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % bound as u64).unwrap_or(0)
    }

    fn word(&mut self, vocabulary: &[&'static str]) -> &'static str {
        vocabulary[self.below(vocabulary.len())]
    }

    fn sentence(&mut self, vocabulary: &[&'static str], index: u64) -> Vec<&'static str> {
        let kind = self.below(8);
        let length = [0, 1, 2, 5, 5, 12, 12, 30][kind];
        let length = match kind {
            7 if index % 50 == 49 => 1000,
            0 | 1 => length,
            _ => self.below(length + 1),
        };
        (0..length).map(|_| self.word(vocabulary)).collect()
    }

    fn changed(&mut self, words: &[&'static str], vocabulary: &[&'static str]) -> Vec<&'static str> {
        let mut found = Vec::new();
        for &word in words {
            let what = self.below(12);
            let word = if what == 1 { self.word(vocabulary) } else { word };
            found.extend(std::iter::repeat_n(word, [0, 1, 2].get(what).copied().unwrap_or(1)));
        }
        if found.len() > 1 && self.below(2) == 0 {
            let start = self.below(found.len());
            let end = found.len().min(start + 1 + self.below(12));
            let block: Vec<_> = found.drain(start..end).collect();
            let place = self.below(found.len() + 1);
            found.splice(place..place, block);
        }
        found
    }

    fn written(&mut self, words: &[&str]) -> String {
        let mut line = String::new();
        for (at, word) in words.iter().enumerate() {
            line += match (at, self.below(10)) {
                (0, _) | (_, 0) => "",
                (_, 1) => "  ",
                _ => " ",
            };
            line += word;
        }
        line
    }
}

pub fn draw(index: u64) -> Drawn {
    let mut numbers = Numbers(index);
    let (lines, others) = (1 + numbers.below(14), numbers.below(3));
    let size = 2 + numbers.below(20);
    let vocabulary: Vec<&str> = (0..size).map(|_| numbers.word(&WORDS)).collect();
    let mut drawn = Drawn { systems: Default::default(), references: vec![Vec::new(); 1 + others] };
    for _ in 0..lines {
        let words = numbers.sentence(&vocabulary, index);
        for (k, reference) in drawn.references.iter_mut().enumerate() {
            let gap = k > 0 && index % 5 == 4 && numbers.below(3) == 0;
            let line = if k == 0 { words.clone() } else { numbers.changed(&words, &vocabulary) };
            let line = numbers.written(&line);
            reference.push((!gap).then_some(line));
        }
        for system in &mut drawn.systems {
            let line = match numbers.below(10) {
                0 => Vec::new(),
                1 => numbers.sentence(&vocabulary, index),
                _ => numbers.changed(&words, &vocabulary),
            };
            system.push(numbers.written(&line));
        }
    }
    drawn
}

/// The metrics in the order of the script.
pub fn metrics() -> Vec<Box<dyn Metric>> {
    use BleuTokenizer::{Character, Chinese, International, None as Spaces};
    let bleu = BleuOptions::default();
    let sentence = BleuOptions::sentence_level();
    let floor = |value| BleuOptions { tokenizer: Spaces, smoothing: Smoothing::Floor(value), ..bleu };
    let chrf = ChrfOptions::default();
    let odd = ChrfOptions { char_order: 3, word_order: 1, beta: 1, lowercase: true, ..chrf };
    let ter = TerOptions::default();
    let normalized = TerOptions { normalized: true, ..ter };
    let asian = TerOptions { asian_support: true, ..normalized };
    vec![
        Box::new(bleu),
        Box::new(floor(0.1)),
        Box::new(BleuOptions { tokenizer: International, smoothing: Smoothing::AddK(1.0), ..bleu }),
        Box::new(BleuOptions { tokenizer: Character, lowercase: true, ..bleu }),
        Box::new(BleuOptions { tokenizer: Chinese, smoothing: Smoothing::None, ..sentence }),
        Box::new(BleuOptions { smoothing: Smoothing::AddK(0.3), ..sentence }),
        Box::new(BleuOptions { lowercase: true, ..floor(0.01) }),
        Box::new(chrf),
        Box::new(ChrfOptions::plus_plus()),
        Box::new(ChrfOptions { whitespace: true, eps_smoothing: true, ..odd }),
        Box::new(ChrfOptions { char_order: 9, word_order: 3, beta: 3, ..chrf }),
        Box::new(ter),
        Box::new(normalized),
        Box::new(asian),
        Box::new(TerOptions { no_punct: true, case_sensitive: true, ..asian }),
        Box::new(TerOptions { no_punct: true, ..ter }),
    ]
}

/// The corpus score of every metric for the first system, and the sums of its sentence scores of BLEU, chrF and TER.
pub fn scores(index: u64) -> Vec<f64> {
    let drawn = draw(index);
    let Ok(corpus) = Corpus::with_gaps(&drawn.systems[0], &drawn.references) else { return Vec::new() };
    let corpus_score = |metric: &dyn Metric| metric.score_of(&SegmentStatistics::new(metric, &corpus).sums());
    let sentence_scores = |metric: &dyn Metric| -> f64 {
        let statistics = SegmentStatistics::new(metric, &corpus);
        statistics.rows().map(|row| metric.sentence_score_of(row)).sum()
    };
    let mut found: Vec<f64> = metrics().iter().map(|metric| corpus_score(metric.as_ref())).collect();
    found.push(sentence_scores(&BleuOptions::default()));
    found.push(sentence_scores(&ChrfOptions::default()));
    found.push(sentence_scores(&TerOptions::default()));
    found
}
