//! Lists of numbers: `1,3-5`.

use std::fmt;

/// Most numbers that a range, and a list, may stand for.
const MOST: usize = 10_000;

/// Numbers and ranges of numbers, both ends included.
pub(super) fn numbers(items: &[&str]) -> Result<Vec<usize>, String> {
    let mut list = Vec::new();
    for item in items {
        let number = |text: &str| text.parse().map_err(|_| format!("\"{item}\" is not a number from 0"));
        match item.split_once('-') {
            Some((first, last)) => {
                let (first, last): (usize, usize) = (number(first)?, number(last)?);
                if first > last || last - first >= MOST {
                    return Err(format!("\"{item}\" is not a range"));
                }
                list.extend(first..=last);
            }
            None => list.push(number(item)?),
        }
        if list.len() > MOST {
            return Err(format!("the list holds more than {MOST} numbers"));
        }
    }
    Ok(list)
}

/// `layer.head` and the like.
pub(super) fn heads(items: &[&str]) -> Result<Vec<(usize, usize)>, String> {
    let head = |item: &&str| {
        let (layer, head) = item.split_once('.')?;
        Some((layer.parse().ok()?, head.parse().ok()?))
    };
    let problem = |item: &&str| format!("\"{item}\" is not a head: write layer.head, as 1.3");
    items.iter().map(|item| head(item).ok_or_else(|| problem(item))).collect()
}

/// Writes `key=1,2,3`, after a comma unless it is the first.
pub(super) fn write<T: fmt::Display>(key: &str, items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    format!("{key}={}", items.join(","))
}
