//! Rules and wishes against a list of everything that can be written.

#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Mutex;

use common::FakeModel;
use proptest::prelude::*;
use regard_decode::{
    Controls, DecodeError, Decoding, Fate, LengthPenalty, MaxLength, Request, Sampling, SearchObserver,
    SearchOptions, SearchStep,
};
use regard_tensor::Threads;
use regard_text::Padded;
use regard_text::special_tokens::{BOS, EOS};

const WORDS: [u32; 3] = [4, 5, 6];
const SOURCE: [u32; 4] = [4, 6, 5, EOS];

/// All ended translations of at most `most` tokens, the end symbol included.
fn everything(most: usize) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    let mut prefixes = all.clone();
    for _ in 1..most {
        let longer = |prefix: &Vec<u32>| WORDS.map(|id| [prefix.as_slice(), &[id]].concat());
        prefixes = prefixes.iter().flat_map(longer).collect();
        all.extend(prefixes.clone());
    }
    all
}

fn holds(tokens: &[u32], phrase: &[u32]) -> bool {
    phrase.is_empty() || tokens.windows(phrase.len()).any(|window| window == phrase)
}

fn repeats(tokens: &[u32], n: usize) -> bool {
    n > 0
        && tokens
            .windows(n)
            .enumerate()
            .any(|(at, ngram)| tokens.windows(n).take(at).any(|before| before == ngram))
}

/// Sum of log-probabilities and log coverage, by the definition.
fn sums(model: &FakeModel, tokens: &[u32]) -> (f64, f64) {
    let ended = [tokens, &[EOS]].concat();
    let mut coverage = vec![0.0_f64; SOURCE.len()];
    let mut log_prob = 0.0;
    for (at, &token) in ended.iter().enumerate() {
        log_prob += f64::from(model.at(&SOURCE, &ended[..at])[token as usize]);
        for (sum, weight) in coverage.iter_mut().zip(model.look(&SOURCE, &ended[..at])) {
            *sum += f64::from(weight);
        }
    }
    coverage.pop();
    (log_prob, coverage.iter().map(|sum| sum.clamp(1e-6, 1.0).ln()).sum())
}

fn phrase() -> impl Strategy<Value = Vec<u32>> {
    proptest::collection::vec(4..7_u32, 0..3)
}

fn search(model: &FakeModel, options: &SearchOptions, request: &Request) -> Vec<(f64, Vec<u32>, bool)> {
    let threads = Threads::single();
    let rows = Padded::from_sentences([&SOURCE[..3]].into_iter());
    let found = model
        .decoding(&threads)
        .search_with(&rows, options, std::slice::from_ref(request))
        .unwrap()
        .remove(0);
    found.into_iter().map(|hypothesis| (hypothesis.score, hypothesis.tokens, hypothesis.finished)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A beam that holds everything finds what the wishes leave, in its order.
    #[test]
    fn a_wide_beam_finds_what_the_wishes_leave(
        seed in any::<u64>(), most in 1..5_usize, min_length in 0..4_usize, no_repeat_ngram in 0..3_usize,
        beta in prop_oneof![Just(0.0), 0.0..1.0_f64], banned in prop_oneof![Just(99), 4..7_u32],
        prefix in phrase(), include in proptest::collection::vec(phrase(), 0..2), exclude in proptest::collection::vec(phrase(), 0..2),
    ) {
        let model = FakeModel::random(7, seed);
        let options = SearchOptions {
            beam_size: 400, n_best: 400, max_length: MaxLength::Fixed(most), min_length, no_repeat_ngram,
            length_penalty: LengthPenalty::Gnmt { alpha: 0.6 }, coverage_penalty: beta, suppressed: vec![banned],
            allow_unk: false, ..SearchOptions::default()
        };
        let request = Request { prefix: prefix.clone(), include: include.clone(), exclude: exclude.clone() };
        let found = search(&model, &options, &request);
        // A forced prefix is written whatever the other rules say; they hold for what comes after.
        let breaks = |tokens: &[u32]| {
            (prefix.len()..tokens.len()).any(|at| {
                let (until, token) = (&tokens[..=at], tokens[at]);
                token == banned
                    || exclude.iter().any(|phrase| !phrase.is_empty() && until.ends_with(phrase))
                    || (no_repeat_ngram > 0 && until.len() >= no_repeat_ngram
                        && holds(&until[..at], &until[until.len() - no_repeat_ngram..]))
            })
        };
        let wanted = |tokens: &Vec<u32>| {
            tokens.starts_with(&prefix)
                && tokens.len() + 1 >= min_length
                && include.iter().all(|phrase| holds(tokens, phrase))
                && !breaks(tokens)
        };
        let mut expected: Vec<_> = everything(most).into_iter().filter(wanted).map(|tokens| {
            let (log_prob, coverage) = sums(&model, &tokens);
            let score = options.length_penalty.score(log_prob, tokens.len() + 1);
            (if beta > 0.0 { score + beta * coverage } else { score }, tokens)
        }).collect();
        expected.sort_by(|a, b| b.0.total_cmp(&a.0));
        let finished: Vec<_> = found.iter().filter(|(_, _, finished)| *finished).cloned().collect();
        prop_assert_eq!(finished.len(), expected.len());
        for ((score, tokens, _), (wanted, text)) in finished.iter().zip(&expected) {
            prop_assert!((score - wanted).abs() < 1e-5, "{} {}", score, wanted);
            prop_assert!(tokens == text || (score - wanted).abs() < 1e-6);
        }
        // Where nothing can end, what was cut is marked.
        if expected.is_empty() {
            prop_assert!(found.iter().all(|(_, _, finished)| !finished));
        }
    }

    /// Whatever the beam, a wish is met where the search ends, and no rule is broken.
    #[test]
    fn a_narrow_beam_keeps_its_promises(
        seed in any::<u64>(), beam_size in 1..5_usize, wish in proptest::collection::vec(4..9_u32, 1..4),
        ban in proptest::collection::vec(4..9_u32, 2), no_repeat_ngram in 2..4_usize,
    ) {
        prop_assume!(!holds(&wish, &ban) && !repeats(&wish, no_repeat_ngram));
        let model = FakeModel::random(9, seed);
        let options = SearchOptions {
            beam_size, n_best: beam_size, no_repeat_ngram, max_length: MaxLength::Fixed(12), ..SearchOptions::default()
        };
        let request = Request { include: vec![wish.clone()], exclude: vec![ban.clone()], ..Request::default() };
        let found = search(&model, &options, &request);
        prop_assert!(!found.is_empty());
        prop_assert!(found.windows(2).all(|pair| pair[0].0 >= pair[1].0));
        for (_, tokens, finished) in found {
            prop_assert!(!finished || holds(&tokens, &wish));
            // Twelve tokens are enough for a wish of three, whatever is forbidden.
            prop_assert!(holds(&tokens, &wish), "{:?}", tokens);
            prop_assert!(!holds(&tokens, &ban) && !repeats(&tokens, no_repeat_ngram));
        }
    }

    /// A draw depends on its sentence and its number, and on nothing else.
    #[test]
    fn draws_are_alone(seed in any::<u64>(), other in proptest::collection::vec(4..9_u32, 0..5), n_best in 1..6_usize) {
        let model = FakeModel::random(9, seed);
        let sampling = Some(Sampling { temperature: 1.3, top_k: 5, seed, ..Sampling::default() });
        let options = SearchOptions { sampling, n_best, max_length: MaxLength::Fixed(9), ..SearchOptions::default() };
        let alone = model.search(&[vec![4, 5]], &options).unwrap().remove(0);
        prop_assert_eq!(alone.len(), n_best);
        prop_assert!(alone.windows(2).all(|pair| pair[0].score >= pair[1].score));
        let together = model.search(&[other, vec![4, 5]], &options).unwrap().remove(1);
        prop_assert_eq!(&together, &alone);
        let fewer = SearchOptions { n_best: 1, ..options };
        let first = model.search(&[vec![4, 5]], &fewer).unwrap().remove(0).remove(0);
        prop_assert!(alone.contains(&first));
    }
}

/// Collects the steps of a search.
#[derive(Default)]
struct Steps(Mutex<Vec<SearchStep>>);

impl SearchObserver for Steps {
    fn step(&self, step: &SearchStep) {
        self.0.lock().unwrap().push(step.clone());
    }
}

#[test]
fn a_trace_tells_the_search_again() {
    let (model, threads, steps) = (FakeModel::random(9, 5), Threads::single(), Steps::default());
    let options = SearchOptions { beam_size: 3, n_best: 3, ..SearchOptions::default() };
    let rows = Padded::from_sentences([[4_u32, 5].as_slice(), &[6]].into_iter());
    let controls = Controls { observer: Some(&steps), ..Controls::default() };
    let found = Decoding { controls, ..model.decoding(&threads) }.search(&rows, &options).unwrap();
    assert_eq!(found, model.decoding(&threads).search(&rows, &options).unwrap(), "watching changes nothing");
    let steps = steps.0.into_inner().unwrap();
    for (sentence, list) in found.iter().enumerate() {
        let mut living = vec![Vec::new()];
        let mut ended = Vec::new();
        for (position, step) in steps.iter().filter(|step| step.sentence == sentence).enumerate() {
            assert_eq!(step.position, position);
            assert!(step.candidates.windows(2).all(|pair| pair[0].sum >= pair[1].sum));
            // What ends has one of the first three ranks, and leaves its place to the next.
            let late = step.candidates.iter().skip(3).filter(|candidate| candidate.fate == Fate::Ended);
            assert_eq!((late.count(), step.candidates.len()), (0, 6));
            let at_limit = position + 1 == options.max_length.tokens([2, 1][sentence]);
            let lives = step.candidates.iter().filter(|candidate| candidate.fate == Fate::Lives);
            assert_eq!(lives.count(), if at_limit { 0 } else { 3 });
            let path = |candidate: &regard_decode::Considered| {
                [living[candidate.parent].as_slice(), &[candidate.token]].concat()
            };
            let of = |fate| step.candidates.iter().filter(move |candidate| candidate.fate == fate).map(path);
            ended.extend(of(Fate::Ended));
            let next: Vec<_> = of(Fate::Lives).collect();
            assert!(step.living.is_empty() || step.living == next);
            living = next;
        }
        for hypothesis in list.iter().filter(|hypothesis| hypothesis.finished) {
            assert!(ended.contains(&[hypothesis.tokens.as_slice(), &[EOS]].concat()));
        }
    }
}

#[test]
fn a_trace_shows_what_the_beam_leaves_and_the_limit_cuts() {
    let (model, threads) = (FakeModel::random(11, 5), Threads::single());
    let rows = Padded::from_sentences([[4_u32, 5].as_slice()].into_iter());
    let wish = [Request { include: vec![vec![7, 8], vec![9]], ..Request::default() }];
    for request in [[Request::default()], wish] {
        let steps = Steps::default();
        let options = SearchOptions {
            beam_size: 3,
            n_best: 3,
            max_length: MaxLength::Fixed(5),
            min_length: 5,
            ..SearchOptions::default()
        };
        let controls = Controls { observer: Some(&steps), ..Controls::default() };
        let watched = Decoding { controls, ..model.decoding(&threads) };
        let found = watched.search_with(&rows, &options, &request).unwrap();
        let alone = model.decoding(&threads).search_with(&rows, &options, &request).unwrap();
        assert_eq!(found, alone, "watching changes nothing");
        let steps = steps.0.into_inner().unwrap();
        assert_eq!(steps.len(), 5);
        for step in &steps {
            let (taken, left) = step.candidates.split_at(3);
            let last = step.position == 4;
            let goes_on = if last { Fate::Cut } else { Fate::Lives };
            assert!(taken.iter().all(|candidate| [goes_on, Fate::Ended].contains(&candidate.fate)));
            assert!(left.iter().all(|candidate| candidate.fate == Fate::Dropped));
            assert!(left.windows(2).all(|pair| pair[0].sum >= pair[1].sum));
            assert!(left.iter().all(|candidate| !taken.contains(candidate)));
            assert_eq!((left.len(), step.living.len()), (3, if last { 0 } else { 3 }));
        }
    }
}

#[test]
fn draws_that_the_limit_cuts_are_told_so() {
    let (model, threads, steps) = (FakeModel::random(9, 5), Threads::single(), Steps::default());
    let rows = Padded::from_sentences([[4_u32, 5].as_slice()].into_iter());
    let sampling = Some(Sampling::default());
    let options = SearchOptions {
        sampling,
        n_best: 2,
        min_length: 9,
        max_length: MaxLength::Fixed(3),
        ..SearchOptions::default()
    };
    let controls = Controls { observer: Some(&steps), ..Controls::default() };
    Decoding { controls, ..model.decoding(&threads) }.search(&rows, &options).unwrap();
    let fates = |step: &SearchStep| -> Vec<Fate> { step.candidates.iter().map(|one| one.fate).collect() };
    let fates: Vec<_> = steps.0.into_inner().unwrap().iter().map(fates).collect();
    assert_eq!(fates, [[Fate::Lives; 2], [Fate::Lives; 2], [Fate::Cut; 2]]);
}

#[test]
fn impossible_wishes_are_refused() {
    let (model, threads) = (FakeModel::random(9, 1), Threads::single());
    let rows = Padded::from_sentences([[4_u32].as_slice()].into_iter());
    let refused = |options: &SearchOptions, requests: &[Request]| {
        model.decoding(&threads).search_with(&rows, options, requests).unwrap_err()
    };
    let usual = SearchOptions::default();
    assert!(matches!(refused(&usual, &[]), DecodeError::Unpaired { .. }));
    let unknown = Request { include: vec![vec![9]], ..Request::default() };
    assert!(matches!(refused(&usual, &[unknown]), DecodeError::UnknownId { id: 9, .. }));
    let control = Request { prefix: vec![4, BOS], ..Request::default() };
    assert!(matches!(refused(&usual, &[control]), DecodeError::Options(_)));
    let sampled = SearchOptions { sampling: Some(Sampling::default()), ..usual };
    let wish = Request { include: vec![vec![4]], ..Request::default() };
    assert!(matches!(refused(&sampled, &[wish]), DecodeError::Options(_)));
    for bad in [
        SearchOptions { coverage_penalty: -1.0, ..SearchOptions::default() },
        SearchOptions {
            sampling: Some(Sampling { top_p: 0.0, ..Sampling::default() }),
            ..SearchOptions::default()
        },
    ] {
        assert!(matches!(refused(&bad, &[Request::default()]), DecodeError::Options(_)));
    }
}
