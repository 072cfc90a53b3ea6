//! `POST /api/v1/tree`: the beam as a tree, with what was not taken and why.

use axum::extract::State;
use regard_decode::{Fate, Hypothesis, SearchOptions, SearchStep, Trace, Translation};
use regard_look::{BeamNode, BeamTree};
use regard_text::Pipeline;
use regard_text::special_tokens::EOS;

use crate::app::App;
use crate::audience::Page;
use crate::body::{self, Written};
use crate::desk::Work;
use crate::error::Result;
use crate::sentence::{Asked, Sentence};
use crate::wire::{NodeRecord, SearchFields, TreeRequest, TreeResponse};

pub(crate) async fn tree(
    State(app): State<App>,
    page: Page,
    body::Json(request): body::Json<TreeRequest>,
) -> Result<Written> {
    let served = app.model(&request.model)?;
    let asked = Asked {
        text: &request.text,
        prefix: request.prefix.as_deref(),
        interventions: request.interventions.as_deref(),
        search: SearchFields { beam_size: request.beam_size, n_best: Some(1), ..SearchFields::default() },
        attention: false,
    };
    let sentence = Sentence::new(&app, served, &asked)?;
    let grow = move |work: &Work| {
        let trace = Trace::default();
        let found = sentence.run(work, Some(&trace))?;
        Ok((sentence, trace, found))
    };
    let write = |(sentence, trace, found): (Sentence, Trace, Translation)| {
        let best = found.candidates.first().map(|best| &best.hypothesis);
        let nodes = records(&trace.into_steps(), best, &sentence.search, sentence.translator().target());
        Written::new(&TreeResponse { nodes })
    };
    served.desk.run(page, grow, write).await
}

/// The tree of a search, and the path of what it returned.
fn records(
    steps: &[SearchStep],
    best: Option<&Hypothesis>,
    options: &SearchOptions,
    target: &Pipeline,
) -> Vec<NodeRecord> {
    let returned: Vec<u32> = best.map_or_else(Vec::new, |best| {
        let end = best.finished.then_some(EOS);
        best.tokens.iter().copied().chain(end).collect()
    });
    let tree = BeamTree::new("", steps, &returned, |id| target.tokens_of(&[id]).concat());
    let record = |(id, node): (usize, BeamNode)| NodeRecord {
        id,
        parent: node.parent,
        step: node.step,
        token: node.token,
        log_prob: node.log_prob,
        score: options.length_penalty.score(node.sum, node.step + 1),
        fate: fate(node.fate),
        reason: reason(node.fate, node.step + 1 == steps.len(), options.beam_size),
        best: node.returned,
    };
    tree.nodes.into_iter().enumerate().map(record).collect()
}

fn fate(fate: Fate) -> &'static str {
    match fate {
        Fate::Lives => "lives",
        Fate::Cut => "cut",
        Fate::Ended => "ends",
        Fate::Dropped => "pruned",
    }
}

fn reason(fate: Fate, is_last: bool, beam_size: usize) -> Option<String> {
    match fate {
        Fate::Lives if is_last => {
            Some("the search was over: it could not become better than what had ended".to_owned())
        }
        Fate::Lives => None,
        Fate::Cut => Some("it came to the maximum length".to_owned()),
        Fate::Ended => Some("it wrote the end symbol".to_owned()),
        Fate::Dropped => Some(format!("the beam of {beam_size} was full of better ones")),
    }
}
