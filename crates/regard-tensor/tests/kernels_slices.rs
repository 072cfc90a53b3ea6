//! The fast functions over slices and rows against their plain twins in f64, on both instruction sets.

#![allow(clippy::float_cmp, reason = "equal bits are the point")]

use regard_tensor::kernels::cpu::{self, Isa};
use regard_tensor::kernels::{AdamNumbers, PEAK_BLOCK, reference};

mod kernels;

use kernels::{instruction_sets, numbers, wide};

fn assert_close(found: &[f32], exact: &[f64], bound: f64, what: &str) {
    assert_eq!(found.len(), exact.len());
    for (i, (f, e)) in found.iter().zip(exact).enumerate() {
        let error = (f64::from(*f) - e).abs();
        assert!(error <= bound * (1.0 + e.abs()), "{what}: element {i} of {} is {f}, not {e}", found.len());
    }
}

const LENGTHS: [usize; 12] = [1, 2, 3, 7, 8, 15, 16, 17, 31, 37, 101, 523];

/// Runs `fast` and `plain` on the same buffers, all of which may change, and compares every one.
fn compare(
    what: &str,
    bound: f64,
    buffers: &[Vec<f32>],
    fast: impl Fn(Isa, &mut [Vec<f32>]),
    plain: impl Fn(&mut [Vec<f64>]),
) {
    let mut exact: Vec<_> = buffers.iter().map(|b| wide(b)).collect();
    plain(&mut exact);
    for isa in instruction_sets() {
        let mut found = buffers.to_vec();
        fast(isa, &mut found);
        for (i, (f, e)) in found.iter().zip(&exact).enumerate() {
            assert_close(f, e, bound, &format!("{what}, {isa:?}, buffer {i}"));
        }
    }
}

/// Splits buffers into those to read and those to write.
macro_rules! split {
    ($buffers:ident, $read:literal, [$($written:ident),*]) => {
        let (read, written) = $buffers.split_at_mut($read);
        let [$($written),*] = written else { unreachable!("as many buffers as names") };
        let read: &[_] = read;
        #[allow(unused_variables)]
        let $buffers = read;
    };
}

#[test]
fn functions_element_by_element() {
    type Fast = fn(Isa, &mut [f32]);
    type Plain = fn(&mut [f64]);
    let functions: [(&str, f32, Fast, Plain); 8] = [
        ("exp", 5.0, cpu::exp_slice, reference::exp_slice),
        ("tanh", 9.0, cpu::tanh_slice, reference::tanh_slice),
        ("sigmoid", 20.0, cpu::sigmoid_slice, reference::sigmoid_slice),
        ("gelu", 12.0, cpu::gelu_slice, reference::gelu_slice),
        ("swish", 20.0, cpu::swish_slice, reference::swish_slice),
        ("softmax", 9.0, cpu::softmax_row, reference::softmax_row),
        ("log_softmax", 9.0, cpu::log_softmax_row, reference::log_softmax_row),
        ("scale", 9.0, |isa, x| cpu::scale(isa, x, 0.3), |x| reference::scale(x, f64::from(0.3_f32))),
    ];
    for (name, most, fast, plain) in functions {
        for len in LENGTHS {
            let bound = if matches!(name, "log_softmax" | "gelu") { 4e-7 } else { 2e-7 };
            compare(
                name,
                bound,
                &[numbers(len, most, 1)],
                |isa, x| fast(isa, &mut x[0]),
                |x| plain(&mut x[0]),
            );
        }
    }
}

#[test]
fn functions_of_two_slices() {
    for len in LENGTHS {
        let (x, y) = (numbers(len, 2.0, 2), numbers(len, 2.0, 3));
        let both = [x.clone(), y.clone()];
        compare(
            "axpy",
            2e-7,
            &both,
            |isa, b| {
                let (x, y) = b.split_at_mut(1);
                cpu::axpy(isa, 0.7, &x[0], &mut y[0]);
            },
            |b| {
                let (x, y) = b.split_at_mut(1);
                reference::axpy(f64::from(0.7_f32), &x[0], &mut y[0]);
            },
        );
        compare(
            "add",
            2e-7,
            &both,
            |isa, b| {
                let (x, y) = b.split_at_mut(1);
                cpu::add_assign(isa, &mut y[0], &x[0]);
            },
            |b| {
                let (x, y) = b.split_at_mut(1);
                reference::add_assign(&mut y[0], &x[0]);
            },
        );
        compare(
            "mul",
            2e-7,
            &both,
            |isa, b| {
                let (x, y) = b.split_at_mut(1);
                cpu::mul_assign(isa, &mut y[0], &x[0]);
            },
            |b| {
                let (x, y) = b.split_at_mut(1);
                reference::mul_assign(&mut y[0], &x[0]);
            },
        );
        compare(
            "normalise",
            2e-6,
            &both,
            |isa, b| {
                let (x, y) = b.split_at_mut(1);
                x[0][0] = cpu::normalise_row(isa, &x[0], 0.1, &mut y[0]);
            },
            |b| {
                let (x, y) = b.split_at_mut(1);
                x[0][0] = reference::normalise_row(&x[0], f64::from(0.1_f32), &mut y[0]);
            },
        );
        compare(
            "scale and shift",
            4e-7,
            &[x.clone(), y.clone(), numbers(len, 2.0, 31)],
            |isa, b| {
                let (x, weights) = b.split_at_mut(1);
                cpu::scale_and_shift(isa, &mut x[0], &weights[0], &weights[1]);
            },
            |b| {
                let (x, weights) = b.split_at_mut(1);
                reference::scale_and_shift(&mut x[0], &weights[0], &weights[1]);
            },
        );
        let rows = numbers(len * 13, 1.0, 4);
        compare(
            "column sums",
            1e-6,
            &[rows, x.clone()],
            |isa, b| {
                let (rows, sums) = b.split_at_mut(1);
                cpu::add_column_sums(isa, &rows[0], &mut sums[0]);
            },
            |b| {
                let (rows, sums) = b.split_at_mut(1);
                reference::add_column_sums(&rows[0], &mut sums[0]);
            },
        );
        for isa in instruction_sets() {
            let (x64, y64) = (wide(&x), wide(&y));
            let found = [cpu::dot(isa, &x, &y), cpu::sum_slice(isa, &x), cpu::log_sum_exp(isa, &x)];
            let exact =
                [reference::dot(&x64, &y64), reference::sum_slice(&x64), reference::log_sum_exp(&x64)];
            assert_close(&found, &exact, 1e-6 * (len as f64).sqrt(), "reductions");
            let (found, exact) = (cpu::sum_squares(isa, &x), reference::sum_squares(&x64));
            assert!((found - exact).abs() <= 1e-13 * exact, "sum of squares");
        }
    }
}

#[test]
fn steps_of_the_cross_entropy() {
    for len in LENGTHS {
        let x = numbers(len, 20.0, 18);
        let largest = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        for isa in instruction_sets() {
            assert_eq!(cpu::largest(isa, &x), largest);
        }
        compare(
            "subtract_and_scale",
            1e-6,
            &[x],
            |isa, buffers| cpu::subtract_and_scale(isa, &mut buffers[0], 0.375, 1.75),
            |buffers| reference::subtract_and_scale(&mut buffers[0], 0.375, 1.75),
        );
    }
    for isa in instruction_sets() {
        assert_eq!([cpu::largest(isa, &[f32::NAN, 1.0]), cpu::largest(isa, &[])], [1.0, f32::NEG_INFINITY]);
    }
}

#[test]
fn gradients_of_gates() {
    type Fast = fn(Isa, &[f32], &[f32], &mut [f32]);
    type Plain = fn(&[f64], &[f64], &mut [f64]);
    let functions: [(&str, Fast, Plain); 2] = [
        ("gelu", cpu::gelu_backward_slice, reference::gelu_backward_slice),
        ("swish", cpu::swish_backward_slice, reference::swish_backward_slice),
    ];
    for (name, fast, plain) in functions {
        for len in LENGTHS {
            let [x, dy, sum] = [(7, 12.0), (8, 2.0), (9, 2.0)].map(|(seed, most)| numbers(len, most, seed));
            let mut exact = wide(&sum);
            plain(&wide(&x), &wide(&dy), &mut exact);
            for isa in instruction_sets() {
                let mut found = sum.clone();
                fast(isa, &x, &dy, &mut found);
                assert_close(&found, &exact, 1e-6, name);
            }
        }
    }
}

#[test]
fn the_ends_of_softmax() {
    let ninf = f32::NEG_INFINITY;
    for isa in instruction_sets() {
        let softmax = |row: &[f32]| {
            let mut row = row.to_vec();
            cpu::softmax_row(isa, &mut row);
            row
        };
        assert_eq!(softmax(&[]), []);
        assert_eq!(softmax(&[ninf, ninf, ninf]), [0.0; 3]);
        assert_eq!(softmax(&[ninf, 3.0, ninf]), [0.0, 1.0, 0.0]);
        assert_eq!(softmax(&[1e30, 1e30]), [0.5, 0.5]);
        assert!(softmax(&[f32::NAN, 0.0]).iter().all(|x| x.is_nan()));
        assert!(softmax(&[f32::NAN]).iter().all(|x| x.is_nan()));
        assert_eq!(cpu::log_sum_exp(isa, &[]), ninf);
        assert_eq!(cpu::log_sum_exp(isa, &[ninf, ninf]), ninf);
        assert!(cpu::log_sum_exp(isa, &[f32::NAN, ninf]).is_nan());
        assert!(cpu::log_sum_exp(isa, &[f32::NAN]).is_nan());
        assert_eq!(cpu::log_sum_exp(isa, &[1000.0, 1000.0]), 1000.0 + std::f32::consts::LN_2);
    }
}

/// What stands behind the end of a row, and where an element stands, changes no bit.
#[test]
fn bits_do_not_depend_on_padding_or_place() {
    for isa in instruction_sets() {
        for len in LENGTHS {
            let (x, y) = (numbers(len, 3.0, 5), numbers(len, 3.0, 6));
            let padded = |x: &[f32], with: f32| [x, &[with; 53]].concat();
            let (px, py) = (padded(&x, 0.0), padded(&y, 0.0));
            assert_eq!(cpu::dot(isa, &x, &y), cpu::dot(isa, &px, &py));
            assert_eq!(cpu::sum_slice(isa, &x), cpu::sum_slice(isa, &px));
            assert_eq!(cpu::sum_squares(isa, &x), cpu::sum_squares(isa, &px));
            let (mut row, mut padded_row) = (x.clone(), padded(&x, f32::NEG_INFINITY));
            cpu::softmax_row(isa, &mut row);
            cpu::softmax_row(isa, &mut padded_row);
            assert_eq!(row, padded_row[..len]);
            assert_eq!(cpu::log_sum_exp(isa, &x), cpu::log_sum_exp(isa, &padded(&x, f32::NEG_INFINITY)));
            let functions =
                [cpu::exp_slice, cpu::tanh_slice, cpu::sigmoid_slice, cpu::gelu_slice, cpu::swish_slice];
            for function in functions {
                let mut whole = x.clone();
                function(isa, &mut whole);
                for (i, &x) in x.iter().enumerate() {
                    let mut one = [x];
                    function(isa, &mut one);
                    assert_eq!(one[0].to_bits(), whole[i].to_bits());
                }
            }
        }
    }
}

/// What `log_softmax` subtracts, and the largest value of each block.
#[test]
fn the_terms_of_log_softmax() {
    for len in LENGTHS {
        let x = numbers(len, 9.0, 24);
        let mut exact = vec![0.0; len.div_ceil(PEAK_BLOCK)];
        let terms = reference::log_softmax_terms(&wide(&x), &mut exact);
        for isa in instruction_sets() {
            let mut peaks = vec![0.0; exact.len()];
            let (largest, log_sum) = cpu::log_softmax_terms(isa, &x, &mut peaks);
            assert_eq!(wide(&peaks), exact);
            assert_close(&[largest, log_sum], &[terms.0, terms.1], 4e-7, "terms");
            let mut whole = x.clone();
            cpu::log_softmax_row(isa, &mut whole);
            let one_by_one = x.iter().map(|x| ((x - largest) - log_sum).to_bits());
            assert!(whole.iter().map(|x| x.to_bits()).eq(one_by_one));
        }
    }
    for isa in instruction_sets() {
        let terms =
            |row: &[f32]| cpu::log_softmax_terms(isa, row, &mut vec![0.0; row.len().div_ceil(PEAK_BLOCK)]);
        assert_eq!((terms(&[]), terms(&[f32::NEG_INFINITY; 3])), ((0.0, 0.0), (0.0, 0.0)));
        assert!(terms(&[f32::NAN, 1.0]).1.is_nan());
    }
}

#[test]
fn heads_of_a_row() {
    for (heads, width, len) in [(1, 1, 3), (3, 7, 5), (8, 64, 17), (5, 37, 2), (2, 131, 13), (2, 5, 0)] {
        let n = |len: usize, seed: u64| numbers(len, 1.5, seed);
        let all = heads * width;
        compare(
            "head scores",
            2e-6,
            &[n(all, 25), n(len * all, 26), n(heads * len, 27)],
            |isa, b| {
                split!(b, 2, [out]);
                let keys: Vec<_> = b[1].chunks_exact(all).collect();
                cpu::head_scores_row(isa, &b[0], &keys, heads, 0.3, out);
            },
            |b| {
                split!(b, 2, [out]);
                let keys: Vec<_> = b[1].chunks_exact(all).collect();
                reference::head_scores_row(&b[0], &keys, heads, f64::from(0.3_f32), out);
            },
        );
        compare(
            "head contexts",
            1e-6,
            &[n(heads * len, 28), n(len * all, 29), n(all, 30)],
            |isa, b| {
                split!(b, 2, [out]);
                let values: Vec<_> = b[1].chunks_exact(all).collect();
                cpu::head_contexts_row(isa, &b[0], &values, heads, out);
            },
            |b| {
                split!(b, 2, [out]);
                let values: Vec<_> = b[1].chunks_exact(all).collect();
                reference::head_contexts_row(&b[0], &values, heads, out);
            },
        );
    }
}

#[test]
fn recurrent_cells() {
    for h in LENGTHS {
        let n = |gates: usize, seed: u64| numbers(gates * h, 2.0, seed);
        let lstm = [n(4, 1), n(1, 2), n(1, 3), n(1, 4), n(5, 5)];
        compare(
            "lstm",
            4e-7,
            &lstm,
            |isa, b| {
                split!(b, 2, [h, c, saved]);
                cpu::lstm_cell_row(isa, &b[0], &b[1], h, c, saved);
            },
            |b| {
                split!(b, 2, [h, c, saved]);
                reference::lstm_cell_row(&b[0], &b[1], h, c, saved);
            },
        );
        let backward = [n(5, 6), n(1, 7), n(1, 8), n(1, 9), n(4, 10), n(1, 11)];
        compare(
            "lstm backward",
            2e-6,
            &backward,
            |isa, b| {
                split!(b, 4, [dgates, dc]);
                cpu::lstm_cell_backward_row(isa, &b[0], &b[1], &b[2], &b[3], dgates, dc);
            },
            |b| {
                split!(b, 4, [dgates, dc]);
                reference::lstm_cell_backward_row(&b[0], &b[1], &b[2], &b[3], dgates, dc);
            },
        );
        let gru = [n(3, 12), n(3, 13), n(1, 14), n(1, 15), n(3, 16)];
        compare(
            "gru",
            4e-7,
            &gru,
            |isa, b| {
                split!(b, 3, [h, saved]);
                cpu::gru_cell_row(isa, &b[0], &b[1], &b[2], h, saved);
            },
            |b| {
                split!(b, 3, [h, saved]);
                reference::gru_cell_row(&b[0], &b[1], &b[2], h, saved);
            },
        );
        let backward = [n(3, 17), n(3, 18), n(1, 19), n(1, 20), n(3, 21), n(3, 22), n(1, 23)];
        compare(
            "gru backward",
            2e-6,
            &backward,
            |isa, b| {
                split!(b, 4, [dx, dh_gates, dh]);
                cpu::gru_cell_backward_row(isa, &b[0], &b[1], &b[2], &b[3], [dx, dh_gates, dh]);
            },
            |b| {
                split!(b, 4, [dx, dh_gates, dh]);
                reference::gru_cell_backward_row(&b[0], &b[1], &b[2], &b[3], [dx, dh_gates, dh]);
            },
        );
    }
}

#[test]
fn additive_scores() {
    for (width, len) in [(1, 3), (7, 5), (37, 11), (64, 2), (131, 13), (5, 0)] {
        let n = |len: usize, seed: u64| numbers(len, 1.5, seed);
        let forward = [n(width, 1), n(len * width, 2), n(width, 3), n(len, 4)];
        compare(
            "additive",
            1e-6,
            &forward,
            |isa, b| {
                split!(b, 3, [out]);
                cpu::additive_scores_row(isa, &b[0], &b[1], &b[2], out);
            },
            |b| {
                split!(b, 3, [out]);
                reference::additive_scores_row(&b[0], &b[1], &b[2], out);
            },
        );
        let backward = [
            n(width, 5),
            n(len * width, 6),
            n(width, 7),
            n(len, 8),
            n(width, 9),
            n(len * width, 10),
            n(width, 11),
        ];
        compare(
            "additive backward",
            2e-6,
            &backward,
            |isa, b| {
                split!(b, 4, [dq, dkeys, dv]);
                cpu::additive_scores_backward_row(isa, &b[0], &b[1], &b[2], &b[3], [dq, dkeys, dv]);
            },
            |b| {
                split!(b, 4, [dq, dkeys, dv]);
                reference::additive_scores_backward_row(&b[0], &b[1], &b[2], &b[3], [dq, dkeys, dv]);
            },
        );
    }
}

#[test]
fn adam() {
    let numbers_of_step = AdamNumbers {
        learning_rate: 0.01,
        beta1: 0.9,
        beta2: 0.98,
        epsilon: 1e-6,
        weight_decay: 0.1,
        correction1: 1.0 - 0.9_f64.powi(3),
        correction2: 1.0 - 0.98_f64.powi(3),
    };
    for len in LENGTHS {
        let squares = numbers(len, 1.0, 4).iter().map(|v| v * v).collect();
        let buffers = [numbers(len, 1.0, 1), numbers(len, 1.0, 2), numbers(len, 1.0, 3), squares];
        compare(
            "adam",
            1e-6,
            &buffers,
            |isa, b| {
                split!(b, 1, [param, m, v]);
                cpu::adam_update(isa, param, &b[0], m, v, &numbers_of_step);
            },
            |b| {
                split!(b, 1, [param, m, v]);
                reference::adam_update(param, &b[0], m, v, &numbers_of_step);
            },
        );
    }
}

/// The first step of Adam moves every weight by the learning rate, against the sign of its gradient.
#[test]
fn adam_by_hand() {
    let (mut p, mut m, mut v) = ([1.0_f64, 2.0], [0.0; 2], [0.0; 2]);
    let step = AdamNumbers {
        learning_rate: 0.5,
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 0.0,
        weight_decay: 0.0,
        correction1: 1.0 - 0.9,
        correction2: 1.0 - 0.999,
    };
    reference::adam_update(&mut p, &[3.0, -0.01], &mut m, &mut v, &step);
    assert!((p[0] - 0.5).abs() < 1e-12 && (p[1] - 2.5).abs() < 1e-12, "{p:?}");
}
