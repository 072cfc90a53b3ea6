//! How a word's place is told: vectors that are added to its embedding.

use regard_tensor::ops;
use regard_tensor::{List, Tensor, Var};

use crate::config::{Positions, TransformerConfig};
use crate::error::Result;
use crate::parameters::{Builder, ParameterId};
use crate::pass::Pass;

/// A vector for each place; or none, where the place is told elsewhere.
pub(crate) enum PositionVectors {
    None,
    Sinusoidal(Waves),
    Learned { table: ParameterId, places: usize },
}

/// The frequencies of sinusoids, and where they stand.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Waves {
    /// n = width / 2; sine and cosine in turn.
    InTurn,
    /// The same, all sines first.
    Halves,
    /// n = width / 2 − 1, all sines first. The width is at least 4.
    Tensor2tensor,
}

impl PositionVectors {
    pub(crate) fn new(builder: &mut Builder, name: &str, config: &TransformerConfig) -> Self {
        let places = config.max_positions;
        match config.positions {
            Positions::Rotary => Self::None,
            Positions::Sinusoidal => Self::Sinusoidal(Waves::InTurn),
            Positions::SinusoidalHalves => Self::Sinusoidal(Waves::Halves),
            Positions::SinusoidalTensor2tensor => Self::Sinusoidal(Waves::Tensor2tensor),
            Positions::Learned => Self::Learned {
                table: builder.table(&format!("{name}.weight"), places, config.d_model),
                places,
            },
        }
    }

    /// `x` `[rows, width]`, whose rows have the `positions` in turn, with the vectors added.
    pub(crate) fn add(&self, pass: &Pass, x: &Var, positions: &[usize]) -> Result<Var> {
        let vectors = match *self {
            Self::None => return Ok(x.clone()),
            Self::Sinusoidal(layout) => Var::constant(sinusoids(x, positions, layout)),
            Self::Learned { table, places } => {
                let place = |row: usize| positions[row % positions.len()].min(places - 1) as u32;
                let ids: List<u32> = (0..x.shape().rows()).map(place).collect();
                ops::embedding(pass.tape, pass.weight(table), &ids)?
            }
        };
        Ok(ops::add(pass.tape, x, &vectors)?)
    }
}

/// The vectors of rows like `x`'s, which have the `positions` in turn.
fn sinusoids(x: &Var, positions: &[usize], layout: Waves) -> Tensor {
    let width = x.shape().last();
    Tensor::build(x.shape(), |out| {
        if out.is_empty() {
            return;
        }
        let (first, others) = out.split_at_mut(positions.len() * width);
        for (place, &position) in positions.iter().enumerate() {
            let (before, vector) = first[..(place + 1) * width].split_at_mut(place * width);
            // In one step all hypotheses are at the same place.
            match place.checked_sub(1).filter(|&last| positions[last] == position) {
                Some(last) => vector.copy_from_slice(&before[last * width..]),
                None => waves(position, layout, vector),
            }
        }
        for out in others.chunks_exact_mut(first.len()) {
            out.copy_from_slice(first);
        }
    })
}

/// sin(p · f) and cos(p · f) for the frequencies f = 10000^(−i / n).
pub(crate) fn waves(position: usize, layout: Waves, vector: &mut [f32]) {
    vector.fill(0.0);
    let half = vector.len() / 2;
    let n = if layout == Waves::Tensor2tensor { half - 1 } else { half };
    for i in 0..half {
        let angle = position as f64 * 10_000_f64.powf(-(i as f64) / n as f64);
        let (sine, cosine) = if layout == Waves::InTurn { (2 * i, 2 * i + 1) } else { (i, half + i) };
        vector[sine] = angle.sin() as f32;
        vector[cosine] = angle.cos() as f32;
    }
}
