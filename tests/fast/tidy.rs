//! The tidy rules, applied to every file that git tracks.

use kmirror_tests::tidy::{self, Tree};
use kmirror_tests::{Result, cache};

/// Files that may have more than 500 lines (never more than 800), each with its reason. None so far.
const LONG_FILES: &[&str] = &[];

/// All that the bytes need: no runtime, no logging, no randomness.
const PROTO_DEPENDENCIES: &[&str] =
    &["bytes", "crc32c", "crc32fast", "flate2", "lz4_flex", "snap", "thiserror", "xxhash-rust", "zrip"];

fn tree() -> Result<Tree> {
    let tree = Tree::read(&cache::workspace())?;
    assert!(tree.files.len() > 50, "git lists the whole tree, not {} files", tree.files.len());
    Ok(tree)
}

#[track_caller]
fn none(complaints: &[String]) {
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn no_file_is_too_long() -> Result {
    none(&tree()?.complaints(".rs", |path, text| tidy::file_length(path, text, LONG_FILES)));
    Ok(())
}

#[test]
fn message_headers_name_the_versions_that_are_spoken() -> Result {
    let complaints = tree()?.complaints(".rs", |path, text| {
        if path.starts_with("kmirror-proto/src/messages/") { tidy::message_header(path, text) } else { Vec::new() }
    });
    none(&complaints);
    Ok(())
}

#[test]
fn each_file_says_what_it_is_for() -> Result {
    none(&tree()?.complaints(".rs", tidy::module_doc));
    Ok(())
}

#[test]
fn nothing_is_left_unfinished() -> Result {
    none(&tree()?.complaints("", tidy::unfinished));
    Ok(())
}

#[test]
fn names_are_those_of_the_glossary() -> Result {
    none(&tree()?.complaints(".rs", tidy::glossary));
    Ok(())
}

#[test]
fn nothing_gives_away_a_machine_or_a_registry() -> Result {
    none(&tree()?.complaints("", tidy::leaks));
    Ok(())
}

#[test]
fn links_lead_to_files() -> Result {
    let tree = tree()?;
    none(&tree.complaints(".md", |path, text| tidy::links(path, text, |target| tree.has(target))));
    Ok(())
}

#[test]
fn the_wire_crate_depends_on_little() -> Result {
    let manifest = "kmirror-proto/Cargo.toml";
    let tree = tree()?;
    none(&tidy::dependencies(manifest, &tree.files[manifest], PROTO_DEPENDENCIES));
    Ok(())
}

#[test]
fn everything_is_pure_rust() -> Result {
    none(&tidy::locked("Cargo.lock", &tree()?.files["Cargo.lock"]));
    Ok(())
}
