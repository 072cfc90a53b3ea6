//! Averages of weights: a moving one during training, and the mean of several models.

use regard_model::Parameters;
use regard_tensor::Tensor;

use crate::error::{Result, TrainError};

/// An exponential moving average of the weights (Polyak & Juditsky 1992).
///
/// After update t (from 1) average = d · average + (1 − d) · weight, with d = min(decay, (1 + t) / (10 + t)), so that the
/// first weights are soon forgotten.
#[derive(Clone, Debug)]
pub struct Ema {
    decay: f64,
    step: u64,
    values: Vec<Tensor>,
}

impl Ema {
    /// An average that starts at these weights.
    #[must_use]
    pub fn new(decay: f64, weights: &[Tensor]) -> Self {
        Self { decay, step: 0, values: weights.to_vec() }
    }

    /// An average that goes on from a stored one.
    #[must_use]
    pub fn restore(decay: f64, step: u64, values: Vec<Tensor>) -> Self {
        Self { decay, step, values }
    }

    /// Takes in the weights after an update.
    pub fn update(&mut self, weights: &[Tensor]) {
        self.step += 1;
        let t = self.step as f64;
        let keep = self.decay.min((1.0 + t) / (10.0 + t));
        let (keep, rest) = (keep as f32, (1.0 - keep) as f32);
        for (average, weight) in self.values.iter_mut().zip(weights) {
            for (average, &weight) in average.values_mut().iter_mut().zip(weight.values()) {
                *average = keep * *average + rest * weight;
            }
        }
    }

    /// Updates taken in.
    #[must_use]
    pub fn step(&self) -> u64 {
        self.step
    }

    /// The averages, in the order of the weights.
    #[must_use]
    pub fn values(&self) -> &[Tensor] {
        &self.values
    }

    /// The averages, to be exchanged with the weights and back.
    pub(crate) fn values_mut(&mut self) -> &mut [Tensor] {
        &mut self.values
    }
}

/// The mean of the weights of several models of one kind, summed in f64.
///
/// # Errors
/// Where there is no model, or the models have weights of different names or shapes.
pub fn average(models: &[&Parameters]) -> Result<Parameters> {
    let Some((&first, others)) = models.split_first() else {
        return Err(TrainError::Average("no model was given".to_owned()));
    };
    for (place, other) in others.iter().enumerate() {
        let shapes = |model: &Parameters| model.values().iter().map(Tensor::shape).collect::<Vec<_>>();
        if other.names() != first.names() || shapes(other) != shapes(first) {
            return Err(TrainError::Average(format!("model {} has other weights than model 1", place + 2)));
        }
    }
    let mut mean = first.clone();
    for (index, value) in mean.values_mut().iter_mut().enumerate() {
        let mut sum: Vec<f64> = value.values().iter().map(|&x| f64::from(x)).collect();
        for other in others.iter().filter_map(|other| other.values().get(index)) {
            sum.iter_mut().zip(other.values()).for_each(|(sum, &x)| *sum += f64::from(x));
        }
        for (value, sum) in value.values_mut().iter_mut().zip(sum) {
            *value = (sum / models.len() as f64) as f32;
        }
    }
    Ok(mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moving_average_follows() {
        let tensor = |x: f32| vec![Tensor::new([1], vec![x]).unwrap()];
        let mut ema = Ema::new(0.25, &tensor(0.0));
        // d = 2/11, then 0.25 (below 3/12), then 0.25.
        ema.update(&tensor(11.0));
        assert!((ema.values()[0].item() - 9.0).abs() < 1e-5);
        ema.update(&tensor(1.0));
        assert!((ema.values()[0].item() - 3.0).abs() < 1e-5);
        ema.update(&tensor(3.0));
        assert!((ema.values()[0].item() - 3.0).abs() < 1e-5);
        assert_eq!(ema.step(), 3);
        let mut restored = Ema::restore(0.25, 3, ema.values().to_vec());
        restored.update(&tensor(7.0));
        ema.update(&tensor(7.0));
        assert_eq!(restored.values()[0].values(), ema.values()[0].values());
    }
}
