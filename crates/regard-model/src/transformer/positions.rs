//! How a word's place is told: vectors that are added to its embedding.

use regard_tensor::ops;
use regard_tensor::{Tensor, Var};

use crate::config::{Positions, TransformerConfig};
use crate::error::Result;
use crate::parameters::{Builder, ParameterId};
use crate::pass::Pass;

/// A vector for each place; or none, where the place is told elsewhere.
pub(crate) enum PositionVectors {
    None,
    Sinusoidal { halves: bool },
    Learned { table: ParameterId, places: usize },
}

impl PositionVectors {
    pub(crate) fn new(builder: &mut Builder, name: &str, config: &TransformerConfig) -> Self {
        let places = config.max_positions;
        match config.positions {
            Positions::Rotary => Self::None,
            Positions::Sinusoidal => Self::Sinusoidal { halves: false },
            Positions::SinusoidalHalves => Self::Sinusoidal { halves: true },
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
            Self::Sinusoidal { halves } => Var::constant(sinusoids(x, positions, halves)),
            Self::Learned { table, places } => {
                let ids: Vec<u32> = positions.iter().map(|&p| p.min(places - 1) as u32).collect();
                let ids: Vec<u32> = ids.iter().copied().cycle().take(x.shape().rows()).collect();
                ops::embedding(pass.tape, pass.weight(table), &ids)?
            }
        };
        Ok(ops::add(pass.tape, x, &vectors)?)
    }
}

/// The vectors of rows like `x`'s, which have the `positions` in turn.
fn sinusoids(x: &Var, positions: &[usize], halves: bool) -> Tensor {
    let width = x.shape().last();
    let mut period = Vec::with_capacity(positions.len() * width);
    let (mut last, mut vector) = (None, Vec::new());
    for &position in positions {
        // In one step all hypotheses are at the same place.
        if last != Some(position) {
            (last, vector) = (Some(position), waves(position, width, halves));
        }
        period.extend_from_slice(&vector);
    }
    Tensor::build(x.shape(), |out| {
        for out in out.chunks_exact_mut(period.len().max(1)) {
            out.copy_from_slice(&period);
        }
    })
}

/// sin(p · f) and cos(p · f) for the frequencies f = 10000^(−2i / width), in turn or all sines first.
pub(crate) fn waves(position: usize, width: usize, halves: bool) -> Vec<f32> {
    let mut vector = vec![0.0; width];
    for i in 0..width / 2 {
        let angle = position as f64 * 10_000_f64.powf(-2.0 * i as f64 / width as f64);
        let (sine, cosine) = if halves { (i, width / 2 + i) } else { (2 * i, 2 * i + 1) };
        vector[sine] = angle.sin() as f32;
        vector[cosine] = angle.cos() as f32;
    }
    vector
}
