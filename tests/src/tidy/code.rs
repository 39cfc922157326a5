//! Rules about Rust files: how they begin, and which words they use for names.

/// Words that are not used as names, or as parts of names: each stands for one that says more.
const BANNED: [&str; 10] = ["src", "dst", "dest", "manager", "handler", "util", "utils", "helper", "helpers", "misc"];

/// Names of others that we have to take over.
const TAKEN_OVER: [&str; 3] = ["message_handler", "message_handler_args", "tokio_util"];

/// A module of another crate that we have to name.
const FOREIGN_PATH: &str = "tracing_subscriber::util";

/// A file that does not begin with `//!`.
pub fn module_doc(path: &str, text: &str) -> Vec<String> {
    if text.starts_with("//!") {
        Vec::new()
    } else {
        vec![format!("{path}:1: begin with `//!`: what this file is for")]
    }
}

/// A name in code, or of the file itself, that uses a banned word.
pub fn glossary(path: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    // The folder `src` is Cargo's word, below it the names are ours.
    let own = path.rsplit_once("src/").map_or(path, |(_, own)| own);
    let stems = own.split('/').map(|part| part.split('.').next().unwrap_or(part));
    complaints.extend(stems.filter(|stem| banned(stem)).map(|stem| format!("{path}: named {stem}: name what it does")));
    for (index, line) in without_text(text).lines().enumerate() {
        let line = line.replace(FOREIGN_PATH, "");
        let names = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        for name in names.filter(|name| banned(name) && !TAKEN_OVER.contains(name)) {
            complaints.push(format!("{path}:{}: {name}: a word that the glossary does without", index + 1));
        }
    }
    complaints
}

fn banned(name: &str) -> bool {
    parts(name).iter().any(|part| BANNED.contains(&part.as_str()))
}

/// `fetch_util`, `FetchUtil` and `FETCH_UTIL` all as `fetch`, `util`.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut small_before = false;
    for c in name.chars() {
        let begins = c == '_' || (c.is_uppercase() && small_before);
        if begins {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut()
            && c != '_'
        {
            part.extend(c.to_lowercase());
        }
        small_before = c.is_lowercase() || c.is_numeric();
    }
    parts
}

/// The code without comments, strings and characters; the lines stay where they are.
fn without_text(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let skipped = text_at(rest, kept.chars().next_back());
        let taken = skipped.unwrap_or(first.len_utf8());
        let (taken, after) = rest.split_at(taken);
        if skipped.is_some() {
            kept.extend(taken.chars().filter(|c| *c == '\n'));
            kept.push(' ');
        } else {
            kept.push_str(taken);
        }
        rest = after;
    }
    kept
}

/// How many bytes of comment, string or character begin here, if any do.
fn text_at(rest: &str, before: Option<char>) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if let Some(comment) = rest.strip_prefix("/*") {
        return Some(comment.find("*/").map_or(rest.len(), |end| end + 4));
    }
    if !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
        && let Some(raw) = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))
    {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw.get(hashes..).is_some_and(|raw| raw.starts_with('"')) {
            let close = format!("\"{}", "#".repeat(hashes));
            let start = rest.len() - raw.len() + hashes + 1;
            return Some(rest.get(start..)?.find(&close).map_or(rest.len(), |end| start + end + close.len()));
        }
    }
    match rest.as_bytes().first()? {
        b'"' => Some(quoted(rest, '"')),
        // A lifetime has no closing quote after one character.
        b'\'' => {
            let mut chars = rest.chars().skip(1);
            let character = chars.next()? == '\\' || chars.next() == Some('\'');
            character.then(|| quoted(rest, '\''))
        }
        _ => None,
    }
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_begins_with_its_purpose() {
        assert!(module_doc("a.rs", "//! Reads.\nfn a() {}").is_empty());
        assert_eq!(module_doc("a.rs", "use std::fmt;\n//! Late.").len(), 1);
    }

    #[test]
    fn banned_words_are_found_in_names() {
        for code in ["let src = 1;", "struct FetchManager;", "const MISC_LIMIT: u8 = 1;", "mod string_utils;"] {
            let complaints = glossary("kmirror-core/src/a.rs", &format!("\n{code}"));
            assert!(complaints.len() == 1 && complaints[0].contains("a.rs:2: "), "{code}: {complaints:?}");
        }
        assert_eq!(glossary("kmirror-core/src/helpers/mod.rs", "").len(), 1, "names of files count");
        assert_eq!(glossary("kmirror-core/src/net_util.rs", "").len(), 1);
    }

    #[test]
    fn other_peoples_text_is_left_alone() {
        let fine = [
            "// the handler of MirrorMaker",
            "/* src \n dst */",
            r#"let flag = "message.handler"; let quote = '"'; let path = "a\"src";"#,
            "let raw = r#\"src \"quoted\" dst\"#;",
            "fn borrow<'a>(first: &'a str, destination: &'a str) {}",
            "copy_from_slice(source)",
            "message_handler: Option<String>,",
            "use tracing_subscriber::util::SubscriberInitExt as _;",
        ];
        for code in fine {
            assert_eq!(glossary("kmirror-cli/src/a.rs", code), Vec::<String>::new(), "{code}");
        }
        let behind = "let text = \"it's\"; let src = 'x'; // dst";
        assert_eq!(glossary("a.rs", behind).len(), 1, "code behind a string is read again");
    }
}
