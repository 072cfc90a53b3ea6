//! The tables of word vectors of both sides and the output layer, which may share their weights.

use crate::config::TiedEmbeddings;
use crate::error::{ModelError, Result};
use crate::parameters::{Builder, ParameterId};

/// The most weights of a network: 4 GB of them.
const MAX_WEIGHTS: usize = 1_000_000_000;

/// The table of both sides, and that of the target's.
const BOTH: &str = "embedding.weight";
const TARGET: &str = "target_embedding.weight";

/// The tables, as the configuration ties them.
pub(crate) struct WordTables {
    pub(crate) source: ParameterId,
    pub(crate) target: ParameterId,
    tied: TiedEmbeddings,
    target_vocabulary: usize,
}

impl WordTables {
    /// Tables for vocabularies of these sizes: source, target.
    pub(crate) fn new(
        builder: &mut Builder,
        tied: TiedEmbeddings,
        vocabularies: (usize, usize),
        width: usize,
    ) -> Self {
        let (source, target) = if tied == TiedEmbeddings::All {
            let table = builder.table(BOTH, vocabularies.0, width);
            (table, table)
        } else {
            let source = builder.table("source_embedding.weight", vocabularies.0, width);
            (source, builder.table(TARGET, vocabularies.1, width))
        };
        Self { source, target, tied, target_vocabulary: vocabularies.1 }
    }

    /// The weight of the output layer, which reads vectors of `width`.
    pub(crate) fn output(&self, builder: &mut Builder, width: usize) -> ParameterId {
        match self.tied {
            TiedEmbeddings::None => builder.matrix("output.weight", self.target_vocabulary, width, 1),
            TiedEmbeddings::TargetOutput | TiedEmbeddings::All => {
                builder.tie(if self.tied == TiedEmbeddings::All { BOTH } else { TARGET });
                self.target
            }
        }
    }
}

/// Makes the parts of a network by `parts`, where their number of weights is possible.
///
/// # Errors
/// Where one table shall serve vocabularies that differ, or there are too many weights, which come from `sizes`.
pub(crate) fn build<P>(
    builder: &mut Builder,
    tied: TiedEmbeddings,
    (source, target): (usize, usize),
    sizes: &str,
    parts: impl Fn(&mut Builder) -> P,
) -> Result<P> {
    if tied == TiedEmbeddings::All && source != target {
        return Err(ModelError::Config(format!(
            "tied_embeddings = \"all\" needs one vocabulary for both sides (tokenizer.joint = true), found \
             {source} and {target} entries"
        )));
    }
    let mut counter = Builder::counting();
    parts(&mut counter);
    if counter.count() > MAX_WEIGHTS {
        return Err(ModelError::Config(format!(
            "the network has {} weights, more than {MAX_WEIGHTS}; make {sizes} smaller",
            counter.count()
        )));
    }
    Ok(parts(builder))
}
