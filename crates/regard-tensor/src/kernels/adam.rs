//! The numbers of an optimizer step.

/// One step of Adam (Kingma & Ba, arXiv:1412.6980) with decoupled weight decay (`AdamW`, arXiv:1711.05101), as `PyTorch`
/// applies it: p −= ηλp; m = β₁m + (1−β₁)g; v = β₂v + (1−β₂)g²; p −= η/c₁ · m / (√(v/c₂) + ε).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamNumbers {
    /// η.
    pub learning_rate: f64,
    /// β₁, the decay of the first moment.
    pub beta1: f64,
    /// β₂, the decay of the second moment.
    pub beta2: f64,
    /// ε.
    pub epsilon: f64,
    /// λ; 0 for plain Adam.
    pub weight_decay: f64,
    /// c₁ = 1 − β₁ᵗ at step t, counted from 1.
    pub correction1: f64,
    /// c₂ = 1 − β₂ᵗ.
    pub correction2: f64,
}

impl AdamNumbers {
    /// The constants of the loop: β₁, β₂, 1−β₁, 1−β₂, 1−ηλ, η/c₁, 1/√c₂, ε.
    pub(crate) fn factors(&self) -> [f64; 8] {
        let keep = 1.0 - self.learning_rate * self.weight_decay;
        let (rate, root) = (self.learning_rate / self.correction1, 1.0 / self.correction2.sqrt());
        [self.beta1, self.beta2, 1.0 - self.beta1, 1.0 - self.beta2, keep, rate, root, self.epsilon]
    }
}
