//! Gradients of tables as rows: the bits of gradients that keep all values, in sums, clipping and updates.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use regard_tensor::optim::{Optimizer, Rule, clip_by_global_norm, global_norm};
use regard_tensor::{Gradient, Tape, Tensor, Threads, Var, ops, random};

const WORDS: usize = 1500;
const RULES: [Rule; 5] = [
    Rule::Sgd { momentum: 0.0 },
    Rule::Sgd { momentum: 0.9 },
    Rule::Adam { beta1: 0.9, beta2: 0.98, epsilon: 1e-9, weight_decay: 0.0 },
    Rule::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.01 },
    Rule::Adadelta { rho: 0.95, epsilon: 1e-6 },
];

/// Numbers between -1 and 1 that `key` decides.
fn numbers(key: u64, shape: [usize; 2]) -> Tensor {
    Tensor::build(shape, |values| {
        for (place, value) in values.iter_mut().enumerate() {
            *value = (random::mix(key, place as u64) % 2001) as f32 / 1000.0 - 1.0;
        }
    })
}

/// Ids that `key` decides, of which some come again and some stand side by side.
fn ids(key: u64, count: usize) -> Vec<u32> {
    let id = |place: usize| {
        let mixed = random::mix(key, place as u64);
        (mixed >> 32) % if mixed.is_multiple_of(3) { 20 } else { WORDS as u64 }
    };
    (0..count).map(|place| id(place) as u32).collect()
}

/// The loss of a table of which the rows `ids` are read and have these gradients.
fn read(tape: &Tape, table: &Var, ids: &[u32], gradients: Tensor) -> Var {
    let rows = ops::embedding(tape, table, ids).unwrap();
    ops::sum(tape, &ops::mul(tape, &rows, &Var::constant(gradients)).unwrap()).unwrap()
}

/// The gradient of a table of this width that is read several times, and the same summed up by hand, read by read from the
/// last to the first.
fn table_gradient(key: u64, width: usize, counts: &[usize]) -> (Gradient, Vec<f32>) {
    let tape = Tape::new(&Threads::single());
    let table = tape.leaf(numbers(key, [WORDS, width]));
    let mut loss = Var::constant(Tensor::scalar(0.0));
    let mut sums = vec![0.0; WORDS * width];
    let keys = (0..).map(|time| random::mix(key, time));
    let reads: Vec<_> = counts
        .iter()
        .zip(keys)
        .map(|(&count, key)| (ids(key, count), numbers(key, [count, width])))
        .collect();
    for (ids, gradients) in &reads {
        loss = ops::add(&tape, &loss, &read(&tape, &table, ids, gradients.clone())).unwrap();
    }
    for (ids, gradients) in reads.iter().rev() {
        for (&id, gradient) in ids.iter().zip(gradients.values().chunks_exact(width)) {
            sums[id as usize * width..][..width].iter_mut().zip(gradient).for_each(|(sum, x)| *sum += x);
        }
    }
    (tape.backward(&loss).unwrap().take(&table).unwrap(), sums)
}

fn rows(key: u64, width: usize) -> Gradient {
    table_gradient(key, width, &[17, 60]).0
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn assert_same(gradients: [&Gradient; 2], what: &str) {
    let [one, other] = gradients.map(|gradient| bits(gradient.to_dense().values()));
    assert!(one == other, "{what}");
}

fn dense(gradient: &Gradient) -> Gradient {
    Gradient::Dense(gradient.to_dense())
}

#[test]
fn rows_are_summed_in_the_order_of_the_backward_pass() {
    for (key, counts) in [&[1][..], &[40], &[30, 1, 300], &[0], &[5, 0, 5, 700, 5]].into_iter().enumerate() {
        for width in [1, 16, 37] {
            let (gradient, sums) = table_gradient(key as u64, width, counts);
            let Gradient::Rows(rows) = &gradient else { panic!("only rows are read") };
            assert!(rows.places().is_sorted_by(|a, b| a < b));
            assert_eq!(rows.rows().shape().sizes(), [rows.places().len(), width]);
            assert!(rows.places().len() <= counts.iter().sum());
            assert_eq!(gradient.shape().sizes(), [WORDS, width]);
            assert!(bits(gradient.to_dense().values()) == bits(&sums), "{counts:?} of {width}");
        }
    }
}

/// Rows read before a gradient of another kind, after it, and both.
#[test]
fn a_table_with_another_gradient_is_dense() {
    let threads = Threads::single();
    let (width, x) = (16, Var::constant(numbers(5, [3, 16])));
    let (first, second) = (ids(1, 40), ids(2, 30));
    let gradient = |reads: &[(&[u32], bool)], multiplied: bool| {
        let tape = Tape::new(&threads);
        let table = tape.leaf(numbers(4, [WORDS, width]));
        let mut loss = Var::constant(Tensor::scalar(0.0));
        for &(ids, summed) in reads {
            let read = read(&tape, &table, ids, numbers(ids.len() as u64, [ids.len(), width]));
            loss = ops::add(&tape, &loss, &read).unwrap();
            if summed {
                loss = ops::add(&tape, &loss, &ops::sum(&tape, &table).unwrap()).unwrap();
            }
        }
        if multiplied {
            let y = ops::sum(&tape, &ops::linear(&tape, &x, &table, None).unwrap()).unwrap();
            loss = ops::add(&tape, &loss, &y).unwrap();
        }
        let mut gradients = tape.backward(&loss).unwrap();
        let got = gradients.get(&table).unwrap();
        let taken = gradients.take(&table).unwrap();
        assert_eq!(bits(got.values()), bits(taken.to_dense().values()));
        assert!(gradients.take(&table).is_none() && gradients.get(&table).is_none());
        taken
    };
    let plain = |reads: &[&[u32]], by: f32| {
        let mut sums = vec![by; WORDS * width];
        for ids in reads {
            let gradients = numbers(ids.len() as u64, [ids.len(), width]);
            for (&id, gradient) in ids.iter().zip(gradients.values().chunks_exact(width)) {
                sums[id as usize * width..][..width].iter_mut().zip(gradient).for_each(|(sum, x)| *sum += x);
            }
        }
        sums
    };
    assert!(matches!(gradient(&[(&first, false), (&second, false)], false), Gradient::Rows(_)));
    for (reads, by) in [([false, true], 1.0), ([true, false], 1.0), ([true, true], 2.0)] {
        let found = gradient(&[(&first, reads[0]), (&second, reads[1])], false);
        assert!(matches!(found, Gradient::Dense(_)));
        let close = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-5;
        assert!(found.to_dense().values().iter().zip(&plain(&[&second, &first], by)).all(close));
    }
    // The product comes last, to the sums of what was read.
    let product = gradient(&[], true).to_dense();
    let found = gradient(&[(&first, false), (&second, false)], true);
    assert!(matches!(found, Gradient::Dense(_)));
    let sums = plain(&[&second, &first], 0.0);
    let close = |((a, b), c): ((&f32, &f32), &f32)| (a - b - c).abs() < 1e-5;
    assert!(found.to_dense().values().iter().zip(&sums).zip(product.values()).all(close));
}

#[test]
fn sums_of_rows_are_sums_of_all_values() {
    for width in [8, 37] {
        for count in [1, 2, 7] {
            let threads = Threads::new(count);
            let (one, other) = (rows(1, width), rows(2, width));
            let expected = dense(&one).plus(&threads, dense(&other));
            let sum = one.clone().plus(&threads, other.clone());
            assert!(matches!(sum, Gradient::Rows(_)) && matches!(expected, Gradient::Dense(_)));
            assert_same([&sum, &expected], "rows and rows");
            assert_same([&dense(&one).plus(&threads, other.clone()), &expected], "all and rows");
            assert_same([&one.clone().plus(&threads, dense(&other)), &expected], "rows and all");
            let more = rows(3, width);
            let expected = expected.plus(&threads, dense(&more));
            assert_same([&sum.plus(&threads, more), &expected], "rows, rows and rows");
        }
    }
}

/// The gradients of a table, of a weight and of a bias.
fn gradients(key: u64, width: usize) -> Vec<Option<Gradient>> {
    let others = [[201, 300], [1, 30]].map(|shape| Some(Gradient::Dense(numbers(key, shape))));
    [Some(rows(key, width)), None].into_iter().chain(others).collect()
}

fn all_dense(gradients: &[Option<Gradient>]) -> Vec<Option<Gradient>> {
    gradients.iter().map(|gradient| gradient.as_ref().map(dense)).collect()
}

#[test]
fn norms_and_clipping_are_those_of_all_values_on_any_threads() {
    for width in [16, 37, 48, 304] {
        let kept = gradients(7, width);
        let all = all_dense(&kept);
        let norm = global_norm(&Threads::single(), &kept);
        let squares = all.iter().flatten().flat_map(|values| values.to_dense().values().to_vec());
        let expected = squares.map(|x| f64::from(x).powi(2)).sum::<f64>().sqrt();
        assert!((norm - expected).abs() < 1e-13 * expected);
        let mut clipped = all.clone();
        clip_by_global_norm(&Threads::single(), &mut clipped, norm, 0.7);
        for count in [1, 2, 7] {
            let threads = Threads::new(count);
            let norms = [&kept, &all].map(|gradients| global_norm(&threads, gradients));
            assert_eq!(norms[0].to_bits(), norm.to_bits(), "{count} threads");
            if width % 16 == 0 {
                assert_eq!(norms[1].to_bits(), norm.to_bits(), "all values, {count} threads");
            }
            for mut gradients in [kept.clone(), all.clone()] {
                clip_by_global_norm(&threads, &mut gradients, norm, 0.7);
                for (gradient, clipped) in gradients.iter().flatten().zip(clipped.iter().flatten()) {
                    assert_same([gradient, clipped], "clipped");
                }
            }
        }
    }
}

#[test]
fn updates_by_rows_are_updates_by_all_values() {
    for rule in RULES {
        // Parts of threads begin within rows, too.
        for width in [16, 37, 48] {
            let result = |count: usize, spread: bool| {
                let threads = Threads::new(count);
                let mut weights = vec![
                    numbers(1, [WORDS, width]),
                    numbers(2, [9, 4]),
                    numbers(3, [201, 300]),
                    numbers(4, [1, 30]),
                ];
                let mut optimizer = Optimizer::new(rule, &weights);
                for step in 0..4 {
                    // Other rows in each update.
                    let mut gradients = gradients(10 + step, width);
                    if spread {
                        gradients = all_dense(&gradients);
                    }
                    clip_by_global_norm(&threads, &mut gradients, 3.0, 2.0);
                    optimizer.update(&threads, &mut weights, &gradients, 0.01);
                }
                let (first, second) = optimizer.memory();
                [&weights, first, second]
                    .concat()
                    .iter()
                    .map(|values| bits(values.values()))
                    .collect::<Vec<_>>()
            };
            let all = result(1, true);
            for count in [1, 2, 7] {
                assert!(result(count, false) == all, "{rule:?}, width {width}, {count} threads");
            }
        }
    }
}
