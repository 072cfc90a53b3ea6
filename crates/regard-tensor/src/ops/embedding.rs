//! Rows of a table by their id.

use crate::element::Element;
use crate::error::TensorError;
use crate::{List, Result, Tape, Tensor, Var};

/// The rows of `table` `[vocabulary, width]` for `ids`: `[ids, width]`.
///
/// # Errors
/// Where an id is not in the table.
pub fn embedding<T: Element>(tape: &Tape<T>, table: &Var<T>, ids: &[u32]) -> Result<Var<T>> {
    let (rows, width) = (table.shape().rows(), table.shape().last());
    if let Some(&id) = ids.iter().find(|&&id| id as usize >= rows) {
        return Err(TensorError::Index { op: "embedding", index: id as usize, limit: rows });
    }
    let y = Tensor::build([ids.len(), width], |out| {
        for (row, &id) in out.chunks_exact_mut(width.max(1)).zip(ids) {
            table.value().copy_row(id as usize, row);
        }
    });
    if !tape.needs_gradient(&[table]) {
        return Ok(Var::constant(y));
    }
    let (table, ids) = (table.clone(), List::from(ids));
    let [y] = tape.record([y], move |_, outputs, gradients| {
        if let [Some(dy)] = outputs {
            gradients.add_rows(&table, ids, dy);
        }
        Ok(())
    });
    Ok(y)
}
