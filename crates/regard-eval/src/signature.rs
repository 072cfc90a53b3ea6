//! Signatures: the settings of a score in sacreBLEU's notation, with this project's own version.

use crate::significance::Resampling;

/// What a signature says beside the settings of the metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// References per line; none where their number varies (`nrefs:var`).
    pub references: Option<usize>,
    /// Samples and seed, where the score comes with a confidence interval or a test.
    pub resampling: Option<(ResamplingKind, Resampling)>,
}

/// What was resampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResamplingKind {
    /// Bootstrap samples: the key `bs`.
    Bootstrap,
    /// Trials of an approximate randomisation: the key `ar`.
    ApproximateRandomization,
}

impl Signature {
    /// The whole signature of a metric with these settings. The keys stand in sacreBLEU's order.
    ///
    /// ```
    /// use regard_eval::{BleuOptions, Metric, Resampling, ResamplingKind, Signature};
    ///
    /// let resampling = Some((ResamplingKind::Bootstrap, Resampling::BOOTSTRAP));
    /// let signature = Signature { references: Some(1), resampling };
    /// assert_eq!(
    ///     signature.of(BleuOptions::default().settings()),
    ///     "nrefs:1|bs:1000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:regard-0.1.0"
    /// );
    /// ```
    #[must_use]
    pub fn of(&self, settings: impl AsRef<str>) -> String {
        let references = self.references.map_or("var".to_owned(), |count| count.to_string());
        let resampling = self.resampling.map_or(String::new(), |(kind, Resampling { samples, seed })| {
            let key = match kind {
                ResamplingKind::Bootstrap => "bs",
                ResamplingKind::ApproximateRandomization => "ar",
            };
            format!("{key}:{samples}|seed:{seed}|")
        });
        let (settings, version) = (settings.as_ref(), env!("CARGO_PKG_VERSION"));
        format!("nrefs:{references}|{resampling}{settings}|version:regard-{version}")
    }
}
