//! Embeds the bundled benchmarks (the files in `benchmarks/`) in the binary.

#![expect(clippy::disallowed_methods, reason = "Cargo passes settings to build scripts in environment variables")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../benchmarks");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    collect(&root, &root, &mut files);
    files.sort();
    let mut code = String::from("pub(crate) static FILES: &[(&str, &[u8])] = &[\n");
    for (path, file) in files {
        let _ = writeln!(code, "    ({path:?}, include_bytes!({:?})),", file.display().to_string());
    }
    code.push_str("];\n");
    let target = PathBuf::from(std::env::var("OUT_DIR").unwrap_or_default()).join("bundled.rs");
    if let Err(error) = std::fs::write(&target, code) {
        println!("cargo::error={}: {error}", target.display());
    }
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if let (Ok(relative), Ok(absolute)) = (path.strip_prefix(root), path.canonicalize()) {
            let parts: Vec<String> = relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            files.push((parts.join("/"), absolute));
        }
    }
}
