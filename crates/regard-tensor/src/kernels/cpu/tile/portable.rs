//! Tiles in plain Rust.

use super::{Form, Kernel, Scales, Tile};
use crate::kernels::PANEL;
use crate::kernels::cpu::{isa, math};

/// Most rows in a tile.
const ROWS: usize = 6;

pub(super) fn kernel(form: Form) -> Kernel {
    let run: unsafe fn(&Tile) = match form {
        Form::F32 => f32s,
        Form::Bf16 => bf16s,
        Form::Int8 => int8s,
    };
    Kernel { run, rows: ROWS, panels: |_| 1, flip: 0 }
}

/// # Safety
/// As [`Kernel::run`] says.
unsafe fn f32s(t: &Tile) {
    // SAFETY: handed on to the caller.
    unsafe { tile(t, |sum, a, b| multiply_add(f32::from_bits(a), f32::from_bits(b), sum), |_, _, sum| sum) }
}

/// # Safety
/// As [`Kernel::run`] says.
unsafe fn bf16s(t: &Tile) {
    let [low, high] =
        [|word: u32| f32::from_bits(word << 16), |word: u32| f32::from_bits(word & 0xFFFF_0000)];
    let step = |sum, a, b| multiply_add(low(a), low(b), multiply_add(high(a), high(b), sum));
    // SAFETY: handed on to the caller.
    unsafe { tile(t, step, |_, _, sum| sum) }
}

/// # Safety
/// As [`Kernel::run`] says.
unsafe fn int8s(t: &Tile) {
    let step = |sum: f32, a: u32, b: u32| {
        let products = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
        let products = products.map(|(a, b)| i32::from(a.cast_signed()) * i32::from(b.cast_signed()));
        f32::from_bits(sum.to_bits().wrapping_add_signed(products.sum()))
    };
    let Scales { rows, columns, .. } = t.scales;
    let number = |row, column, sum: f32| {
        // SAFETY: within the tile, as the caller promises.
        let scale = unsafe { *rows.add(row) * *columns.add(column) };
        sum.to_bits().cast_signed() as f32 * scale
    };
    // SAFETY: handed on to the caller.
    unsafe { tile(t, step, number) }
}

fn multiply_add(a: f32, b: f32, c: f32) -> f32 {
    math::fma::<{ isa::PORTABLE_FMA }>(a, b, c)
}

/// The tile with `step` for a word of A and of B, and `number` for what the sum of a row and a column in the end is.
///
/// # Safety
/// As [`Kernel::run`] says.
#[inline]
unsafe fn tile(t: &Tile, step: impl Fn(f32, u32, u32) -> f32, number: impl Fn(usize, usize, f32) -> f32) {
    for (row, panel) in (0..t.rows).flat_map(|row| (0..t.panels).map(move |panel| (row, panel))) {
        // SAFETY: within the tile, as the caller promises.
        unsafe {
            let (a, b) = (t.a.add(row * t.a_row), t.b.add(panel * t.b_panel).cast::<[u32; PANEL]>());
            let mut sums = [0.0; PANEL];
            for k in 0..t.depth {
                let (a, line) = (*a.add(k * t.a_depth), &*b.add(k));
                for (sum, &b) in sums.iter_mut().zip(line) {
                    *sum = step(*sum, a, b);
                }
            }
            let from = &*t.from.add(row * t.from_row + panel * PANEL).cast::<[f32; PANEL]>();
            let c = std::array::from_fn(|lane| from[lane] + number(row, panel * PANEL + lane, sums[lane]));
            *t.c.add(row * t.c_row + panel * PANEL).cast::<[f32; PANEL]>() = c;
        }
    }
}
