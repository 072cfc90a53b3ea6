//! The recurrent cells on one row: functions over whole gates, then products, each a loop that becomes vector code.

use super::math;

/// out = σ(x + y).
#[inline(always)]
fn sigmoid_of_sum<const FMA: bool>(out: &mut [f32], x: &[f32], y: &[f32]) {
    for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
        *out = math::sigmoid::<FMA>(x + y);
    }
}

#[inline(always)]
pub(super) fn lstm_cell_row<const FMA: bool>(
    gates: &[f32],
    c_prev: &[f32],
    h: &mut [f32],
    c: &mut [f32],
    saved: &mut [f32],
) {
    let width = h.len();
    assert!(
        gates.len() == 4 * width && saved.len() == 5 * width && c_prev.len() == width && c.len() == width
    );
    for (gate, (out, x)) in
        saved.chunks_exact_mut(width.max(1)).zip(gates.chunks_exact(width.max(1))).enumerate()
    {
        out.copy_from_slice(x);
        if gate == 2 {
            super::slices::tanh_slice::<FMA>(out);
        } else {
            super::slices::sigmoid_slice::<FMA>(out);
        }
    }
    let (i, rest) = saved.split_at_mut(width);
    let (f, rest) = rest.split_at_mut(width);
    let (g, rest) = rest.split_at_mut(width);
    let (o, tanh_c) = rest.split_at_mut(width);
    for j in 0..width {
        c[j] = f[j] * c_prev[j] + i[j] * g[j];
        tanh_c[j] = math::tanh::<FMA>(c[j]);
        h[j] = o[j] * tanh_c[j];
    }
}

#[inline(always)]
pub(super) fn lstm_cell_backward_row<const FMA: bool>(
    saved: &[f32],
    c_prev: &[f32],
    dh: &[f32],
    dc: &[f32],
    dgates: &mut [f32],
    dc_prev: &mut [f32],
) {
    let width = dh.len();
    assert!(saved.len() == 5 * width && dgates.len() == 4 * width);
    assert!(c_prev.len() == width && dc.len() == width && dc_prev.len() == width);
    let gate = |at: usize| &saved[at * width..(at + 1) * width];
    let (i, f, g, o, tanh_c) = (gate(0), gate(1), gate(2), gate(3), gate(4));
    let (di, rest) = dgates.split_at_mut(width);
    let (df, rest) = rest.split_at_mut(width);
    let (dg, d_o) = rest.split_at_mut(width);
    for j in 0..width {
        let dcell = dc[j] + dh[j] * o[j] * (1.0 - tanh_c[j] * tanh_c[j]);
        di[j] = dcell * g[j] * i[j] * (1.0 - i[j]);
        df[j] = dcell * c_prev[j] * f[j] * (1.0 - f[j]);
        dg[j] = dcell * i[j] * (1.0 - g[j] * g[j]);
        d_o[j] = dh[j] * tanh_c[j] * o[j] * (1.0 - o[j]);
        dc_prev[j] = dcell * f[j];
    }
}

#[inline(always)]
pub(super) fn gru_cell_row<const FMA: bool>(
    x_gates: &[f32],
    h_gates: &[f32],
    h_prev: &[f32],
    h: &mut [f32],
    saved: &mut [f32],
) {
    let width = h.len();
    assert!(x_gates.len() == 3 * width && h_gates.len() == 3 * width);
    assert!(saved.len() == 3 * width && h_prev.len() == width);
    let (gates, n) = saved.split_at_mut(2 * width);
    sigmoid_of_sum::<FMA>(gates, &x_gates[..2 * width], &h_gates[..2 * width]);
    let (r, z) = gates.split_at_mut(width);
    let (x_n, h_n) = (&x_gates[2 * width..], &h_gates[2 * width..]);
    for j in 0..width {
        n[j] = math::tanh::<FMA>(x_n[j] + r[j] * h_n[j]);
        h[j] = (1.0 - z[j]) * n[j] + z[j] * h_prev[j];
    }
}

#[inline(always)]
pub(super) fn gru_cell_backward_row<const FMA: bool>(
    saved: &[f32],
    h_gates: &[f32],
    h_prev: &[f32],
    dh: &[f32],
    [dx_gates, dh_gates, dh_prev]: [&mut [f32]; 3],
) {
    let width = dh.len();
    assert!(saved.len() == 3 * width && h_gates.len() == 3 * width && h_prev.len() == width);
    assert!(dx_gates.len() == 3 * width && dh_gates.len() == 3 * width && dh_prev.len() == width);
    let gate = |at: usize| &saved[at * width..(at + 1) * width];
    let (r, z, n, h_n) = (gate(0), gate(1), gate(2), &h_gates[2 * width..]);
    let (dr, rest) = dx_gates.split_at_mut(width);
    let (dz, dn) = rest.split_at_mut(width);
    for j in 0..width {
        dn[j] = dh[j] * (1.0 - z[j]) * (1.0 - n[j] * n[j]);
        dr[j] = dn[j] * h_n[j] * r[j] * (1.0 - r[j]);
        dz[j] = dh[j] * (h_prev[j] - n[j]) * z[j] * (1.0 - z[j]);
        dh_prev[j] = dh[j] * z[j];
    }
    dh_gates[..2 * width].copy_from_slice(&dx_gates[..2 * width]);
    let dn = &dx_gates[2 * width..];
    for ((out, &dn), &r) in dh_gates[2 * width..].iter_mut().zip(dn).zip(r) {
        *out = dn * r;
    }
}
