//! The first 64 bytes of a cache file.

const MAGIC: &[u8; 8] = b"regard-c";
const VERSION: u32 = 1;

/// Sizes and checksums of what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Pairs.
    pub(super) pairs: u64,
    /// Ids of all pairs, both sides.
    pub(super) ids: u64,
    /// Bytes of the description.
    pub(super) description: u64,
    /// CRC-32C of everything after the header.
    pub(super) body_crc32c: u32,
    /// [`PairSource::checksum`](crate::PairSource::checksum) of the pairs.
    pub(super) pairs_crc32c: u32,
}

impl Header {
    pub(super) const BYTES: u64 = 64;

    /// Magic, version, the fields, zeros, and at the end the CRC-32C of all before.
    pub(super) fn to_bytes(self) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.pairs.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.ids.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.description.to_le_bytes());
        bytes[40..44].copy_from_slice(&self.body_crc32c.to_le_bytes());
        bytes[44..48].copy_from_slice(&self.pairs_crc32c.to_le_bytes());
        let crc = crc32c::crc32c(&bytes[..60]);
        bytes[60..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// The header that these bytes are, or what is wrong with them.
    pub(super) fn from_bytes(bytes: &[u8; 64]) -> Result<Self, &'static str> {
        let u32_at = |place: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[place + byte]));
        let u64_at = |place: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[place + byte]));
        if &bytes[..8] != MAGIC {
            return Err("it is something else");
        }
        if u32_at(8) != VERSION {
            return Err("it is of another version");
        }
        if u32_at(60) != crc32c::crc32c(&bytes[..60]) {
            return Err("its header is damaged");
        }
        Ok(Self {
            pairs: u64_at(16),
            ids: u64_at(24),
            description: u64_at(32),
            body_crc32c: u32_at(40),
            pairs_crc32c: u32_at(44),
        })
    }

    /// Bytes of the whole file; nothing where no file could be so large.
    pub(super) fn file_bytes(&self) -> Option<u64> {
        let ids = self.ids.checked_mul(4)?;
        let lengths = self.pairs.checked_mul(8)?;
        Self::BYTES.checked_add(ids)?.checked_add(lengths)?.checked_add(self.description)
    }
}
