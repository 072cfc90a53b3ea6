//! The worked examples that the lessons on attention print, as numbers.

#![allow(clippy::unwrap_used)] // helpers of tests

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use regard_look::{Heatmap, entropy, softmax};
use serde::Deserialize;
use std::path::PathBuf;

const SCORES: [f32; 4] = [1.0, 3.0, 0.5, 0.0];

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(String::from).collect()
}

fn assert_close(actual: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(actual.len(), expected.len());
    for (a, e) in actual.iter().zip(expected) {
        assert!((a - e).abs() <= tolerance, "{actual:?} is not {expected:?}");
    }
}

/// Writing "noir": 79 percent of the context is the state of "black".
#[test]
fn worked_softmax() {
    let heatmap =
        Heatmap::from_scores(words("the black cat sleeps"), words("noir"), &[SCORES.to_vec()], 1.0).unwrap();
    assert_close(heatmap.row(0), &[0.106_798_06, 0.789_136_8, 0.064_776_3, 0.039_288_81], 1e-6);
    let printed: Vec<String> = heatmap.row(0).iter().map(|w| format!("{w:.2}")).collect();
    assert_eq!(printed, ["0.11", "0.79", "0.06", "0.04"]);
    assert_eq!(heatmap.strongest()[0].map(|s| s.source), Some(1));
}

/// At 0.2 a row is almost one-hot, at 4 it is a blur; from the scores and from the weights alike.
#[test]
fn temperature() {
    let expected = [
        (0.2, [4.539_768_6e-5, 0.999_950_6, 3.726_469e-6, 3.058_872e-7], 5.545_773e-4),
        (4.0, [0.232_017_54, 0.382_532_26, 0.204_754_76, 0.180_695_44], 1.340_444_4),
    ];
    let plain =
        Heatmap::from_scores(words("the black cat sleeps"), words("noir"), &[SCORES.to_vec()], 1.0).unwrap();
    for (temperature, weights, nats) in expected {
        let direct = softmax(&SCORES, temperature).unwrap();
        assert_close(&direct, &weights, 1e-7);
        assert_close(plain.with_temperature(temperature).unwrap().row(0), &direct, 1e-6);
        assert!((entropy(&direct) - nats).abs() < 1e-6, "{}", entropy(&direct));
    }
}

#[derive(Deserialize)]
struct Lookup {
    source: Vec<String>,
    target: Vec<String>,
    gold: Vec<usize>,
    encoder_states: Vec<Vec<f32>>,
    queries: Vec<Vec<f32>>,
}

/// The arrays that the lesson's program draws; `None` without the data.
fn lookup(test: &str) -> Option<Lookup> {
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let path = std::env::var_os("REGARD_DATA").map_or(beside, PathBuf::from).join("seed_lookup/lookup.json");
    let Ok(text) = std::fs::read_to_string(path) else {
        println!("skipped: no data ({test})");
        return None;
    };
    Some(serde_json::from_str(&text).unwrap())
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn scaled_scores(states: &[Vec<f32>], query: &[f32]) -> Vec<f32> {
    states.iter().map(|state| dot(state, query) / (query.len() as f32).sqrt()).collect()
}

/// `Σ_j w_j h_j`.
fn context(states: &[Vec<f32>], weights: &[f32]) -> Vec<f32> {
    let mut sum = vec![0.0; states[0].len()];
    for (state, weight) in states.iter().zip(weights) {
        sum.iter_mut().zip(state).for_each(|(total, value)| *total += weight * value);
    }
    sum
}

/// Position of the state with the largest cosine to `vector`.
fn nearest(states: &[Vec<f32>], vector: &[f32]) -> usize {
    let cosine = |state: &[f32]| dot(state, vector) / dot(state, state).sqrt();
    (0..states.len()).max_by(|&a, &b| cosine(&states[a]).total_cmp(&cosine(&states[b]))).unwrap()
}

#[test]
fn soft_lookup_finds_every_word() {
    let Some(it) = lookup("soft_lookup_finds_every_word") else { return };
    let scores: Vec<Vec<f32>> = it.queries.iter().map(|q| scaled_scores(&it.encoder_states, q)).collect();
    let heatmap = Heatmap::from_scores(it.source, it.target, &scores, 1.0).unwrap();
    let strongest: Vec<_> = heatmap.strongest().into_iter().flatten().collect();
    let positions: Vec<usize> = strongest.iter().map(|s| s.source).collect();
    assert_eq!(positions, [0, 2, 1, 3, 4, 5, 7, 6]);
    assert_eq!(positions, it.gold);
    let printed: Vec<String> = strongest.iter().map(|s| format!("{:.2}", s.weight)).collect();
    assert_eq!(printed, ["0.59", "0.62", "0.69", "0.63", "0.73", "0.46", "0.62", "0.94"]);
}

#[test]
fn one_fixed_vector_recovers_one_word_and_attention_all() {
    let Some(it) = lookup("one_fixed_vector_recovers_one_word_and_attention_all") else { return };
    let states = &it.encoder_states;
    let mean = context(states, &vec![1.0 / states.len() as f32; states.len()]);
    let from_mean = it.gold.iter().filter(|gold| nearest(states, &mean) == **gold).count();
    let attended = |query: &Vec<f32>| context(states, &softmax(&scaled_scores(states, query), 1.0).unwrap());
    let with_attention = it
        .queries
        .iter()
        .zip(&it.gold)
        .filter(|(query, gold)| nearest(states, &attended(query)) == **gold)
        .count();
    assert_eq!((from_mean, with_attention), (1, 8));
}

/// Nearly normal numbers: sums of twelve uniform ones.
fn vectors(count: usize, size: usize, random: &mut Pcg64) -> Vec<Vec<f32>> {
    let mut uniform = || random.next_u32() as f32 / u32::MAX as f32;
    let mut normal = || (0..12).map(|_| uniform()).sum::<f32>() - 6.0;
    (0..count).map(|_| (0..size).map(|_| normal()).collect()).collect()
}

/// A fixed vector of the same size holds less of each of 40 positions than of 4; attention still reads each of them.
#[test]
fn four_and_forty_positions() {
    let random = &mut Pcg64::seed_from_u64(1);
    let size = 64;
    let mut from_mean = Vec::new();
    for count in [4, 40] {
        let states = vectors(count, size, random);
        let mean = context(&states, &vec![1.0 / count as f32; count]);
        let attended =
            |state: &Vec<f32>| context(&states, &softmax(&scaled_scores(&states, state), 1.0).unwrap());
        for (position, state) in states.iter().enumerate() {
            assert_eq!(nearest(&states, &attended(state)), position);
            assert_eq!(attended(state).len(), size);
        }
        let cosine = |state: &Vec<f32>| dot(state, &mean) / (dot(state, state) * dot(&mean, &mean)).sqrt();
        from_mean.push(states.iter().map(cosine).sum::<f32>() / count as f32);
    }
    // Of orthogonal states the mean keeps a cosine of 1/√n with each.
    assert_close(&from_mean, &[0.5, 0.158], 0.06);
}

/// Dot products of longer vectors are larger, so the softmax saturates; divided by √d it does not.
#[test]
fn scaling_keeps_the_entropy() {
    let random = &mut Pcg64::seed_from_u64(2);
    let mean_entropy = |size: usize, random: &mut Pcg64| {
        let (states, queries) = (vectors(10, size, random), vectors(50, size, random));
        let total = |scale: f32| -> f32 {
            let rows = queries.iter().map(|query| scaled_scores(&states, query));
            rows.map(|row| entropy(&softmax(&row, scale).unwrap())).sum::<f32>() / 50.0
        };
        // Temperature 1/√d undoes the division by √d.
        (total(1.0), total(1.0 / (size as f32).sqrt()))
    };
    let measured: Vec<(f32, f32)> = [4, 64, 1024].map(|size| mean_entropy(size, random)).to_vec();
    for (scaled, _) in &measured {
        assert!((1.5..2.303).contains(scaled), "{measured:?}");
    }
    assert!(measured[0].1 > 2.0 * measured[1].1 && measured[1].1 > 2.0 * measured[2].1, "{measured:?}");
    assert!(measured[2].1 < 0.1, "{measured:?}");
}
