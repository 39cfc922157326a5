//! Java's `.properties` text, read as `java.util.Properties.load(InputStream)` reads it.
//!
//! ```text
//! # comment        ! comment        leading white space and blank lines are skipped
//! key=value        key:value        key value       key = value      key           (empty value)
//! key=first, \     <- an odd number of backslashes at the end: the next line goes on,
//!     second          its leading white space dropped
//! a\=b\:c\ d=x     an escaped separator belongs to the key; \t \n \r \f \uXXXX; \q is q
//! ```
//!
//! The bytes are ISO-8859-1, as Java takes them, whatever the editor thought: a `group.id` that is not ASCII must
//! become the very group that MirrorMaker used. A key that is given twice has its last value.

use std::fmt;

use super::error::{ConfigError, Place};

/// One property of a file.
#[derive(Clone, PartialEq, Eq)]
pub struct RawEntry {
    /// Its key.
    pub key: String,
    /// Its value, without the white space that Kafka's own parser drops.
    pub value: String,
    /// The line on which it begins, counted from 1; 0 if it was not read from a file.
    pub line: usize,
    /// What stands before the key in a file that has tables, `cluster.old.`; empty in a properties file.
    pub table: String,
}

/// A properties file as it stands, nothing decided yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawConfig {
    file: String,
    /// The last one of each key, in the order of the file.
    entries: Vec<RawEntry>,
    /// Those that a later line replaces.
    replaced: Vec<RawEntry>,
}

impl RawConfig {
    /// Reads the text of a properties file; `file` is the name that messages use.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Escape`] for a malformed `\uXXXX`, the only text that Java refuses.
    pub fn parse(file: &str, text: &[u8]) -> Result<Self, ConfigError> {
        let mut config = Self { file: file.to_owned(), ..Self::default() };
        let text: Vec<char> = text.iter().copied().map(char::from).collect();
        for (line, text) in logical_lines(&text) {
            let (key, value) = split(&text);
            let escape = |_: BadEscape| ConfigError::Escape { file: file.to_owned(), line };
            let key = unescape(key).map_err(escape)?;
            let value = trimmed(&unescape(value).map_err(escape)?);
            config.push(RawEntry { key, value, line, table: String::new() });
        }
        Ok(config)
    }

    /// Properties that were set one by one, not read; `origin` is the name that messages use.
    #[must_use]
    pub fn of(origin: &str, properties: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut config = Self { file: origin.to_owned(), ..Self::default() };
        for (key, value) in properties {
            config.push(RawEntry { key, value: trimmed(&value), line: 0, table: String::new() });
        }
        config
    }

    /// Properties of a file that is none of Java's; a later one of the same key replaces an earlier one.
    pub(super) fn of_entries(file: &str, entries: impl IntoIterator<Item = RawEntry>) -> Self {
        let mut config = Self { file: file.to_owned(), ..Self::default() };
        for entry in entries {
            config.push(entry);
        }
        config
    }

    /// The name of the file.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The entry that counts for `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&RawEntry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// Every key once, with the value that counts, in the order of the file.
    pub fn entries(&self) -> impl Iterator<Item = &RawEntry> {
        self.entries.iter()
    }

    /// The entries that a later line of the same key has replaced.
    pub fn replaced(&self) -> impl Iterator<Item = &RawEntry> {
        self.replaced.iter()
    }

    /// Where an entry of this file stands.
    #[must_use]
    pub fn place(&self, entry: &RawEntry) -> Place {
        Place { file: self.file.clone(), line: entry.line, key: format!("{}{}", entry.table, entry.key) }
    }

    fn push(&mut self, entry: RawEntry) {
        if let Some(at) = self.entries.iter().position(|known| known.key == entry.key) {
            self.replaced.push(self.entries.remove(at));
        }
        self.entries.push(entry);
    }
}

/// Values may be secrets.
impl fmt::Debug for RawEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawEntry").field("key", &self.key).field("line", &self.line).finish_non_exhaustive()
    }
}

struct BadEscape;

/// As `ConfigDef.parseType` does before it looks at a value.
fn trimmed(value: &str) -> String {
    value.trim_matches(|c| c <= ' ').to_owned()
}

/// Lines put together where a backslash continues them, comments and blank lines left out; each with its first line's number.
fn logical_lines(text: &[char]) -> Vec<(usize, Vec<char>)> {
    let mut lines = Vec::new();
    let mut open: Option<(usize, Vec<char>)> = None;
    for (number, natural) in (1..).zip(natural_lines(text)) {
        let natural = skip_spaces(natural);
        let (first, mut line) = match open.take() {
            Some(open) => open,
            None if matches!(natural.first(), None | Some('#' | '!')) => continue,
            None => (number, Vec::new()),
        };
        let backslashes = natural.iter().rev().take_while(|&&c| c == '\\').count();
        if backslashes % 2 == 1 {
            line.extend(natural.iter().take(natural.len() - 1));
            open = Some((first, line));
        } else {
            line.extend(natural);
            lines.push((first, line));
        }
    }
    lines.extend(open);
    lines.retain(|(_, line)| !line.is_empty());
    lines
}

/// Lines that end with `\n`, `\r` or `\r\n`.
fn natural_lines(text: &[char]) -> impl Iterator<Item = &[char]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.iter().position(|&c| c == '\n' || c == '\r') else {
            rest = None;
            return Some(text);
        };
        let (line, tail) = text.split_at(end);
        rest = tail.strip_prefix(&['\r', '\n']).or_else(|| tail.get(1..));
        Some(line)
    })
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{c}')
}

/// Key and value, both still escaped: the key ends at the first bare `=`, `:` or white space; then white space, at most one `=` or `:`, and
/// white space again belong to neither.
fn split(line: &[char]) -> (&[char], &[char]) {
    let mut escaped = false;
    let end = line
        .iter()
        .position(|&c| {
            let ends = !escaped && (c == '=' || c == ':' || is_space(c));
            escaped = c == '\\' && !escaped;
            ends
        })
        .unwrap_or(line.len());
    let (key, rest) = line.split_at(end);
    let rest = skip_spaces(rest);
    let rest = match rest.split_first() {
        Some(('=' | ':', value)) => skip_spaces(value),
        Some(_) | None => rest,
    };
    (key, rest)
}

fn skip_spaces(text: &[char]) -> &[char] {
    let spaces = text.iter().take_while(|&&c| is_space(c)).count();
    text.get(spaces..).unwrap_or_default()
}

/// Java's escapes. `\uXXXX` are UTF-16 units: a pair of surrogates is one character, a lonely one becomes U+FFFD.
fn unescape(text: &[char]) -> Result<String, BadEscape> {
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut chars = text.iter().copied();
    while let Some(c) = chars.next() {
        let c = match c {
            '\\' => match chars.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('f') => '\u{c}',
                Some('u') => {
                    units.push(hexadecimal(&mut chars)?);
                    continue;
                }
                Some(other) => other,
                None => break,
            },
            plain => plain,
        };
        units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
    }
    Ok(String::from_utf16_lossy(&units))
}

fn hexadecimal(chars: &mut impl Iterator<Item = char>) -> Result<u16, BadEscape> {
    let mut unit = 0;
    for _ in 0..4 {
        let digit = chars.next().and_then(|c| c.to_digit(16)).ok_or(BadEscape)?;
        unit = unit * 16 + digit;
    }
    u16::try_from(unit).map_err(|_| BadEscape)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &[u8]) -> Vec<(String, String)> {
        let config = RawConfig::parse("test.properties", text).unwrap();
        config.entries().map(|entry| (entry.key.clone(), entry.value.clone())).collect()
    }

    fn one(text: &str) -> (String, String) {
        let found = pairs(text.as_bytes());
        assert_eq!(found.len(), 1, "{text:?} gave {found:?}");
        found.into_iter().next().unwrap()
    }

    fn pair(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    #[test]
    fn separators_are_equals_colon_and_white_space() {
        for text in ["k=v", "k:v", "k v", "k\tv", "k\u{c}v", "k = v", "k : v", "  k =v", "k=\tv", "k  \t v"] {
            assert_eq!(one(text), pair("k", "v"), "{text:?}");
        }
        // At most one separator is dropped; the rest is the value.
        assert_eq!(one("k==v"), pair("k", "=v"));
        assert_eq!(one("k=:v"), pair("k", ":v"));
        assert_eq!(one("k = = v"), pair("k", "= v"));
        assert_eq!(one("k"), pair("k", ""));
        assert_eq!(one("k="), pair("k", ""));
        assert_eq!(one("=v"), pair("", "v"));
    }

    #[test]
    fn values_keep_inner_separators() {
        assert_eq!(one("bootstrap.servers=a:9092,b:9092"), pair("bootstrap.servers", "a:9092,b:9092"));
        assert_eq!(
            one("sasl.jaas.config=Module required user=\"a\";"),
            pair("sasl.jaas.config", "Module required user=\"a\";")
        );
    }

    #[test]
    fn comments_begin_a_line_and_nothing_else() {
        assert_eq!(pairs(b"# a=b\n ! c=d\n\n   \nk=v # not a comment\n"), [pair("k", "v # not a comment")]);
    }

    #[test]
    fn a_backslash_continues_a_line_and_leading_white_space_of_the_next_goes() {
        assert_eq!(one("servers=a,\\\n    b,\\\n\tc"), pair("servers", "a,b,c"));
        // A comment sign on a continuation line is text; so is a blank line an end.
        assert_eq!(one("k=a\\\n#b"), pair("k", "a#b"));
        assert_eq!(pairs(b"k=a\\\n\nl=b"), [pair("k", "a"), pair("l", "b")]);
        // Two backslashes are one backslash, and end the line.
        assert_eq!(pairs(b"k=a\\\\\nl=b"), [pair("k", "a\\"), pair("l", "b")]);
        // A comment cannot be continued.
        assert_eq!(pairs(b"# x \\\nk=v"), [pair("k", "v")]);
        // A line of nothing but a continuation is no property.
        assert_eq!(pairs(b"\\\n\nk=v"), [pair("k", "v")]);
        // A backslash at the very end of the file continues into nothing.
        assert_eq!(one("k=v\\"), pair("k", "v"));
    }

    #[test]
    fn line_ends_of_unix_mac_and_windows() {
        let expected = [pair("a", "1"), pair("b", "2"), pair("c", "3")];
        assert_eq!(pairs(b"a=1\nb=2\nc=3"), expected);
        assert_eq!(pairs(b"a=1\r\nb=2\r\nc=3\r\n"), expected);
        assert_eq!(pairs(b"a=1\rb=2\rc=3\r"), expected);
        assert_eq!(one("k=a\\\r\n  b"), pair("k", "ab"));
    }

    #[test]
    fn escapes_in_keys_and_values() {
        assert_eq!(one(r"a\=b\:c\ d=x"), pair("a=b:c d", "x"));
        assert_eq!(one(r"k=a\tb\nc\rd\fe"), pair("k", "a\tb\nc\rd\u{c}e"));
        assert_eq!(one(r"k=\q\'\b\0"), pair("k", "q'b0"));
        assert_eq!(one(r"k=\u0041\u00e9\u20AC"), pair("k", "A\u{e9}\u{20ac}"));
        assert_eq!(one(r"k=\uD83D\uDE00"), pair("k", "\u{1f600}"));
        assert_eq!(one(r"\u006b=v"), pair("k", "v"));
    }

    #[test]
    fn a_malformed_unicode_escape_names_its_line() {
        for text in ["a=b\nk=\\u12", "a=b\nk=\\u12G4", "a=b\nk=x\\\n\\u+123"] {
            let error = RawConfig::parse("c.properties", text.as_bytes()).unwrap_err();
            assert_eq!(error, ConfigError::Escape { file: "c.properties".to_owned(), line: 2 }, "{text:?}");
            assert!(error.to_string().starts_with("c.properties:2: malformed \\u escape"), "{error}");
        }
    }

    #[test]
    fn bytes_are_latin_1() {
        // "ü" in UTF-8 is two bytes; Java, and so the group MirrorMaker used, sees two characters.
        assert_eq!(pairs(b"group.id=\xc3\xbc"), [pair("group.id", "\u{c3}\u{bc}")]);
        assert_eq!(pairs(b"group.id=\xfc"), [pair("group.id", "\u{fc}")]);
    }

    #[test]
    fn the_last_of_a_repeated_key_counts() {
        let config = RawConfig::parse("c", b"a=1\nb=2\na=3\n").unwrap();
        assert_eq!(config.get("a").map(|entry| (entry.value.as_str(), entry.line)), Some(("3", 3)));
        assert_eq!(config.entries().count(), 2);
        assert_eq!(config.replaced().map(|entry| entry.line).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn an_entry_names_its_first_line() {
        let config = RawConfig::parse("c.properties", b"\n# x\nk=a,\\\n  b\nl=1").unwrap();
        assert_eq!(config.place(config.get("k").unwrap()).to_string(), "c.properties:3: k");
        assert_eq!(config.place(config.get("l").unwrap()).to_string(), "c.properties:5: l");
    }

    #[test]
    fn properties_that_were_set_have_no_line() {
        let set = [("a", "1"), ("b", " 2 "), ("a", "3")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        let config = RawConfig::of("source", set);
        assert_eq!(config.get("b").map(|entry| entry.value.as_str()), Some("2"));
        assert_eq!(config.place(config.get("a").unwrap()).to_string(), "source: a");
    }

    #[test]
    fn values_never_reach_a_debug_line() {
        let config = RawConfig::parse("c", b"ssl.key.password=hunter2").unwrap();
        assert!(!format!("{config:?}").contains("hunter2"));
    }
}
