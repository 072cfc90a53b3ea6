//! The innermost loop of the matrix products: a few rows of A times one or more panels of B.
//!
//! Each element of C is what it starts from plus one chain of multiply-adds over the depth in order. A long depth is cut
//! at fixed places, and each block adds its chain to C; so the tile's shape does not change a bit.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use super::isa::Isa;
use crate::kernels::PANEL;

/// Operands of one tile, in elements.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    /// A's element (i, k) is at `a + i·a_row + k·a_depth`.
    pub(super) a: *const f32,
    pub(super) a_row: usize,
    pub(super) a_depth: usize,
    /// The panel at the first depth; the next panel is `b_panel` further.
    pub(super) b: *const f32,
    pub(super) b_panel: usize,
    pub(super) depth: usize,
    /// What the sums are added to is at `from + i·from_row + column`.
    pub(super) from: *const f32,
    pub(super) from_row: usize,
    /// C's element (i, column) is at `c + i·c_row + column`.
    pub(super) c: *mut f32,
    pub(super) c_row: usize,
    pub(super) rows: usize,
    pub(super) panels: usize,
}

/// Most elements of a tile.
pub(super) const MOST: usize = 24 * PANEL;

/// Most panels of a tile.
pub(super) const MOST_PANELS: usize = 8;

/// The loop of an instruction set, with the tiles that it takes.
#[derive(Clone, Copy)]
pub(super) struct Kernel {
    /// Computes a tile of 1 to `rows` rows and 1 to `panels(rows)` panels.
    ///
    /// # Safety
    /// All that the [`Tile`] describes must lie in live memory, nobody else may use its part of C, and C and the start
    /// may be the same but not overlap otherwise.
    pub(super) run: unsafe fn(&Tile),
    /// Most rows in a tile.
    pub(super) rows: usize,
    /// Panels that a tile of so many rows takes at once: a chain waits 4 cycles for each link, so that about 8 registers
    /// of sums are needed to keep two multiply-add units busy.
    pub(super) panels: fn(usize) -> usize,
}

/// The kernel of an instruction set.
pub(super) fn kernel(isa: Isa) -> Kernel {
    #[cfg(target_arch = "x86_64")]
    if isa.is_avx512() {
        return Kernel {
            run: |tile| {
                // SAFETY: `isa` is AVX-512 only where the processor has it; the rest is the caller's promise.
                unsafe { avx512::tile(tile) }
            },
            rows: avx512::ROWS,
            panels: avx512::panels,
        };
    }
    #[cfg(target_arch = "x86_64")]
    if isa.is_avx2() {
        return Kernel {
            run: |tile| {
                // SAFETY: `isa` is AVX2 only where the processor has it; the rest is the caller's promise.
                unsafe { avx2::tile(tile) }
            },
            rows: avx2::ROWS,
            panels: avx2::panels,
        };
    }
    let _ = isa;
    Kernel { run: portable, rows: 6, panels: |_| 1 }
}

/// The kernel in plain Rust.
///
/// # Safety
/// As [`Kernel::run`] says.
unsafe fn portable(t: &Tile) {
    for (row, panel) in (0..t.rows).flat_map(|row| (0..t.panels).map(move |panel| (row, panel))) {
        // SAFETY: within the tile, as the caller promises.
        unsafe {
            let (a, b) = (t.a.add(row * t.a_row), t.b.add(panel * t.b_panel).cast::<[f32; PANEL]>());
            let mut sums = [0.0; PANEL];
            for k in 0..t.depth {
                let (a, line) = (*a.add(k * t.a_depth), &*b.add(k));
                for (sum, b) in sums.iter_mut().zip(line) {
                    *sum = super::math::fma::<{ super::isa::PORTABLE_FMA }>(a, *b, *sum);
                }
            }
            let from = &*t.from.add(row * t.from_row + panel * PANEL).cast::<[f32; PANEL]>();
            let c = std::array::from_fn(|lane| from[lane] + sums[lane]);
            *t.c.add(row * t.c_row + panel * PANEL).cast::<[f32; PANEL]>() = c;
        }
    }
}
