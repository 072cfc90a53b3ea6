//! Which instructions the fast kernels may use.

/// An instruction set of this processor. The only way to have one is to ask the processor, so whoever holds it may use
/// the instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa {
    path: Path,
    /// Whether bf16 may be multiplied in pairs (AVX512-BF16).
    bf16: bool,
    /// Whether bytes may be multiplied in fours without saturation (AVX512-VNNI).
    vnni: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    Portable,
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "made on x86-64 only"))]
    Avx2,
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "made on x86-64 only"))]
    Avx512,
}

/// Whether every processor of the target multiplies and adds in one instruction, so that the portable path can too.
pub(super) const PORTABLE_FMA: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

impl std::fmt::Display for Isa {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = match self.path {
            Path::Portable => "portable",
            Path::Avx2 => "AVX2",
            Path::Avx512 => "AVX-512",
        };
        f.write_str(name)?;
        let narrow = [(self.bf16, "BF16"), (self.vnni, "VNNI")];
        narrow.iter().filter(|(has, _)| *has).try_for_each(|(_, name)| write!(f, " + {name}"))
    }
}

impl Isa {
    /// What every processor of the target can do.
    pub const PORTABLE: Self = Self::plain(Path::Portable);

    const fn plain(path: Path) -> Self {
        Self { path, bf16: false, vnni: false }
    }

    /// The best one of this processor.
    #[must_use]
    #[inline]
    pub fn detect() -> Self {
        Self::avx512().or_else(Self::avx2).unwrap_or(Self::PORTABLE)
    }

    /// AVX-512 (foundation, VL, DQ and BW: every such processor but the first), if the processor has it, with what it has
    /// for bf16 and for bytes.
    #[must_use]
    #[inline]
    pub fn avx512() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512vl")
            && std::arch::is_x86_feature_detected!("avx512dq")
            && std::arch::is_x86_feature_detected!("avx512bw")
        {
            Self::avx2()?;
            let bf16 = std::arch::is_x86_feature_detected!("avx512bf16");
            let vnni = std::arch::is_x86_feature_detected!("avx512vnni");
            return Some(Self { path: Path::Avx512, bf16, vnni });
        }
        None
    }

    /// AVX2 with fused multiply-add, if the processor has both.
    #[must_use]
    #[inline]
    pub fn avx2() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            return Some(Self::plain(Path::Avx2));
        }
        None
    }

    /// The same without instructions for bf16 and bytes.
    #[must_use]
    pub fn without_narrow(self) -> Self {
        Self::plain(self.path)
    }

    /// Whether AVX2 and fused multiply-add are to be used.
    #[inline]
    pub(super) fn is_avx2(self) -> bool {
        self.path == Path::Avx2
    }

    /// Whether AVX-512 is to be used.
    #[inline]
    pub(super) fn is_avx512(self) -> bool {
        self.path == Path::Avx512
    }

    /// Whether AVX2 and fused multiply-add are there.
    #[inline]
    pub(super) fn has_avx2(self) -> bool {
        self.path != Path::Portable
    }

    /// Whether bf16 are multiplied in pairs.
    #[inline]
    pub(super) fn has_bf16(self) -> bool {
        self.bf16
    }

    /// Whether bytes are multiplied in fours.
    #[inline]
    pub(super) fn has_vnni(self) -> bool {
        self.vnni
    }
}
