//! Every kernel as plainly as its formula, generic over the element: what `f64` runs on, and what the fast kernels are
//! tested against.

#![allow(clippy::missing_panics_doc, reason = "as all kernels, they panic where lengths do not fit together")]

mod narrow;

pub use narrow::{bf16_pair_words, bf16_words, gemm_narrow, gemm_tn_bf16, int8_scale, int8_words};

use super::{AdamNumbers, PANEL, PEAK_BLOCK, Packed, Segment};
use crate::element::Number;
use crate::threads::{SMALL_WORK, Threads};

/// See [`Kernels::gemm`](super::Kernels::gemm).
pub fn gemm<T: Number>(
    threads: &Threads,
    a: &[T],
    m: usize,
    b: &Packed<T>,
    c: &mut [T],
    accumulate: bool,
    bias: Option<&[T]>,
) {
    let (k, n) = (b.k(), b.n());
    super::check_gemm(a, m, (k, n), c, bias);
    threads.chunks_mut(c, rows_for_each(threads, m, m * k * n) * n, |part, c| {
        let first = part * rows_for_each(threads, m, m * k * n);
        for (i, row) in c.chunks_exact_mut(n).enumerate() {
            let a = &a[(first + i) * k..][..k];
            for (p, out) in row.chunks_mut(PANEL).enumerate() {
                let panel = &b.panels()[p * PANEL * k..][..PANEL * k];
                gemm_panel(a, panel, out, accumulate, bias.map(|bias| &bias[p * PANEL..]));
            }
        }
    });
}

/// How many of `m` rows make a task: one task for each thread, or one in all where there is little to do.
fn rows_for_each(threads: &Threads, m: usize, work: usize) -> usize {
    if work < SMALL_WORK { m } else { m.div_ceil(threads.count()) }.max(1)
}

/// One row times one panel.
fn gemm_panel<T: Number>(a: &[T], panel: &[T], out: &mut [T], accumulate: bool, bias: Option<&[T]>) {
    let mut sums = [T::ZERO; PANEL];
    let width = out.len();
    if accumulate {
        sums[..width].copy_from_slice(out);
    }
    if let Some(bias) = bias {
        add_assign(&mut sums[..width], &bias[..width]);
    }
    for (&a, line) in a.iter().zip(panel.chunks_exact(PANEL)) {
        for (sum, &b) in sums.iter_mut().zip(line) {
            *sum = *sum + a * b;
        }
    }
    out.copy_from_slice(&sums[..width]);
}

/// See [`Kernels::gemm_tn`](super::Kernels::gemm_tn).
pub fn gemm_tn<T: Number>(
    threads: &Threads,
    segments: &[impl Segment<T>],
    n_out: usize,
    n_in: usize,
    c: &mut [T],
    accumulate: bool,
) {
    let work = super::check_gemm_tn(segments, n_out, n_in, c) * n_out * n_in;
    let rows = rows_for_each(threads, n_out, work);
    threads.chunks_mut(c, rows * n_in, |part, c| {
        if !accumulate {
            c.fill(T::ZERO);
        }
        for segment in segments {
            for (x, dy) in segment.x().chunks_exact(n_in).zip(segment.dy().chunks_exact(n_out)) {
                for (row, &dy) in c.chunks_exact_mut(n_in).zip(&dy[part * rows..]) {
                    axpy(dy, x, row);
                }
            }
        }
    });
}

/// See [`Kernels::dot`](super::Kernels::dot).
pub fn dot<T: Number>(a: &[T], b: &[T]) -> T {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(T::ZERO, |sum, (&a, &b)| sum + a * b)
}

/// See [`Kernels::axpy`](super::Kernels::axpy).
pub fn axpy<T: Number>(alpha: T, x: &[T], y: &mut [T]) {
    assert_eq!(x.len(), y.len());
    for (y, &x) in y.iter_mut().zip(x) {
        *y = *y + alpha * x;
    }
}

/// See [`Kernels::add_assign`](super::Kernels::add_assign).
pub fn add_assign<T: Number>(y: &mut [T], x: &[T]) {
    assert_eq!(x.len(), y.len());
    for (y, &x) in y.iter_mut().zip(x) {
        *y = *y + x;
    }
}

/// See [`Kernels::mul_assign`](super::Kernels::mul_assign).
pub fn mul_assign<T: Number>(y: &mut [T], x: &[T]) {
    assert_eq!(x.len(), y.len());
    for (y, &x) in y.iter_mut().zip(x) {
        *y = *y * x;
    }
}

/// See [`Kernels::scale`](super::Kernels::scale).
pub fn scale<T: Number>(x: &mut [T], by: T) {
    for x in x {
        *x = *x * by;
    }
}

/// See [`Kernels::subtract_and_scale`](super::Kernels::subtract_and_scale).
pub fn subtract_and_scale<T: Number>(x: &mut [T], less: T, by: T) {
    for x in x {
        *x = (*x - less) * by;
    }
}

/// See [`Kernels::add_column_sums`](super::Kernels::add_column_sums).
pub fn add_column_sums<T: Number>(rows: &[T], sums: &mut [T]) {
    if sums.is_empty() {
        return;
    }
    assert_eq!(rows.len() % sums.len(), 0);
    for row in rows.chunks_exact(sums.len()) {
        add_assign(sums, row);
    }
}

/// See [`Kernels::normalise_row`](super::Kernels::normalise_row).
pub fn normalise_row<T: Number>(x: &[T], epsilon: T, out: &mut [T]) -> T {
    assert_eq!(x.len(), out.len());
    let count = T::from_f64(x.len() as f64);
    let mean = sum_slice(x) / count;
    for (out, &x) in out.iter_mut().zip(x) {
        *out = x - mean;
    }
    let scale = T::ONE / (dot(out, out) / count + epsilon).sqrt();
    self::scale(out, scale);
    scale
}

/// See [`Kernels::scale_and_shift`](super::Kernels::scale_and_shift).
pub fn scale_and_shift<T: Number>(x: &mut [T], by: &[T], plus: &[T]) {
    assert!(by.len() == x.len() && plus.len() == x.len());
    for ((x, &by), &plus) in x.iter_mut().zip(by).zip(plus) {
        *x = *x * by + plus;
    }
}

/// See [`Kernels::sum_slice`](super::Kernels::sum_slice).
pub fn sum_slice<T: Number>(x: &[T]) -> T {
    x.iter().copied().sum()
}

/// See [`Kernels::sum_squares`](super::Kernels::sum_squares).
pub fn sum_squares<T: Number>(x: &[T]) -> f64 {
    x.iter().map(|x| x.to_f64() * x.to_f64()).sum()
}

/// See [`Kernels::exp_slice`](super::Kernels::exp_slice).
pub fn exp_slice<T: Number>(x: &mut [T]) {
    for x in x {
        *x = x.exp();
    }
}

/// See [`Kernels::tanh_slice`](super::Kernels::tanh_slice).
pub fn tanh_slice<T: Number>(x: &mut [T]) {
    for x in x {
        *x = x.tanh();
    }
}

/// See [`Kernels::sigmoid_slice`](super::Kernels::sigmoid_slice).
pub fn sigmoid_slice<T: Number>(x: &mut [T]) {
    for x in x {
        *x = x.sigmoid();
    }
}

/// See [`Kernels::gelu_slice`](super::Kernels::gelu_slice).
pub fn gelu_slice<T: Number>(x: &mut [T]) {
    for x in x {
        *x = *x * T::from_f64(normal(x.to_f64()).0);
    }
}

/// See [`Kernels::gelu_backward_slice`](super::Kernels::gelu_backward_slice).
pub fn gelu_backward_slice<T: Number>(x: &[T], dy: &[T], dx: &mut [T]) {
    assert!(x.len() == dx.len() && dy.len() == dx.len());
    for ((&x, &dy), dx) in x.iter().zip(dy).zip(dx) {
        let (below, density) = normal(x.to_f64());
        *dx = *dx + dy * T::from_f64(below + x.to_f64() * density);
    }
}

/// Φ(x) and φ(x), by the series erf z = 2/√π · e^−z² · Σ z·(2z²)ⁿ / (1·3·…·(2n + 1)), whose terms are all positive.
fn normal(x: f64) -> (f64, f64) {
    let square = x * x;
    let density = (-square / 2.0).exp() / std::f64::consts::TAU.sqrt();
    if !square.is_finite() || square > 72.0 {
        return (if x > 0.0 { 1.0 } else { 0.0 * x }, density);
    }
    let (mut sum, mut term, mut odd) = (0.0, x, 1.0);
    while term.abs() > f64::EPSILON / 16.0 * sum.abs() {
        sum += term;
        odd += 2.0;
        term = term * square / odd;
    }
    (0.5 + density * sum, density)
}

/// See [`Kernels::swish_slice`](super::Kernels::swish_slice).
pub fn swish_slice<T: Number>(x: &mut [T]) {
    for x in x {
        *x = *x * x.sigmoid();
    }
}

/// See [`Kernels::swish_backward_slice`](super::Kernels::swish_backward_slice).
pub fn swish_backward_slice<T: Number>(x: &[T], dy: &[T], dx: &mut [T]) {
    assert!(x.len() == dx.len() && dy.len() == dx.len());
    for ((&x, &dy), dx) in x.iter().zip(dy).zip(dx) {
        let gate = x.sigmoid();
        *dx = *dx + dy * gate * (T::ONE + x * (T::ONE - gate));
    }
}

/// See [`Kernels::largest`](super::Kernels::largest).
pub fn largest<T: Number>(x: &[T]) -> T {
    x.iter().fold(T::NEG_INFINITY, |max, &x| max.max(x))
}

/// Σ e^(x − max).
fn sum_exp<T: Number>(x: &[T], max: T) -> T {
    x.iter().map(|&x| (x - max).exp()).sum()
}

/// See [`Kernels::log_sum_exp`](super::Kernels::log_sum_exp).
pub fn log_sum_exp<T: Number>(x: &[T]) -> T {
    let max = largest(x);
    if max == T::NEG_INFINITY { x.iter().fold(max, |sum, &x| sum + x) } else { max + sum_exp(x, max).ln() }
}

/// See [`Kernels::softmax_row`](super::Kernels::softmax_row).
pub fn softmax_row<T: Number>(x: &mut [T]) {
    let max = largest(x);
    if max == T::NEG_INFINITY {
        // −∞ becomes 0; NaN, if that is what the row holds, stays.
        return x.iter_mut().filter(|x| **x == T::NEG_INFINITY).for_each(|x| *x = T::ZERO);
    }
    let sum = sum_exp(x, max);
    for x in x.iter_mut() {
        *x = (*x - max).exp();
    }
    for x in x.iter_mut() {
        *x = *x / sum;
    }
}

/// See [`Kernels::log_softmax_row`](super::Kernels::log_softmax_row).
pub fn log_softmax_row<T: Number>(x: &mut [T]) {
    let max = largest(x);
    if max == T::NEG_INFINITY {
        return;
    }
    let log_sum = sum_exp(x, max).ln();
    for x in x {
        *x = (*x - max) - log_sum;
    }
}

/// See [`Kernels::log_softmax_terms`](super::Kernels::log_softmax_terms).
pub fn log_softmax_terms<T: Number>(x: &[T], peaks: &mut [T]) -> (T, T) {
    super::check_peaks(x, peaks);
    for (peak, x) in peaks.iter_mut().zip(x.chunks(PEAK_BLOCK)) {
        *peak = largest(x);
    }
    let max = largest(peaks);
    if max == T::NEG_INFINITY { (T::ZERO, T::ZERO) } else { (max, sum_exp(x, max).ln()) }
}

/// See [`Kernels::head_scores_row`](super::Kernels::head_scores_row).
pub fn head_scores_row<T: Number>(q: &[T], keys: &[&[T]], heads: usize, factor: T, out: &mut [T]) {
    let width = super::check_head_rows(q, keys, heads, out);
    for (head, q) in q.chunks_exact(width).enumerate() {
        for (j, key) in keys.iter().enumerate() {
            out[head * keys.len() + j] = factor * dot(q, &key[head * width..][..width]);
        }
    }
}

/// See [`Kernels::head_contexts_row`](super::Kernels::head_contexts_row).
pub fn head_contexts_row<T: Number>(w: &[T], values: &[&[T]], heads: usize, out: &mut [T]) {
    let width = super::check_head_rows(out, values, heads, w);
    out.fill(T::ZERO);
    for (head, out) in out.chunks_exact_mut(width).enumerate() {
        for (j, row) in values.iter().enumerate() {
            axpy(w[head * values.len() + j], &row[head * width..][..width], out);
        }
    }
}

/// See [`Kernels::lstm_cell_row`](super::Kernels::lstm_cell_row).
pub fn lstm_cell_row<T: Number>(gates: &[T], c_prev: &[T], h: &mut [T], c: &mut [T], saved: &mut [T]) {
    let hidden = h.len();
    assert!(
        gates.len() == 4 * hidden && saved.len() == 5 * hidden && c_prev.len() == hidden && c.len() == hidden
    );
    for j in 0..hidden {
        let i = gates[j].sigmoid();
        let f = gates[hidden + j].sigmoid();
        let g = gates[2 * hidden + j].tanh();
        let o = gates[3 * hidden + j].sigmoid();
        c[j] = f * c_prev[j] + i * g;
        let tanh_c = c[j].tanh();
        h[j] = o * tanh_c;
        for (gate, value) in [i, f, g, o, tanh_c].into_iter().enumerate() {
            saved[gate * hidden + j] = value;
        }
    }
}

/// See [`Kernels::lstm_cell_backward_row`](super::Kernels::lstm_cell_backward_row).
pub fn lstm_cell_backward_row<T: Number>(
    saved: &[T],
    c_prev: &[T],
    dh: &[T],
    dc: &[T],
    dgates: &mut [T],
    dc_prev: &mut [T],
) {
    let hidden = dh.len();
    assert!(saved.len() == 5 * hidden && dgates.len() == 4 * hidden);
    assert!(c_prev.len() == hidden && dc.len() == hidden && dc_prev.len() == hidden);
    for j in 0..hidden {
        let [i, f, g, o, tanh_c] = std::array::from_fn(|gate| saved[gate * hidden + j]);
        let dcell = dc[j] + dh[j] * o * (T::ONE - tanh_c * tanh_c);
        dgates[j] = dcell * g * i * (T::ONE - i);
        dgates[hidden + j] = dcell * c_prev[j] * f * (T::ONE - f);
        dgates[2 * hidden + j] = dcell * i * (T::ONE - g * g);
        dgates[3 * hidden + j] = dh[j] * tanh_c * o * (T::ONE - o);
        dc_prev[j] = dcell * f;
    }
}

/// See [`Kernels::gru_cell_row`](super::Kernels::gru_cell_row).
pub fn gru_cell_row<T: Number>(x_gates: &[T], h_gates: &[T], h_prev: &[T], h: &mut [T], saved: &mut [T]) {
    let hidden = h.len();
    assert!(x_gates.len() == 3 * hidden && h_gates.len() == 3 * hidden);
    assert!(saved.len() == 3 * hidden && h_prev.len() == hidden);
    for j in 0..hidden {
        let [at_r, at_z, at_n] = [j, hidden + j, 2 * hidden + j];
        let r = (x_gates[at_r] + h_gates[at_r]).sigmoid();
        let z = (x_gates[at_z] + h_gates[at_z]).sigmoid();
        let n = (x_gates[at_n] + r * h_gates[at_n]).tanh();
        h[j] = (T::ONE - z) * n + z * h_prev[j];
        [saved[at_r], saved[at_z], saved[at_n]] = [r, z, n];
    }
}

/// See [`Kernels::gru_cell_backward_row`](super::Kernels::gru_cell_backward_row).
pub fn gru_cell_backward_row<T: Number>(
    saved: &[T],
    h_gates: &[T],
    h_prev: &[T],
    dh: &[T],
    [dx_gates, dh_gates, dh_prev]: [&mut [T]; 3],
) {
    let hidden = dh.len();
    assert!(saved.len() == 3 * hidden && h_gates.len() == 3 * hidden && h_prev.len() == hidden);
    assert!(dx_gates.len() == 3 * hidden && dh_gates.len() == 3 * hidden && dh_prev.len() == hidden);
    for j in 0..hidden {
        let [at_r, at_z, at_n] = [j, hidden + j, 2 * hidden + j];
        let [r, z, n] = [saved[at_r], saved[at_z], saved[at_n]];
        let dn = dh[j] * (T::ONE - z) * (T::ONE - n * n);
        let dr = dn * h_gates[at_n] * r * (T::ONE - r);
        let dz = dh[j] * (h_prev[j] - n) * z * (T::ONE - z);
        [dx_gates[at_r], dx_gates[at_z], dx_gates[at_n]] = [dr, dz, dn];
        [dh_gates[at_r], dh_gates[at_z], dh_gates[at_n]] = [dr, dz, dn * r];
        dh_prev[j] = dh[j] * z;
    }
}

/// See [`Kernels::additive_scores_row`](super::Kernels::additive_scores_row).
pub fn additive_scores_row<T: Number>(q: &[T], keys: &[T], v: &[T], out: &mut [T]) {
    let width = q.len();
    assert!(v.len() == width && keys.len() == width * out.len());
    for (j, out) in out.iter_mut().enumerate() {
        let key = &keys[j * width..][..width];
        *out = (0..width).map(|a| v[a] * (q[a] + key[a]).tanh()).sum();
    }
}

/// See [`Kernels::additive_scores_backward_row`](super::Kernels::additive_scores_backward_row).
pub fn additive_scores_backward_row<T: Number>(
    q: &[T],
    keys: &[T],
    v: &[T],
    dscores: &[T],
    [dq, dkeys, dv]: [&mut [T]; 3],
) {
    let width = q.len();
    assert!(v.len() == width && keys.len() == width * dscores.len());
    assert!(dq.len() == width && dv.len() == width && dkeys.len() == keys.len());
    for (j, &dscore) in dscores.iter().enumerate() {
        for a in 0..width {
            let t = (q[a] + keys[j * width + a]).tanh();
            let ds = dscore * v[a] * (T::ONE - t * t);
            dv[a] = dv[a] + dscore * t;
            dq[a] = dq[a] + ds;
            dkeys[j * width + a] = dkeys[j * width + a] + ds;
        }
    }
}

/// See [`Kernels::adam_update`](super::Kernels::adam_update).
pub fn adam_update<T: Number>(param: &mut [T], grad: &[T], m: &mut [T], v: &mut [T], numbers: &AdamNumbers) {
    let len = param.len();
    assert!(grad.len() == len && m.len() == len && v.len() == len);
    let [beta1, beta2, rest1, rest2, keep, rate, root, epsilon] = numbers.factors().map(T::from_f64);
    for j in 0..len {
        let g = grad[j];
        m[j] = beta1 * m[j] + rest1 * g;
        v[j] = beta2 * v[j] + rest2 * (g * g);
        param[j] = keep * param[j] - rate * m[j] / (v[j].sqrt() * root + epsilon);
    }
}
