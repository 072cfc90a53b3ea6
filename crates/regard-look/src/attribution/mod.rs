//! What a word of a translation is owed to: the same table of every method, over the source and the words before.

mod alti;
mod gradient;
mod integrated;
mod internals;
mod norms;
mod occlusion;
mod subject;
#[cfg(test)]
mod tests;
mod value_zeroing;
mod words;

use serde::{Deserialize, Serialize};

pub use gradient::{StateGradient, state_gradient};
pub use integrated::{Completeness, Integrated, IntegratedOptions, integrated_gradients};
pub use subject::Subject;

use crate::error::Result;

/// How it is measured. f is log p of a target token, e the vector of a word as the table has it, g the gradient of f with respect
/// to e under teacher forcing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// |Σ g ∘ e| (Jain & Wallace 2019, Ding et al. 2019).
    GradientInput,
    /// ‖g ∘ e‖₂, which the field's toolkit reports under the same name.
    #[serde(rename = "gradient-input-l2")]
    GradientInputL2,
    /// Integrated gradients, from vectors of `<unk>` (Sundararajan et al. 2017): signed, and their sum is f(e) − f(e′).
    IntegratedGradients,
    /// |Σ ḡ ∘ e| with the mean ḡ of gradients at noisy vectors (Smilkov et al. 2017).
    SmoothGrad,
    /// f minus f with the word replaced by `<unk>`: signed.
    Occlusion,
    /// 1 − cos of what an attention returns with and without the value of a position (Mohebbi et al. 2023).
    ValueZeroing,
    /// `‖Σ_h α (v W_O)‖₂` of the decoder's look at the source (Kobayashi et al. 2020).
    Norm,
    /// ALTI+ (Ferrando et al. 2022): how much of each layer's output a position is, through all layers.
    Alti,
    /// Attention rollout (Abnar & Zuidema 2020), with the mean of heads.
    Rollout,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::GradientInput,
        Self::GradientInputL2,
        Self::IntegratedGradients,
        Self::SmoothGrad,
        Self::Occlusion,
        Self::ValueZeroing,
        Self::Norm,
        Self::Alti,
        Self::Rollout,
    ];

    /// What it is called, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::GradientInput => "gradient-input",
            Self::GradientInputL2 => "gradient-input-l2",
            Self::IntegratedGradients => "integrated-gradients",
            Self::SmoothGrad => "smooth-grad",
            Self::Occlusion => "occlusion",
            Self::ValueZeroing => "value-zeroing",
            Self::Norm => "norm",
            Self::Alti => "alti",
            Self::Rollout => "rollout",
        }
    }

    /// The method of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    /// The formula in one line.
    #[must_use]
    pub fn definition(self) -> &'static str {
        match self {
            Self::GradientInput => "|sum of (gradient of log p) x (word vector)|",
            Self::GradientInputL2 => "L2 norm of (gradient of log p) x (word vector)",
            Self::IntegratedGradients => {
                "integrated gradients of log p from the vector of <unk>, signed; their sum is log p minus that of the baseline"
            }
            Self::SmoothGrad => {
                "|sum of (mean gradient of log p at 30 noisy vectors, sigma 0.15 of their range) x (word vector)|"
            }
            Self::Occlusion => "log p minus log p with the word replaced by <unk>, signed",
            Self::ValueZeroing => {
                "1 - cosine of what the last look at the source returns with and without the value of a position"
            }
            Self::Norm => {
                "L2 norm of the weighted, transformed value of a position in the last look at the source"
            }
            Self::Alti => "ALTI+: share of a position in the decoder's output, through all attention blocks",
            Self::Rollout => "attention rollout: mean of heads, half of each layer is what goes around it",
        }
    }
}

/// A table: one row a target token. A method that knows nothing of a side leaves it empty.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attribution {
    /// How it was measured.
    pub method: Method,
    /// The formula in one line.
    pub definition: &'static str,
    /// `[target tokens, source tokens]`, end symbols included.
    pub source: Vec<Vec<f64>>,
    /// `[target tokens, target tokens]`: column j is the word that stands before token j, the start symbol at first. What comes
    /// later is 0.
    pub target: Vec<Vec<f64>>,
    /// Of integrated gradients: how far they are from complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completeness: Option<Completeness>,
}

/// Attributes every target token of a subject.
///
/// # Errors
/// [`LookError::Unfit`](crate::LookError::Unfit) where the method is not made for such a model, and what the model says.
pub fn attribute(subject: &Subject, method: Method) -> Result<Attribution> {
    let mut completeness = None;
    let (source, target) = match method {
        Method::GradientInput => gradient::gradient_input(subject, gradient::absolute_sum)?,
        Method::GradientInputL2 => gradient::gradient_input(subject, gradient::l2)?,
        Method::SmoothGrad => gradient::smooth(subject)?,
        Method::IntegratedGradients => {
            let found = integrated_gradients(subject, IntegratedOptions::default())?;
            completeness = Some(found.completeness);
            (found.source, found.target)
        }
        Method::Occlusion => occlusion::occlusion(subject)?,
        Method::ValueZeroing => (value_zeroing::value_zeroing(subject)?, Vec::new()),
        Method::Norm => (norms::norms(subject)?, Vec::new()),
        Method::Alti => alti::alti(subject)?,
        Method::Rollout => alti::rollout(subject)?,
    };
    Ok(Attribution { method, definition: method.definition(), source, target, completeness })
}
