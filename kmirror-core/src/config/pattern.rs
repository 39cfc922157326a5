//! Java's regular expressions, as far as topic names need them, turned into those of the `regex` crate.
//!
//! Both agree on nearly everything that a list of topics uses. What Java alone has and what can be said in other
//! words is translated (`\Q..\E`, `\p{Alnum}`, `\h`, `\Z`); what cannot (lookaround, back-references, possessive
//! quantifiers, atomic groups) or what both read differently (`[[:alpha:]]`, `--` in a class) is refused by name and
//! position, never guessed. A match takes time in proportion to the name, whatever the pattern.

use regex::Regex;

use super::error::PatternFault;

/// Compiles the characters of a Java expression, each with its position in the text as it was given (counted from 1),
/// so that it matches whole names only.
pub(super) fn compile(chars: &[(usize, char)]) -> Result<Regex, PatternFault> {
    let mut translator = Translator { chars, at: 0, out: String::new(), class_depth: 0 };
    translator.run()?;
    // Alone first: within the anchored group an unbalanced ")" would find a partner.
    Regex::new(&translator.out).map_err(|error| syntax(&error))?;
    Regex::new(&format!(r"\A(?:{})\z", translator.out)).map_err(|error| syntax(&error))
}

/// The last line of the crate's drawing is what it has to say.
fn syntax(error: &regex::Error) -> PatternFault {
    let text = error.to_string();
    let last = text.lines().next_back().unwrap_or_default();
    PatternFault::Syntax(last.trim_start_matches("error: ").to_owned())
}

struct Translator<'a> {
    chars: &'a [(usize, char)],
    at: usize,
    out: String,
    class_depth: usize,
}

const NO_LOOKAROUND: &str = "name the wanted topics instead, for example as a list \"orders.*|payments.*\"";
const COMMA_IS_OR: &str =
    "a comma means \"or\" in a topic list, as in MirrorMaker; write the counts out, as in a{2}|a{3}";

impl Translator<'_> {
    fn run(&mut self) -> Result<(), PatternFault> {
        while let Some((position, c)) = self.next() {
            match c {
                '\\' => self.escape(position)?,
                '[' => self.open_class(position)?,
                ']' if self.class_depth > 0 => {
                    self.class_depth -= 1;
                    self.out.push(']');
                }
                '-' | '~' if self.class_depth > 0 && self.peek(0) == Some(c) => {
                    return Err(fault(format!("\"{c}{c}\" in a class"), position, "write it as \\- or \\~ once"));
                }
                _ if self.class_depth > 0 => self.out.push(c),
                '(' => self.open_group(position)?,
                '*' | '+' | '?' => {
                    self.out.push(c);
                    self.quantified(position)?;
                }
                '{' => self.repetition(position)?,
                _ => self.out.push(c),
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Option<(usize, char)> {
        let found = self.chars.get(self.at).copied();
        self.at += usize::from(found.is_some());
        found
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).map(|&(_, c)| c)
    }

    fn skip_if(&mut self, c: char) -> bool {
        let found = self.peek(0) == Some(c);
        self.at += usize::from(found);
        found
    }

    /// Everything up to `end`, which is consumed too; `None` if it does not come.
    fn until(&mut self, end: char) -> Option<String> {
        let rest = self.chars.get(self.at..)?;
        let length = rest.iter().position(|&(_, c)| c == end)?;
        self.at += length + 1;
        Some(rest.iter().take(length).map(|&(_, c)| c).collect())
    }

    fn open_class(&mut self, position: usize) -> Result<(), PatternFault> {
        if self.class_depth > 0 && self.peek(0) == Some(':') {
            let advice = "Java reads it as a set of its letters; write \\p{Alpha}, \\p{Digit}, \\p{Alnum} or so";
            return Err(fault("a class name in \"[:\"".to_owned(), position, advice));
        }
        self.class_depth += 1;
        self.out.push('[');
        if self.skip_if('^') {
            self.out.push('^');
        }
        // Java and Rust both take a bracket in first place as itself.
        if self.skip_if(']') {
            self.out.push_str("\\]");
        }
        Ok(())
    }

    fn open_group(&mut self, position: usize) -> Result<(), PatternFault> {
        self.out.push('(');
        if self.peek(0) != Some('?') {
            return Ok(());
        }
        let refused = match (self.peek(1), self.peek(2)) {
            (Some('='), _) => Some(("lookahead (?=", NO_LOOKAROUND)),
            (Some('!'), _) => Some(("negative lookahead (?!", NO_LOOKAROUND)),
            (Some('<'), Some('=')) => Some(("lookbehind (?<=", NO_LOOKAROUND)),
            (Some('<'), Some('!')) => Some(("negative lookbehind (?<!", NO_LOOKAROUND)),
            (Some('>'), _) => Some(("atomic group (?>", "write it as (?:")),
            (Some('d' | 'U'), _) => Some(("flag (?d) or (?U)", "leave it out: topic names are ASCII in one line")),
            _ => None,
        };
        match refused {
            Some((construct, advice)) => Err(fault(construct.to_owned(), position, advice)),
            None => {
                self.at += 1;
                self.out.push('?');
                Ok(())
            }
        }
    }

    /// After a quantifier: `?` makes it lazy, which changes nothing for whole names; `+` makes it possessive, which does.
    fn quantified(&mut self, position: usize) -> Result<(), PatternFault> {
        if self.skip_if('?') {
            self.out.push('?');
        }
        if self.peek(0) == Some('+') {
            return Err(fault("possessive quantifier".to_owned(), position, "leave the + behind the quantifier out"));
        }
        Ok(())
    }

    fn repetition(&mut self, position: usize) -> Result<(), PatternFault> {
        let Some(count) = self.until('}') else {
            self.out.push('{');
            return Ok(());
        };
        if count.contains('|') {
            return Err(fault(format!("repetition {{{}}}", count.replace('|', ",")), position, COMMA_IS_OR));
        }
        self.out.push_str(&format!("{{{count}}}"));
        self.quantified(position)
    }

    fn escape(&mut self, position: usize) -> Result<(), PatternFault> {
        let Some((_, c)) = self.next() else {
            return Err(PatternFault::Syntax("a backslash ends it".to_owned()));
        };
        let translated = match c {
            '1'..='9' => return Err(fault(format!("back-reference \\{c}"), position, NO_LOOKAROUND)),
            'k' if self.peek(0) == Some('<') => {
                return Err(fault("back-reference \\k".to_owned(), position, NO_LOOKAROUND));
            }
            'G' | 'R' | 'X' | 'N' | 'c' | '0' => {
                return Err(fault(format!("\\{c}"), position, "it has no meaning in a topic name; leave it out"));
            }
            'Q' => return self.quoted(),
            'p' | 'P' => return self.property(c == 'P'),
            'Z' => r"\z",
            'h' => r"[ \t]",
            'H' => r"[^ \t]",
            'e' => r"\x1B",
            '<' => "<",
            '>' => ">",
            _ => {
                self.out.push('\\');
                self.out.push(c);
                return Ok(());
            }
        };
        self.out.push_str(translated);
        Ok(())
    }

    /// `\Q..\E`: every character stands for itself; without `\E` up to the end.
    #[expect(clippy::unnecessary_wraps, reason = "an arm of `escape`")]
    fn quoted(&mut self) -> Result<(), PatternFault> {
        while let Some((_, c)) = self.next() {
            if c == '\\' && self.skip_if('E') {
                break;
            }
            self.out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
        }
        Ok(())
    }

    /// `\p{Alnum}` and its POSIX kin, which in Java are ASCII; anything else is for the regex crate to judge.
    #[expect(clippy::unnecessary_wraps, reason = "an arm of `escape`")]
    fn property(&mut self, negated: bool) -> Result<(), PatternFault> {
        let escape = if negated { r"\P" } else { r"\p" };
        if !self.skip_if('{') {
            self.out.push_str(escape);
            return Ok(());
        }
        let name = self.until('}').unwrap_or_default();
        let posix = match name.as_str() {
            "Lower" | "Upper" | "ASCII" | "Alpha" | "Digit" | "Alnum" | "Punct" | "Graph" | "Print" | "Blank"
            | "Cntrl" | "XDigit" | "Space" => name.to_ascii_lowercase(),
            _ => {
                self.out.push_str(&format!("{escape}{{{name}}}"));
                return Ok(());
            }
        };
        let not = if negated { "^" } else { "" };
        self.out.push_str(&format!("[[:{not}{posix}:]]"));
        Ok(())
    }
}

fn fault(construct: String, position: usize, advice: &'static str) -> PatternFault {
    PatternFault::Construct { construct, position, advice }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiled(pattern: &str) -> Result<Regex, PatternFault> {
        let chars: Vec<_> = (1..).zip(pattern.chars()).collect();
        compile(&chars)
    }

    fn matches(pattern: &str, name: &str) -> bool {
        compiled(pattern).unwrap().is_match(name)
    }

    #[test]
    fn whole_names_only() {
        assert!(matches("orders", "orders"));
        assert!(!matches("orders", "orders-2"));
        assert!(!matches("orders", "my-orders"));
        // An alternative is anchored at both ends too.
        assert!(!matches("a|b", "ab") && !matches("a|b", "xb") && matches("a|b", "b"));
        assert!(matches("^orders$", "orders"));
    }

    #[test]
    fn what_both_have_is_taken_as_it_is() {
        assert!(matches(r"orders\.\d{4}", "orders.2024"));
        assert!(matches("(?i)ORDERS", "orders"));
        assert!(matches("(?<region>eu|us)-(?:a|b)", "eu-b"));
        assert!(matches("[a-z&&[^b]]+", "acd") && !matches("[a-z&&[^b]]+", "abc"));
        assert!(matches("[]a]+", "a]") && matches("[a-c_.-]+", "a-b._"));
        assert!(matches("a+?", "aaa"));
        assert!(matches(r"\w+[._\-]\w+", "a-b"));
    }

    #[test]
    fn what_only_java_has_is_translated() {
        assert!(matches(r"\Qa.b*\E.", "a.b*c") && !matches(r"\Qa.b\E", "axb"));
        assert!(matches(r"\Qa.b", "a.b"));
        assert!(matches(r"\p{Alnum}+\p{Punct}\p{Upper}[\p{Digit}_]+", "a1-X3_"));
        assert!(matches(r"\P{Digit}+", "abc") && !matches(r"\P{Digit}+", "ab1"));
        assert!(matches(r"orders\Z", "orders"));
        assert!(matches(r"\p{L}\pL", "ab"));
    }

    #[test]
    fn what_cannot_be_translated_is_refused_by_name_and_position() {
        for (pattern, construct, at) in [
            ("a(?=b)", "lookahead (?=", 2),
            ("(?!__).*", "negative lookahead (?!", 1),
            ("ab(?<=b)", "lookbehind (?<=", 3),
            ("(?<!b)c", "negative lookbehind (?<!", 1),
            ("a(?>b)", "atomic group (?>", 2),
            (r"(a)\1", r"back-reference \1", 4),
            (r"(?<n>a)\k<n>", r"back-reference \k", 8),
            ("ab*+", "possessive quantifier", 3),
            ("a{2}+", "possessive quantifier", 2),
            ("a?+", "possessive quantifier", 2),
            ("a++b", "possessive quantifier", 2),
            ("[[:alpha:]]+", "a class name in \"[:\"", 2),
            ("[a--b]", "\"--\" in a class", 3),
            ("a{1|3}", "repetition {1,3}", 2),
            (r"\Ra", r"\R", 1),
        ] {
            match compiled(pattern) {
                Err(PatternFault::Construct { construct: found, position, advice }) => {
                    assert_eq!((found.as_str(), position), (construct, at), "{pattern}");
                    assert!(!advice.is_empty(), "{pattern}");
                }
                other => panic!("{pattern}: {other:?}"),
            }
        }
        // The same characters inside a class or quoted are only characters.
        assert!(matches(r"[(?=*+)]+", "(?=") && matches(r"\Q(?=\E", "(?="));
    }

    #[test]
    fn nonsense_is_one_sentence() {
        for pattern in ["(a", "a)(b", "a)", "[a", "*a", r"a\", r"\y", "a{2", r"\p{Nothing}"] {
            match compiled(pattern) {
                Err(PatternFault::Syntax(text)) => {
                    assert!(!text.is_empty() && !text.contains('\n'), "{pattern}: {text:?}");
                }
                other => panic!("{pattern}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_pattern_that_is_costly_elsewhere_is_not_here() {
        let name = "a".repeat(249);
        assert!(!matches("(a*)*b", &name));
        assert!(matches!(compiled("((a{100}){100}){100}"), Err(PatternFault::Syntax(_))), "bounded in size");
    }
}
