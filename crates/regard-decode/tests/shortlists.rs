//! Searches that may write the words of a list only.
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

mod common;

use std::fs;
use std::sync::Arc;

use regard_decode::{
    Combination, Decoding, Ensemble, Hypothesis, MaxLength, Request, Sampling, SearchOptions,
};
use regard_model::{Predictor, Preset};
use regard_tensor::{Precision, Threads};
use regard_text::special_tokens::{EOS, UNK};
use regard_text::{Padded, Shortlist, Vocabulary};

const SOURCE: usize = 13;
const TARGET: usize = 101;

fn model(preset: Preset, seed: u64) -> Box<dyn Predictor> {
    preset.config().build(SOURCE, TARGET, seed).expect("presets are possible")
}

fn vocabulary(size: usize) -> Vocabulary {
    Vocabulary::from_counts((4..size).map(|id| (format!("w{id:03}"), 1)), None, 1)
}

/// A shortlist that says so: the always permitted ids, and those of each source id.
fn shortlist(always: &[u32], best: &[(u32, &[u32])]) -> Shortlist {
    let (source, target) = (vocabulary(SOURCE), vocabulary(TARGET));
    let empty = Shortlist::learn(&[], &source, &target, 0, 0).to_text();
    let line = |head: String, ids: &[u32]| ids.iter().fold(head, |line, id| format!("{line} {id}")) + "\n";
    let lists: String = best.iter().map(|(id, ids)| line(id.to_string(), ids)).collect();
    let text = empty.replace("always\n", &(line("always".into(), always) + &lists));
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("list"), text).unwrap();
    Shortlist::read(place.path().join("list"), &source, &target).unwrap()
}

/// Each source word has other words; 60 and 99 are for all.
fn some() -> Shortlist {
    let best: Vec<(u32, Vec<u32>)> =
        (4..SOURCE as u32).map(|id| (id, (0..5).map(|i| 4 + (id * 17 + i * 11) % 97).collect())).collect();
    let best: Vec<(u32, &[u32])> = best.iter().map(|(id, ids)| (*id, ids.as_slice())).collect();
    shortlist(&[60, 99], &best)
}

fn sources() -> Vec<Vec<u32>> {
    (0..11_u32).map(|n| (0..n * 5 % 7).map(|i| 4 + (i * i + n) % 9).collect()).collect()
}

fn options() -> SearchOptions {
    SearchOptions { n_best: 5, max_length: MaxLength::Fixed(9), ..SearchOptions::default() }
}

const PRESETS: [Preset; 4] =
    [Preset::Bahdanau, Preset::Luong, Preset::TransformerTiny, Preset::TransformerReader];

#[test]
fn a_list_of_all_words_changes_no_bit() {
    let all: Vec<u32> = (0..TARGET as u32).collect();
    let all = shortlist(&all, &[]);
    let threads = Threads::single();
    let rows = Padded::from_sentences(sources().iter().map(Vec::as_slice));
    for preset in PRESETS {
        for precision in [Precision::F32, Precision::Bf16, Precision::Int8] {
            let model = &*model(preset, 7);
            let plain = Decoding { precision, ..Decoding::new(model, &threads) };
            let listed = Decoding { shortlist: Some(&all), ..plain };
            let found = listed.search(&rows, &options()).unwrap();
            assert_eq!(found, plain.search(&rows, &options()).unwrap(), "{preset:?}, {precision:?}");
        }
    }
}

#[test]
fn only_listed_words_are_written_and_no_other_sentence_matters() {
    let list = some();
    let (single, three) = (Threads::single(), Threads::new(3));
    let rows = Padded::from_sentences(sources().iter().map(Vec::as_slice));
    for preset in PRESETS {
        for precision in [Precision::F32, Precision::Int8] {
            let model = &*model(preset, 7);
            let listed = Decoding { precision, shortlist: Some(&list), ..Decoding::new(model, &single) };
            let together = listed.search(&rows, &options()).unwrap();
            let more = Decoding { threads: &three, ..listed }.search(&rows, &options()).unwrap();
            assert_eq!(more, together, "{preset:?}");
            for (source, found) in sources().iter().zip(&together) {
                let alone = Padded::from_sentences([source.as_slice()].into_iter());
                assert_eq!(&listed.search(&alone, &options()).unwrap()[0], found, "{preset:?}");
                let mut possible = list.words(source);
                possible.extend([EOS, UNK]);
                assert!(found.iter().flat_map(|path| &path.tokens).all(|id| possible.contains(id)));
            }
        }
    }
}

/// The first step of a greedy search, by the definition: the softmax over the list.
#[test]
fn probabilities_sum_to_one_over_the_list() {
    let list = some();
    let threads = Threads::single();
    let model = &*model(Preset::TransformerTiny, 3);
    let source = [5, 7, 11];
    let rows = Padded::from_sentences([source.as_slice()].into_iter());
    let mut ids = list.words(&source);
    ids.extend([UNK, EOS]);
    let plain = Decoding::new(model, &threads);
    let log_prob = |id: u32| {
        let target = Padded::from_rows(&[vec![id]]);
        f64::from(plain.score(&rows, &target, None).unwrap()[0].token_log_probs[0])
    };
    let log_probs: Vec<f64> = ids.iter().map(|&id| log_prob(id)).collect();
    let sum = log_probs.iter().map(|log_prob| log_prob.exp()).sum::<f64>();
    let best = log_probs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let options = SearchOptions { max_length: MaxLength::Fixed(1), ..SearchOptions::greedy() };
    let found = Decoding { shortlist: Some(&list), ..plain }.search(&rows, &options).unwrap();
    assert!((found[0][0].log_prob - (best - sum.ln())).abs() < 1e-5);
    assert!(sum < 0.5, "the list has a small part of the words: {sum}");
}

#[test]
fn wishes_need_no_place_in_the_list() {
    let list = shortlist(&[60], &[]);
    let threads = Threads::single();
    let model = &*model(Preset::Luong, 7);
    let rows = Padded::from_sentences([[4_u32, 5].as_slice()].into_iter());
    let listed = Decoding { shortlist: Some(&list), ..Decoding::new(model, &threads) };
    let options = SearchOptions { allow_unk: false, ..options() };
    let search = |request: Request| listed.search_with(&rows, &options, &[request]).unwrap().remove(0);
    let prefixed = search(Request { prefix: vec![70, 71], ..Request::default() });
    let begins = |path: &Hypothesis| path.tokens.starts_with(&[70, 71]) && path.log_prob.is_finite();
    assert!(!prefixed.is_empty() && prefixed.iter().all(begins));
    let included = search(Request { include: vec![vec![80, 81]], ..Request::default() });
    assert!(included[0].tokens.windows(2).any(|pair| pair == [80, 81]));
    // Without wishes there is nothing but the one word and the end.
    assert!(search(Request::default()).iter().flat_map(|path| &path.tokens).all(|&id| id == 60));
}

#[test]
fn draws_and_ensembles_heed_it() {
    let list = some();
    let threads = Threads::single();
    let rows = Padded::from_sentences(sources().iter().map(Vec::as_slice));
    let allowed = |found: &[Vec<Hypothesis>]| {
        for (source, found) in sources().iter().zip(found) {
            let mut possible = list.words(source);
            possible.extend([EOS, UNK]);
            assert!(found.iter().flat_map(|path| &path.tokens).all(|id| possible.contains(id)));
            assert!(found.iter().all(|path| path.log_prob.is_finite()));
        }
    };
    let one = model(Preset::Bahdanau, 7);
    let sampling = SearchOptions { sampling: Some(Sampling::default()), ..options() };
    let listed = Decoding { shortlist: Some(&list), ..Decoding::new(&*one, &threads) };
    allowed(&listed.search(&rows, &sampling).unwrap());
    for combination in [Combination::Arithmetic, Combination::Geometric] {
        let models = [(Preset::Bahdanau, 7), (Preset::TransformerTiny, 8)];
        let models = models.map(|(preset, seed)| Arc::from(model(preset, seed)));
        let ensemble = Ensemble::new(models.into(), combination).unwrap();
        let listed = Decoding { shortlist: Some(&list), ..Decoding::new(&ensemble, &threads) };
        allowed(&listed.search(&rows, &options()).unwrap());
    }
}
