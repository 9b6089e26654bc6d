//! Typed reading of JSON values with errors that say where, what was found and what is accepted. Knows nothing of
//! cases; the callers name the keys.

use serde_json::{Map, Value as Json};

/// A value that is not what its key demands. `key` grows outwards while the error travels up.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unfit {
    pub(super) key: String,
    pub(super) found: String,
    pub(super) accepted: &'static str,
}

pub(super) type Fit<T> = Result<T, Unfit>;

impl Unfit {
    pub(super) fn new(found: &Json, accepted: &'static str) -> Unfit {
        Unfit { key: String::new(), found: shorten(&found.to_string()), accepted }
    }

    pub(super) fn missing(accepted: &'static str) -> Unfit {
        Unfit { key: String::new(), found: "nothing".to_owned(), accepted }
    }

    fn under(mut self, outer: &str) -> Unfit {
        self.key = match self.key.as_str() {
            "" => outer.to_owned(),
            inner if inner.starts_with('[') => format!("{outer}{inner}"),
            inner => format!("{outer}.{inner}"),
        };
        self
    }
}

/// Names the key that an error came from.
pub(super) trait At<T> {
    fn at(self, key: &str) -> Fit<T>;
}

impl<T> At<T> for Fit<T> {
    fn at(self, key: &str) -> Fit<T> {
        self.map_err(|unfit| unfit.under(key))
    }
}

/// At most sixty characters of `text`, so that a message stays readable when a whole tensor list is in the wrong place.
fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

pub(super) fn object(json: &Json) -> Fit<&Map<String, Json>> {
    json.as_object().ok_or_else(|| Unfit::new(json, "an object"))
}

pub(super) fn string(json: &Json) -> Fit<&str> {
    json.as_str().ok_or_else(|| Unfit::new(json, "a string"))
}

pub(super) fn boolean(json: &Json) -> Fit<bool> {
    json.as_bool().ok_or_else(|| Unfit::new(json, "true or false"))
}

pub(super) fn int(json: &Json) -> Fit<i64> {
    json.as_i64().ok_or_else(|| Unfit::new(json, "an integer that int64 holds"))
}

pub(super) fn length(json: &Json) -> Fit<usize> {
    int(json).ok().and_then(|n| usize::try_from(n).ok()).ok_or_else(|| Unfit::new(json, "an integer of at least 0"))
}

pub(super) fn stride(json: &Json) -> Fit<isize> {
    int(json).ok().and_then(|n| isize::try_from(n).ok()).ok_or_else(|| Unfit::new(json, "an integer"))
}

/// A float written as a string, as exact cases need it: JSON numbers have no NaN, infinity or reliable last digit.
pub(super) fn float(json: &Json) -> Fit<f64> {
    let accepted = "a string with a float, nan, inf or -inf";
    let text = json.as_str().ok_or_else(|| Unfit::new(json, accepted))?;
    text.parse().map_err(|_| Unfit::new(json, accepted))
}

/// A plain JSON number of at least zero, as tolerances are written.
pub(super) fn tolerance(json: &Json) -> Fit<f64> {
    json.as_f64().filter(|t| *t >= 0.0).ok_or_else(|| Unfit::new(json, "a number of at least 0"))
}

pub(super) fn list<'a, T>(json: &'a Json, mut each: impl FnMut(&'a Json) -> Fit<T>) -> Fit<Vec<T>> {
    let items = json.as_array().ok_or_else(|| Unfit::new(json, "an array"))?;
    items.iter().enumerate().map(|(i, item)| each(item).at(&format!("[{i}]"))).collect()
}

/// The value under `key`, which must be there.
pub(super) fn get<'a, T>(
    object: &'a Map<String, Json>,
    key: &'static str,
    accepted: &'static str,
    read: impl FnOnce(&'a Json) -> Fit<T>,
) -> Fit<T> {
    object.get(key).ok_or_else(|| Unfit::missing(accepted)).and_then(read).at(key)
}

/// The value under `key` if it is there.
pub(super) fn get_if<'a, T>(
    object: &'a Map<String, Json>,
    key: &'static str,
    read: impl FnOnce(&'a Json) -> Fit<T>,
) -> Fit<Option<T>> {
    object.get(key).map(|json| read(json).at(key)).transpose()
}

/// Refuses keys outside `accepted`, so that a format with more in it is noticed instead of half read.
pub(super) fn only(object: &Map<String, Json>, keys: &[&str], accepted: &'static str) -> Fit<()> {
    match object.keys().find(|key| !keys.contains(&key.as_str())) {
        Some(key) => Err(Unfit { key: shorten(key), found: "an unknown key".to_owned(), accepted }),
        None => Ok(()),
    }
}
