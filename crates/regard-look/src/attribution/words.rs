//! Word vectors in another's hands: a hook that changes them, and makes them what gradients are taken of.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use regard_model::{AttentionHook, AttentionSite, HookCall, ModelError, Place, Row, SiteKind, ValueCall};
use regard_tensor::{Gradients, Tensor, Var};

/// Changes one vector: its place, what its row is, and its values.
type Change<'a> = dyn Fn(Place, &Row, &mut [f32]) + Send + Sync + 'a;

/// The vectors of some places, as the model is given them.
pub(super) struct Vectors<'a> {
    places: &'static [Place],
    change: Box<Change<'a>>,
    /// Whether no gradient flows through the weights of the decoder's look at the source.
    detached: bool,
    seen: Mutex<HashMap<Place, Seen>>,
}

/// What came by.
struct Seen {
    rows: Vec<Row>,
    vectors: Var,
}

/// The vectors of both sides.
pub(super) const WORDS: &[Place] = &[Place::SourceWords, Place::TargetWords];

impl<'a> Vectors<'a> {
    /// As the model has them.
    pub(super) fn of(places: &'static [Place]) -> Self {
        Self { places, change: Box::new(|_, _, _| ()), detached: false, seen: Mutex::default() }
    }

    /// Changed ones.
    pub(super) fn changed(
        places: &'static [Place],
        change: impl Fn(Place, &Row, &mut [f32]) + Send + Sync + 'a,
    ) -> Self {
        Self { change: Box::new(change), ..Self::of(places) }
    }

    /// The same, where attention weights count as constants.
    pub(super) fn with_constant_attention(self) -> Self {
        Self { detached: true, ..self }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Place, Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every vector with its gradient: what the row is, the vector, the gradient.
    pub(super) fn with_gradients(
        &self,
        place: Place,
        gradients: &Gradients,
        mut visit: impl FnMut(&Row, &[f32], &[f32]),
    ) {
        let seen = self.lock();
        let Some(Seen { rows, vectors }) = seen.get(&place) else { return };
        let Some(gradient) = gradients.get(vectors) else { return };
        let width = vectors.shape().last().max(1);
        let values = vectors.value().values().chunks_exact(width);
        for ((row, vector), gradient) in rows.iter().zip(values).zip(gradient.values().chunks_exact(width)) {
            visit(row, vector, gradient);
        }
    }

    /// The vectors of a place that came by, by sentence and position.
    pub(super) fn taken(&self, place: Place) -> HashMap<(usize, usize), Vec<f32>> {
        let seen = self.lock();
        let Some(Seen { rows, vectors }) = seen.get(&place) else { return HashMap::new() };
        let values = vectors.value().values().chunks_exact(vectors.shape().last().max(1));
        rows.iter().zip(values).map(|(row, v)| ((row.sentence, row.position), v.to_vec())).collect()
    }
}

impl AttentionHook for Vectors<'_> {
    fn wants(&self, site: AttentionSite) -> bool {
        self.detached && site.kind == SiteKind::Cross
    }

    fn weights(&self, _: &HookCall, weights: Var) -> Result<Var, ModelError> {
        Ok(weights.detach())
    }

    fn wants_value(&self, place: Place) -> bool {
        self.places.contains(&place)
    }

    fn value(&self, call: &ValueCall, value: Var) -> Result<Var, ModelError> {
        let mut vectors: Tensor = value.value().deep_copy();
        let width = vectors.shape().last().max(1);
        for (row, vector) in call.rows.iter().zip(vectors.values_mut().chunks_exact_mut(width)) {
            (self.change)(call.place, row, vector);
        }
        let vectors = call.tape.leaf(vectors);
        // In the whole-sequence form, all vectors of a place come by at once.
        self.lock().insert(call.place, Seen { rows: call.rows.to_vec(), vectors: vectors.clone() });
        Ok(vectors)
    }
}
