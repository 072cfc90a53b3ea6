//! What holds for every result under all options.

mod common;

use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use common::{FakeModel, table, target_row};
use proptest::prelude::*;
use regard_decode::{
    BeamWidth, Controls, DecodeError, Decoding, Fate, Hypothesis, LengthPenalty, Look, MaxLength,
    SearchObserver, SearchOptions, SearchStep,
};
use regard_tensor::Threads;
use regard_text::Padded;
use regard_text::special_tokens::{BOS, EOS, PAD, UNK};

fn options() -> impl Strategy<Value = SearchOptions> {
    let length = prop_oneof![
        Just(MaxLength::FromSource),
        (1..12_usize).prop_map(MaxLength::Fixed),
        (1..4_usize).prop_map(MaxLength::Times)
    ];
    let penalty = prop_oneof![
        Just(LengthPenalty::None),
        Just(LengthPenalty::default()),
        (0.0..2.0_f64).prop_map(|alpha| LengthPenalty::Gnmt { alpha }),
        (0.0..2.0_f64, -1.0..1.0_f64)
            .prop_map(|(alpha, word_penalty)| LengthPenalty::Marian { alpha, word_penalty }),
    ];
    let rules = (0..4_usize, 0..4_usize, prop_oneof![Just(0.0), 0.0..1.0_f64], 2..12_u32);
    (1..8_usize, 1..8_usize, length, penalty, any::<bool>(), rules).prop_map(
        |(beam_size, n_best, max_length, length_penalty, allow_unk, rules)| SearchOptions {
            beam_size,
            n_best: n_best.min(beam_size),
            max_length,
            length_penalty,
            attention: Some(Look::default()),
            allow_unk,
            min_length: rules.0,
            no_repeat_ngram: rules.1,
            coverage_penalty: rules.2,
            suppressed: vec![rules.3],
            ..SearchOptions::default()
        },
    )
}

/// Whether a search ended with less than was asked for because nothing more was there: at the limit, or at a step at which
/// no rule left any token.
fn is_used_up(model: &FakeModel, source: &[u32], options: &SearchOptions) -> bool {
    let ended = Mutex::new(Vec::new());
    let observer = LastStep(&ended);
    let threads = Threads::single();
    let controls = Controls { observer: Some(&observer), ..Controls::default() };
    let decoding = Decoding { controls, ..model.decoding(&threads) };
    decoding.search(&Padded::from_sentences([source].into_iter()), options).expect("the search is possible");
    let ended = ended.into_inner().expect("nobody panicked");
    let (position, went_on) = ended.last().copied().unwrap_or_default();
    position + 1 == options.max_length.tokens(source.len()) || went_on == 0
}

/// The position of each step, and how many candidates there were that did not end.
struct LastStep<'a>(&'a Mutex<Vec<(usize, usize)>>);

impl SearchObserver for LastStep<'_> {
    fn step(&self, step: &SearchStep) {
        let went_on = step.candidates.iter().filter(|candidate| candidate.fate != Fate::Ended).count();
        self.0.lock().expect("nobody panicked").push((step.position, went_on));
    }
}

fn repeats(tokens: &[u32], n: usize) -> bool {
    let mut ngrams: Vec<&[u32]> = if n == 0 { Vec::new() } else { tokens.windows(n).collect() };
    let all = ngrams.len();
    ngrams.sort_unstable();
    ngrams.dedup();
    ngrams.len() < all
}

fn sources() -> impl Strategy<Value = Vec<Vec<u32>>> {
    proptest::collection::vec(proptest::collection::vec(4..9_u32, 0..6), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn lists_are_sound(seed in any::<u64>(), options in options(), sources in sources(), vocabulary in 4..12_usize) {
        let model = FakeModel::random(vocabulary, seed);
        let lists = model.search(&sources, &options).unwrap();
        prop_assert_eq!(lists.len(), sources.len());
        for (source, list) in sources.iter().zip(&lists) {
            let limit = options.max_length.tokens(source.len());
            prop_assert!((1..=options.n_best).contains(&list.len()));
            let used_up = is_used_up(&model, source, &options);
            prop_assert!(list.len() == options.n_best || used_up);
            prop_assert!(list.windows(2).all(|pair| pair[0].score >= pair[1].score));
            prop_assert!(list.iter().all(|hypothesis| hypothesis.finished == list[0].finished));
            for (place, hypothesis) in list.iter().enumerate() {
                prop_assert!(list[..place].iter().all(|other| other.tokens != hypothesis.tokens));
                let forbidden = |id: &u32| [PAD, BOS, EOS].contains(id) || (!options.allow_unk && *id == UNK);
                prop_assert!(!hypothesis.tokens.iter().any(forbidden));
                prop_assert!(hypothesis.length() <= limit);
                prop_assert!(hypothesis.finished || hypothesis.length() == limit || used_up);
                prop_assert_eq!(hypothesis.length(), target_row(hypothesis).len());
                let score = options.length_penalty.score(hypothesis.log_prob, hypothesis.length());
                prop_assert!(options.coverage_penalty > 0.0 || hypothesis.score.to_bits() == score.to_bits());
                prop_assert!(!hypothesis.finished || hypothesis.length() >= options.min_length.min(limit));
                prop_assert!(!hypothesis.tokens.contains(&options.suppressed[0]));
                prop_assert!(!repeats(&hypothesis.tokens, options.no_repeat_ngram));
                let rows = hypothesis.attention.as_ref().unwrap();
                prop_assert_eq!(rows.len(), hypothesis.length());
                for row in rows {
                    prop_assert_eq!(row.len(), source.len() + 1);
                    prop_assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
                }
            }
        }
    }

    #[test]
    fn forced_decoding_agrees_to_the_bit(seed in any::<u64>(), options in options(), sources in sources()) {
        let model = FakeModel::random(9, seed);
        let lists = model.search(&sources, &options).unwrap();
        let pairs: Vec<_> = sources.iter().zip(&lists).flat_map(|(s, list)| list.iter().map(move |h| (s, h))).collect();
        let source = Padded::from_sentences(pairs.iter().map(|(source, _)| source.as_slice()));
        let target = Padded::from_rows(&pairs.iter().map(|(_, h)| target_row(h)).collect::<Vec<_>>());
        let scores = model.decoding(&Threads::single()).score(&source, &target, Some(Look::default())).unwrap();
        prop_assert_eq!(scores.len(), pairs.len());
        for (score, (_, hypothesis)) in scores.iter().zip(pairs) {
            prop_assert_eq!(score.log_prob.to_bits(), hypothesis.log_prob.to_bits());
            prop_assert_eq!(&score.token_log_probs, &hypothesis.token_log_probs);
            prop_assert_eq!(&score.attention, &hypothesis.attention);
        }
    }

    #[test]
    fn the_batch_does_not_matter(seed in any::<u64>(), options in options(), sources in sources()) {
        let model = FakeModel::random(9, seed);
        let together = model.search(&sources, &options).unwrap();
        for (source, list) in sources.iter().zip(together) {
            prop_assert_eq!(model.search(std::slice::from_ref(source), &options).unwrap().remove(0), list);
        }
    }
}

#[test]
fn equal_sums_are_decided_by_rank_then_id() {
    // From the start 4 and 5 are equal; then 6 and the end are, after both.
    let model = FakeModel::new(7, |_, prefix| match prefix {
        [] => table(7, &[(4, 0.5), (5, 0.5)]),
        [_] => table(7, &[(6, 0.5), (EOS, 0.5)]),
        _ => table(7, &[(EOS, 1.0)]),
    });
    let options = SearchOptions {
        beam_size: 4,
        n_best: 4,
        length_penalty: LengthPenalty::None,
        ..SearchOptions::default()
    };
    let list = model.search(&[vec![4]], &options).unwrap().remove(0);
    let tokens: Vec<_> = list.iter().map(|hypothesis| hypothesis.tokens.as_slice()).collect();
    assert_eq!(tokens, [[4].as_slice(), &[5], &[4, 6], &[5, 6]]);
}

#[test]
fn a_source_that_is_done_costs_no_more_rows() {
    // The end is certain after as many words as the source has.
    let model = FakeModel::new(6, |source, prefix| {
        if prefix.len() + 1 == source.len() { table(6, &[(EOS, 1.0)]) } else { table(6, &[(4, 1.0)]) }
    });
    let lists = model.search(&[vec![4], vec![4; 5]], &SearchOptions::greedy()).unwrap();
    assert_eq!(lists.iter().map(|list| list[0].tokens.len()).collect::<Vec<_>>(), [1, 5]);
    assert_eq!((model.steps.load(Relaxed), model.rows.load(Relaxed)), (6, 2 + 6));
}

#[test]
fn a_search_that_is_stopped_has_the_best_so_far() {
    let (model, threads) = (FakeModel::random(9, 1), Threads::single());
    let source = Padded::from_sentences([[4_u32, 5, 6].as_slice()].into_iter());
    let never_ends = SearchOptions { suppressed: vec![EOS], ..SearchOptions::default() };
    for wanted in 0..4 {
        let asked = AtomicUsize::new(0);
        let stop = || asked.fetch_add(1, Relaxed) >= wanted;
        let controls = Controls { stop: Some(&stop), ..Controls::default() };
        let decoding = Decoding { controls, ..model.decoding(&threads) };
        // The best so far: what the same search cut at that length would give.
        let found = decoding.search(&source, &never_ends).unwrap().remove(0).remove(0);
        assert_eq!((found.tokens.len(), found.finished, found.stopped), (wanted, false, true));
        if wanted > 0 {
            let cut = SearchOptions { max_length: MaxLength::Fixed(wanted), ..never_ends.clone() };
            let cut = model.search(&[vec![4, 5, 6]], &cut).unwrap().remove(0).remove(0);
            assert!(!cut.stopped);
            assert_eq!(found, Hypothesis { stopped: true, ..cut });
        }
    }
    let no_time = SearchOptions { time_limit: Some(Duration::ZERO), ..never_ends };
    let found = model.search(&[vec![4, 5, 6]], &no_time).unwrap().remove(0).remove(0);
    assert_eq!((found.tokens.len(), found.finished, found.stopped), (0, false, true));
    let much_time = SearchOptions { time_limit: Some(Duration::MAX), ..SearchOptions::default() };
    let unlimited = model.search(&[vec![4, 5, 6]], &SearchOptions::default()).unwrap();
    assert_eq!(model.search(&[vec![4, 5, 6]], &much_time).unwrap(), unlimited);
    let steps = model.steps.load(Relaxed);
    let stop = || true;
    let controls = Controls { stop: Some(&stop), ..Controls::default() };
    let decoding = Decoding { controls, ..model.decoding(&threads) };
    assert!(matches!(decoding.score(&source, &source, None), Err(DecodeError::Cancelled)));
    assert_eq!(model.steps.load(Relaxed), steps);
}

#[test]
fn what_cannot_be_is_an_error_that_says_where() {
    let model = FakeModel::new(6, |source, prefix| {
        if source.len() == 3 && prefix.len() == 1 { vec![f32::NAN; 6] } else { table(6, &[(4, 1.0)]) }
    });
    let error = model.search(&[vec![4], vec![4, 4]], &SearchOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("sentence 1, target position 1 (both from 0)"), "{error}");
    let threads = Threads::single();
    let rows = |rows: &[&[u32]]| Padded::from_sentences(rows.iter().copied());
    let score = |source: &[&[u32]], target: &[&[u32]]| {
        model.decoding(&threads).score(&rows(source), &rows(target), None).unwrap_err().to_string()
    };
    assert!(score(&[&[4], &[4]], &[&[4]]).starts_with("2 sources but 1 targets"));
    assert!(score(&[&[4], &[4]], &[&[4], &[6]]).contains("sentence 1 (from 0): target id 6"));
    assert!(score(&[&[4, 4]], &[&[4, 4]]).starts_with("sentence 0, target position 1"));
    let options = SearchOptions { attention: Some(Look::default()), ..SearchOptions::default() };
    assert!(matches!(model.search(&[vec![4]], &options), Err(DecodeError::NoAttention { .. })));
}

#[test]
fn nothing_in_nothing_out() {
    let model = FakeModel::random(9, 1);
    assert_eq!(model.search(&[], &SearchOptions::default()).unwrap(), Vec::<Vec<_>>::new());
    let none = Padded::default();
    assert_eq!(model.decoding(&Threads::single()).score(&none, &none, Some(Look::default())).unwrap(), []);
    assert_eq!(model.encoded.load(Relaxed), 0);
}

/// The empty translation ends in the first step, and 5 takes its place beside 4.
#[test]
fn the_next_best_takes_the_place_of_what_ends() {
    let model = FakeModel::new(7, |_, prefix| match prefix {
        [] => table(7, &[(EOS, 0.5), (4, 0.3), (5, 0.2)]),
        [4] => table(7, &[(EOS, 0.1), (6, 0.1)]),
        [5] => table(7, &[(EOS, 1.0)]),
        _ => table(7, &[(EOS, 0.1)]),
    });
    let options = SearchOptions {
        beam_size: 2,
        n_best: 2,
        length_penalty: LengthPenalty::None,
        ..SearchOptions::default()
    };
    let list = model.search(&[vec![4]], &options).unwrap().remove(0);
    assert_eq!(list.iter().map(|found| found.tokens.as_slice()).collect::<Vec<_>>(), [[].as_slice(), &[5]]);
}

/// `4 6` is the best translation, and `4 5` begins better: a beam of two that has lost a place to the empty one keeps that.
#[test]
fn a_narrowing_beam_gives_no_place_away_again() {
    let model = FakeModel::new(8, |_, prefix| match prefix {
        [] => table(8, &[(EOS, 0.5), (4, 0.5)]),
        [4] => table(8, &[(5, 0.6), (6, 0.4)]),
        [4, 6] => table(8, &[(EOS, 1.0)]),
        _ => table(8, &[(EOS, 0.1), (7, 0.1)]),
    });
    for (beam_width, tokens) in [(BeamWidth::Steady, vec![4, 6]), (BeamWidth::Narrowing, vec![])] {
        let options = SearchOptions { beam_size: 2, beam_width, ..SearchOptions::default() };
        assert_eq!(model.search(&[vec![4]], &options).unwrap()[0][0].tokens, tokens, "{beam_width:?}");
    }
}
