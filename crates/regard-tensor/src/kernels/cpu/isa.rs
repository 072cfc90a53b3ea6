//! Which instructions the fast kernels may use.

/// An instruction set of this processor. The only way to have one is to ask the processor, so whoever holds it may use
/// the instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa(Path);

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

impl Isa {
    /// What every processor of the target can do.
    pub const PORTABLE: Self = Self(Path::Portable);

    /// The best one of this processor.
    #[must_use]
    #[inline]
    pub fn detect() -> Self {
        Self::avx512().or_else(Self::avx2).unwrap_or(Self::PORTABLE)
    }

    /// AVX-512 (foundation, VL, DQ and BW: every such processor but the first), if the processor has it.
    #[must_use]
    #[inline]
    pub fn avx512() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512vl")
            && std::arch::is_x86_feature_detected!("avx512dq")
            && std::arch::is_x86_feature_detected!("avx512bw")
        {
            return Self::avx2().map(|_| Self(Path::Avx512));
        }
        None
    }

    /// AVX2 with fused multiply-add, if the processor has both.
    #[must_use]
    #[inline]
    pub fn avx2() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            return Some(Self(Path::Avx2));
        }
        None
    }

    /// Whether AVX2 and fused multiply-add are to be used.
    #[inline]
    pub(super) fn is_avx2(self) -> bool {
        self.0 == Path::Avx2
    }

    /// Whether AVX-512 is to be used.
    #[inline]
    pub(super) fn is_avx512(self) -> bool {
        self.0 == Path::Avx512
    }
}
