//! How much one request may ask for.

use std::time::Duration;

/// What is refused before anything is allocated for it.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of a body.
    pub body_bytes: usize,
    /// How long the body may take to arrive.
    pub body_time: Duration,
    /// Characters (code points) of all texts of a request together.
    pub characters: usize,
    /// Texts of a request.
    pub texts: usize,
    /// Hypotheses of a beam, and translations that are returned.
    pub beam_size: usize,
    /// Target tokens.
    pub max_length: usize,
    /// Numbers that a request may have to keep: beam × target tokens × source tokens; for a look all weights and scores,
    /// and the distributions that are compared.
    pub cells: usize,
    /// Tokens that an attribution may read: for each target token a copy of the source and of the tokens before it.
    pub attributed_tokens: usize,
    /// Weights that are drawn as a PNG: it takes seconds where they are many.
    pub png_cells: usize,
    /// Interventions of a request.
    pub interventions: usize,
    /// Of these, those that read another sentence.
    pub other_sentences: usize,
    /// Characters of all interventions together.
    pub intervention_characters: usize,
    /// Requests that wait for a model.
    pub waiting: usize,
    /// Of these, those of one page.
    pub waiting_of_a_page: usize,
    /// From the arrival of a request to the end of its computation.
    pub time: Duration,
    /// From the beginning of a job to its end.
    pub job_time: Duration,
    /// Open connections.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 1 << 20,
            body_time: Duration::from_secs(10),
            characters: 5_000,
            texts: 128,
            beam_size: 32,
            max_length: 2_048,
            cells: 16_000_000,
            attributed_tokens: 10_000,
            png_cells: 10_000,
            interventions: 64,
            other_sentences: 4,
            intervention_characters: 20_000,
            waiting: 512,
            waiting_of_a_page: 32,
            time: Duration::from_mins(1),
            job_time: Duration::from_mins(10),
            connections: 1_024,
        }
    }
}
