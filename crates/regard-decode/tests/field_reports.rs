//! Faults that others had, by their numbers in the project's list.

mod common;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use common::{FakeModel, table};
use regard_decode::{
    DecodeError, LengthPenalty, Look, MAX_SOURCE_TOKENS, MaxLength, SearchOptions, TranslateOptions,
    Translator, pharaoh,
};
use regard_tensor::Threads;
use regard_text::special_tokens::{EOS, UNK};
use regard_text::{Normalizer, Pipeline, Tokenizer};

fn pipeline(line: &str) -> Pipeline {
    Pipeline::build(Normalizer::None, Tokenizer::Word, [line], None, 1)
}

/// A translator over the words `a b c d e`, and its model.
fn translator(model: FakeModel) -> (Translator, Arc<FakeModel>) {
    let model = Arc::new(model);
    let words = pipeline("a b c d e");
    let translator = Translator::new(model.clone(), words.clone(), words, Threads::single())
        .expect("nine words for nine ids");
    (translator, model)
}

/// Copies its source, looking at each word as it does.
fn copier() -> FakeModel {
    let copy = |source: &[u32], prefix: &[u32]| table(9, &[(*source.get(prefix.len()).unwrap_or(&EOS), 0.9)]);
    FakeModel::new(9, copy).looking(|source, prefix| {
        let strongest = prefix.len().min(source.len() - 1);
        (0..source.len()).map(|place| if place == strongest { 1.0 } else { 0.0 }).collect()
    })
}

fn with_attention() -> TranslateOptions {
    let search = SearchOptions { attention: Some(Look::default()), ..SearchOptions::default() };
    TranslateOptions { search, ..TranslateOptions::default() }
}

#[test]
fn p02_blank_lines_keep_their_place_and_stay_blank() {
    let (translator, model) = translator(copier());
    let blank = ["", "   ", "\t", "\u{a0}"];
    for translation in translator.translate(&blank, &with_attention()).unwrap() {
        assert_eq!((translation.text(), translation.source.len()), ("", 0));
        let [only] = translation.candidates.as_slice() else { panic!("one empty candidate") };
        assert!(only.hypothesis.finished && only.row_labels().is_empty());
        assert_eq!(only.hypothesis.attention.as_deref(), Some([].as_slice()));
    }
    assert_eq!(model.encoded.load(Relaxed), 0, "no model call for blank lines");

    let lines = ["", "a b", "   ", "\t", "\u{a0}", "c"];
    let translations = translator.translate(&lines, &TranslateOptions::default()).unwrap();
    let texts: Vec<_> = translations.iter().map(regard_decode::Translation::text).collect();
    assert_eq!(texts, ["", "a b", "", "", "", "c"]);

    let many: Vec<&str> =
        (0..1300).map(|line| if line % 4 == 3 { "" } else { ["a", "b c", "d e a b"][line % 3] }).collect();
    for batch_size in [1, 16, 1024] {
        let options =
            TranslateOptions { batch_size, search: SearchOptions::greedy(), ..TranslateOptions::default() };
        let translations = translator.translate(&many, &options).unwrap();
        assert!(translations.iter().zip(&many).all(|(found, line)| found.text() == *line));
        assert_eq!(translations.len(), many.len());
    }
}

#[test]
fn p03_an_over_long_line_does_not_end_the_job() {
    let (translator, _) = translator(copier());
    let long = vec!["a"; 5000].join(" ");
    let lines = ["a", "b c", &long, "d", "e"];
    let options = TranslateOptions { search: SearchOptions::greedy(), ..TranslateOptions::default() };
    let translations = translator.translate(&lines, &options).unwrap();
    let cut: Vec<_> = translations.iter().map(|translation| translation.cut_from).collect();
    assert_eq!(cut, [None, None, Some(5000), None, None]);
    assert_eq!(translations[2].source.len(), MAX_SOURCE_TOKENS + 1);
    assert_eq!(translations[2].candidates[0].tokens.len(), MAX_SOURCE_TOKENS);
    assert_eq!([translations[0].text(), translations[3].text(), translations[4].text()], ["a", "d", "e"]);
}

#[test]
fn p04_the_same_line_gives_the_same_translation() {
    let (translator, _) = translator(FakeModel::random(9, 11));
    let words = ["a", "b", "c", "d", "e"];
    let line = |n: usize| (0..n).map(|i| words[(i * i + n) % 5]).collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = (0..50).map(|i| line(1 + i * 37 % 60)).collect();
    let run = |lines: &[&str], batch_size| {
        let search =
            SearchOptions { n_best: 5, max_length: MaxLength::Fixed(15), ..SearchOptions::default() };
        translator
            .translate(
                lines,
                &TranslateOptions {
                    search: search.clone(),
                    batch_size,
                    replace_unk: true,
                    ..TranslateOptions::default()
                },
            )
            .unwrap()
    };
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let expected = run(&lines, 1);
    for batch_size in [2, 7, 50] {
        assert_eq!(run(&lines, batch_size), expected);
    }
    let reversed: Vec<&str> = lines.iter().rev().copied().collect();
    let mut found = run(&reversed, 7);
    found.reverse();
    assert_eq!(found, expected);
}

#[test]
fn p06_beam_search_ends_for_the_right_reason() {
    // Ending at once has p = 0.5; "a b" has 0.4 in all and the better average over its three tokens.
    let model = FakeModel::new(9, |_, prefix| match prefix {
        [] => table(9, &[(EOS, 0.5), (4, 0.4)]),
        [4] => table(9, &[(5, 1.0)]),
        [4, 5] => table(9, &[(EOS, 1.0)]),
        _ => table(9, &[(6, 1.0)]),
    });
    let best = |length_penalty| {
        let options = SearchOptions { beam_size: 2, length_penalty, ..SearchOptions::default() };
        model.search(&[vec![4]], &options).unwrap().remove(0).remove(0)
    };
    assert_eq!(
        best(LengthPenalty::Average { alpha: 1.0 }).tokens,
        [4, 5],
        "the top entry ended, a better one lives"
    );
    let steps = model.steps.swap(0, Relaxed);
    assert!(best(LengthPenalty::None).tokens.is_empty(), "nothing can exceed 0.5");
    assert_eq!((steps > 1, model.steps.load(Relaxed)), (true, 1), "and nothing more is tried");

    for seed in 0..20 {
        let model = FakeModel::random(9, seed);
        let list = |n_best| {
            let options = SearchOptions { n_best, ..SearchOptions::default() };
            model.search(&[vec![5]], &options).unwrap().remove(0)
        };
        let five = list(5);
        assert_eq!(five.len(), 5);
        for n_best in 1..5 {
            assert_eq!(list(n_best), five[..n_best], "a shorter list is the head of a longer one");
        }
    }
}

#[test]
fn p06_what_the_limit_cuts_is_marked() {
    let model = FakeModel::new(9, |_, _| table(9, &[(4, 0.6), (5, 0.4)]));
    let options = SearchOptions { n_best: 3, max_length: MaxLength::Fixed(4), ..SearchOptions::default() };
    let list = model.search(&[vec![4]], &options).unwrap().remove(0);
    assert_eq!(list.len(), 3);
    assert!(list.iter().all(|hypothesis| !hypothesis.finished && hypothesis.length() == 4));
    assert_eq!(list[0].tokens, [4, 4, 4, 4]);

    let (translator, _) = translator(model);
    let found =
        translator.translate(&["a"], &TranslateOptions { search: options, ..Default::default() }).unwrap();
    assert_eq!(found[0].text(), "a a a a");
    assert_eq!(found[0].candidates[0].row_labels().len(), 4);
}

#[test]
fn p07_length_penalties_order_as_they_say() {
    let candidates = [(2, -1.0), (4, -1.6), (8, -3.6)];
    let scores = |penalty: LengthPenalty| candidates.map(|(n, sum)| penalty.score(sum, n));
    let order = |penalty: LengthPenalty| {
        let mut ranked: Vec<_> = candidates.iter().map(|&(n, sum)| (penalty.score(sum, n), n)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        ranked.into_iter().map(|(_, n)| n).collect::<Vec<_>>()
    };
    let close = |found: [f64; 3], expected: [f64; 3]| {
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 5e-5), "{found:?} {expected:?}");
    };
    for neutral in [
        LengthPenalty::None,
        LengthPenalty::Average { alpha: 0.0 },
        LengthPenalty::Gnmt { alpha: 0.0 },
        LengthPenalty::Marian { alpha: 0.0, word_penalty: 0.0 },
    ] {
        assert_eq!(order(neutral), [2, 4, 8]);
        close(scores(neutral), [-1.0, -1.6, -3.6]);
    }
    let (average, gnmt) = (LengthPenalty::Average { alpha: 1.0 }, LengthPenalty::Gnmt { alpha: 1.0 });
    assert_eq!(order(average), [4, 8, 2]);
    close(scores(average), [-0.50, -0.40, -0.45]);
    assert_eq!(order(gnmt), [2, 4, 8]);
    close(scores(gnmt), [-0.8571, -1.0667, -1.6615]);
    close(scores(LengthPenalty::Marian { alpha: 1.0, word_penalty: 0.1 }), [-0.6, -0.5, -0.55]);
    assert_eq!(gnmt.to_string(), "Σ log p / ((5 + n) / 6)^1");
}

#[test]
fn p08_n_best_beam_and_vocabulary_sizes() {
    let model = FakeModel::random(6, 3);
    let wide = SearchOptions { beam_size: 20, n_best: 20, ..SearchOptions::default() };
    assert_eq!(model.search(&[vec![4, 5]], &wide).unwrap()[0].len(), 20);
    let refused = |beam_size, n_best| {
        let options = SearchOptions { beam_size, n_best, ..SearchOptions::default() };
        let before = model.encoded.load(Relaxed);
        let error = model.search(&[vec![4]], &options).unwrap_err();
        assert!(matches!(error, DecodeError::Options(_)));
        assert_eq!(model.encoded.load(Relaxed), before, "refused before any work");
        error.to_string()
    };
    assert!(refused(5, 10).contains("n-best 10 is more than the beam size 5"));
    assert!(refused(0, 1).contains("beam size is 0"));
    assert!(refused(5, 0).contains("n-best is 0"));
    let none = SearchOptions { max_length: MaxLength::Fixed(0), ..SearchOptions::default() };
    assert!(model.search(&[vec![4]], &none).unwrap_err().to_string().contains("maximum length is 0"));
}

#[test]
fn p09_forced_decoding_agrees_with_search() {
    let (translator, _) = translator(FakeModel::random(9, 5));
    let sources = ["a b c", "e", "d d", "c a b e d a", "b"];
    let search = SearchOptions { allow_unk: false, ..with_attention().search };
    let options = TranslateOptions { search, ..with_attention() };
    let translations = translator.translate(&sources, &options).unwrap();
    let texts: Vec<&str> = translations.iter().map(regard_decode::Translation::text).collect();
    for batch_size in [1, 3, 16] {
        let scores = translator.score(&sources, &texts, batch_size, Some(Look::default())).unwrap();
        for (score, translation) in scores.iter().zip(&translations) {
            let found = &translation.candidates[0].hypothesis;
            assert!(found.finished);
            assert_eq!((score.log_prob, score.length()), (found.log_prob, found.length()));
            assert_eq!(
                (&score.token_log_probs, &score.attention),
                (&found.token_log_probs, &found.attention)
            );
        }
    }
}

#[test]
fn p17_attention_on_the_end_symbol_or_on_padding() {
    // Most of the weight is on the end symbol, the rest on the first word.
    let lazy = FakeModel::new(9, |source, prefix| {
        let next = if prefix.len() + 1 < source.len() { UNK } else { EOS };
        table(9, &[(next, 0.9)])
    })
    .looking(|source, _| {
        let word = |place| if place == 0 { 0.2 } else { 0.0 };
        (0..source.len()).map(|place| if place + 1 == source.len() { 0.8 } else { word(place) }).collect()
    });
    let (translator, _) = translator(lazy);
    let options = TranslateOptions { replace_unk: true, ..with_attention() };
    let found = translator.translate(&["zzqq", "a b c", "b zzqq"], &options).unwrap();
    let texts: Vec<_> = found.iter().map(regard_decode::Translation::text).collect();
    assert_eq!(texts, ["zzqq", "a a a", "b b"], "copied as it was written, never the end or padding");
    assert_eq!(found[1].source_tokens(), ["a", "b", "c", "</s>"]);
    let best = &found[1].candidates[0];
    assert_eq!(pharaoh(best.alignment.as_ref().unwrap()), "0-0 0-1 0-2");
    assert_eq!(best.row_labels(), ["a", "a", "a", "</s>"]);
    let rows = best.hypothesis.attention.as_ref().unwrap();
    assert_eq!((rows.len(), rows[0].len()), (best.row_labels().len(), found[1].source.len()));

    let without =
        translator.translate(&["zzqq"], &TranslateOptions { replace_unk: true, ..Default::default() });
    let only = &without.unwrap()[0].candidates[0];
    assert_eq!((only.text.as_str(), &only.alignment, &only.hypothesis.attention), ("zzqq", &None, &None));
}

#[test]
fn p17_a_fixed_vector_copies_nothing() {
    let (translator, model) = translator(FakeModel::new(9, |_, _| table(9, &[(EOS, 0.9)])));
    let options = TranslateOptions { replace_unk: true, ..TranslateOptions::default() };
    let error = translator.translate(&["a"], &options).unwrap_err();
    assert!(
        error.to_string().starts_with("copying unknown words from the source needs attention weights"),
        "{error}"
    );
    assert!(matches!(translator.translate(&["a"], &with_attention()), Err(DecodeError::NoAttention { .. })));
    assert_eq!(model.encoded.load(Relaxed), 0);
}

#[test]
fn p14_a_vocabulary_of_another_size_is_refused() {
    let words = pipeline("a b c");
    let error = Translator::new(Arc::new(copier()), words.clone(), words, Threads::single()).err().unwrap();
    assert!(
        error.to_string().contains("writes 9 different tokens but its target vocabulary has 7"),
        "{error}"
    );
}
