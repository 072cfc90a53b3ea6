//! The innermost loop of the matrix products: a few rows of A times one or more panels of B.
//!
//! A and B are made of words of 32 bits, each one number or several of neighbouring depths ([`Form`]). Each element of C
//! is what it starts from plus one chain of multiply-adds over the depth in order. A long depth is cut at fixed places,
//! and each block adds its chain to C; so the tile's shape does not change a bit.

/// The function for a number of rows and panels, written out for those that are given.
#[cfg(target_arch = "x86_64")]
macro_rules! strips {
    ($t:ident: $($rows:literal => [$($panels:literal)*])*) => {
        match ($t.rows, $t.panels) {
            $($(($rows, $panels) => strip::<$rows, $panels>($t),)*)*
            (rows, panels) => unreachable!("a tile of {rows} rows and {panels} panels"),
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use super::isa::Isa;
use crate::kernels::PANEL;

/// How many words ahead B is asked for: a page, as the processor's own reading ahead stops at its end.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 1024;

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One f32.
    F32,
    /// Two bf16, the first one low; the sums are f32.
    Bf16,
    /// Four bytes, the first one lowest, signed but for A's where [`Kernel::flip`] says so. Their sums are integers, which
    /// [`Scales`] make numbers of.
    Int8,
}

/// Operands of one tile, in words.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    /// A's word (i, k) is at `a + i·a_row + k·a_depth`.
    pub(super) a: *const u32,
    pub(super) a_row: usize,
    pub(super) a_depth: usize,
    /// The panel at the first depth; the next panel is `b_panel` further.
    pub(super) b: *const u32,
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
    pub(super) scales: Scales,
}

/// What the sums of bytes stand for, by row and by column of the tile: `(sum − offset)·(row's scale · column's scale)`.
#[derive(Clone, Copy)]
pub(super) struct Scales {
    pub(super) rows: *const f32,
    /// For all columns of the tile's panels, as the next.
    pub(super) columns: *const f32,
    /// Read only by a kernel whose [`flip`](Kernel::flip) made the bytes of A too large.
    pub(super) offsets: *const i32,
}

impl Scales {
    /// Those of sums that are numbers already: nobody reads them.
    pub(super) const NONE: Self =
        Self { rows: std::ptr::null(), columns: std::ptr::null(), offsets: std::ptr::null() };
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
    /// The processor must have the instruction set. All that the [`Tile`] describes must lie in live memory, nobody else may
    /// use its part of C, and C and the start may be the same but not overlap otherwise.
    pub(super) run: unsafe fn(&Tile),
    /// Most rows in a tile.
    pub(super) rows: usize,
    /// Panels that a tile of so many rows takes at once: a chain waits 4 cycles for each link, so that about 8 registers
    /// of sums are needed to keep two multiply-add units busy.
    pub(super) panels: fn(usize) -> usize,
    /// The bits of A's words that must be turned over for this kernel. The highest of each byte adds 128, for instructions
    /// that take bytes without sign.
    pub(super) flip: u32,
}

/// The kernel of an instruction set for a form of word.
pub(super) fn kernel(isa: Isa, form: Form) -> Kernel {
    #[cfg(target_arch = "x86_64")]
    {
        let has_it = match form {
            Form::F32 => isa.is_avx512(),
            Form::Bf16 => isa.has_bf16(),
            Form::Int8 => isa.has_vnni(),
        };
        if has_it {
            return avx512::kernel(form);
        }
        if isa.has_avx2() {
            return avx2::kernel(form);
        }
    }
    let _ = isa;
    portable::kernel(form)
}
