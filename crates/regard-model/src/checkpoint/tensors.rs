//! Tensors in safetensors files.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use regard_tensor::{Shape, Tensor};
use safetensors::tensor::{Dtype, Metadata, TensorView};

use super::write_file;
use crate::error::{ModelError, Result};

/// The largest header that the format allows.
const MAX_HEADER: u64 = 100_000_000;

/// Writes tensors as a safetensors file and makes sure that it is on the disk.
///
/// # Errors
/// Where the file cannot be written.
pub fn write_tensors(path: &Path, tensors: &[(String, Tensor)]) -> Result<()> {
    write_tensors_with(path, tensors, None)
}

/// The same with a key of metadata and its value. There is never more than one: the library keeps them in a hash map, so
/// that the order of several would be random.
pub(crate) fn write_tensors_with(
    path: &Path,
    tensors: &[(String, Tensor)],
    metadata: Option<(&str, &str)>,
) -> Result<()> {
    let damaged = |error: safetensors::SafeTensorError| ModelError::Damaged {
        path: path.to_owned(),
        reason: format!("cannot be formed: {error}"),
    };
    let bytes: Vec<(&str, Shape, Vec<u8>)> = tensors
        .iter()
        .map(|(name, tensor)| {
            let bytes = tensor.values().iter().flat_map(|value| value.to_le_bytes()).collect();
            (name.as_str(), tensor.shape(), bytes)
        })
        .collect();
    let views = bytes
        .iter()
        .map(|(name, shape, bytes)| Ok((*name, TensorView::new(Dtype::F32, shape.sizes().to_vec(), bytes)?)))
        .collect::<std::result::Result<Vec<_>, _>>()
        .map_err(damaged)?;
    let metadata = metadata.map(|(key, value)| [(key.to_owned(), value.to_owned())].into());
    let file = safetensors::serialize(views, metadata).map_err(damaged)?;
    write_file(path, &file)
}

/// The tensors of a safetensors file that is in memory, f32, sorted by name. `path` is for messages.
///
/// # Errors
/// Where the bytes are not such a file.
pub fn read_tensors(path: &Path, bytes: &[u8]) -> Result<Vec<(String, Tensor)>> {
    read(path, bytes, bytes.len() as u64, |_, tensor| tensor)
}

/// The tensors of a safetensors file, f32, sorted by name, each as `change` makes it. They are read and changed one after
/// the other: the file is never in memory beside them.
///
/// # Errors
/// Where it cannot be read or is not such a file.
pub(super) fn read_tensor_file(
    path: &Path,
    file: File,
    change: impl Fn(&str, Tensor) -> Tensor,
) -> Result<Vec<(String, Tensor)>> {
    let io = |source| ModelError::Io { path: path.to_owned(), source };
    let length = file.metadata().map_err(io)?.len();
    read(path, BufReader::with_capacity(1 << 20, file), length, change)
}

fn read(
    path: &Path,
    mut file: impl Read,
    length: u64,
    change: impl Fn(&str, Tensor) -> Tensor,
) -> Result<Vec<(String, Tensor)>> {
    let io = |source| ModelError::Io { path: path.to_owned(), source };
    let damaged = |reason: String| ModelError::Damaged { path: path.to_owned(), reason };
    let header = header(&mut file, length)
        .map_err(|problem| damaged(format!("is not a whole safetensors file: {problem}")))?;
    let mut entries: Vec<_> = header.tensors().into_iter().collect();
    entries.sort_by_key(|(_, info)| info.data_offsets);
    let mut tensors = Vec::with_capacity(entries.len());
    for (name, info) in entries {
        if info.dtype != Dtype::F32 {
            return Err(damaged(format!("\"{name}\" is {:?}, expected F32", info.dtype)));
        }
        if info.shape.len() > Shape::MAX_RANK {
            let (dimensions, most) = (info.shape.len(), Shape::MAX_RANK);
            return Err(damaged(format!("\"{name}\" has {dimensions} dimensions, expected at most {most}")));
        }
        let values = values(&mut file, (info.data_offsets.1 - info.data_offsets.0) / 4).map_err(io)?;
        let tensor = change(&name, Tensor::new(Shape::new(&info.shape), values)?);
        tensors.push((name, tensor));
    }
    tensors.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(tensors)
}

/// Reads so many numbers.
fn values(file: &mut impl Read, count: usize) -> std::io::Result<Vec<f32>> {
    let (mut values, mut block) = (Vec::with_capacity(count), vec![0; 1 << 16]);
    while values.len() < count {
        let part = &mut block[..(4 * (count - values.len())).min(1 << 16)];
        file.read_exact(part)?;
        values.extend(part.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)));
    }
    Ok(values)
}

/// Reads the header, and says whether the tensors that it promises fill the file.
fn header(file: &mut impl Read, length: u64) -> std::result::Result<Metadata, String> {
    let mut size = [0; 8];
    file.read_exact(&mut size).map_err(|error| error.to_string())?;
    let size = u64::from_le_bytes(size);
    if size > MAX_HEADER || size > length.saturating_sub(8) {
        return Err(format!("a header of {size} bytes in a file of {length}"));
    }
    let mut json = vec![0; size as usize];
    file.read_exact(&mut json).map_err(|error| error.to_string())?;
    let header: Metadata = serde_json::from_slice(&json).map_err(|error| error.to_string())?;
    let promised = header.data_len() as u64;
    if promised != length - 8 - size {
        return Err(format!("{promised} bytes of tensors are promised and {} are there", length - 8 - size));
    }
    Ok(header)
}
