//! numpy's `.npz` archives.
//!
//! An archive as `numpy.savez` and Marian write it is a zip file of `NAME.npy` entries that are stored, not compressed.
//! Its entries follow each other from the start of the file, so it is read from front to back. A size that the file states
//! is compared with the bytes that are there before anything is made of it, and so is an entry's CRC-32.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use regard_tensor::{Shape, Tensor};

use crate::error::{ModelError, Result};

/// What a zip entry begins with.
const ENTRY: &[u8] = b"PK\x03\x04";
/// What a `.npy` file begins with.
const ARRAY: &[u8] = b"\x93NUMPY";
/// A size that is in the extra field instead.
const ZIP64: u64 = 0xffff_ffff;

/// The arrays of an archive by name.
pub struct Npz {
    path: PathBuf,
    bytes: Vec<u8>,
    arrays: BTreeMap<String, Array>,
}

/// What an array's header says, and where its values are.
struct Array {
    /// numpy's name of the element type, such as `<f4`.
    kind: String,
    shape: Vec<usize>,
    data: Range<usize>,
}

impl Npz {
    /// Reads an archive.
    ///
    /// # Errors
    /// Where the file cannot be read, is no such archive, or is cut.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).map_err(|source| ModelError::Io { path: path.to_owned(), source })?;
        Self::from_bytes(path, bytes)
    }

    /// The archive in `bytes`, which errors call `path`.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self> {
        let arrays = entries(&bytes)
            .map_err(|reason| ModelError::Damaged { path: path.to_owned(), reason: reason.to_string() })?;
        Ok(Self { path: path.to_owned(), bytes, arrays })
    }

    /// The names of the arrays.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.arrays.keys().map(String::as_str)
    }

    /// The sizes of an array; none where it is not there.
    #[must_use]
    pub fn shape(&self, name: &str) -> Option<&[usize]> {
        self.arrays.get(name).map(|array| array.shape.as_slice())
    }

    /// An array of little-endian f32 in row-major order. Leading dimensions of 1 may be there or not: Marian stores a vector
    /// as one row.
    ///
    /// # Errors
    /// Where it is missing, has another shape or holds something else.
    pub fn tensor(&self, name: &str, shape: impl Into<Shape>) -> Result<Tensor> {
        let shape = shape.into();
        let array = self.array(name)?;
        if trimmed(&array.shape) != trimmed(shape.sizes()) {
            return Err(self.problem(format!("\"{name}\" has the shape {:?}, not {shape}", array.shape)));
        }
        if array.kind != "<f4" {
            return Err(self.problem(format!("\"{name}\" is of the type {}; <f4 is read", array.kind)));
        }
        let values = self.data(array).as_chunks().0.iter().map(|&value| f32::from_le_bytes(value));
        Tensor::new(shape, values.collect()).map_err(|error| self.problem(format!("\"{name}\": {error}")))
    }

    /// The bytes of an array of bytes.
    ///
    /// # Errors
    /// Where it is missing or its elements are larger.
    pub fn text(&self, name: &str) -> Result<&[u8]> {
        let array = self.array(name)?;
        if array.data.len() != array.shape.iter().product::<usize>() {
            return Err(self.problem(format!("\"{name}\" is of the type {}, not of bytes", array.kind)));
        }
        Ok(self.data(array))
    }

    fn array(&self, name: &str) -> Result<&Array> {
        self.arrays.get(name).ok_or_else(|| self.problem(format!("there is no array \"{name}\"")))
    }

    fn data(&self, array: &Array) -> &[u8] {
        self.bytes.get(array.data.clone()).unwrap_or_default()
    }

    /// That something is wrong with this archive.
    pub(crate) fn problem(&self, reason: String) -> ModelError {
        ModelError::Damaged { path: self.path.clone(), reason }
    }
}

/// A shape without leading ones.
fn trimmed(shape: &[usize]) -> &[usize] {
    let ones = shape.iter().take_while(|&&size| size == 1).count();
    &shape[ones..]
}

/// What is wrong with an archive, and with which entry.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error("is no .npz archive")]
    NoArchive,
    #[error("ends too early")]
    Cut,
    #[error("has an entry whose name is not UTF-8")]
    Name,
    #[error("entry \"{0}\" is compressed or encrypted: write it again with numpy.savez")]
    Compressed(String),
    #[error("entry \"{0}\" is no .npy file in row-major order whose size is that of its shape")]
    Array(String),
    #[error("entry \"{0}\" is there twice")]
    Twice(String),
    #[error("entry \"{entry}\" is damaged: its CRC-32 is {found:08x}, not {stored:08x}; copy the file again")]
    Checksum { entry: String, stored: u32, found: u32 },
}

/// The result of reading a part of an archive.
type Checked<V> = std::result::Result<V, Fault>;

/// The arrays of an archive, and where in it their values are.
fn entries(bytes: &[u8]) -> Checked<BTreeMap<String, Array>> {
    let mut reader = Reader { bytes, at: 0 };
    let mut arrays = BTreeMap::new();
    while reader.rest().starts_with(ENTRY) {
        let (entry, mut data) = reader.entry()?;
        let broken = || Fault::Array(entry.to_owned());
        let name = entry.strip_suffix(".npy").ok_or_else(broken)?;
        let array = data.array().ok().flatten().ok_or_else(broken)?;
        if arrays.insert(name.to_owned(), array).is_some() {
            return Err(Fault::Twice(entry.to_owned()));
        }
    }
    if arrays.is_empty() { Err(Fault::NoArchive) } else { Ok(arrays) }
}

/// Bytes, up to their end, and a place in them.
#[derive(Clone, Copy)]
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn take(&mut self, length: u64) -> Checked<&'a [u8]> {
        let taken = usize::try_from(length).ok().and_then(|length| self.rest().get(..length));
        let taken = taken.ok_or(Fault::Cut)?;
        self.at += taken.len();
        Ok(taken)
    }

    /// A little-endian number of `length` ≤ 8 bytes.
    fn number(&mut self, length: u64) -> Checked<u64> {
        Ok(self.take(length)?.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// A zip entry: its name, and a reader of its bytes.
    fn entry(&mut self) -> Checked<(&'a str, Reader<'a>)> {
        let _signature_and_version = self.take(6)?;
        let (flags, method) = (self.number(2)?, self.number(2)?);
        let _time_date = self.take(4)?;
        let checksum = self.number(4)? as u32;
        let (mut stored, _size) = (self.number(4)?, self.number(4)?);
        let (name_length, extra_length) = (self.number(2)?, self.number(2)?);
        let name = str::from_utf8(self.take(name_length)?).map_err(|_| Fault::Name)?;
        let mut extra = Reader { bytes: self.take(extra_length)?, at: 0 };
        // Bit 0: encrypted. Bit 3: the size stands after the data.
        if method != 0 || flags & 0b1001 != 0 {
            return Err(Fault::Compressed(name.to_owned()));
        }
        while stored == ZIP64 && !extra.rest().is_empty() {
            let (kind, length) = (extra.number(2)?, extra.number(2)?);
            let mut field = Reader { bytes: extra.take(length)?, at: 0 };
            if kind == 1 {
                let _size = field.number(8)?;
                stored = field.number(8)?;
            }
        }
        let start = self.at;
        let found = crc32fast::hash(self.take(stored)?);
        if found != checksum {
            return Err(Fault::Checksum { entry: name.to_owned(), stored: checksum, found });
        }
        Ok((name, Reader { bytes: self.bytes.get(..self.at).unwrap_or_default(), at: start }))
    }

    /// A `.npy` file (numpy's format versions 1 to 3); none where its header says something else than its size.
    fn array(&mut self) -> Checked<Option<Array>> {
        if self.take(ARRAY.len() as u64)? != ARRAY {
            return Ok(None);
        }
        let (major, _minor) = (self.number(1)?, self.number(1)?);
        let length = self.number(if major == 1 { 2 } else { 4 })?;
        let header = str::from_utf8(self.take(length)?).unwrap_or_default();
        let data = self.at..self.bytes.len();
        Ok(described(header, data))
    }
}

/// An array by its header, such as `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }`.
fn described(header: &str, data: Range<usize>) -> Option<Array> {
    let after = |start: &str| header.split_once(start).map(|(_, rest)| rest);
    let (kind, _) = after("'descr': '")?.split_once('\'')?;
    if !header.contains("'fortran_order': False") {
        return None;
    }
    let (sizes, _) = after("'shape': (")?.split_once(')')?;
    let sizes = sizes.split(',').map(str::trim).filter(|size| !size.is_empty());
    let shape: Vec<usize> = sizes.map(|size| size.parse().ok()).collect::<Option<_>>()?;
    // The size of an element is the number at the end of its type.
    let width: usize = kind.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
    let size = shape.iter().try_fold(width, |size, &next| size.checked_mul(next))?;
    (width > 0 && size == data.len() && shape.len() <= Shape::MAX_RANK).then(|| Array {
        kind: kind.to_owned(),
        shape,
        data,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stored entry; what zip adds after the entries is not read.
    fn entry(name: &str, header: &str, data: &[u8]) -> Vec<u8> {
        let mut array = [ARRAY, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat();
        array.extend_from_slice(data);
        let (size, checksum) = ((array.len() as u32).to_le_bytes(), crc32fast::hash(&array).to_le_bytes());
        let name_length = (name.len() as u16).to_le_bytes();
        let head =
            [&[20, 0, 0, 0, 0, 0][..], &[0; 4], &checksum, &size, &size, &name_length, &[0, 0]].concat();
        [ENTRY, &head, name.as_bytes(), &array].concat()
    }

    fn header(kind: &str, shape: &str) -> String {
        format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}")
    }

    fn read(bytes: &[u8]) -> Result<Npz> {
        Npz::from_bytes(Path::new("m.npz"), bytes.to_vec())
    }

    #[test]
    fn arrays_by_name() {
        let directory = b"PK\x01\x02 the directory";
        let values: Vec<u8> = (0..6u8).flat_map(|value| f32::from(value).to_le_bytes()).collect();
        let bytes = [
            entry("w.npy", &header("<f4", "(2, 3)"), &values),
            entry("row.npy", &header("<f4", "(1, 6)"), &values),
            entry("special:text.npy", &header("|i1", "(3,)"), b"a: "),
            directory.to_vec(),
        ]
        .concat();
        let npz = read(&bytes).unwrap();
        assert_eq!(npz.names().collect::<Vec<_>>(), ["row", "special:text", "w"]);
        let row = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(npz.tensor("w", [2, 3]).unwrap().values(), row);
        assert_eq!(npz.tensor("row", [6]).unwrap().values(), row);
        assert_eq!(npz.text("special:text").unwrap(), b"a: ");
        for (name, shape, message) in [
            ("w", [3, 2], "\"w\" has the shape [2, 3], not [3, 2]"),
            ("v", [3, 2], "there is no array \"v\""),
            ("special:text", [1, 3], "\"special:text\" is of the type |i1; <f4 is read"),
        ] {
            let error = npz.tensor(name, shape).unwrap_err().to_string();
            assert_eq!(error, format!("m.npz: {message}"));
        }
        assert!(npz.text("w").is_err());
        for length in 0..bytes.len() {
            let whole = read(&bytes[..length]).is_ok_and(|npz| npz.names().count() == 3);
            assert_eq!(whole, length >= bytes.len() - directory.len(), "{length}");
        }
    }

    #[test]
    fn damaged_archives_are_refused() {
        let good = entry("w.npy", &header("<f4", "(1,)"), &[0; 4]);
        let mut compressed = good.clone();
        compressed[8] = 8;
        let mut changed = good.clone();
        *changed.last_mut().unwrap() ^= 1;
        for (bytes, message) in [
            (b"text".to_vec(), "is no .npz archive"),
            ([good.clone(), good.clone()].concat(), "\"w.npy\" is there twice"),
            (compressed, "\"w.npy\" is compressed or encrypted: write it again with numpy.savez"),
            (changed, "entry \"w.npy\" is damaged: its CRC-32 is "),
            (entry("w.txt", &header("<f4", "(1,)"), &[0; 4]), "\"w.txt\" is no .npy file"),
            (entry("w.npy", &header("<f4", "(2,)"), &[0; 4]), "\"w.npy\" is no .npy file"),
            (
                entry("w.npy", &header("<f4", "(9223372036854775807, 4)"), &[0; 4]),
                "whose size is that of its shape",
            ),
            (entry("w.npy", &header("<f0", "(4,)"), &[]), "whose size is that of its shape"),
            (entry("w.npy", &header("<f4", "(1, 1, 1, 1, 1)"), &[0; 4]), "whose size is that of its shape"),
            (entry("w.npy", "{'descr': [('a', '<f4')]}", &[0; 4]), "whose size is that of its shape"),
        ] {
            let error = read(&bytes).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
