//! A TOML text whose values know their places, with references to the environment.
//!
//! ```text
//! ${NAME}              the variable's value; an error where there is none
//! ${NAME:-otherwise}   the text behind :- where there is none
//! $${                  ${ itself
//! ```

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::section::Section;
use crate::config::error::{ConfigError, Place};

/// Longer files are not read: a thousand mirrors fit into this.
pub const FILE_BYTES_MAX: usize = 4 << 20;

/// A file's text, which knows its lines.
pub(super) struct Text<'a> {
    pub(super) file: &'a str,
    text: &'a str,
    /// Where each line begins, in bytes.
    lines: Vec<usize>,
    env: &'a dyn Fn(&str) -> Option<String>,
}

impl<'a> Text<'a> {
    /// # Errors
    /// For bytes that are no UTF-8, and for too many.
    pub(super) fn new(
        file: &'a str,
        bytes: &'a [u8],
        env: &'a dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let fault = |line, fault: String| ConfigError::Toml { file: file.to_owned(), line, fault };
        if bytes.len() > FILE_BYTES_MAX {
            let text = format!("it has {} bytes, {FILE_BYTES_MAX} at most are read", bytes.len());
            return Err(fault(1, text));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
            fault(line, "the text is not UTF-8".to_owned())
        })?;
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Ok(Self { file, text, lines, env })
    }

    /// The tables and values of the text.
    ///
    /// # Errors
    /// For text that is not TOML.
    pub(super) fn parse(&self) -> Result<Spanned<DeTable<'a>>, ConfigError> {
        DeTable::parse(self.text).map_err(|error| {
            let line = error.span().map_or(1, |span| self.line(&span));
            let fault = error.message().lines().collect::<Vec<_>>().join(" ");
            ConfigError::Toml { file: self.file.to_owned(), line, fault }
        })
    }

    pub(super) fn line(&self, span: &Range<usize>) -> usize {
        self.lines.partition_point(|&start| start <= span.start)
    }

    pub(super) fn place(&self, key: &str, span: &Range<usize>) -> Place {
        Place { file: self.file.to_owned(), line: self.line(span), key: key.to_owned() }
    }

    /// A string with its references replaced; an error is the rest of a sentence.
    fn expand(&self, text: &str) -> Result<String, String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            let (before, reference) = rest.split_at(at);
            let (_, inner) = reference.split_at(2);
            if let Some(before) = before.strip_suffix('$') {
                out.push_str(before);
                out.push_str("${");
                rest = inner;
                continue;
            }
            out.push_str(before);
            let (inner, behind) =
                inner.split_once('}').ok_or("a reference that begins with ${ has no }; $${ is the text ${ itself")?;
            out.push_str(&self.variable(inner)?);
            rest = behind;
        }
        out.push_str(rest);
        Ok(out)
    }

    fn variable(&self, inner: &str) -> Result<String, String> {
        let (name, otherwise) = match inner.split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (inner, None),
        };
        let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !starts || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("${{{inner}}} does not name an environment variable; $${{ is the text ${{ itself"));
        }
        let found = (self.env)(name).or_else(|| otherwise.map(str::to_owned));
        found.ok_or_else(|| format!("the environment has no {name}; set it, or write ${{{name}:-otherwise}}"))
    }
}

/// One value with its place.
#[derive(Clone)]
pub(super) struct Item<'a> {
    text: &'a Text<'a>,
    pub(super) place: Place,
    pub(super) value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Item<'a> {
    pub(super) fn new(text: &'a Text<'a>, place: Place, value: &'a Spanned<DeValue<'a>>) -> Self {
        Self { text, place, value }
    }

    /// Something is wrong here.
    pub(super) fn fault(&self, fault: impl Into<String>) -> ConfigError {
        ConfigError::Setting { place: self.place.clone(), fault: fault.into() }
    }

    pub(super) fn wrong(&self, expected: impl Into<String>) -> ConfigError {
        let expected = expected.into();
        let value = match self.value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            DeValue::Boolean(value) => value.to_string(),
            DeValue::Datetime(time) => time.to_string(),
            DeValue::Array(_) => return self.fault(format!("a list is not a value of this key: {expected}")),
            DeValue::Table(_) => return self.fault(format!("a table is not a value of this key: {expected}")),
        };
        ConfigError::Value { place: self.place.clone(), value, expected }
    }

    /// A string as it stands there.
    pub(super) fn verbatim(&self) -> Result<&'a str, ConfigError> {
        self.value.get_ref().as_str().ok_or_else(|| self.wrong("a text in quotes"))
    }

    /// A string with its references replaced.
    pub(super) fn text(&self) -> Result<String, ConfigError> {
        self.text.expand(self.verbatim()?).map_err(|fault| self.fault(fault))
    }

    /// A string, or a list of them.
    pub(super) fn texts(&self) -> Result<Vec<String>, ConfigError> {
        match self.items() {
            Some(items) => items.iter().map(Self::text).collect(),
            None => Ok(vec![self.text()?]),
        }
    }

    /// The values of a list.
    pub(super) fn items(&self) -> Option<Vec<Self>> {
        let list = self.value.get_ref().as_array()?;
        let item = |value: &'a Spanned<DeValue<'a>>| {
            let place = self.text.place(&self.place.key, &value.span());
            Self::new(self.text, place, value)
        };
        Some(list.iter().map(item).collect())
    }

    pub(super) fn section(&self) -> Result<Section<'a>, ConfigError> {
        let table = self.value.get_ref().as_table().ok_or_else(|| self.wrong("a table, [name] or { … }"))?;
        Ok(Section::new(self.text, self.place.clone(), table))
    }

    pub(super) fn whole(&self) -> Option<i64> {
        let number = self.value.get_ref().as_integer()?;
        i64::from_str_radix(number.as_str(), number.radix()).ok()
    }

    pub(super) fn boolean(&self) -> Result<bool, ConfigError> {
        self.value.get_ref().as_bool().ok_or_else(|| self.wrong("true or false"))
    }

    /// A value of one of Kafka's own keys, as a properties file would have it.
    pub(super) fn property(&self) -> Result<String, ConfigError> {
        match self.value.get_ref() {
            DeValue::String(_) => self.text(),
            DeValue::Boolean(value) => Ok(value.to_string()),
            DeValue::Integer(_) => match self.whole() {
                Some(number) => Ok(number.to_string()),
                None => Err(self.wrong("a whole number of 64 bits")),
            },
            DeValue::Array(_) => self.texts().map(|texts| texts.join(",")),
            DeValue::Float(_) | DeValue::Datetime(_) | DeValue::Table(_) => {
                Err(self.wrong("a text in quotes, a whole number, true, false, or a list of texts"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Result<String, String> {
        let env = |name: &str| match name {
            "HOST" => Some("a".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        Text::new("f", b"", &env).unwrap().expand(text)
    }

    #[test]
    fn references_are_replaced_once() {
        for (text, expected) in [
            ("plain", "plain"),
            ("${HOST}:9092,${HOST}:9093", "a:9092,a:9093"),
            ("${PORT:-9092}", "9092"),
            ("${HOST:-b}", "a"),
            ("[${EMPTY}]", "[]"),
            ("[${PORT:-}]", "[]"),
            ("$${HOST} costs $5", "${HOST} costs $5"),
            ("$", "$"),
        ] {
            assert_eq!(expanded(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_reference_is_said() {
        for (text, words) in [
            ("${PORT}", "the environment has no PORT; set it, or write ${PORT:-otherwise}"),
            ("${HOST", "has no }"),
            ("${1}", "${1} does not name an environment variable"),
            ("${}", "does not name an environment variable"),
            ("${A B}", "does not name an environment variable"),
        ] {
            let error = expanded(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
