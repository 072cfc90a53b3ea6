//! The text form of an intervention: `ACTION[:ARGUMENTS][@WHERE]`.
//!
//! Arguments and places are `key=value`, joined by commas; what has no key belongs to the list before it, so that
//! `src=1,3@step=2,5,layer=0` reads as it looks. `text=` takes the rest, commas included, up to the last `@`.

use std::fmt;
use std::str::FromStr;

use regard_model::SiteKind;
use thiserror::Error;

use super::list::{heads, numbers, write};
use super::{Action, Heads, Intervention, Reach, Stage, Steps};

/// Where the text of an intervention is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{problem}, at character {} of \"{text}\"; for example {example}", position + 1)]
pub struct GrammarError {
    /// The text.
    pub text: String,
    /// The character at which the wrong word starts, from 0.
    pub position: usize,
    /// What is wrong.
    pub problem: String,
    /// How it could be.
    pub example: &'static str,
}

/// The actions, each with an example.
const ACTIONS: [(&str, &str); 16] = [
    ("temperature", "temperature:0.2@layer=all"),
    ("remove", "remove:src=3@step=5"),
    ("force", "force:src=1@step=all"),
    ("row", "row:0.1,0.9,0,0@step=2"),
    ("uniform", "uniform@head=2.1"),
    ("permute", "permute:seed=7@step=all"),
    ("hard", "hard@layer=0"),
    ("previous", "previous@step=3"),
    ("last", "last@step=all"),
    ("attention-of", "attention-of:text=the red man sleeps"),
    ("state", "state:src=4,from=4,text=the red man sleeps"),
    ("remove-head", "remove-head@head=1.3"),
    ("remove-layer", "remove-layer@layer=1"),
    ("remove-attention", "remove-attention@layer=1"),
    ("remove-feed-forward", "remove-feed-forward@layer=1,site=encoder_self"),
    ("remove-residual", "remove-residual@layer=1"),
];

/// The largest weight that a row may have.
const MOST_WEIGHT: f32 = 1000.0;

/// Temperatures at which scores stay within the range of their type.
#[must_use]
pub fn is_temperature(temperature: f32) -> bool {
    (0.001..=1e6).contains(&temperature)
}

/// A word with the place at which it starts.
#[derive(Clone, Copy)]
struct Word<'a> {
    start: usize,
    text: &'a str,
}

/// `key=a,b`, or a list without a key.
struct Argument<'a> {
    key: Option<Word<'a>>,
    start: usize,
    items: Vec<&'a str>,
}

/// What is wrong, at which byte.
type Problem = (usize, String);

impl FromStr for Intervention {
    type Err = GrammarError;

    fn from_str(text: &str) -> Result<Self, GrammarError> {
        let head = text.split([':', '@']).next().unwrap_or_default();
        let known = ACTIONS.iter().find(|(name, _)| *name == head);
        let example = known.map_or("remove:src=3@step=5", |(_, example)| *example);
        parse(text, head, known.is_some()).map_err(|(byte, problem)| {
            let position = text.get(..byte).map_or(0, |before| before.chars().count());
            GrammarError { text: text.to_owned(), position, problem, example }
        })
    }
}

fn parse(text: &str, head: &str, known: bool) -> Result<Intervention, Problem> {
    if !known {
        let names: Vec<&str> = ACTIONS.iter().map(|(name, _)| *name).collect();
        return Err((0, format!("\"{head}\" is no action (there are {})", names.join(", "))));
    }
    let (before, reach) = match text.rsplit_once('@') {
        Some((before, place)) => (before, reach(Word { start: before.len() + 1, text: place })?),
        None => (text, Reach::default()),
    };
    let start = (head.len() + 1).min(before.len());
    let rest = before.get(start..).unwrap_or_default();
    if before.len() > head.len() && rest.is_empty() {
        return Err((start, "there is nothing after the colon".to_owned()));
    }
    let action = action(head, Word { start, text: rest })?;
    Ok(Intervention { action, reach })
}

/// `a=1,2,b=3` as arguments. `text=` takes what is left.
fn arguments(word: Word) -> Result<Vec<Argument>, Problem> {
    let mut list: Vec<Argument> = Vec::new();
    let (mut start, mut rest) = (word.start, Some(word.text).filter(|text| !text.is_empty()));
    while let Some(text) = rest {
        let is_text = text.starts_with("text=");
        let (item, after) = match text.split_once(',') {
            Some((item, after)) if !is_text => (item, Some(after)),
            _ => (text, None),
        };
        if item.is_empty() {
            return Err((start, "there is nothing between commas".to_owned()));
        }
        match (item.split_once('='), list.last_mut()) {
            (Some((key, value)), _) => list.push(Argument {
                key: Some(Word { start, text: key }),
                start: start + key.len() + 1,
                items: vec![value],
            }),
            (None, Some(last)) => last.items.push(item),
            (None, None) => list.push(Argument { key: None, start, items: vec![item] }),
        }
        (start, rest) = (start + item.len() + 1, after);
    }
    Ok(list)
}

/// Arguments that are taken one by one; what is left is wrong.
struct Arguments<'a> {
    list: Vec<Argument<'a>>,
    end: usize,
}

impl<'a> Arguments<'a> {
    fn new(word: Word<'a>) -> Result<Self, Problem> {
        Ok(Self { list: arguments(word)?, end: word.start + word.text.len() })
    }

    fn take(&mut self, key: Option<&str>) -> Option<Argument<'a>> {
        let place = self.list.iter().position(|argument| argument.key.map(|word| word.text) == key)?;
        Some(self.list.remove(place))
    }

    fn needed(&mut self, key: Option<&str>, what: &str) -> Result<Argument<'a>, Problem> {
        self.take(key).ok_or_else(|| (self.end, format!("{what} is missing")))
    }

    /// One value of a key.
    fn value<T>(
        &mut self,
        key: &str,
        what: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        let Some(argument) = self.take(Some(key)) else { return Ok(None) };
        match argument.items.as_slice() {
            [item] => read(item),
            _ => None,
        }
        .map(Some)
        .ok_or_else(|| (argument.start, format!("{key} wants {what}, not \"{}\"", argument.items.join(","))))
    }

    fn position(&mut self, key: &str) -> Result<usize, Problem> {
        let end = self.end;
        let position = self.value(key, "a position from 0", |item| item.parse().ok())?;
        position.ok_or_else(|| (end, format!("{key}=POSITION is missing")))
    }

    fn text(&mut self) -> Result<String, Problem> {
        let argument = self.needed(Some("text"), "text=SENTENCE")?;
        let text = argument.items.join(",");
        if text.trim().is_empty() {
            return Err((argument.start, "the sentence is blank".to_owned()));
        }
        Ok(text)
    }

    fn done(self) -> Result<(), Problem> {
        match self.list.first() {
            None => Ok(()),
            Some(left) => {
                let word = left.key.map_or_else(|| left.items.join(","), |key| key.text.to_owned());
                let start = left.key.map_or(left.start, |key| key.start);
                Err((start, format!("\"{word}\" does not belong here")))
            }
        }
    }
}

fn action(head: &str, word: Word) -> Result<Action, Problem> {
    let mut arguments = Arguments::new(word)?;
    let action = match head {
        "temperature" => temperature(&mut arguments)?,
        "remove" => {
            let src = arguments.needed(Some("src"), "src=POSITION")?;
            let positions = numbers(&src.items).map_err(|problem| (src.start, problem))?;
            let renormalise =
                arguments.value("renormalise", "true or false", |item| item.parse().ok())?.unwrap_or(true);
            Action::Remove { positions, renormalise }
        }
        "force" => Action::Force { position: arguments.position("src")? },
        "row" => row(&mut arguments)?,
        "uniform" => Action::Uniform,
        "permute" => Action::Permute {
            seed: arguments.value("seed", "a number from 0", |item| item.parse().ok())?.unwrap_or(1),
            of: arguments.value("of", "scores or weights", stage)?.unwrap_or_default(),
        },
        "hard" => Action::Hard,
        "previous" => Action::Previous,
        "last" => Action::Last,
        "attention-of" => Action::AttentionOf { text: arguments.text()? },
        "state" => Action::State {
            position: arguments.position("src")?,
            from: arguments.position("from")?,
            text: arguments.text()?,
        },
        "remove-head" => Action::RemoveHead,
        "remove-layer" => Action::RemoveLayer,
        "remove-attention" => Action::RemoveAttention,
        "remove-feed-forward" => Action::RemoveFeedForward,
        _ => Action::RemoveResidual,
    };
    arguments.done()?;
    Ok(action)
}

fn temperature(arguments: &mut Arguments) -> Result<Action, Problem> {
    let argument = arguments.needed(None, "a temperature")?;
    let temperature = match argument.items.as_slice() {
        [item] => item.parse().ok().filter(|&t| is_temperature(t)),
        _ => None,
    };
    let problem = || {
        let item = argument.items.join(",");
        (argument.start, format!("\"{item}\" is not a number above 0, from 0.001 to 1000000"))
    };
    Ok(Action::Temperature(temperature.ok_or_else(problem)?))
}

fn row(arguments: &mut Arguments) -> Result<Action, Problem> {
    let argument = arguments.needed(None, "a list of weights")?;
    let weight = |item: &&str| item.parse().ok().filter(|w: &f32| (0.0..=MOST_WEIGHT).contains(w));
    let problem =
        |item: &&str| (argument.start, format!("\"{item}\" is not a weight from 0 to {MOST_WEIGHT}"));
    let weights = argument.items.iter().map(|item| weight(item).ok_or_else(|| problem(item)));
    Ok(Action::Row(weights.collect::<Result<_, _>>()?))
}

fn stage(item: &str) -> Option<Stage> {
    match item {
        "scores" => Some(Stage::Scores),
        "weights" => Some(Stage::Weights),
        _ => None,
    }
}

fn site(item: &str) -> Option<SiteKind> {
    match item {
        "cross" => Some(SiteKind::Cross),
        "encoder_self" => Some(SiteKind::EncoderSelf),
        "decoder_self" => Some(SiteKind::DecoderSelf),
        _ => None,
    }
}

fn reach(word: Word) -> Result<Reach, Problem> {
    let mut arguments = Arguments::new(word)?;
    if arguments.list.is_empty() {
        return Err((word.start, "there is nothing after the @".to_owned()));
    }
    let mut reach = Reach::default();
    if let Some(site) = arguments.value("site", "cross, encoder_self or decoder_self", site)? {
        reach.site = site;
    }
    let is_all = |argument: &Argument| argument.items == ["all"];
    if let Some(step) = arguments.take(Some("step")).filter(|step| !is_all(step)) {
        reach.steps = Steps::These(numbers(&step.items).map_err(|problem| (step.start, problem))?);
    }
    if let Some(layer) = arguments.take(Some("layer")).filter(|layer| !is_all(layer)) {
        reach.heads = Heads::Layers(numbers(&layer.items).map_err(|problem| (layer.start, problem))?);
    }
    if let Some(head) = arguments.take(Some("head")).filter(|head| !is_all(head)) {
        if reach.heads != Heads::All {
            return Err((head.start, "give layers or heads, not both".to_owned()));
        }
        reach.heads = Heads::These(heads(&head.items).map_err(|problem| (head.start, problem))?);
    }
    arguments.done()?;
    Ok(reach)
}

impl fmt::Display for Intervention {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.action)?;
        let mut places = Vec::new();
        if self.reach.site != SiteKind::Cross {
            let name = if self.reach.site == SiteKind::EncoderSelf { "encoder_self" } else { "decoder_self" };
            places.push(format!("site={name}"));
        }
        match &self.reach.heads {
            Heads::All => {}
            Heads::Layers(layers) => places.push(write("layer", layers)),
            Heads::These(heads) => {
                places.push(write("head", heads.iter().map(|(layer, head)| format!("{layer}.{head}"))));
            }
        }
        if let Steps::These(steps) = &self.reach.steps {
            places.push(write("step", steps));
        }
        if places.is_empty() && !matches!(self.action, Action::State { .. } | Action::AttentionOf { .. }) {
            return Ok(());
        }
        // A sentence may hold an @ itself, so what has one always says where.
        let places = if places.is_empty() { "step=all".to_owned() } else { places.join(",") };
        write!(f, "@{places}")
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Temperature(temperature) => write!(f, "temperature:{temperature}"),
            Self::Remove { positions, renormalise } => {
                let rest = if *renormalise { "" } else { ",renormalise=false" };
                write!(f, "remove:{}{rest}", write("src", positions))
            }
            Self::Force { position } => write!(f, "force:src={position}"),
            Self::Row(weights) => {
                let weights: Vec<String> = weights.iter().map(f32::to_string).collect();
                write!(f, "row:{}", weights.join(","))
            }
            Self::Uniform => f.write_str("uniform"),
            Self::Permute { seed, of } => {
                let of = if *of == Stage::Scores { ",of=scores" } else { "" };
                write!(f, "permute:seed={seed}{of}")
            }
            Self::Hard => f.write_str("hard"),
            Self::Previous => f.write_str("previous"),
            Self::Last => f.write_str("last"),
            Self::AttentionOf { text } => write!(f, "attention-of:text={text}"),
            Self::State { position, from, text } => write!(f, "state:src={position},from={from},text={text}"),
            Self::RemoveHead => f.write_str("remove-head"),
            Self::RemoveLayer => f.write_str("remove-layer"),
            Self::RemoveAttention => f.write_str("remove-attention"),
            Self::RemoveFeedForward => f.write_str("remove-feed-forward"),
            Self::RemoveResidual => f.write_str("remove-residual"),
        }
    }
}

impl TryFrom<String> for Intervention {
    type Error = GrammarError;

    fn try_from(text: String) -> Result<Self, GrammarError> {
        text.parse()
    }
}

impl From<Intervention> for String {
    fn from(intervention: Intervention) -> Self {
        intervention.to_string()
    }
}
