//! Attention along trails against the form that copies keys and values together, and log-probabilities made on demand
//! against all of them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use regard_tensor::ops::{self, Trails};
use regard_tensor::{LogProbs, Shape, Tape, Tensor, TensorError, Threads, Var, random};

const HEADS: usize = 3;
/// Wide enough that eleven rows of seven places are shared out over threads.
const COLUMNS: usize = HEADS * 79;

/// Numbers between −1 and 1 that look random.
fn numbers(shape: impl Into<Shape>, key: u64) -> Var {
    Var::constant(Tensor::build(shape, |values| {
        for (place, value) in values.iter_mut().enumerate() {
            *value = (2.0 * random::unit(key, place as u64) - 1.0) as f32;
        }
    }))
}

fn bits(tensor: &Tensor) -> Vec<u32> {
    tensor.values().iter().map(|value| value.to_bits()).collect()
}

/// Eleven rows that read up to seven of five blocks' thirteen rows.
fn places(row: usize) -> Vec<(usize, usize)> {
    let place = |at: usize| random::mix(row as u64, at as u64) as usize;
    (0..=row % 7).map(|at| (place(at) % 5, place(at + 100) % 13)).collect()
}

fn trails(rows: impl Iterator<Item = usize>) -> Trails {
    let mut trails = Trails::default();
    rows.for_each(|row| trails.push(places(row)));
    trails
}

struct Blocks {
    keys: Vec<Var>,
    values: Vec<Var>,
}

impl Blocks {
    fn new() -> Self {
        let blocks = |key: u64| (0..5_u64).map(|block| numbers([13, COLUMNS], key + block)).collect();
        Self { keys: blocks(10), values: blocks(20) }
    }

    fn attend(&self, threads: &Threads, queries: &Var, trails: &Trails) -> Tensor {
        let (keys, values): (Vec<_>, Vec<_>) = (self.keys.iter().collect(), self.values.iter().collect());
        let tape = Tape::inference(threads);
        let together = (keys.as_slice(), values.as_slice());
        ops::trail_attention(&tape, queries, together, HEADS, 0.7, trails).unwrap().value().clone()
    }
}

/// What trails lead to, one entry a row, padded.
fn gathered(blocks: &[Var]) -> Var {
    let values = (0..11).flat_map(|row| {
        let of_row = places(row).into_iter().flat_map(|(block, row)| blocks[block].value().row(row).to_vec());
        of_row.chain(std::iter::repeat(f32::NAN)).take(7 * COLUMNS).collect::<Vec<_>>()
    });
    Var::constant(Tensor::new([11, 7, COLUMNS], values.collect()).unwrap())
}

#[test]
fn trails_are_attention_on_a_copy() {
    let (blocks, queries, trails) = (Blocks::new(), numbers([11, COLUMNS], 1), trails(0..11));
    let tape = Tape::inference(&Threads::single());
    let (keys, values): (Vec<_>, Vec<_>) = (blocks.keys.iter().collect(), blocks.values.iter().collect());
    let scores = ops::trail_scores(&tape, &queries, &keys, HEADS, 0.7, &trails).unwrap();
    let spans = ops::trail_spans(HEADS, &trails);
    let weights = ops::masked_softmax(&tape, &scores, &spans).unwrap();
    let contexts = ops::trail_contexts(&tape, &weights, &values, &trails).unwrap();
    // In one go: the same bits.
    assert_eq!(bits(contexts.value()), bits(&blocks.attend(&Threads::single(), &queries, &trails)));

    let (entries, lengths): (Vec<_>, Vec<_>) = (0..11).map(|row| (row, trails.len(row))).unzip();
    let (keys, values) = (gathered(&blocks.keys), gathered(&blocks.values));
    let plain = ops::head_scores(&tape, (&queries, &keys), HEADS, 0.7, &entries, &lengths).unwrap();
    let plain_contexts = ops::head_contexts(&tape, &weights, &values, &entries, &lengths).unwrap();
    for (found, plain) in [(&scores, &plain), (&contexts, &plain_contexts)] {
        assert_eq!(found.shape(), plain.shape());
        for (found, plain) in found.value().values().iter().zip(plain.value().values()) {
            assert!((found - plain).abs() < 2e-6, "{found}, not {plain}");
        }
    }
}

/// A row's bits depend on nothing but the row: not on its company, nor on who computes.
#[test]
fn a_row_gives_the_same_bits_in_any_company() {
    let (blocks, queries) = (Blocks::new(), numbers([11, COLUMNS], 1));
    let all = blocks.attend(&Threads::single(), &queries, &trails(0..11));
    for threads in [2, 3, 7] {
        assert_eq!(bits(&all), bits(&blocks.attend(&Threads::new(threads), &queries, &trails(0..11))));
    }
    for row in 0..11 {
        let query = Var::constant(queries.value().select_rows(&[row]).unwrap());
        let alone = blocks.attend(&Threads::single(), &query, &trails(std::iter::once(row)));
        assert_eq!(bits(&all.select_rows(&[row]).unwrap()), bits(&alone), "row {row}");
    }
}

#[test]
fn trails_that_lead_nowhere_are_refused() {
    let tape = Tape::inference(&Threads::single());
    let (queries, block) = (numbers([1, COLUMNS], 1), numbers([13, COLUMNS], 2));
    let scores = |queries: &Var, blocks: &[&Var], heads, places: &[(usize, usize)]| {
        let mut trails = Trails::default();
        trails.push(places.iter().copied());
        ops::trail_scores(&tape, queries, blocks, heads, 1.0, &trails)
    };
    assert!(scores(&queries, &[&block], HEADS, &[(0, 12)]).is_ok());
    let outside = scores(&queries, &[&block], HEADS, &[(0, 13)]).unwrap_err();
    assert_eq!(outside, TensorError::Index { op: "trail_scores", index: 13, limit: 13 });
    assert!(scores(&queries, &[&block], HEADS, &[(1, 0)]).is_err(), "there is one block");
    assert!(scores(&queries, &[&numbers([13, 5], 3)], HEADS, &[(0, 0)]).is_err(), "other columns");
    assert!(scores(&queries, &[&block], 2, &[(0, 0)]).is_err(), "237 columns are no two heads");
    assert!(scores(&numbers([2, COLUMNS], 1), &[&block], HEADS, &[(0, 0)]).is_err(), "two rows, one trail");
}

#[test]
fn log_probs_are_those_of_log_softmax() {
    for (rows, columns) in [(1, 1), (3, 61), (5, 64), (7, 1031), (17, 2003)] {
        let logits =
            ops::scale(&Tape::inference(&Threads::single()), &numbers([rows, columns], 5), 9.0).unwrap();
        let whole = ops::log_softmax(&Tape::inference(&Threads::single()), &logits).unwrap();
        for threads in [Threads::single(), Threads::new(3)] {
            let lazy = LogProbs::of_logits(&threads, logits.value());
            assert_eq!(bits(&lazy.to_tensor()), bits(whole.value()));
            for row in 0..rows {
                let found = lazy.row(row);
                let mut next = 0;
                for (largest, block) in found.blocks() {
                    let mut most = f32::NEG_INFINITY;
                    for (column, value) in block {
                        assert_eq!(column as usize, next);
                        assert_eq!(value.to_bits(), found.get(next).to_bits());
                        most = most.max(value);
                        next += 1;
                    }
                    assert_eq!(largest.to_bits(), most.to_bits());
                }
                assert_eq!(next, columns);
                assert!(found.get(columns).is_infinite());
            }
        }
        let again = LogProbs::of_log_probs(whole.value());
        assert_eq!(bits(&again.to_tensor()), bits(whole.value()), "what is normal stays as it is");
    }
}
