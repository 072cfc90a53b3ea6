//! `POST /api/v1/tree`: the beam as a tree, with what was not taken and why.

use std::sync::{Mutex, PoisonError};

use axum::extract::State;
use regard_decode::{Considered, Fate, Hypothesis, SearchObserver, SearchOptions, SearchStep, Translation};
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
        let tree = Tree::default();
        let found = sentence.run(work, Some(&tree))?;
        Ok((sentence, tree, found))
    };
    let write = |(sentence, tree, found): (Sentence, Tree, Translation)| {
        let best = found.candidates.first().map(|best| &best.hypothesis);
        let nodes = tree.into_records(best, &sentence.search, sentence.translator().target());
        Written::new(&TreeResponse { nodes })
    };
    served.desk.run(page, grow, write).await
}

/// Grows with every step of a search.
#[derive(Default)]
struct Tree(Mutex<Growth>);

#[derive(Default)]
struct Growth {
    nodes: Vec<Node>,
    /// The nodes that go on, in the order in which the next step names them.
    living: Vec<usize>,
}

struct Node {
    parent: Option<usize>,
    step: usize,
    considered: Considered,
}

impl SearchObserver for Tree {
    fn step(&self, step: &SearchStep) {
        let mut growth = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::take(&mut growth.living);
        for &considered in &step.candidates {
            if considered.fate == Fate::Lives {
                let place = growth.nodes.len();
                growth.living.push(place);
            }
            let parent = before.get(considered.parent).copied();
            growth.nodes.push(Node { parent, step: step.position, considered });
        }
    }
}

impl Tree {
    fn into_records(
        self,
        best: Option<&Hypothesis>,
        options: &SearchOptions,
        target: &Pipeline,
    ) -> Vec<NodeRecord> {
        let Growth { nodes, living } = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let best = best.map_or_else(Vec::new, |best| path(&nodes, best));
        let record = |(id, node): (usize, &Node)| NodeRecord {
            id,
            parent: node.parent,
            step: node.step,
            token: target.tokens_of(&[node.considered.token]).concat(),
            log_prob: node.considered.log_prob,
            score: options.length_penalty.score(node.considered.sum, node.step + 1),
            fate: fate(node.considered.fate),
            reason: reason(node.considered.fate, living.contains(&id), options.beam_size),
            best: best.contains(&id),
        };
        nodes.iter().enumerate().map(record).collect()
    }
}

/// The nodes of a hypothesis.
fn path(nodes: &[Node], hypothesis: &Hypothesis) -> Vec<usize> {
    let end = hypothesis.finished.then_some(EOS);
    let mut path: Vec<usize> = Vec::new();
    for (step, token) in hypothesis.tokens.iter().copied().chain(end).enumerate() {
        let parent = path.last().copied();
        let is_next = |node: &Node| {
            let Considered { token: written, fate, .. } = node.considered;
            (node.parent, node.step, written) == (parent, step, token) && fate != Fate::Dropped
        };
        let Some(next) = nodes.iter().position(is_next) else { break };
        path.push(next);
    }
    path
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
