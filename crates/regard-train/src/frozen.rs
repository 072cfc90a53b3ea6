//! Weights that stay as they are.

use std::collections::BTreeSet;

use regard_model::Parameters;
use regard_tensor::{List, Tape, Tensor, Var};

use crate::error::{Result, TrainError};

/// Which weights of a model are not trained; by default all are.
#[derive(Clone, Debug, Default)]
pub struct Frozen {
    /// Their places, in order.
    places: BTreeSet<usize>,
}

impl Frozen {
    /// The weights that have one of the `names`, or belong to a part that has: `encoder` is all of the encoder, `decoder.1`
    /// is its second layer and not the twelfth.
    ///
    /// # Errors
    /// Where a name is none of a weight or a part, with those that there are; where nothing would be left to train.
    pub fn new(names: &[String], parameters: &Parameters) -> Result<Self> {
        let problem =
            |reason: String| TrainError::Impossible { line: None, key: "training.freeze".to_owned(), reason };
        let mut places = BTreeSet::new();
        for name in names {
            let known = parameters.names().iter().enumerate();
            let found: Vec<usize> =
                known.filter(|(_, weight)| is_in_part(weight, name)).map(|(place, _)| place).collect();
            if found.is_empty() {
                let parts = parts(parameters).join(", ");
                return Err(problem(format!(
                    "\"{name}\" is no part of this model and no weight; it has {parts}"
                )));
            }
            places.extend(found);
        }
        if places.len() == parameters.names().len() {
            return Err(problem("all weights are frozen, and nothing is left to train".to_owned()));
        }
        Ok(Self { places })
    }

    /// The weights as values on a tape, those that are trained with a gradient.
    pub(crate) fn leaves(&self, parameters: &Parameters, tape: &Tape) -> List<Var> {
        let mut weights = parameters.leaves(tape);
        for &place in &self.places {
            weights[place] = Var::constant(parameters.values()[place].clone());
        }
        weights
    }

    /// Puts the frozen ones among `weights` into the same places of `copies`, bit by bit.
    pub(crate) fn restore(&self, weights: &[Tensor], copies: &mut [Tensor]) {
        for &place in &self.places {
            copies[place] = weights[place].clone();
        }
    }
}

fn is_in_part(weight: &str, part: &str) -> bool {
    weight.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The parts to choose from, each once: the first word of a name, and the number of the layer where one follows.
fn parts(parameters: &Parameters) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for name in parameters.names() {
        let mut words = name.split('.');
        let first = words.next().unwrap_or_default();
        let layer = words.next().filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        let part = layer.map_or(first.to_owned(), |layer| format!("{first}.{layer}"));
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use regard_model::{ModelConfig, Preset};

    use super::*;

    fn frozen(names: &[&str]) -> Result<Vec<String>> {
        let config: ModelConfig = Preset::TransformerTiny.config();
        let changes = serde_json::json!({"d_model": 8, "d_ff": 8, "decoder": {"layers": 12}});
        let model = config.with_changes(&changes)?.build(7, 9, 1)?;
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let frozen = Frozen::new(&names, model.parameters())?;
        Ok(frozen.places.iter().map(|&place| model.parameters().names()[place].clone()).collect())
    }

    #[test]
    fn parts_are_whole_words() {
        let found = frozen(&["decoder.1", "output.bias"]).unwrap();
        assert_eq!(found.len(), 27);
        assert!(found.iter().all(|name| name.starts_with("decoder.1.") || name == "output.bias"));
        assert_eq!(frozen(&["encoder"]).unwrap().len(), 4 * 16);
        assert!(frozen(&[]).unwrap().is_empty());
    }

    #[test]
    fn what_is_no_part_is_answered_with_the_parts() {
        for name in ["decoder.layers.0", "enc", ""] {
            let message = frozen(&[name]).unwrap_err().to_string();
            let wanted = format!("training.freeze: \"{name}\" is no part of this model");
            assert!(message.starts_with(&wanted) && message.contains("encoder.3, decoder.0"), "{message}");
        }
        let all = ["encoder", "decoder", "source_embedding", "target_embedding", "output"];
        assert!(frozen(&all).unwrap_err().to_string().contains("nothing is left to train"));
    }
}
