//! All attentions of a sentence as numpy's `.npz`: a zip file of stored `.npy` entries.
//!
//! Formats: numpy's `lib.format`, version 1.0, and PKWARE's APPNOTE 6.3, without its 64-bit extensions.

use crate::error::{LookError, Result};
use crate::inspection::Inspection;

/// 1 January 1980, the first date that zip knows: the same bytes whenever they are written.
const DATE: u16 = 1 << 5 | 1;
/// The version of zip that is needed: 2.0.
const VERSION: u16 = 20;

impl Inspection {
    /// `NAME_weights` and `NAME_scores` for every site, float32 `[rows, positions]`, where NAME is `cross_0_1` for the look at
    /// the source of layer 0, head 1, and likewise `encoder_self_…` and `decoder_self_…`. `source_tokens` and `target_tokens`
    /// are JSON lists as bytes: `json.loads(bytes(archive["source_tokens"]))`.
    ///
    /// # Errors
    /// [`LookError::Archive`] for more than 4 GiB.
    pub fn npz(&self) -> Result<Vec<u8>> {
        let mut archive = Archive::default();
        for (name, tokens) in [("source_tokens", &self.source_tokens), ("target_tokens", &self.target_tokens)]
        {
            let json = serde_json::Value::from(tokens.as_slice()).to_string();
            archive.add(name, &array("|u1", &[json.len()], json.as_bytes()))?;
        }
        for site in &self.sites {
            for (what, values) in [("weights", &site.weights), ("scores", &site.scores)] {
                archive.add(&format!("{}_{what}", site.name()), &matrix(values))?;
            }
        }
        archive.finish()
    }
}

/// A `.npy` file of float32, `[rows, columns]`.
fn matrix(rows: &[Vec<f32>]) -> Vec<u8> {
    let columns = rows.first().map_or(0, Vec::len);
    let data: Vec<u8> = rows.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
    array("<f4", &[rows.len(), columns], &data)
}

/// A `.npy` file, row-major.
fn array(kind: &str, shape: &[usize], data: &[u8]) -> Vec<u8> {
    let sizes: Vec<String> = shape.iter().map(ToString::to_string).collect();
    // Python writes a comma after a tuple's only element.
    let shape = sizes.join(", ") + if sizes.len() == 1 { "," } else { "" };
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Ten bytes stand before the header, a line feed ends it, and the data begin at a multiple of 64.
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", length.as_slice(), header.as_bytes(), data].concat()
}

/// A zip file in the making.
#[derive(Default)]
struct Archive {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    entries: usize,
}

impl Archive {
    /// Adds `name.npy`.
    fn add(&mut self, name: &str, data: &[u8]) -> Result<()> {
        let name = format!("{name}.npy");
        let start = fitting(&name, self.bytes.len())?;
        let size = fitting(&name, data.len())?;
        // What both headers say: flags, method (stored), time, date, checksum, both sizes, lengths of name and extra field.
        let mut common = Vec::new();
        for number in [VERSION, 0, 0, 0, DATE] {
            common.extend(number.to_le_bytes());
        }
        for number in [crc32fast::hash(data), size, size] {
            common.extend(number.to_le_bytes());
        }
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0; 2]);
        for part in [b"PK\x03\x04", common.as_slice(), name.as_bytes(), data] {
            self.bytes.extend(part);
        }
        // Then: no comment, disk 0, no attributes, and where the entry starts.
        let (version, rest, start) = (VERSION.to_le_bytes(), [0; 10], start.to_le_bytes());
        for part in [b"PK\x01\x02", version.as_slice(), &common, &rest, &start, name.as_bytes()] {
            self.directory.extend(part);
        }
        self.entries += 1;
        Ok(())
    }

    /// The file, with its directory at the end.
    fn finish(mut self) -> Result<Vec<u8>> {
        let start = fitting("the directory", self.bytes.len())?.to_le_bytes();
        let size = fitting("the directory", self.directory.len())?.to_le_bytes();
        let too_many = |_| LookError::Archive("the directory".to_owned());
        let entries = u16::try_from(self.entries).map_err(too_many)?.to_le_bytes();
        self.bytes.append(&mut self.directory);
        for part in [b"PK\x05\x06", [0; 4].as_slice(), &entries, &entries, &size, &start, &[0; 2]] {
            self.bytes.extend(part);
        }
        Ok(self.bytes)
    }
}

/// A size or an offset in 32 bits.
fn fitting(name: &str, size: usize) -> Result<u32> {
    u32::try_from(size)
        .ok()
        .filter(|size| *size < u32::MAX)
        .ok_or_else(|| LookError::Archive(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspection::tests::seen;
    use regard_model::exchange::npz::Npz;
    use std::path::Path;

    #[test]
    fn arrays_are_read_back() {
        let seen = seen();
        let npz = Npz::from_bytes(Path::new("look.npz"), seen.npz().unwrap()).unwrap();
        let names = [
            "cross_0_1_scores",
            "cross_0_1_weights",
            "decoder_self_2_mean_scores",
            "decoder_self_2_mean_weights",
            "source_tokens",
            "target_tokens",
        ];
        assert_eq!(npz.names().collect::<Vec<_>>(), names);
        assert_eq!(npz.tensor(names[1], [2, 3]).unwrap().values(), seen.sites[0].weights.concat());
        assert_eq!(npz.tensor(names[0], [2, 3]).unwrap().values(), seen.sites[0].scores.concat());
        assert_eq!(npz.tensor(names[2], [2, 2]).unwrap().values(), [0.0, f32::NEG_INFINITY, 0.0, 0.0]);
        let tokens: Vec<String> = serde_json::from_slice(npz.text("source_tokens").unwrap()).unwrap();
        assert_eq!(tokens, seen.source_tokens);
    }

    #[test]
    fn headers_are_those_of_numpy() {
        // numpy.lib.format.header_data_from_array_1_0, padded to 64.
        let found = array("<f4", &[3, 5], &[1; 60]);
        let start = b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }";
        assert!(found.starts_with(start), "{:?}", String::from_utf8_lossy(&found[..80]));
        assert_eq!((found.len(), found[127], &found[128..]), (188, b'\n', [1; 60].as_slice()));
        assert!(String::from_utf8_lossy(&array("|u1", &[7], &[0; 7])).contains("'shape': (7,), }"));
    }

    #[test]
    fn the_directory_names_every_entry() {
        let bytes = seen().npz().unwrap();
        let end = &bytes[bytes.len() - 22..];
        let number = |at: usize| u32::from_le_bytes(end[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!((&end[..4], &end[8..12]), (b"PK\x05\x06".as_slice(), [6, 0, 6, 0].as_slice()));
        let (size, start) = (number(12), number(16));
        assert_eq!(start + size + 22, bytes.len());
        // The first entry starts at 0, the second where its header does.
        let directory = &bytes[start..start + size];
        let second = directory.windows(4).skip(1).position(|four| four == b"PK\x01\x02").unwrap() + 1;
        let offset = u32::from_le_bytes(directory[second + 42..second + 46].try_into().unwrap()) as usize;
        assert_eq!(
            (&directory[42..46], &bytes[offset..offset + 4]),
            ([0; 4].as_slice(), b"PK\x03\x04".as_slice())
        );
    }
}
