//! The words of a step: plain ones, `key=value` pairs, calls with words in parentheses.
//!
//! ```text
//! produce t/0 v3 acks=1 batch(codec=gzip deltas=0,2,5)
//! ask Metadata v4 topics=[(name=t) (name=u)] allow_auto_topic_creation=0
//! until("end=3") read t
//! ```
//!
//! A value is a text, a list in brackets, or a structure (pairs in parentheses). A text with spaces or brackets stands in
//! double quotes; there is no escape in them.

use crate::{Failure, Result};

/// One word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// `t/0`, `v3`.
    Plain(String),
    /// `acks=1`.
    Pair(String, Given),
    /// `batch(codec=gzip)`.
    Call(String, Vec<Word>),
}

/// The value of a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// Anything without structure.
    Text(String),
    /// `[a b]`.
    List(Vec<Given>),
    /// `(name=t partitions=[…])`.
    Struct(Vec<(String, Given)>),
}

impl Given {
    /// The text, where it is one.
    pub(super) fn text(&self) -> Result<&str> {
        match self {
            Given::Text(text) => Ok(text),
            Given::List(_) | Given::Struct(_) => Err(Failure::new(format!("a text was expected, not {self:?}"))),
        }
    }
}

/// Reads a line as words.
pub(super) fn words(line: &str) -> Result<Vec<Word>> {
    Reader { rest: line }.words(None)
}

/// Replaces each `$name` and `$name.path` by what `value` knows of it.
pub(super) fn replace(line: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut parts = line.split('$');
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_alphanumeric() && !"_.".contains(c)).unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        out.push_str(&value(name).unwrap_or_else(|| format!("${name}")));
        out.push_str(rest);
    }
    out
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    /// Words up to `end`, which is taken.
    fn words(&mut self, end: Option<char>) -> Result<Vec<Word>> {
        let mut words = Vec::new();
        while !self.ends(end)? {
            let name = self.text()?;
            words.push(match self.peek() {
                Some('=') => {
                    self.skip();
                    Word::Pair(name, self.given()?)
                }
                Some('(') => {
                    self.skip();
                    Word::Call(name, self.words(Some(')'))?)
                }
                _ => Word::Plain(name),
            });
        }
        Ok(words)
    }

    fn given(&mut self) -> Result<Given> {
        match self.peek() {
            Some('[') => {
                self.skip();
                let mut items = Vec::new();
                while !self.ends(Some(']'))? {
                    items.push(self.given()?);
                }
                Ok(Given::List(items))
            }
            Some('(') => {
                self.skip();
                let pairs = self.words(Some(')'))?.into_iter().map(|word| match word {
                    Word::Pair(name, given) => Ok((name, given)),
                    Word::Plain(_) | Word::Call(..) => Err(Failure::new(format!("a pair was expected, not {word:?}"))),
                });
                Ok(Given::Struct(pairs.collect::<Result<_>>()?))
            }
            _ => Ok(Given::Text(self.text()?)),
        }
    }

    /// A text in quotes, or everything up to a space or a bracket.
    fn text(&mut self) -> Result<String> {
        if let Some(quoted) = self.rest.strip_prefix('"') {
            let (text, rest) = quoted.split_once('"').ok_or_else(|| Failure::new("a quote is not closed"))?;
            self.rest = rest;
            return Ok(text.to_owned());
        }
        let end = self.rest.find(|c: char| c.is_whitespace() || "()[]=".contains(c)).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        if text.is_empty() && !rest.is_empty() && self.peek() != Some(' ') {
            return Err(Failure::new(format!("a word was expected before {rest}")));
        }
        self.rest = rest;
        Ok(text.to_owned())
    }

    /// Whether the words end here; takes the closing bracket.
    fn ends(&mut self, end: Option<char>) -> Result<bool> {
        self.rest = self.rest.trim_start();
        match (self.peek(), end) {
            (None, None) => Ok(true),
            (None, Some(end)) => Err(Failure::new(format!("{end} is missing"))),
            (Some(next), Some(end)) if next == end => {
                self.skip();
                Ok(true)
            }
            (Some(_), _) => Ok(false),
        }
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn skip(&mut self) {
        let mut rest = self.rest.chars();
        rest.next();
        self.rest = rest.as_str();
    }
}

/// The words of a step or of a call by what they are for; each is taken once, and what nobody took is an error.
#[derive(Clone, Debug)]
pub(super) struct Words {
    left: Vec<Word>,
}

impl Words {
    /// Words to be taken.
    pub(super) fn new(words: Vec<Word>) -> Words {
        Words { left: words }
    }

    /// The first plain word.
    pub(super) fn plain(&mut self) -> Option<String> {
        let at = self.left.iter().position(|word| matches!(word, Word::Plain(_)))?;
        match self.left.remove(at) {
            Word::Plain(text) => Some(text),
            Word::Pair(..) | Word::Call(..) => None,
        }
    }

    /// The first plain word that fits.
    pub(super) fn plain_if(&mut self, fits: impl Fn(&str) -> bool) -> Option<String> {
        let at = self.left.iter().position(|word| matches!(word, Word::Plain(text) if fits(text)))?;
        match self.left.remove(at) {
            Word::Plain(text) => Some(text),
            Word::Pair(..) | Word::Call(..) => None,
        }
    }

    /// All words that are left, in order.
    pub(super) fn rest(self) -> Vec<Word> {
        self.left
    }

    /// Whether the plain word `flag` stands there.
    pub(super) fn flag(&mut self, flag: &str) -> bool {
        let at = self.left.iter().position(|word| matches!(word, Word::Plain(text) if text == flag));
        at.map(|at| self.left.remove(at)).is_some()
    }

    /// Whether there is a pair `key`.
    pub(super) fn has(&self, key: &str) -> bool {
        self.left.iter().any(|word| matches!(word, Word::Pair(name, _) if name == key))
    }

    /// The value of the pair `key`.
    pub(super) fn pair(&mut self, key: &str) -> Option<Given> {
        let at = self.left.iter().position(|word| matches!(word, Word::Pair(name, _) if name == key))?;
        match self.left.remove(at) {
            Word::Pair(_, given) => Some(given),
            Word::Plain(_) | Word::Call(..) => None,
        }
    }

    /// The text of the pair `key`.
    pub(super) fn text(&mut self, key: &str) -> Result<Option<String>> {
        self.pair(key).map(|given| given.text().map(str::to_owned)).transpose()
    }

    /// The number of the pair `key`.
    pub(super) fn number<N: TryFrom<i64>>(&mut self, key: &str) -> Result<Option<N>> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        let number = integer(&text)?;
        N::try_from(number).map(Some).map_err(|_| Failure::new(format!("{key}={text} is out of range")))
    }

    /// The texts of the pair `key`, which stand between commas.
    pub(super) fn list(&mut self, key: &str) -> Result<Option<Vec<String>>> {
        Ok(self.text(key)?.map(|text| text.split(',').map(str::to_owned).collect()))
    }

    /// The pairs that are left, in order.
    pub(super) fn pairs(&mut self) -> Vec<(String, Given)> {
        let (pairs, left) = std::mem::take(&mut self.left).into_iter().partition(|word| matches!(word, Word::Pair(..)));
        self.left = left;
        let pairs: Vec<Word> = pairs;
        let pair = |word| match word {
            Word::Pair(name, given) => Some((name, given)),
            Word::Plain(_) | Word::Call(..) => None,
        };
        pairs.into_iter().filter_map(pair).collect()
    }

    /// Fails when a word is left over.
    pub(super) fn finish(self) -> Result {
        match self.left.first() {
            None => Ok(()),
            Some(word) => Err(Failure::new(format!("not understood: {word:?}"))),
        }
    }
}

/// An integer in decimal, or in hexadecimal behind `0x`.
pub(super) fn integer(text: &str) -> Result<i64> {
    let read = match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    read.map_err(|_| Failure::new(format!("not a number: {text}")))
}

/// Bytes from hexadecimal digits.
pub(super) fn hex(text: &str) -> Result<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2).map(|pair| {
        let digits = std::str::from_utf8(pair).unwrap_or_default();
        (digits.len() == 2).then(|| u8::from_str_radix(digits, 16).ok()).flatten()
    });
    pairs.collect::<Option<Vec<u8>>>().ok_or_else(|| Failure::new(format!("not bytes: {text}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_read() {
        let line = "ask Metadata v4 topics=[(name=t partitions=[0 1]) (name=\"a b\")] batch(base=7 flag)";
        let mut words = Words::new(words(line).unwrap());
        assert_eq!(words.plain().as_deref(), Some("ask"));
        assert!(words.flag("v4") && !words.flag("v5"));
        let Some(Given::List(topics)) = words.pair("topics") else { panic!("a list") };
        assert_eq!(topics[1], Given::Struct(vec![("name".to_owned(), Given::Text("a b".to_owned()))]));
        assert_eq!(words.plain_if(|text| text.len() > 3).as_deref(), Some("Metadata"));
        let Some(Word::Call(name, inside)) = words.rest().pop() else { panic!("a call") };
        let mut batch = Words::new(inside);
        assert_eq!((name.as_str(), batch.number::<i64>("base").unwrap(), batch.flag("flag")), ("batch", Some(7), true));
        batch.finish().unwrap();
    }

    #[test]
    fn what_is_left_over_is_an_error() {
        assert!(Words::new(words("a b=1").unwrap()).finish().is_err());
        assert!(words("a(b").is_err() && words("a [").is_err() && words("\"a").is_err());
    }

    #[test]
    fn bound_names_are_replaced() {
        let value = |name: &str| (name == "v").then(|| "3".to_owned());
        assert_eq!(replace("t/$v v$v $v.x $w", value), "t/3 v3 $v.x $w");
    }
}
