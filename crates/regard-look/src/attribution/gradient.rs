//! Gradients of log p with respect to word vectors and encoder states.

use regard_model::{Place, Row, Scored};
use regard_tensor::{Tape, random};

use super::subject::{Rows, Subject};
use super::words::{Vectors, WORDS};
use crate::draws::normal;
use crate::error::Result;

/// Noisy copies for smooth gradients.
const COPIES: u64 = 30;

/// Their standard deviation, as a part of the range of the vectors' values.
const NOISE: f32 = 0.15;

/// What becomes of a vector and its gradient: a number.
pub(super) type Reading = fn(&[f32], &[f32]) -> f64;

pub(super) fn sum(vector: &[f32], gradient: &[f32]) -> f64 {
    vector.iter().zip(gradient).map(|(&e, &g)| f64::from(e) * f64::from(g)).sum()
}

pub(super) fn absolute_sum(vector: &[f32], gradient: &[f32]) -> f64 {
    sum(vector, gradient).abs()
}

pub(super) fn l2(vector: &[f32], gradient: &[f32]) -> f64 {
    let squares = vector.iter().zip(gradient).map(|(&e, &g)| (f64::from(e) * f64::from(g)).powi(2));
    squares.sum::<f64>().sqrt()
}

/// A reading of every word of both sides, for every target token.
pub(super) fn gradient_input(subject: &Subject, reading: Reading) -> Result<(Rows, Rows)> {
    let vectors = Vectors::of(WORDS);
    let mut tables = Tables::new(subject);
    tables.add(subject, &vectors, |_, _, vector, gradient| reading(vector, gradient))?;
    Ok((tables.source, tables.target))
}

/// Zeros, to which readings are added.
pub(super) struct Tables {
    pub(super) source: Rows,
    pub(super) target: Rows,
}

impl Tables {
    pub(super) fn new(subject: &Subject) -> Self {
        let (rows, positions) = (subject.target.len(), subject.source.len());
        Self { source: vec![vec![0.0; positions]; rows], target: vec![vec![0.0; rows]; rows] }
    }

    /// Adds readings at the vectors that `vectors` makes.
    pub(super) fn add(
        &mut self,
        subject: &Subject,
        vectors: &Vectors,
        reading: impl Fn(Place, &Row, &[f32], &[f32]) -> f64,
    ) -> Result<()> {
        let tape = Tape::new(subject.threads);
        let loss = subject.log_prob(&tape, &subject.prefixes(), Scored::Last, vectors)?;
        let gradients = tape.backward(&loss)?;
        for &place in WORDS {
            let table = if place == Place::SourceWords { &mut self.source } else { &mut self.target };
            vectors.with_gradients(place, &gradients, |row, vector, gradient| {
                // Row t of the batch ends with token t, and reads the words before it.
                let is_read = place == Place::SourceWords || row.position <= row.sentence;
                let cell = table.get_mut(row.sentence).and_then(|cells| cells.get_mut(row.position));
                if let Some(cell) = cell.filter(|_| is_read) {
                    *cell += reading(place, row, vector, gradient);
                }
            });
        }
        Ok(())
    }
}

/// |Σ ḡ ∘ e| with the mean ḡ of gradients at [`COPIES`] noisy vectors.
pub(super) fn smooth(subject: &Subject) -> Result<(Rows, Rows)> {
    let plain = plain_vectors(subject)?;
    let mut tables = Tables::new(subject);
    for copy in 0..COPIES {
        let vectors = Vectors::changed(WORDS, |place, row, vector| {
            let key = random::mix(random::mix(copy, place_key(place)), row.position as u64);
            for (index, value) in vector.iter_mut().enumerate() {
                *value += NOISE * plain.range(place) * normal(key, index as u64) as f32;
            }
        });
        tables.add(subject, &vectors, |place, row, _, gradient| {
            sum(plain.vector(place, row.position), gradient) / COPIES as f64
        })?;
    }
    let absolute = |rows: Rows| rows.into_iter().map(|row| row.into_iter().map(f64::abs).collect()).collect();
    Ok((absolute(tables.source), absolute(tables.target)))
}

fn place_key(place: Place) -> u64 {
    u64::from(place == Place::TargetWords)
}

/// The vectors of the words as the table has them.
pub(super) struct Plain {
    source: Vec<Vec<f32>>,
    target: Vec<Vec<f32>>,
}

pub(super) fn plain_vectors(subject: &Subject) -> Result<Plain> {
    let vectors = Vectors::of(WORDS);
    subject.log_prob(&Tape::inference(subject.threads), &subject.pair(), Scored::All, &vectors)?;
    let side = |place, count: usize| {
        let mut taken = vectors.taken(place);
        (0..count).map(|position| taken.remove(&(0, position)).unwrap_or_default()).collect()
    };
    Ok(Plain {
        source: side(Place::SourceWords, subject.source.len()),
        target: side(Place::TargetWords, subject.target.len()),
    })
}

impl Plain {
    fn side(&self, place: Place) -> &[Vec<f32>] {
        if place == Place::SourceWords { &self.source } else { &self.target }
    }

    /// The vector at a position; nothing at padding.
    pub(super) fn vector(&self, place: Place, position: usize) -> &[f32] {
        self.side(place).get(position).map_or(&[], Vec::as_slice)
    }

    /// Largest value minus smallest.
    fn range(&self, place: Place) -> f32 {
        let values = || self.side(place).iter().flatten().copied();
        values().fold(f32::MIN, f32::max) - values().fold(f32::MAX, f32::min)
    }
}

/// |Σ g ∘ h| of the encoder's states h, where attention acts.
pub type StateGradient = Vec<Vec<f64>>;

/// |Σ g ∘ h| of each encoder state h for each target token, where the weights of attentions count as constants
/// (Jain & Wallace 2019): `[target tokens, source tokens]`.
///
/// # Errors
/// What the model says.
pub fn state_gradient(subject: &Subject) -> Result<StateGradient> {
    let vectors = Vectors::of(&[Place::Memory]).with_constant_attention();
    let tape = Tape::new(subject.threads);
    let loss = subject.log_prob(&tape, &subject.prefixes(), Scored::Last, &vectors)?;
    let gradients = tape.backward(&loss)?;
    let mut table = Tables::new(subject).source;
    vectors.with_gradients(Place::Memory, &gradients, |row, vector, gradient| {
        if let Some(cell) = table.get_mut(row.sentence).and_then(|cells| cells.get_mut(row.position)) {
            *cell = absolute_sum(vector, gradient);
        }
    });
    Ok(table)
}
