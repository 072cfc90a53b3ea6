//! The Transformer, behind the trait that all families share.

use regard_tensor::ops::{self, Targets};
use regard_tensor::{List, LogProbs, Precision, Tensor, TensorError, Var};
use regard_text::{Batch, Padded, special_tokens};

use super::decoder::Written;
use super::encoder::Encoded;
use super::{Decoder, Encoder, Past, SourceMemory};
use crate::attention::{AttentionSite, Place};
use crate::config::TransformerConfig;
use crate::distributions::Distributions;
use crate::error::{ModelError, Result};
use crate::listed_words::ListedWords;
use crate::parameters::{Builder, ParameterId, Parameters};
use crate::pass::Pass;
use crate::seq2seq::{
    LossOutput, Memory, Predictor, Row, Run, Seq2Seq, State, StepOutput, Training, rows_of,
};
use crate::word_tables::{self, WordTables};

/// A Transformer encoder-decoder.
pub struct TransformerModel {
    parameters: Parameters,
    parts: Parts,
    target_vocabulary: usize,
}

/// The layers, which know the places of their weights.
struct Parts {
    encoder: Encoder,
    decoder: Decoder,
    output: (ParameterId, Option<ParameterId>),
}

impl Parts {
    fn new(builder: &mut Builder, config: &TransformerConfig, vocabularies: (usize, usize)) -> Self {
        let tables = WordTables::new(builder, config.tied_embeddings, vocabularies, config.d_model);
        let encoder = Encoder::new(builder, config, tables.source);
        let decoder = Decoder::new(builder, config, tables.target);
        let output = tables.output(builder, config.d_model);
        let bias = config.output_bias.then(|| builder.vector("output.bias", vocabularies.1, 0..0));
        Self { encoder, decoder, output: (output, bias) }
    }
}

impl TransformerModel {
    /// A model with fresh weights, drawn from `seed`.
    ///
    /// # Errors
    /// Where the configuration is impossible, or ties embeddings of vocabularies that differ.
    ///
    /// ```
    /// use regard_model::{Predictor, TransformerConfig, TransformerModel};
    /// let model = TransformerModel::new(&TransformerConfig::tiny(), 100, 120, 1)?;
    /// assert_eq!(model.target_vocabulary(), 120);
    /// # Ok::<(), regard_model::ModelError>(())
    /// ```
    pub fn new(
        config: &TransformerConfig,
        source_vocabulary: usize,
        target_vocabulary: usize,
        seed: u64,
    ) -> Result<Self> {
        Self::build(config, (source_vocabulary, target_vocabulary), Builder::new(seed))
    }

    /// A model with weights that are there already.
    ///
    /// # Errors
    /// As [`new`](Self::new); where a weight is missing, has another shape or is not one of such a model.
    pub fn with_weights(
        config: &TransformerConfig,
        source_vocabulary: usize,
        target_vocabulary: usize,
        weights: impl IntoIterator<Item = (String, Tensor)>,
    ) -> Result<Self> {
        Self::build(config, (source_vocabulary, target_vocabulary), Builder::stored(weights))
    }

    /// See [`ModelConfig::maps`](crate::ModelConfig::maps).
    pub(crate) fn maps(
        config: &TransformerConfig,
        vocabularies: (usize, usize),
        precision: Precision,
    ) -> Vec<String> {
        let mut builder = Builder::counting();
        Parts::new(&mut builder, config, vocabularies);
        builder.into_maps(precision)
    }

    fn build(config: &TransformerConfig, vocabularies: (usize, usize), mut builder: Builder) -> Result<Self> {
        config.check()?;
        let sizes = "d_model, d_ff, encoder.layers or decoder.layers";
        let parts =
            word_tables::build(&mut builder, config.tied_embeddings, vocabularies, sizes, |builder| {
                Parts::new(builder, config, vocabularies)
            })?;
        Ok(Self { parameters: builder.finish()?, parts, target_vocabulary: vocabularies.1 })
    }

    /// The encoded source, as the decoder reads it.
    fn read(&self, pass: &Pass, source: &Padded) -> Result<Encoded> {
        let encoded = self.parts.encoder.encode(pass, source)?;
        let states = pass.hooked(Place::Memory, encoded.states, || rows_of(source))?;
        Ok(Encoded { states, ..encoded })
    }

    /// The decoder's vectors at all places of a batch, and what each place is, sentence after sentence.
    fn vectors(&self, pass: &Pass, training: &Training, batch: &Batch) -> Result<(Var, List<Row>)> {
        if training.noise.is_some_and(|noise| noise.sampling > 0.0) {
            let problem =
                "training.sampling needs a recurrent model: a Transformer reads all target words at once";
            return Err(ModelError::Config(problem.to_owned()));
        }
        let target = &batch.target;
        let encoded = self.read(pass, &batch.source)?;
        let memory = self.parts.decoder.memory(pass, &encoded.states, &batch.source.lengths)?;
        let (rows, positions) = (rows_of(target), (0..target.width).collect::<List<_>>());
        let (ids, past) = (last_tokens(target), Past::Sentences(target));
        let written = Written { ids: &ids, rows: &rows, positions: &positions, past };
        Ok((self.parts.decoder.decode(pass, &memory, &written)?.vectors, rows))
    }

    /// The weight and the bias of the output layer.
    fn output<'a>(&self, pass: &'a Pass) -> (&'a Var, Option<&'a Var>) {
        let (weight, bias) = self.parts.output;
        (pass.weight(weight), bias.map(|bias| pass.weight(bias)))
    }

    /// The decoder's side of a memory.
    fn source_memory(&self, memory: &Memory) -> Result<SourceMemory> {
        let (pairs, rest) = memory.tensors.get(1..).unwrap_or_default().as_chunks::<2>();
        if pairs.len() != self.parts.decoder.layers() || !rest.is_empty() {
            return Err(foreign());
        }
        let layers = pairs.iter().map(|[keys, values]| (keys.clone(), values.clone())).collect();
        let source = SourceMemory { layers, lengths: List::from(&memory.lengths[..]) };
        if source.lengths.iter().any(|&length| length > source.positions()) {
            return Err(foreign());
        }
        Ok(source)
    }
}

impl Predictor for TransformerModel {
    fn target_vocabulary(&self) -> usize {
        self.target_vocabulary
    }

    fn has_attention(&self) -> bool {
        true
    }

    fn cross_sites(&self) -> Vec<AttentionSite> {
        self.parts.decoder.cross_sites().collect()
    }

    fn encode(&self, run: &Run, source: &Padded) -> Result<Memory> {
        let weights = self.parameters.constants();
        let pass = Pass::of_run(run, &weights);
        let encoded = self.read(&pass, source)?;
        let memory = self.parts.decoder.memory(&pass, &encoded.states, &source.lengths)?;
        let mut tensors = vec![encoded.states];
        tensors.extend(memory.layers.iter().flat_map(|(keys, values)| [keys.clone(), values.clone()]));
        Ok(Memory {
            lengths: source.lengths.clone(),
            tensors,
            attention: encoded.attention,
            ..Memory::default()
        })
    }

    fn restrict(&self, run: &Run, memory: &mut Memory, lists: &[Vec<u32>]) -> Result<()> {
        let weights = self.parameters.constants();
        let pass = Pass::of_run(run, &weights);
        let (weight, bias) = self.output(&pass);
        memory.words = Some(ListedWords::new(run.tape, weight, bias, lists)?);
        Ok(())
    }

    fn start(&self, _run: &Run, memory: &Memory, sentences: &[usize]) -> Result<State> {
        let limit = memory.lengths.len();
        match sentences.iter().find(|&&sentence| sentence >= limit) {
            Some(&index) => Err(TensorError::Index { op: "start", index, limit }.into()),
            None => Ok(State::default()),
        }
    }

    fn step(
        &self,
        run: &Run,
        memory: &Memory,
        state: &State,
        tokens: &[u32],
        rows: &[Row],
    ) -> Result<StepOutput> {
        let weights = self.parameters.constants();
        let pass = Pass::of_run(run, &weights);
        let words = memory.words.as_ref();
        let memory = self.source_memory(memory)?;
        let fits = state.history.fits(rows.len(), 2 * self.parts.decoder.layers());
        let has_sentence = |row: &Row| row.sentence < memory.lengths.len();
        if rows.len() != tokens.len() || !fits || !rows.iter().all(has_sentence) {
            return Err(foreign());
        }
        let positions: List<usize> = rows.iter().map(|row| row.position).collect();
        let past = Past::History(&state.history);
        let written = Written { ids: tokens, rows, positions: &positions, past };
        let decoded = self.parts.decoder.decode(&pass, &memory, &written)?;
        let log_probs = if let Some(words) = words {
            words.log_probs(run.tape, &decoded.vectors, rows)?
        } else {
            let (weight, bias) = self.output(&pass);
            let logits = ops::linear(run.tape, &decoded.vectors, weight, bias)?;
            LogProbs::of_logits(run.tape.threads(), logits.value())
        };
        let own = decoded.own.iter().map(Var::detach).collect();
        let state = State { history: state.history.with(own), ..State::default() };
        Ok(StepOutput { log_probs, state, attention: decoded.attention })
    }
}

impl Seq2Seq for TransformerModel {
    fn loss(&self, training: &Training, batch: &Batch) -> Result<LossOutput> {
        let pass = Pass::of_training(training);
        let (vectors, rows) = self.vectors(&pass, training, batch)?;
        let target = &batch.target;
        let counts: List<bool> = rows
            .iter()
            .map(|row| training.scored.counts(row.position, target.lengths[row.sentence]))
            .collect();
        let targets = Targets {
            ids: &target.ids,
            counts: &counts,
            label_smoothing: training.label_smoothing,
            factor: training.factor,
        };
        let (weight, bias) = self.output(&pass);
        let output = ops::linear_cross_entropy(training.tape, &vectors, weight, bias, targets)?;
        Ok(LossOutput {
            loss: output.loss,
            negative_log_likelihood: output.negative_log_likelihood,
            tokens: output.tokens,
            correct: output.correct,
        })
    }

    fn distributions(&self, training: &Training, batch: &Batch) -> Result<Distributions> {
        let pass = Pass::of_training(training);
        let (vectors, rows) = self.vectors(&pass, training, batch)?;
        let (weight, bias) = self.output(&pass);
        let logits = ops::linear(training.tape, &vectors, weight, bias)?;
        Ok(Distributions { log_probs: ops::log_softmax(training.tape, &logits)?, rows })
    }

    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn parameters_mut(&mut self) -> &mut Parameters {
        &mut self.parameters
    }
}

/// What each row's decoder has just written, at every place: the start symbol at first.
fn last_tokens(target: &Padded) -> List<u32> {
    let last = |place: usize| {
        if place.is_multiple_of(target.width) { special_tokens::BOS } else { target.ids[place - 1] }
    };
    (0..target.ids.len()).map(last).collect()
}

fn foreign() -> ModelError {
    ModelError::Config("memory or state of another model, or not one entry a row".to_owned())
}
