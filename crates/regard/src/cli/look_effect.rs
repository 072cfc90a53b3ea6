//! What an intervention has changed, as a table.

use std::fmt::Write as _;

use console::measure_text_width;
use regard_look::{Effect, Inspection};

/// The new translation, the first change in words, and the distances step by step.
pub(super) fn table(seen: &Inspection, effect: &Effect) -> String {
    let specs: Vec<String> = effect.spec.iter().map(ToString::to_string).collect();
    let mut text = format!("\n{}\n{}\n{}\n", specs.join(" "), effect.text, change(seen, effect));
    let width =
        effect.steps.iter().map(|step| measure_text_width(&step.token)).max().unwrap_or(0).max("token".len());
    let pad = |token: &str| " ".repeat(width - measure_text_width(token).min(width));
    let _ = writeln!(text, "token{}     log p     after    TVD    JSD", pad("token"));
    for step in &effect.steps {
        let (token, pad) = (&step.token, pad(&step.token));
        let (before, after) = (step.log_prob, step.log_prob_after);
        let _ = writeln!(text, "{token}{pad}  {before:8.3}  {after:8.3}  {:5.3}  {:5.3}", step.tvd, step.jsd);
    }
    text.push_str("TVD: total variation, JSD: Jensen-Shannon divergence in nats, of the next-token distributions given ");
    text.push_str("the original's words\n");
    text
}

fn change(seen: &Inspection, effect: &Effect) -> String {
    let Some(place) = effect.first_change else {
        return "the translation stays the same".to_owned();
    };
    let token =
        |tokens: &[String]| tokens.get(place).map_or("nothing".to_owned(), |token| format!("\"{token}\""));
    let (before, after) = (token(&seen.target_tokens), token(&effect.target_tokens));
    format!("the first token that changes is number {place}: {before} becomes {after}")
}
