//! Learning rates. The rate in a configuration is the peak; steps count from 1.

use serde::{Deserialize, Serialize};

use crate::config::Problem;

/// How the learning rate goes. Each kind first rises over `warmup` steps in a straight line, peak · step / warmup.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ScheduleConfig {
    /// The peak.
    Constant {
        /// The peak.
        learning_rate: f64,
        /// Steps of warm-up.
        #[serde(default)]
        warmup: u64,
    },
    /// peak · √(warmup / step) after the warm-up (Vaswani et al. 2017, as fairseq has it); a `warmup` of 0 counts as 1.
    InverseSquareRoot {
        /// The peak.
        learning_rate: f64,
        /// Steps of warm-up.
        #[serde(default)]
        warmup: u64,
    },
    /// Half a cosine from the peak down to `minimum` (Loshchilov & Hutter 2017, without restarts).
    Cosine {
        /// The peak.
        learning_rate: f64,
        /// Steps of warm-up.
        #[serde(default)]
        warmup: u64,
        /// The rate at the end.
        #[serde(default)]
        minimum: f64,
        /// The step at which the minimum is reached; the `updates` of the training where it is not given.
        #[serde(default)]
        updates: Option<u64>,
    },
    /// The peak, times `factor` each time that `patience` validations in a row brought nothing better.
    Plateau {
        /// The peak.
        learning_rate: f64,
        /// Steps of warm-up.
        #[serde(default)]
        warmup: u64,
        /// What the rate is multiplied by.
        #[serde(default = "default_factor")]
        factor: f64,
        /// Validations without a better score before the rate falls.
        #[serde(default = "default_patience")]
        patience: u64,
        /// The rate never falls below.
        #[serde(default)]
        minimum: f64,
    },
}

fn default_factor() -> f64 {
    0.5
}

fn default_patience() -> u64 {
    2
}

impl Default for ScheduleConfig {
    /// A constant rate of 0.001.
    fn default() -> Self {
        Self::Constant { learning_rate: 0.001, warmup: 0 }
    }
}

impl ScheduleConfig {
    fn peak_and_warmup(&self) -> (f64, u64) {
        match *self {
            Self::Constant { learning_rate, warmup }
            | Self::InverseSquareRoot { learning_rate, warmup }
            | Self::Cosine { learning_rate, warmup, .. }
            | Self::Plateau { learning_rate, warmup, .. } => (learning_rate, warmup),
        }
    }

    /// Refuses impossible values. `updates` is the length of the training, where it is known.
    pub(crate) fn check(&self, updates: Option<u64>) -> Result<(), Problem> {
        let (peak, warmup) = self.peak_and_warmup();
        let minimum = match *self {
            Self::Cosine { minimum, .. } | Self::Plateau { minimum, .. } => minimum,
            _ => 0.0,
        };
        Problem::unless(peak > 0.0 && peak.is_finite(), "schedule.learning_rate", || {
            format!("{peak} must be a finite number above 0")
        })?;
        Problem::unless((0.0..=peak).contains(&minimum), "schedule.minimum", || {
            format!("{minimum} must be from 0 to learning_rate = {peak}")
        })?;
        match *self {
            Self::Cosine { updates: own, .. } => {
                let end = own.or(updates);
                Problem::unless(end.is_some(), "schedule.updates", || {
                    "a cosine needs its number of updates, here or as training.updates".to_owned()
                })?;
                Problem::unless(end.is_some_and(|end| end > warmup), "schedule.warmup", || {
                    format!(
                        "{warmup} must be below the number of updates of the cosine, {}",
                        end.unwrap_or(0)
                    )
                })
            }
            Self::Plateau { factor, patience, .. } => {
                Problem::unless(factor > 0.0 && factor < 1.0, "schedule.factor", || {
                    format!("{factor} must be above 0 and below 1")
                })?;
                Problem::unless(patience > 0, "schedule.patience", || "must be at least 1".to_owned())
            }
            _ => Ok(()),
        }
    }
}

/// What a schedule remembers: how often a plateau has lowered the rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduleState {
    /// Validations since the best one, or since the rate fell.
    pub waited: u64,
    /// How often the rate fell.
    pub reductions: u64,
}

/// A schedule under way.
///
/// ```
/// use regard_train::{Schedule, ScheduleConfig};
/// let config = ScheduleConfig::InverseSquareRoot { learning_rate: 0.1, warmup: 4 };
/// let schedule = Schedule::new(config, None);
/// let rates: Vec<f64> = [1, 2, 4, 16].map(|step| schedule.learning_rate(step)).to_vec();
/// assert_eq!(rates, [0.025, 0.05, 0.1, 0.05]);
/// ```
#[derive(Clone, Debug)]
pub struct Schedule {
    config: ScheduleConfig,
    /// The length of the training.
    updates: Option<u64>,
    /// What it remembers.
    pub state: ScheduleState,
}

impl Schedule {
    /// A schedule at its start; `updates` is the length of the training, where it is known.
    #[must_use]
    pub fn new(config: ScheduleConfig, updates: Option<u64>) -> Self {
        Self { config, updates, state: ScheduleState::default() }
    }

    /// The learning rate of an update, counted from 1.
    #[must_use]
    pub fn learning_rate(&self, step: u64) -> f64 {
        let (peak, warmup) = self.config.peak_and_warmup();
        if step < warmup {
            return peak * step as f64 / warmup as f64;
        }
        match self.config {
            ScheduleConfig::Constant { .. } => peak,
            ScheduleConfig::InverseSquareRoot { .. } => {
                peak * (warmup.max(1) as f64 / step.max(1) as f64).sqrt()
            }
            ScheduleConfig::Cosine { minimum, updates, .. } => {
                let end = updates.or(self.updates).unwrap_or(warmup).max(warmup + 1);
                let part = (step - warmup) as f64 / (end - warmup) as f64;
                minimum + 0.5 * (peak - minimum) * (1.0 + (std::f64::consts::PI * part.min(1.0)).cos())
            }
            ScheduleConfig::Plateau { factor, minimum, .. } => {
                (peak * factor.powf(self.state.reductions as f64)).max(minimum)
            }
        }
    }

    /// Tells the schedule how a validation went.
    pub fn observe(&mut self, improved: bool) {
        let ScheduleConfig::Plateau { patience, .. } = self.config else { return };
        if improved {
            self.state.waited = 0;
            return;
        }
        self.state.waited += 1;
        if self.state.waited >= patience {
            self.state = ScheduleState { waited: 0, reductions: self.state.reductions + 1 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-12
    }

    #[test]
    fn constant_after_warmup() {
        let schedule = Schedule::new(ScheduleConfig::Constant { learning_rate: 0.2, warmup: 10 }, None);
        assert!(close(schedule.learning_rate(1), 0.02) && close(schedule.learning_rate(5), 0.1));
        assert!(close(schedule.learning_rate(10), 0.2) && close(schedule.learning_rate(1_000_000), 0.2));
        let flat = Schedule::new(ScheduleConfig::Constant { learning_rate: 0.2, warmup: 0 }, None);
        assert!(close(flat.learning_rate(1), 0.2));
    }

    #[test]
    fn inverse_square_root_without_warmup() {
        let schedule =
            Schedule::new(ScheduleConfig::InverseSquareRoot { learning_rate: 1.0, warmup: 0 }, None);
        assert!(close(schedule.learning_rate(1), 1.0) && close(schedule.learning_rate(100), 0.1));
    }

    #[test]
    fn cosine_ends_at_its_minimum_and_stays() {
        let config = ScheduleConfig::Cosine { learning_rate: 1.0, warmup: 10, minimum: 0.2, updates: None };
        let schedule = Schedule::new(config, Some(110));
        assert!(close(schedule.learning_rate(10), 1.0));
        assert!(close(schedule.learning_rate(35), 0.2 + 0.4 * (1.0 + 0.5_f64.sqrt())));
        assert!(close(schedule.learning_rate(60), 0.6));
        assert!(close(schedule.learning_rate(110), 0.2) && close(schedule.learning_rate(500), 0.2));
    }

    #[test]
    fn plateau_falls_after_its_patience() {
        let config =
            ScheduleConfig::Plateau { learning_rate: 0.8, warmup: 0, factor: 0.5, patience: 2, minimum: 0.3 };
        let mut schedule = Schedule::new(config, None);
        let mut rates = Vec::new();
        for improved in [true, false, true, false, false, false, false, false] {
            schedule.observe(improved);
            rates.push(schedule.learning_rate(1));
        }
        assert_eq!(rates, [0.8, 0.8, 0.8, 0.8, 0.4, 0.4, 0.3, 0.3]);
        assert_eq!(schedule.state, ScheduleState { waited: 1, reductions: 2 });
    }

    #[test]
    fn impossible_values() {
        let check = |config: ScheduleConfig| config.check(Some(100)).unwrap_err().key;
        assert_eq!(
            check(ScheduleConfig::Constant { learning_rate: 0.0, warmup: 0 }),
            "schedule.learning_rate"
        );
        assert_eq!(
            check(ScheduleConfig::Constant { learning_rate: f64::NAN, warmup: 0 }),
            "schedule.learning_rate"
        );
        let cosine =
            |minimum, updates| ScheduleConfig::Cosine { learning_rate: 0.1, warmup: 50, minimum, updates };
        assert_eq!(check(cosine(0.2, None)), "schedule.minimum");
        assert_eq!(check(cosine(0.0, Some(50))), "schedule.warmup");
        assert_eq!(cosine(0.0, None).check(None).unwrap_err().key, "schedule.updates");
        assert!(cosine(0.0, None).check(Some(51)).is_ok());
    }
}
