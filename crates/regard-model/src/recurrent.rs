//! The recurrent encoder-decoder, behind the trait that all families share.

use regard_tensor::ops::{self, Targets};
use regard_tensor::{List, LogProbs, Precision, Tensor, Var, random};
use regard_text::{Batch, Padded, special_tokens};

use crate::attention::{AttentionSite, Place};
use crate::config::RecurrentConfig;
use crate::distributions::Distributions;
use crate::error::{ModelError, Result};
use crate::listed_words::ListedWords;
use crate::parameters::{Builder, ParameterId, Parameters};
use crate::pass::Pass;
use crate::reader::Reader;
use crate::rnn::{Decoder, DecoderMemory, DecoderState, Encoded, Layout, ReadoutInput, StepInput};
use crate::seq2seq::{
    LossOutput, Memory, Noise, Predictor, Row, Run, Seq2Seq, SiteAttention, State, StepOutput, Training,
    rows_of,
};
use crate::word_tables::{self, WordTables};

/// A recurrent encoder-decoder with or without attention.
pub struct RecurrentModel {
    parameters: Parameters,
    parts: Parts,
    target_vocabulary: usize,
    dropout: f64,
    word_dropout: f64,
}

/// The layers, which know the places of their weights.
struct Parts {
    reader: Reader,
    decoder: Decoder,
    target_embedding: ParameterId,
    output: (ParameterId, ParameterId),
}

impl Parts {
    fn new(builder: &mut Builder, config: &RecurrentConfig, vocabularies: (usize, usize)) -> Self {
        let tables = WordTables::new(builder, config.tied_embeddings, vocabularies, config.embedding);
        let reader = Reader::new(builder, config, tables.source);
        let decoder = Decoder::new(builder, config);
        let output = tables.output(builder, config.readout_width());
        let output = (output, builder.vector("output.bias", vocabularies.1, 0..0));
        Self { reader, decoder, target_embedding: tables.target, output }
    }
}

impl RecurrentModel {
    /// A model with fresh weights, drawn from `seed`.
    ///
    /// # Errors
    /// Where the configuration is impossible, or ties embeddings of vocabularies that differ.
    ///
    /// ```
    /// use regard_model::{Predictor, RecurrentConfig, RecurrentModel};
    /// let model = RecurrentModel::new(&RecurrentConfig::bahdanau(), 100, 120, 1)?;
    /// assert!(model.has_attention());
    /// # Ok::<(), regard_model::ModelError>(())
    /// ```
    pub fn new(
        config: &RecurrentConfig,
        source_vocabulary: usize,
        target_vocabulary: usize,
        seed: u64,
    ) -> Result<Self> {
        Self::build(config, source_vocabulary, target_vocabulary, Builder::new(seed))
    }

    /// A model with weights that are there already.
    ///
    /// # Errors
    /// As [`new`](Self::new); where a weight is missing, has another shape or is not one of such a model.
    pub fn with_weights(
        config: &RecurrentConfig,
        source_vocabulary: usize,
        target_vocabulary: usize,
        weights: impl IntoIterator<Item = (String, Tensor)>,
    ) -> Result<Self> {
        Self::build(config, source_vocabulary, target_vocabulary, Builder::stored(weights))
    }

    /// See [`ModelConfig::maps`](crate::ModelConfig::maps).
    pub(crate) fn maps(
        config: &RecurrentConfig,
        vocabularies: (usize, usize),
        precision: Precision,
    ) -> Vec<String> {
        let mut builder = Builder::counting();
        Parts::new(&mut builder, config, vocabularies);
        builder.into_maps(precision)
    }

    fn build(
        config: &RecurrentConfig,
        source_vocabulary: usize,
        target_vocabulary: usize,
        mut builder: Builder,
    ) -> Result<Self> {
        config.check()?;
        let vocabularies = (source_vocabulary, target_vocabulary);
        let sizes = "embedding, encoder.hidden or decoder.hidden";
        let parts =
            word_tables::build(&mut builder, config.tied_embeddings, vocabularies, sizes, |builder| {
                Parts::new(builder, config, vocabularies)
            })?;
        Ok(Self {
            parameters: builder.finish()?,
            parts,
            target_vocabulary,
            dropout: config.dropout,
            word_dropout: config.word_dropout,
        })
    }

    /// The encoded source, as the decoder reads it.
    fn read(&self, pass: &Pass, source: &Padded) -> Result<(Encoded, Vec<SiteAttention>)> {
        let (encoded, attention) = self.parts.reader.encode(pass, source)?;
        let states = pass.hooked(Place::Memory, encoded.states, || rows_of(source))?;
        Ok((Encoded { states, ..encoded }, attention))
    }

    /// The embeddings of last tokens, `[tokens, width]`, which rows read.
    fn embed(&self, pass: &Pass, tokens: &[u32], rows: impl FnOnce() -> List<Row>) -> Result<Var> {
        let x = ops::embedding(pass.tape, pass.weight(self.parts.target_embedding), tokens)?;
        let x = pass.hooked(Place::TargetWords, x, rows)?;
        pass.dropout(&pass.word_dropout(&x, self.word_dropout)?, self.dropout)
    }

    /// Readout vectors of all steps under teacher forcing, time after time: `[time, rows, width]`.
    fn teacher_forced(&self, pass: &Pass, memory: &DecoderMemory, target: &Padded) -> Result<Var> {
        let (rows, steps) = (target.rows(), target.width);
        let tokens: List<u32> = (0..steps).flat_map(|time| last_tokens(target, time)).collect();
        let all_rows = || rows_by_time(rows, steps);
        let embeddings = self.embed(pass, &tokens, all_rows)?;
        let width = embeddings.shape().last();
        let embeddings = ops::reshape(pass.tape, &embeddings, [steps, rows, width])?;
        let projected = self.parts.decoder.project(pass, &embeddings)?;
        let mut state = self.parts.decoder.start(pass, memory, &(0..rows).collect::<List<_>>())?;
        let masks = self.parts.decoder.masks(pass);
        let (mut inputs, mut vectors) = (List::with_capacity(steps), List::with_capacity(steps));
        for time in 0..steps {
            let embedding = ops::slice(pass.tape, &embeddings, time)?;
            let projected = ops::slice(pass.tape, &projected, time)?;
            let rows = one_row_a_sentence(rows, time);
            let input = StepInput { embedding: &embedding, projected: Some(&projected), rows: &rows };
            let step = self.parts.decoder.step(pass, memory, &state, &input, &masks)?;
            state = step.state;
            match step.vector {
                Some(vector) => vectors.push(vector),
                None => inputs.push(step.readout),
            }
        }
        if vectors.is_empty() {
            return self.parts.decoder.readout(pass, &ReadoutInput::stack(pass, &inputs)?);
        }
        Ok(ops::stack(pass.tape, &vectors)?)
    }

    /// The same where some inputs are the model's own last predictions, through which no gradient flows.
    fn sampled(&self, pass: &Pass, memory: &DecoderMemory, target: &Padded, noise: Noise) -> Result<Var> {
        let rows = target.rows();
        let mut state = self.parts.decoder.start(pass, memory, &(0..rows).collect::<List<_>>())?;
        let masks = self.parts.decoder.masks(pass);
        let mut vectors: List<Var> = List::with_capacity(target.width);
        for time in 0..target.width {
            let mut tokens: List<u32> = last_tokens(target, time).collect();
            if let Some(last) = vectors.last() {
                let coin = |row: usize| random::unit(noise.key, (time * rows + row) as u64) < noise.sampling;
                if (0..rows).any(coin) {
                    let predicted = self.most_likely(pass, last)?;
                    for (row, token) in tokens.iter_mut().enumerate().filter(|(row, _)| coin(*row)) {
                        *token = predicted[row];
                    }
                }
            }
            let rows = one_row_a_sentence(rows, time);
            let embedding = self.embed(pass, &tokens, || rows.clone())?;
            let input = StepInput { embedding: &embedding, projected: None, rows: &rows };
            let step = self.parts.decoder.step(pass, memory, &state, &input, &masks)?;
            state = step.state;
            vectors.push(match step.vector {
                Some(vector) => vector,
                None => self.parts.decoder.readout(pass, &step.readout)?,
            });
        }
        Ok(ops::stack(pass.tape, &vectors)?)
    }

    fn most_likely(&self, pass: &Pass, vectors: &Var) -> Result<List<u32>> {
        let logits = self.logits(pass, &vectors.detach())?;
        let best = |row: &[f32]| {
            let better = |best: usize, id: usize| if row[id] > row[best] { id } else { best };
            (0..row.len()).reduce(better).unwrap_or(0) as u32
        };
        Ok((0..logits.shape().rows()).map(|row| best(logits.value().row(row))).collect())
    }

    /// The readout vectors of all places of a batch, time after time: `[time, rows, width]`.
    fn vectors(&self, pass: &Pass, training: &Training, batch: &Batch) -> Result<Var> {
        let (encoded, _) = self.read(pass, &batch.source)?;
        let memory = self.parts.decoder.memory(pass, &encoded, &batch.source.lengths)?;
        let vectors = match training.noise.filter(|noise| noise.sampling > 0.0) {
            Some(noise) => self.sampled(pass, &memory, &batch.target, noise)?,
            None => self.teacher_forced(pass, &memory, &batch.target)?,
        };
        pass.dropout(&vectors, self.dropout)
    }

    fn logits(&self, pass: &Pass, vectors: &Var) -> Result<Var> {
        let (weight, bias) = (pass.weight(self.parts.output.0), pass.weight(self.parts.output.1));
        Ok(ops::linear(pass.tape, vectors, weight, Some(bias))?)
    }

    fn layout_error() -> ModelError {
        ModelError::Config("memory or state of another model".to_owned())
    }
}

impl Predictor for RecurrentModel {
    fn target_vocabulary(&self) -> usize {
        self.target_vocabulary
    }

    fn has_attention(&self) -> bool {
        self.parts.decoder.has_attention()
    }

    fn encode(&self, run: &Run, source: &Padded) -> Result<Memory> {
        let weights = self.parameters.constants();
        let pass = Pass::of_run(run, &weights);
        let (encoded, attention) = self.read(&pass, source)?;
        let memory = self.parts.decoder.memory(&pass, &encoded, &source.lengths)?;
        Ok(Memory { attention, ..Layout::memory_to_list(memory) })
    }

    fn restrict(&self, run: &Run, memory: &mut Memory, lists: &[Vec<u32>]) -> Result<()> {
        let weights = self.parameters.constants();
        let (weight, bias) = (self.parts.output.0.of(&weights), self.parts.output.1.of(&weights));
        memory.words = Some(ListedWords::new(run.tape, weight, Some(bias), lists)?);
        Ok(())
    }

    fn start(&self, run: &Run, memory: &Memory, sentences: &[usize]) -> Result<State> {
        let weights = self.parameters.constants();
        let pass = Pass::new(run.tape, &weights, None);
        let memory = self.parts.decoder.layout().memory(memory).ok_or_else(Self::layout_error)?;
        Ok(Layout::state_to_list(self.parts.decoder.start(&pass, &memory, sentences)?))
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
        let pass = Pass::new(run.tape, &weights, None).with_hook(run.hook);
        let layout = self.parts.decoder.layout();
        let words = memory.words.as_ref();
        let memory = layout.memory(memory).ok_or_else(Self::layout_error)?;
        let state: DecoderState = layout.state(state).ok_or_else(Self::layout_error)?;
        let embedding = self.embed(&pass, tokens, || List::from(rows))?;
        let input = StepInput { embedding: &embedding, projected: None, rows };
        let step =
            self.parts.decoder.step(&pass, &memory, &state, &input, &self.parts.decoder.masks(&pass))?;
        let vector = match step.vector {
            Some(vector) => vector,
            None => self.parts.decoder.readout(&pass, &step.readout)?,
        };
        let log_probs = match words {
            Some(words) => words.log_probs(run.tape, &vector, rows)?,
            None => LogProbs::of_logits(run.tape.threads(), self.logits(&pass, &vector)?.value()),
        };
        let attention = step.attention.filter(|_| run.attention).map(|attention| SiteAttention {
            site: AttentionSite::CROSS,
            scores: attention.scores.value().clone(),
            weights: attention.weights.value().clone(),
        });
        let state = Layout::state_to_list(step.state);
        Ok(StepOutput { log_probs, state, attention: attention.into_iter().collect() })
    }
}

impl Seq2Seq for RecurrentModel {
    fn loss(&self, training: &Training, batch: &Batch) -> Result<LossOutput> {
        let pass = Pass::of_training(training);
        let vectors = self.vectors(&pass, training, batch)?;
        let target = &batch.target;
        let places = || (0..target.width).flat_map(|time| (0..target.rows()).map(move |row| (time, row)));
        let ids: List<u32> = places().map(|(time, row)| padded_token(target, row, time)).collect();
        let counts: List<bool> =
            places().map(|(time, row)| training.scored.counts(time, target.lengths[row])).collect();
        let targets = Targets {
            ids: &ids,
            counts: &counts,
            label_smoothing: training.label_smoothing,
            factor: training.factor,
        };
        let (weight, bias) = (pass.weight(self.parts.output.0), pass.weight(self.parts.output.1));
        let output = ops::linear_cross_entropy(training.tape, &vectors, weight, Some(bias), targets)?;
        Ok(LossOutput {
            loss: output.loss,
            negative_log_likelihood: output.negative_log_likelihood,
            tokens: output.tokens,
            correct: output.correct,
        })
    }

    fn distributions(&self, training: &Training, batch: &Batch) -> Result<Distributions> {
        let pass = Pass::of_training(training);
        let logits = self.logits(&pass, &self.vectors(&pass, training, batch)?)?;
        let target = &batch.target;
        let rows = rows_by_time(target.rows(), target.width);
        Ok(Distributions { log_probs: ops::log_softmax(training.tape, &logits)?, rows })
    }

    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn parameters_mut(&mut self) -> &mut Parameters {
        &mut self.parameters
    }
}

/// The token of a padded row at a position.
fn padded_token(padded: &Padded, row: usize, position: usize) -> u32 {
    padded.ids.get(row * padded.width + position).copied().unwrap_or(special_tokens::PAD)
}

/// What each row's decoder has just written before position `time`: the start symbol at first.
fn last_tokens(target: &Padded, time: usize) -> impl Iterator<Item = u32> {
    (0..target.rows()).map(move |row| match time.checked_sub(1) {
        Some(last) => padded_token(target, row, last),
        None => special_tokens::BOS,
    })
}

/// The rows of all steps, one after the other.
fn rows_by_time(rows: usize, steps: usize) -> List<Row> {
    let row = |place: usize| Row { sentence: place % rows, hypothesis: 0, parent: 0, position: place / rows };
    (0..steps * rows).map(row).collect()
}

/// The rows of a step in which row `i` translates sentence `i`.
fn one_row_a_sentence(rows: usize, position: usize) -> List<Row> {
    (0..rows).map(|sentence| Row { sentence, hypothesis: 0, parent: 0, position }).collect()
}
