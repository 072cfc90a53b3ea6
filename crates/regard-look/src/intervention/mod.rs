//! What can be changed inside a model while it runs, as data: the command line, an address, a request and a test share it.

pub(crate) mod check;
mod donor;
mod grammar;
mod hook;
mod list;
mod rows;

use regard_model::SiteKind;
use serde::{Deserialize, Serialize};

pub use grammar::{GrammarError, is_temperature};
pub use hook::Interventions;

/// One change: what is done, and where. Its text form is `ACTION[:ARGUMENTS][@WHERE]`.
///
/// ```
/// use regard_look::{Action, Intervention};
/// let remove: Intervention = "remove:src=3@step=5".parse()?;
/// assert_eq!(remove.action, Action::Remove { positions: vec![3], renormalise: true });
/// assert_eq!(remove.to_string(), "remove:src=3@step=5");
/// # Ok::<(), regard_look::GrammarError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Intervention {
    /// What is done.
    pub action: Action,
    /// Where.
    pub reach: Reach,
}

/// What is done. Scores are changed before the softmax, weights after it; positions count from 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// `temperature:T` divides the scores by T.
    Temperature(f32),
    /// `remove:src=P,…` takes positions away: their scores count as -∞. With `renormalise=false` their weights become 0 and the
    /// others stay.
    Remove {
        /// The positions.
        positions: Vec<usize>,
        /// Whether the other weights grow, so that the row still sums to 1.
        renormalise: bool,
    },
    /// `force:src=P` gives all weight to one position.
    Force {
        /// The position.
        position: usize,
    },
    /// `row:W0,W1,…` puts these weights, one a position.
    Row(Vec<f32>),
    /// `uniform` gives every position the same weight.
    Uniform,
    /// `permute:seed=N` shuffles the weights of each row; with `of=scores` its scores.
    Permute {
        /// Which shuffle.
        seed: u64,
        /// What is shuffled.
        of: Stage,
    },
    /// `hard` gives all weight to the strongest position, the first of equals.
    Hard,
    /// `previous` puts the weights that the step before had computed; the first step keeps its own.
    Previous,
    /// `last` gives all weight to the last position.
    Last,
    /// `attention-of:text=SENTENCE` puts the weights that the model has, step by step, while it translates another sentence of
    /// the same length; steps that it does not have keep their own.
    AttentionOf {
        /// The other sentence.
        text: String,
    },
    /// `state:src=P,from=Q,text=SENTENCE` lets the decoder read another sentence's encoder state at a position.
    State {
        /// The position in this sentence.
        position: usize,
        /// The position in the other one.
        from: usize,
        /// The other sentence.
        text: String,
    },
    /// `remove-head` puts zeros in place of what the heads return.
    RemoveHead,
    /// `remove-layer` takes all parts of layers away; what goes around them stays.
    RemoveLayer,
    /// `remove-attention` takes away what attentions add to what goes around them.
    RemoveAttention,
    /// `remove-feed-forward` takes away what the feed-forward parts of layers add.
    RemoveFeedForward,
    /// `remove-residual` takes away what goes around attentions.
    RemoveResidual,
}

/// Before the softmax, or after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Before it.
    Scores,
    /// After it.
    #[default]
    Weights,
}

/// Where something is done: by default at every step, in every layer and head of the decoder's look at the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Reach {
    /// `site=cross`, `encoder_self` or `decoder_self`.
    pub site: SiteKind,
    /// `layer=L,…` or `head=L.H,…`.
    pub heads: Heads,
    /// `step=T,…`: target positions; for `encoder_self` those of the source.
    pub steps: Steps,
}

impl Default for Reach {
    fn default() -> Self {
        Self { site: SiteKind::Cross, heads: Heads::All, steps: Steps::All }
    }
}

/// Layers and heads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heads {
    /// Of all layers.
    All,
    /// All of these layers.
    Layers(Vec<usize>),
    /// These, as layer and head.
    These(Vec<(usize, usize)>),
}

/// Steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Steps {
    /// Every one.
    All,
    /// These, from 0.
    These(Vec<usize>),
}

impl Reach {
    pub(crate) fn has_layer(&self, layer: usize) -> bool {
        match &self.heads {
            Heads::All => true,
            Heads::Layers(layers) => layers.contains(&layer),
            Heads::These(heads) => heads.iter().any(|head| head.0 == layer),
        }
    }

    pub(crate) fn has_head(&self, layer: usize, head: usize) -> bool {
        match &self.heads {
            Heads::These(heads) => heads.contains(&(layer, head)),
            _ => self.has_layer(layer),
        }
    }

    pub(crate) fn has_step(&self, step: usize) -> bool {
        match &self.steps {
            Steps::All => true,
            Steps::These(steps) => steps.contains(&step),
        }
    }
}
