//! Foreign files: JSON, and weights into a model.

use std::error::Error;
use std::path::Path;

use regard::model::{RecurrentModel, Seq2Seq};
use regard::tensor::Tensor;
use serde::de::DeserializeOwned;

/// The result of reading foreign files.
pub(crate) type Result<V> = std::result::Result<V, Box<dyn Error>>;

/// Puts a weight into every place of a model: no place may be left out, and none filled that is not there.
pub(crate) fn fill(model: &mut RecurrentModel, weights: Vec<(String, Tensor)>) -> Result<()> {
    let given = |name: &&String| weights.iter().any(|(given, _)| given == *name);
    if let Some(missing) = model.parameters().names().iter().find(|name| !given(name)) {
        return Err(format!("weight \"{missing}\" is not given").into());
    }
    for (name, weight) in weights {
        model.parameters_mut().set(&name, weight)?;
    }
    Ok(())
}

/// A JSON file as a value.
pub(crate) fn read_json<V: DeserializeOwned>(path: &Path) -> Result<V> {
    let in_file = |error: &dyn Error| format!("{}: {error}", path.display());
    let bytes = std::fs::read(path).map_err(|error| in_file(&error))?;
    serde_json::from_slice(&bytes).map_err(|error| in_file(&error).into())
}
