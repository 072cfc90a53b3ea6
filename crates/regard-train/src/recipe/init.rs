//! What a recipe that goes on from a model must not say, since the model has said it.

use toml::{Table, Value};

/// What `[model]` may change: it concerns the training alone.
const RATES: [&str; 5] =
    ["dropout", "attention_dropout", "feed_forward_dropout", "recurrent_dropout", "word_dropout"];

/// Takes the model's own keys out of a recipe that goes on from one.
pub(super) fn leave_out(recipe: &mut Table) {
    recipe.remove("tokenizer");
    if let Some(model) = recipe.get_mut("model").and_then(Value::as_table_mut) {
        model.retain(|key, _| RATES.contains(&key));
    }
}

/// The dotted path of the first key that is the model's own, and why it must not be there.
pub(super) fn check(recipe: &Table) -> Result<(), (String, String)> {
    if !recipe.contains_key("init_from") {
        return Ok(());
    }
    let keys = |table: &str| recipe.get(table).and_then(Value::as_table).into_iter().flat_map(Table::keys);
    if let Some(key) = keys("tokenizer").next() {
        let reason = "init_from names a model, which has its own tokenizers: leave [tokenizer] out";
        return Err((format!("tokenizer.{key}"), reason.to_owned()));
    }
    match keys("model").find(|key| !RATES.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => {
            let rates = RATES.join(", ");
            let reason =
                format!("init_from names a model, which has its own network: only {rates} may be given");
            Err((format!("model.{key}"), reason))
        }
    }
}
