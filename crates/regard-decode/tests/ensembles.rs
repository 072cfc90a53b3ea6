//! Models that translate together.

mod common;

use std::sync::Arc;

use common::{FakeModel, log_softmax, table};
use regard_decode::{
    Combination, DecodeError, Decoding, Ensemble, Hypothesis, Look, MaxLength, SearchOptions,
};
use regard_model::{Predictor, Preset};
use regard_tensor::Threads;
use regard_text::Padded;
use regard_text::special_tokens::EOS;

const SOURCES: [&[u32]; 3] = [&[4, 5, 6], &[7], &[]];

fn options() -> SearchOptions {
    let attention = Some(Look::default());
    SearchOptions { n_best: 5, max_length: MaxLength::Fixed(6), attention, ..SearchOptions::default() }
}

fn search(model: &dyn Predictor) -> Vec<Vec<Hypothesis>> {
    let rows = Padded::from_sentences(SOURCES.into_iter());
    Decoding::new(model, &Threads::single()).search(&rows, &options()).expect("the search is possible")
}

fn ensemble(seeds: &[u64], combination: Combination) -> Ensemble {
    let models = seeds.iter().map(|&seed| Arc::new(FakeModel::random(9, seed)) as Arc<dyn Predictor>);
    Ensemble::new(models.collect(), combination).expect("the models fit")
}

/// One model whose probabilities are those of the three, by the definition.
fn by_hand(combination: Combination) -> FakeModel {
    let models = || [1, 2, 3].map(|seed| FakeModel::random(9, seed));
    let (predict, look) = (models(), models());
    FakeModel::new(9, move |source, prefix| {
        let rows = predict.each_ref().map(|model| model.at(source, prefix));
        let mean = |of: fn(f32) -> f32, id: usize| rows.iter().map(|row| of(row[id])).sum::<f32>() / 3.0;
        match combination {
            Combination::Arithmetic => (0..9).map(|id| mean(f32::exp, id).ln()).collect(),
            Combination::Geometric => log_softmax((0..9).map(|id| mean(|log_prob| log_prob, id))),
        }
    })
    .looking(move |source, prefix| {
        let rows = look.each_ref().map(|model| model.look(source, prefix));
        (0..source.len()).map(|at| rows.iter().map(|row| row[at]).sum::<f32>() / 3.0).collect()
    })
}

#[test]
fn means_are_those_of_the_definition() {
    for combination in [Combination::Arithmetic, Combination::Geometric] {
        let (found, expected) = (search(&ensemble(&[1, 2, 3], combination)), search(&by_hand(combination)));
        assert_eq!(
            found.iter().map(Vec::len).collect::<Vec<_>>(),
            expected.iter().map(Vec::len).collect::<Vec<_>>()
        );
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            assert_eq!((&found.tokens, found.finished), (&expected.tokens, expected.finished));
            assert!((found.log_prob - expected.log_prob).abs() < 1e-5);
            let rows = |of: &Hypothesis| of.attention.clone().unwrap().concat();
            assert!(rows(found).iter().zip(rows(expected)).all(|(a, b)| (a - b).abs() < 1e-6));
            let scores = found.attention_scores.as_ref().unwrap().concat();
            assert!(
                scores.iter().zip(rows(found)).all(|(score, weight)| (score.exp() - weight).abs() < 1e-6)
            );
        }
    }
}

#[test]
fn one_model_alone_is_itself() {
    for preset in [Preset::Bahdanau, Preset::TransformerTiny] {
        let model: Box<dyn Predictor> = preset.config().build(13, 11, 7).unwrap();
        let alone = search(&*model);
        let ensemble = Ensemble::new(vec![Arc::from(model)], Combination::Arithmetic).unwrap();
        for (one, other) in search(&ensemble).iter().flatten().zip(alone.iter().flatten()) {
            assert_eq!((&one.tokens, one.log_prob.to_bits()), (&other.tokens, other.log_prob.to_bits()));
            assert_eq!(one.attention, other.attention);
        }
    }
}

#[test]
fn families_mix() {
    let build = |preset: Preset, seed| -> Arc<dyn Predictor> {
        let model: Box<dyn Predictor> = preset.config().build(13, 11, seed).unwrap();
        Arc::from(model)
    };
    let members =
        vec![build(Preset::Luong, 1), build(Preset::TransformerTiny, 2), build(Preset::Bahdanau, 3)];
    let together = search(&Ensemble::new(members, Combination::Geometric).unwrap());
    assert!(together.iter().all(|list| !list.is_empty()));
    for list in &together {
        assert!(list.iter().all(|hypothesis| hypothesis.log_prob.is_finite()));
        let sums = list[0].attention.as_ref().unwrap().iter().map(|row| row.iter().sum::<f32>());
        assert!(sums.into_iter().all(|sum| (sum - 1.0).abs() < 1e-5));
    }
    let members = vec![build(Preset::Sutskever, 1), build(Preset::TransformerTiny, 2)];
    assert!(!Ensemble::new(members, Combination::Geometric).unwrap().has_attention());
}

#[test]
fn what_one_model_excludes() {
    let (some, other) = (table(6, &[(4, 0.5), (5, 0.5)]), table(6, &[(5, 0.25), (EOS, 0.75)]));
    let first = |combination| {
        let rows = [some.clone(), other.clone()];
        let models =
            rows.map(|row| Arc::new(FakeModel::new(6, move |_, _| row.clone())) as Arc<dyn Predictor>);
        let ensemble = Ensemble::new(models.to_vec(), combination).unwrap();
        let rows = Padded::from_sentences([[4_u32].as_slice()].into_iter());
        let options = SearchOptions { max_length: MaxLength::Fixed(1), ..SearchOptions::greedy() };
        let best =
            Decoding::new(&ensemble, &Threads::single()).search(&rows, &options).unwrap().remove(0).remove(0);
        (best.tokens, best.log_prob)
    };
    // p(5) is 0.375 and p(EOS) 0.375: the smaller id is taken; with the geometric mean only 5 is left.
    let (tokens, log_prob) = first(Combination::Arithmetic);
    assert!(tokens.is_empty() && (log_prob - 0.375_f64.ln()).abs() < 1e-6);
    let (tokens, log_prob) = first(Combination::Geometric);
    assert!(tokens == [5] && log_prob.abs() < 1e-6);
}

#[test]
fn models_that_do_not_fit_are_refused() {
    let none = Ensemble::new(Vec::new(), Combination::default()).err().unwrap();
    assert_eq!(none.to_string(), "search options: an ensemble needs at least one model");
    let models = [9, 8].map(|size| Arc::new(FakeModel::random(size, 1)) as Arc<dyn Predictor>);
    let other = Ensemble::new(models.to_vec(), Combination::default()).err().unwrap();
    assert!(matches!(other, DecodeError::Vocabulary { model: 8, vocabulary: 9 }));
}
