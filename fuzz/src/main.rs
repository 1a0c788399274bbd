//! Writes the whole inputs that the corpus begins with, as the code of today makes them: `cargo run -p quietus-fuzz`.

use quietus_fuzz::TARGETS;
use std::fs;

fn main() -> std::io::Result<()> {
    for target in TARGETS.into_iter().flatten() {
        let folder = target.folder();
        fs::create_dir_all(&folder)?;
        for (number, seed) in (target.seeds)().into_iter().enumerate() {
            fs::write(folder.join(format!("whole{number}")), seed)?;
        }
    }
    Ok(())
}
