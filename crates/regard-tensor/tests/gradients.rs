//! Every operation against central differences in f64, at odd sizes.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use regard_tensor::gradient_check::gradient_error;
use regard_tensor::ops::{self, DropoutMask, Link, Span, Targets, Trails};
use regard_tensor::{Result, Tape, Tensor, Var};

const TOLERANCE: f64 = 1e-6;

/// Inputs of these shapes, between -1 and 1, no two alike.
fn inputs(shapes: &[&[usize]]) -> Vec<Tensor<f64>> {
    let mut count = 0.0;
    let mut next = || {
        count += 1.0;
        (count * count * 0.37 + count * 1.3 + 0.5_f64).sin()
    };
    let fill = |shape: &&[usize]| {
        Tensor::build(regard_tensor::Shape::new(shape), |values| {
            for value in values {
                *value = next();
            }
        })
    };
    shapes.iter().map(fill).collect()
}

fn check(shapes: &[&[usize]], function: impl Fn(&Tape<f64>, &[Var<f64>]) -> Result<Var<f64>>) {
    check_all(shapes, |tape, x| Ok(vec![function(tape, x)?]));
}

fn check_all(shapes: &[&[usize]], function: impl Fn(&Tape<f64>, &[Var<f64>]) -> Result<Vec<Var<f64>>>) {
    let error = gradient_error(&inputs(shapes), function).unwrap();
    assert!(error <= TOLERANCE, "the largest error is {error:e}");
}

#[test]
fn activations() {
    check(&[&[3, 7]], |tape, x| ops::tanh(tape, &x[0]));
    check(&[&[3, 7]], |tape, x| ops::sigmoid(tape, &x[0]));
    check(&[&[3, 7]], |tape, x| ops::relu(tape, &x[0]));
    check(&[&[3, 7]], |tape, x| ops::gelu(tape, &x[0]));
    check(&[&[3, 7]], |tape, x| ops::swish(tape, &x[0]));
    check(&[&[5, 14]], |tape, x| ops::maxout(tape, &x[0]));
    check(&[&[5, 13]], |tape, x| ops::log_softmax(tape, &x[0]));
    check(&[&[5, 11], &[11], &[11]], |tape, x| ops::layer_norm(tape, &x[0], &x[1], &x[2], 1e-5));
    check(&[&[5, 11], &[11]], |tape, x| ops::rms_norm(tape, &x[0], &x[1], 1e-6));
    // Twice the same input: the second gradient is added to the first.
    check(&[&[3, 7]], |tape, x| ops::mul(tape, &ops::relu(tape, &x[0])?, &ops::gelu(tape, &x[0])?));
}

#[test]
fn arithmetic() {
    check(&[&[3, 5], &[3, 5]], |tape, x| ops::add(tape, &x[0], &x[1]));
    check(&[&[3, 5], &[3, 5]], |tape, x| ops::mul(tape, &x[0], &x[1]));
    check(&[&[3, 5]], |tape, x| ops::mul(tape, &x[0], &x[0]));
    check(&[&[3, 5]], |tape, x| ops::scale(tape, &x[0], -1.75));
    check(&[&[3, 5]], |tape, x| ops::affine(tape, &x[0], -1.0, 1.0));
    check(&[&[3, 5]], |tape, x| ops::sum(tape, &x[0]));
}

#[test]
fn linear() {
    check(&[&[3, 5, 7], &[11, 7], &[11]], |tape, x| ops::linear(tape, &x[0], &x[1], Some(&x[2])));
    check(&[&[5, 7], &[11, 7]], |tape, x| ops::linear(tape, &x[0], &x[1], None));
    check(&[&[5, 7], &[11, 7], &[5, 3], &[11, 3], &[11], &[5, 11]], |tape, x| {
        ops::linear_sum(tape, [(&x[0], &x[1]), (&x[2], &x[3])], Some(&x[4]), Some(&x[5]))
    });
    // One weight twice: its gradient is the sum of two products.
    check(&[&[3, 5], &[5, 5]], |tape, x| {
        ops::linear(tape, &ops::linear(tape, &x[0], &x[1], None)?, &x[1], None)
    });
}

#[test]
fn shapes() {
    check(&[&[3, 5], &[3, 2], &[3, 7]], |tape, x| ops::concat(tape, &[&x[0], &x[1], &x[2], &x[1]]));
    check(&[&[3, 5], &[3, 5]], |tape, x| ops::stack(tape, &[x[0].clone(), x[1].clone(), x[0].clone()]));
    check(&[&[3, 5, 7]], |tape, x| ops::slice(tape, &x[0], 2));
    check(&[&[3, 7]], |tape, x| ops::slice_last(tape, &x[0], 2..7));
    check(&[&[5, 3]], |tape, x| ops::select_rows(tape, &x[0], &[4, 0, 4]));
    check(&[&[7, 3]], |tape, x| ops::embedding(tape, &x[0], &[6, 1, 6, 0]));
    // A table that is read twice, and multiplied and added to between: rows, then all of them.
    check(&[&[7, 3], &[4, 3]], |tape, x| {
        let first = ops::embedding(tape, &x[0], &[6, 1, 6, 0])?;
        let table = ops::add(tape, &x[0], &ops::embedding(tape, &x[0], &[0, 0, 3, 4, 5, 2, 1])?)?;
        let first = ops::linear(tape, &ops::add(tape, &first, &x[1])?, &x[0], None)?;
        ops::add(
            tape,
            &first,
            &ops::linear(tape, &ops::embedding(tape, &table, &[3, 2, 3, 1])?, &x[0], None)?,
        )
    });
    check(&[&[3, 5, 7]], |tape, x| ops::transpose_leading(tape, &x[0]));
    check(&[&[3, 5, 7]], |tape, x| ops::reshape(tape, &x[0], [5, 21]));
    check(&[&[3, 5], &[3, 5]], |tape, x| ops::carry(tape, &x[0], &x[1], &[true, false, true]));
}

#[test]
fn dropout() {
    let mask = DropoutMask::new(42, 0.4);
    check(&[&[5, 7]], |tape, x| ops::dropout(tape, &x[0], mask));
    check(&[&[11, 3]], |tape, x| ops::dropout(tape, &x[0], mask.rows(3)));
    // Twice the same input: the second gradient is added to the first.
    check(&[&[5, 7]], |tape, x| {
        ops::add(
            tape,
            &ops::dropout(tape, &x[0], mask)?,
            &ops::dropout(tape, &x[0], DropoutMask::new(7, 0.5))?,
        )
    });
}

#[test]
fn cells() {
    check_all(&[&[5, 28], &[5, 7]], |tape, x| {
        let (h, c) = ops::lstm_cell(tape, &x[0], &x[1])?;
        Ok(vec![h, c])
    });
    check(&[&[3, 20], &[3, 5]], |tape, x| Ok(ops::lstm_cell(tape, &x[0], &x[1])?.0));
    check(&[&[3, 20], &[3, 5]], |tape, x| Ok(ops::lstm_cell(tape, &x[0], &x[1])?.1));
    check(&[&[5, 21], &[5, 21], &[5, 7]], |tape, x| ops::gru_cell(tape, &x[0], &x[1], &x[2]));
}

#[test]
fn attention() {
    let one_to_one: (&[usize], &[usize]) = (&[0, 1, 2], &[5, 1, 3]);
    let shared: (&[usize], &[usize]) = (&[2, 0, 0, 2, 0], &[3, 4, 5]);
    let empty: (&[usize], &[usize]) = (&[1, 0, 2], &[5, 0, 2]);
    for (sentences, lengths) in [one_to_one, shared, empty] {
        let rows = sentences.len();
        check(&[&[rows, 7], &[3, 5, 7], &[7]], |tape, x| {
            ops::additive_scores(tape, &x[0], &x[1], &x[2], sentences, lengths)
        });
        check(&[&[rows, 7], &[3, 5, 7]], |tape, x| {
            ops::dot_scores(tape, &x[0], &x[1], 0.3, sentences, lengths)
        });
        check(&[&[rows, 5], &[3, 5, 7]], |tape, x| ops::weighted_sum(tape, &x[0], &x[1], sentences, lengths));
    }
}

#[test]
fn many_heads() {
    let one_to_one: (&[usize], &[usize]) = (&[0, 1, 2], &[5, 1, 3]);
    let runs: (&[usize], &[usize]) = (&[2, 2, 0, 0, 0, 2, 1], &[3, 4, 5]);
    let empty: (&[usize], &[usize]) = (&[1, 1, 0, 2], &[5, 0, 2]);
    for (sentences, lengths) in [one_to_one, runs, empty] {
        let rows = sentences.len();
        check(&[&[rows, 14], &[3, 5, 14]], |tape, x| {
            ops::head_scores(tape, (&x[0], &x[1]), 2, 0.3, sentences, lengths)
        });
        check(&[&[2, rows, 5], &[3, 5, 14]], |tape, x| {
            ops::head_contexts(tape, &x[0], &x[1], sentences, lengths)
        });
    }
    check(&[&[2, 3, 12]], |tape, x| ops::rotary(tape, &x[0], 3, &[0, 7, 2]));
}

/// Rows of two blocks, some read by nobody and some by several; and a row that reads nothing.
#[test]
fn trails() {
    let mut trails = Trails::default();
    trails.push([(0, 2), (1, 0), (1, 4)]);
    trails.push([]);
    trails.push([(1, 4)]);
    trails.push([(1, 4), (0, 2)]);
    let (keys, values): (&[usize], &[usize]) = (&[3, 14], &[5, 14]);
    check(&[&[4, 14], keys, values], |tape, x| {
        ops::trail_scores(tape, &x[0], &[&x[1], &x[2]], 2, 0.3, &trails)
    });
    check(&[&[2, 4, 3], keys, values], |tape, x| ops::trail_contexts(tape, &x[0], &[&x[1], &x[2]], &trails));
    check(&[&[4, 14], keys, values, keys, values], |tape, x| {
        ops::trail_attention(tape, &x[0], (&[&x[1], &x[2]], &[&x[3], &x[4]]), 2, 0.3, &trails)
    });
}

#[test]
fn windows() {
    let spans = [(0, 11), (3, 8), (4, 4), (10, 11)].map(|(start, end)| Span { start, end });
    check(&[&[4, 11]], |tape, x| ops::masked_softmax(tape, &x[0], &spans));
    check(&[&[4, 1]], |tape, x| {
        let centres = ops::affine(tape, &x[0], 3.0, 5.0)?;
        ops::gaussian_window(tape, &centres, &spans, 11, 1.5)
    });
}

#[test]
fn cross_entropy() {
    let ids = [12, 0, 5, 5, 7];
    let counts = [true, true, false, true, true];
    for label_smoothing in [0.0, 0.1] {
        let targets = Targets { ids: &ids, counts: &counts, label_smoothing, factor: 0.25 };
        check(&[&[5, 7], &[13, 7], &[13]], |tape, x| {
            Ok(ops::linear_cross_entropy(tape, &x[0], &x[1], Some(&x[2]), targets)?.loss)
        });
        check(&[&[5, 7], &[13, 7]], |tape, x| {
            Ok(ops::linear_cross_entropy(tape, &x[0], &x[1], None, targets)?.loss)
        });
    }
}

/// An attention step as a whole: the gradient reaches the memory by two ways.
#[test]
fn a_local_attention_step() {
    let (sentences, lengths) = ([1, 0, 1], [5, 4]);
    let spans = [(0, 4), (1, 5), (2, 4)].map(|(start, end)| Span { start, end });
    check(&[&[3, 7], &[2, 5, 7], &[7], &[3, 1]], |tape, x| {
        let scores = ops::additive_scores(tape, &x[0], &x[1], &x[2], &sentences, &lengths)?;
        let weights = ops::masked_softmax(tape, &scores, &spans)?;
        let centres = ops::affine(tape, &ops::sigmoid(tape, &x[3])?, 5.0, 0.0)?;
        let window = ops::gaussian_window(tape, &centres, &spans, 5, 1.0)?;
        let weights = ops::mul(tape, &weights, &window)?;
        ops::weighted_sum(tape, &weights, &x[1], &sentences, &lengths)
    });
}

#[test]
fn losses_on_weights_and_distributions() {
    let link = |row, position, share| Link { row, position, share };
    let links = [link(0, 2, 1.0), link(2, 4, 0.5), link(2, 0, 0.5), link(2, 0, 0.25)];
    // Weights are above 0 where a logarithm is taken.
    let weights = |tape: &Tape<f64>, x: &Var<f64>| ops::sigmoid(tape, x);
    check(&[&[3, 5]], |tape, x| ops::link_cross_entropy(tape, &weights(tape, &x[0])?, &links, 0.7));
    let others = inputs(&[&[7, 5], &[7, 5]]).remove(1);
    let counts = [true, false, true, true, false, true, true];
    check(&[&[7, 5]], |tape, x| {
        let y = ops::log_softmax(tape, &Var::constant(others.clone()))?;
        ops::total_variation(tape, &ops::log_softmax(tape, &x[0])?, y.value(), &counts, 0.7)
    });
    check(&[&[7, 5]], |tape, x| {
        let y = ops::sigmoid(tape, &Var::constant(others.clone()))?;
        ops::kullback_leibler(tape, &weights(tape, &x[0])?, y.value(), &counts, -0.7)
    });
}
