//! Writes the seeds and the past crashers of every target below a folder, for the fuzzer to begin with:
//! `cargo run -p kmirror-fuzz --example corpus -- FOLDER`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args_os().nth(1).map(PathBuf::from).ok_or("which folder?")?;
    for target in kmirror_fuzz::TARGETS {
        let folder = folder.join(target.name);
        fs::create_dir_all(&folder)?;
        for (n, bytes) in (target.seeds)().iter().enumerate() {
            fs::write(folder.join(format!("seed-{n}")), bytes)?;
        }
        let crashers = Path::new(env!("CARGO_MANIFEST_DIR")).join("crashers").join(target.name);
        for file in fs::read_dir(crashers).into_iter().flatten() {
            let file = file?;
            fs::copy(file.path(), folder.join(file.file_name()))?;
        }
    }
    Ok(())
}
