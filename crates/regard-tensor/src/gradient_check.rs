//! Gradients against central differences, in f64.

use crate::{Result, Tape, Tensor, Threads, Var, ops};

/// Half the distance of the two points of a difference.
const STEP: f64 = 1e-5;

/// The largest relative error of any gradient of `function` at `inputs`, against central differences.
///
/// The outputs of `function` are made one number by a weighted sum with fixed weights that differ from each other, so
/// that no two errors cancel. The error of an element is |g - g'| / max(1, |g|, |g'|).
///
/// # Errors
/// Where `function` fails.
pub fn gradient_error(
    inputs: &[Tensor<f64>],
    function: impl Fn(&Tape<f64>, &[Var<f64>]) -> Result<Vec<Var<f64>>>,
) -> Result<f64> {
    let threads = Threads::single();
    let tape = Tape::new(&threads);
    let leaves: Vec<_> = inputs.iter().map(|input| tape.leaf(input.clone())).collect();
    let loss = weighted(&tape, &function(&tape, &leaves)?)?;
    let gradients = tape.backward(&loss)?;
    let mut worst: f64 = 0.0;
    for (index, leaf) in leaves.iter().enumerate() {
        let gradient = gradients.get(leaf).unwrap_or_else(|| Tensor::zeros(leaf.shape()));
        for element in 0..leaf.shape().len() {
            let at = |offset: f64| -> Result<f64> {
                let mut moved = inputs.to_vec();
                moved[index].values_mut()[element] += offset;
                let tape = Tape::inference(&threads);
                let moved: Vec<_> = moved.into_iter().map(Var::constant).collect();
                Ok(weighted(&tape, &function(&tape, &moved)?)?.value().item())
            };
            let expected = (at(STEP)? - at(-STEP)?) / (2.0 * STEP);
            let found = gradient.values()[element];
            worst = worst.max((found - expected).abs() / expected.abs().max(found.abs()).max(1.0));
        }
    }
    Ok(worst)
}

fn weighted(tape: &Tape<f64>, outputs: &[Var<f64>]) -> Result<Var<f64>> {
    let mut total = Var::constant(Tensor::scalar(0.0));
    for output in outputs {
        let weights = Tensor::build(output.shape(), |values| {
            for (index, value) in values.iter_mut().enumerate() {
                *value = ((index * 7 + 3) as f64).sin() + 0.2;
            }
        });
        let product = ops::mul(tape, output, &Var::constant(weights))?;
        total = ops::add(tape, &total, &ops::sum(tape, &product)?)?;
    }
    Ok(total)
}
