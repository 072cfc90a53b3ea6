//! Text and overrides → a checked recipe, with errors that say where.

use regard_model::{ModelConfig, ModelError, Preset};
use serde::Deserialize;
use serde_json::Map;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use super::{Recipe, init};
use crate::config::Problem;
use crate::error::{Result, TrainError};

impl Recipe {
    /// Reads a recipe. Each override is `dotted.key=value`, the value written as in TOML; what is not TOML is a string.
    ///
    /// # Errors
    /// With the key and, where it stands in `text`, the line: bad syntax, an unknown key, a wrong type, or an impossible
    /// value with what is allowed.
    pub fn parse(text: &str, overrides: &[String]) -> Result<Self> {
        let mut table: Table = toml::from_str(text).map_err(|error| TrainError::Recipe(error.to_string()))?;
        for setting in overrides {
            apply(&mut table, setting)?;
        }
        let own = init::check(&table);
        let recipe = Self::deserialize(table).map_err(|error| {
            // The same fault in the text itself has a line.
            let located = toml::from_str::<Self>(text).err();
            let located = located.filter(|located| located.message() == error.message());
            TrainError::Recipe(located.unwrap_or(error).to_string())
        })?;
        own.map_err(|(key, reason)| TrainError::Impossible { line: line_of(text, &key), key, reason })?;
        recipe.check().map_err(|(table, problem)| {
            let key = format!("{table}.{}", problem.key);
            impossible(line_of(text, &key), table, problem)
        })?;
        if recipe.init_from.is_some() {
            return Ok(recipe);
        }
        let model = recipe.model_config().map_err(|error| recipe.blame(text, error))?;
        recipe.check_sampling(&model).map_err(|problem| {
            let key = format!("training.{}", problem.key);
            impossible(line_of(text, &key), "training", problem)
        })?;
        Ok(recipe)
    }

    /// The error of `[model]`, with the key that makes the same error alone and its line, where there is one.
    fn blame(&self, text: &str, error: TrainError) -> TrainError {
        let TrainError::Model(ModelError::Config(reason)) = error else { return error };
        let preset = self.model.preset.config();
        let alone = |change: &serde_json::Value| match preset.with_changes(change) {
            Err(ModelError::Config(alone)) => alone == reason,
            _ => false,
        };
        let guilty = single_changes(&self.model.changes).into_iter().find(|(_, change)| alone(change));
        match guilty {
            Some((key, _)) => {
                let line = line_of(text, &format!("model.{key}"));
                let reason = self.of_other_family(&key).unwrap_or(reason);
                TrainError::Impossible { line, key: format!("model.{key}"), reason }
            }
            None => ModelError::Config(reason).into(),
        }
    }

    /// What to say of a key that the family of the preset does not have, and the other one has: a change of the preset has
    /// left it behind, perhaps.
    fn of_other_family(&self, key: &str) -> Option<String> {
        let preset = self.model.preset;
        let (family, other, example) = match preset.config() {
            ModelConfig::Recurrent(_) => ("recurrent models", "Transformers", Preset::TransformerBase),
            ModelConfig::Transformer(_) => ("Transformers", "recurrent models", Preset::TransformerReader),
        };
        let has = |config: &ModelConfig| {
            let config = serde_json::to_value(config).unwrap_or_default();
            config.pointer(&format!("/{}", key.replace('.', "/"))).is_some()
        };
        let is_other = !has(&preset.config()) && has(&example.config());
        is_other.then(|| {
            format!(
                "model.preset = \"{}\" is one of {family}, and this is a key of {other}: leave it out, or choose another \
                 preset, such as \"{}\"",
                name(preset),
                name(example)
            )
        })
    }
}

/// What a preset is called in a recipe.
fn name(preset: Preset) -> String {
    serde_json::to_value(preset).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Every value of nested tables by its dotted key, and as the only one in the same nesting.
fn single_changes(table: &Map<String, serde_json::Value>) -> Vec<(String, serde_json::Value)> {
    let nest = |key: &String, value| serde_json::Value::Object([(key.clone(), value)].into_iter().collect());
    let mut found = Vec::new();
    for (key, value) in table {
        match value {
            serde_json::Value::Object(inner) => {
                let inner = single_changes(inner).into_iter();
                found.extend(inner.map(|(path, value)| (format!("{key}.{path}"), nest(key, value))));
            }
            value => found.push((key.clone(), nest(key, value.clone()))),
        }
    }
    found
}

/// The error of a problem in a table.
fn impossible(line: Option<usize>, table: &str, problem: Problem) -> TrainError {
    TrainError::Impossible { line, key: format!("{table}.{}", problem.key), reason: problem.reason }
}

/// Sets one dotted key of a table.
fn apply(table: &mut Table, setting: &str) -> Result<()> {
    let refuse = |reason: String| TrainError::Change { change: setting.to_owned(), reason };
    let (path, text) = setting.split_once('=').ok_or_else(|| refuse("write it as key=value".to_owned()))?;
    let mut keys: Vec<&str> = path.trim().split('.').collect();
    let Some(last) = keys.pop().filter(|last| !last.is_empty() && !keys.contains(&"")) else {
        return Err(refuse("an empty key; write it as training.updates=1000".to_owned()));
    };
    let mut table = table;
    for key in keys {
        let inner = table.entry(key).or_insert_with(|| Value::Table(Table::new()));
        table = inner
            .as_table_mut()
            .ok_or_else(|| refuse(format!("{key} is a value and has no keys below it")))?;
    }
    table.insert(last.to_owned(), value(text.trim()));
    Ok(())
}

fn value(text: &str) -> Value {
    let parsed = toml::from_str::<Table>(&format!("value = {text}")).ok();
    let parsed = parsed.filter(|table| table.len() == 1).and_then(|mut table| table.remove("value"));
    parsed.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// The line, from 1, where a dotted key stands.
fn line_of(text: &str, path: &str) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut start = None;
    for key in path.split('.') {
        let (name, value) = table.iter().find(|(name, _)| name.get_ref().as_ref() == key)?;
        start = Some(name.span().start);
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => break,
        }
    }
    Some(1 + text.get(..start?)?.matches('\n').count())
}
