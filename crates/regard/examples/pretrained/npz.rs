//! Foreign files: weights out of numpy's `.npz` archives, and into a model.
//!
//! An archive as `numpy.savez` writes it is a zip file of `NAME.npy` entries that are stored, not compressed. Its
//! entries follow each other from the start of the file, so it is read from front to back.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use regard::model::{RecurrentModel, Seq2Seq};
use regard::tensor::Tensor;
use serde::de::DeserializeOwned;

/// The result of reading foreign files.
pub(crate) type Result<V> = std::result::Result<V, Box<dyn Error>>;

/// What a zip entry begins with.
const ENTRY: &[u8] = b"PK\x03\x04";
/// A size that is in the extra field instead.
const ZIP64: u64 = 0xffff_ffff;

/// The arrays of an archive by name.
pub(crate) struct Npz {
    arrays: BTreeMap<String, Tensor>,
}

impl Npz {
    /// Reads all arrays of an archive; they must be of little-endian f32 in row-major order.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Self::parse(&read(path)?).map_err(|error| format!("{}: {error}", path.display()).into())
    }

    /// The array of that name and shape.
    pub(crate) fn get<const N: usize>(&self, name: &str, shape: [usize; N]) -> Result<Tensor> {
        let array = self.arrays.get(name).ok_or_else(|| format!("there is no array \"{name}\""))?;
        if array.shape().sizes() != shape {
            return Err(format!("array \"{name}\" has the shape {}, not {shape:?}", array.shape()).into());
        }
        Ok(array.clone())
    }

    fn parse(mut bytes: &[u8]) -> Result<Self> {
        let mut arrays = BTreeMap::new();
        while let Some(rest) = bytes.strip_prefix(ENTRY) {
            bytes = rest;
            let (name, data) = entry(&mut bytes)?;
            let Some(name) = name.strip_suffix(".npy") else {
                return Err(format!("entry \"{name}\" is no .npy file").into());
            };
            let array = array(data).map_err(|error| format!("array \"{name}\": {error}"))?;
            arrays.insert(name.to_owned(), array);
        }
        if arrays.is_empty() {
            return Err("this is no .npz archive".into());
        }
        Ok(Self { arrays })
    }
}

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
    serde_json::from_slice(&read(path)?).map_err(|error| format!("{}: {error}", path.display()).into())
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// The name and the bytes of a zip entry, from after its signature on.
fn entry<'a>(bytes: &mut &'a [u8]) -> Result<(&'a str, &'a [u8])> {
    let _version = take(bytes, 2)?;
    let (flags, method) = (number(bytes, 2)?, number(bytes, 2)?);
    let _time_date_checksum = take(bytes, 8)?;
    let (mut stored, _size) = (number(bytes, 4)?, take(bytes, 4)?);
    let (name_length, extra_length) = (number(bytes, 2)?, number(bytes, 2)?);
    let name = std::str::from_utf8(take(bytes, name_length)?)?;
    let mut extra = take(bytes, extra_length)?;
    // Bit 0: encrypted. Bit 3: the size stands after the data.
    if method != 0 || flags & 0b1001 != 0 {
        return Err(format!("entry \"{name}\" is compressed: write it again by numpy.savez").into());
    }
    while stored == ZIP64 && !extra.is_empty() {
        let (kind, length) = (number(&mut extra, 2)?, number(&mut extra, 2)?);
        let mut field = take(&mut extra, length)?;
        if kind == 1 {
            let _size = take(&mut field, 8)?;
            stored = number(&mut field, 8)?;
        }
    }
    Ok((name, take(bytes, stored)?))
}

/// The array in a `.npy` file (numpy's format versions 1 to 3).
fn array(mut bytes: &[u8]) -> Result<Tensor> {
    if take(&mut bytes, 6)? != b"\x93NUMPY" {
        return Err("no .npy file".into());
    }
    let (major, _minor) = (number(&mut bytes, 1)?, take(&mut bytes, 1)?);
    let length = number(&mut bytes, if major == 1 { 2 } else { 4 })?;
    let header = std::str::from_utf8(take(&mut bytes, length)?)?;
    if !header.contains("'descr': '<f4'") || !header.contains("'fortran_order': False") {
        return Err(format!("not little-endian f32 in row-major order: {}", header.trim()).into());
    }
    let sizes = header.split_once("'shape': (").and_then(|(_, rest)| rest.split_once(')'));
    let (sizes, _) = sizes.ok_or("a header without a shape")?;
    let sizes = sizes.split(',').map(str::trim).filter(|size| !size.is_empty());
    let shape: Vec<usize> = sizes.map(str::parse).collect::<std::result::Result<_, _>>()?;
    let values: Vec<f32> = bytes.as_chunks().0.iter().map(|&value| f32::from_le_bytes(value)).collect();
    match shape[..] {
        [size] => Ok(Tensor::new([size], values)?),
        [rows, columns] => Ok(Tensor::new([rows, columns], values)?),
        _ => Err(format!("{} dimensions; only vectors and matrices are read", shape.len()).into()),
    }
}

/// A little-endian number of `length` ≤ 8 bytes.
fn number(bytes: &mut &[u8], length: u64) -> Result<u64> {
    Ok(take(bytes, length)?.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

/// Cuts off the first `length` bytes.
fn take<'a>(bytes: &mut &'a [u8], length: u64) -> Result<&'a [u8]> {
    let parts = usize::try_from(length).ok().and_then(|length| bytes.split_at_checked(length));
    let (taken, rest) = parts.ok_or("the file ends too early")?;
    *bytes = rest;
    Ok(taken)
}
