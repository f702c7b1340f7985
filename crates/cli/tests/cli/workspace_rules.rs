//! Rules of the workspace: licenses, banned crates, lints, and allowed dependencies between crates.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

/// Crates may only depend on crates of lower layers. Add new crates here.
const LAYERS: [&[&str]; 8] = [
    &["model", "clinical", "documents"],
    &["fhir", "hl7v2", "x12"],
    &["world", "spoken", "population"],
    &["sims", "store", "client"],
    &["verify", "runtime"],
    &["app", "authoring", "agents"],
    &["server", "sftp", "gateway", "web", "mcp"],
    &["cli"],
];

/// Crates outside of the layers: they may use everything, and no shipped crate may use them.
const UNLAYERED: [&str; 4] = ["testkit", "bench", "fuzz", "fhir-definitions"];

/// External crates that only some workspace crates may use: for HTTP, SQL, blobs and the network.
const RESTRICTED: [(&[&str], &[&str]); 3] = [
    (&["axum", "tower", "tower-http", "utoipa-axum"], &["server", "gateway", "web", "mcp"]),
    (&["rusqlite", "postgres", "tokio-postgres-rustls", "object_store"], &["store"]),
    (&["reqwest"], &["client", "app"]),
];

/// Pure crates: no waiting, no clock, no randomness.
const PURE: [&str; 11] =
    ["model", "clinical", "fhir", "hl7v2", "x12", "documents", "spoken", "population", "world", "sims", "verify"];
const IMPURE: [&str; 6] = ["tokio", "futures-util", "getrandom", "rand", "tracing", "tempfile"];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// A workspace crate, from its manifest.
#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// None, `dev` or `build`.
    kind: Option<String>,
}

impl Package {
    fn short_name(&self) -> &str {
        short(&self.name)
    }

    /// The dependencies of the shipped crate, without those of its tests.
    fn uses(&self) -> impl Iterator<Item = &str> {
        let shipped = self.dependencies.iter().filter(|dependency| dependency.kind.as_deref() != Some("dev"));
        shipped.map(|dependency| short(&dependency.name))
    }
}

fn workspace_packages() -> Vec<Package> {
    let metadata = cargo(&["metadata", "--locked", "--offline", "--no-deps", "--format-version", "1"]);
    serde_json::from_str::<Metadata>(&metadata).unwrap().packages
}

/// A crate that is part of a build on this machine.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct UsedCrate {
    name: String,
    version: String,
    license: String,
}

/// Uses `cargo tree` instead of `cargo metadata`, which also lists dependencies of inactive features.
fn used_crates(tree_arguments: &[&str]) -> BTreeSet<UsedCrate> {
    let tree = ["tree", "--locked", "--offline", "--prefix", "none", "--format", "{p}\t{l}"];
    let lines = cargo(&[&tree, tree_arguments].concat());
    let read = |line: &str| {
        let (package, license) = line.split_once('\t')?;
        let mut tokens = package.split(' ');
        let (name, version) = (tokens.next()?.to_owned(), tokens.next()?.to_owned());
        Some(UsedCrate { name, version, license: license.trim_end_matches(" (*)").to_owned() })
    };
    lines.lines().filter_map(read).collect()
}

fn cargo(tokens: &[&str]) -> String {
    crate::process::output(Command::new(env!("CARGO")).args(tokens).current_dir(workspace()))
}

fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn read_toml(path: &Path) -> toml::Table {
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

/// `verial-store` is `store` everywhere in the code.
fn short(name: &str) -> &str {
    name.strip_prefix("verial-").unwrap_or(name)
}

fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&name))
}

#[test]
fn workspace_crates_only_depend_on_lower_layers() {
    let packages = workspace_packages();
    let names: BTreeSet<&str> = packages.iter().map(Package::short_name).collect();
    for package in &packages {
        let name = package.short_name();
        if UNLAYERED.contains(&name) {
            continue;
        }
        let own_layer = layer(name).unwrap_or_else(|| panic!("{name} is in no layer; see LAYERS"));
        for dependency_name in package.uses().filter(|used_crates| names.contains(used_crates)) {
            let downwards = layer(dependency_name).is_some_and(|layer| layer < own_layer);
            assert!(downwards, "{name} must not depend on {dependency_name}: dependencies point to lower layers only");
        }
    }
}

#[test]
fn restricted_dependencies_are_only_used_where_allowed() {
    for package in workspace_packages() {
        let name = package.short_name();
        if UNLAYERED.contains(&name) {
            continue;
        }
        for used_crates in package.uses() {
            for (restricted, allowed_in) in RESTRICTED {
                assert!(
                    !restricted.contains(&used_crates) || allowed_in.contains(&name),
                    "{used_crates} is for {allowed_in:?}, not for {name}"
                );
            }
            assert!(
                !PURE.contains(&name) || !IMPURE.contains(&used_crates),
                "{name} is pure and must not use {used_crates}"
            );
        }
    }
}

#[test]
fn every_workspace_crate_inherits_the_lints() {
    let lints = &read_toml(&workspace().join("Cargo.toml"))["workspace"]["lints"];
    assert_eq!(lints["rust"]["unsafe_code"].as_str(), Some("forbid"));
    for package in workspace_packages() {
        let manifest = read_toml(Path::new(&package.manifest_path));
        let inherits = manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(toml::Value::as_bool);
        assert_eq!(inherits, Some(true), "{} lacks `lints.workspace = true`", package.name);
    }
}

#[test]
fn every_direct_dependency_is_documented() {
    let reasons = std::fs::read_to_string(workspace().join("docs/dependencies.md")).unwrap();
    let manifest = read_toml(&workspace().join("Cargo.toml"));
    for (name, dependency) in manifest["workspace"]["dependencies"].as_table().unwrap() {
        let is_ours = dependency.get("path").is_some();
        assert!(is_ours || reasons.contains(&format!("| {name} |")), "docs/dependencies.md has no line for {name}");
    }
}

#[test]
fn all_licenses_are_allowed_by_deny_toml() {
    let deny = read_toml(&workspace().join("deny.toml"));
    let allowed: Vec<&str> =
        deny["licenses"]["allow"].as_array().unwrap().iter().map(|license| license.as_str().unwrap()).collect();
    let shipped = used_crates(&["--package", "verial-cli", "--edges", "normal,build"]);
    assert!(shipped.len() > 100, "the dependency tree is incomplete");
    for UsedCrate { name, version, license } in &shipped {
        assert!(permits(license, &allowed), "{name} {version}: {license:?} is not allowed");
    }
}

#[test]
fn no_banned_crate_is_used() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for UsedCrate { name, version, .. } in used_crates(&["--workspace", "--edges", "normal,build,dev"]) {
        versions.entry(name).or_default().insert(version);
    }
    for ban in read_toml(&workspace().join("deny.toml"))["bans"]["deny"].as_array().unwrap() {
        let name = ban["crate"].as_str().unwrap();
        let max = usize::from(ban.get("deny-multiple-versions").is_some());
        let found = versions.get(name).cloned().unwrap_or_default();
        assert!(found.len() <= max, "{name} {found:?}: at most {max} allowed");
    }
}

#[test]
fn every_crate_comes_from_the_registry() {
    let lock = read_toml(&workspace().join("Cargo.lock"));
    for package in lock["package"].as_array().unwrap() {
        let source = package.get("source").and_then(toml::Value::as_str);
        assert!(
            source.is_none_or(|source| source.starts_with("registry+")),
            "{:?} is from {source:?}",
            package["name"]
        );
    }
}

/// Whether an SPDX expression can be satisfied by the allowed licenses. `/` is an old form of `OR`.
fn permits(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = tokens.as_slice();
    let is_met = any_of(&mut rest, allowed);
    is_met && rest.is_empty()
}

fn any_of(tokens: &mut &[&str], allowed: &[&str]) -> bool {
    let mut is_met = all_of(tokens, allowed);
    while tokens.first() == Some(&"OR") {
        *tokens = &tokens[1..];
        is_met |= all_of(tokens, allowed);
    }
    is_met
}

fn all_of(tokens: &mut &[&str], allowed: &[&str]) -> bool {
    let mut is_met = single(tokens, allowed);
    while tokens.first() == Some(&"AND") {
        *tokens = &tokens[1..];
        is_met &= single(tokens, allowed);
    }
    is_met
}

fn single(tokens: &mut &[&str], allowed: &[&str]) -> bool {
    match **tokens {
        ["(", ..] => {
            *tokens = &tokens[1..];
            let is_met = any_of(tokens, allowed);
            let closed = tokens.first() == Some(&")");
            *tokens = tokens.get(1..).unwrap_or_default();
            is_met && closed
        }
        [license, "WITH", exception, ..] => {
            *tokens = &tokens[3..];
            allowed.contains(&format!("{license} WITH {exception}").as_str())
        }
        [license, ..] => {
            *tokens = &tokens[1..];
            allowed.contains(&license)
        }
        [] => false,
    }
}

#[test]
fn license_expressions_are_evaluated() {
    let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"];
    for good in
        ["MIT", "MIT/Apache-2.0", "GPL-3.0 OR MIT", "Apache-2.0 WITH LLVM-exception", "(GPL-3.0 OR MIT) AND MIT"]
    {
        assert!(permits(good, &allowed), "{good}");
    }
    for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "MIT WITH LLVM-exception", "(MIT", "MIT MIT"] {
        assert!(!permits(bad, &allowed), "{bad}");
    }
}

/// Crates whose language has been reviewed by the rules of the glossary in `ARCHITECTURE.md`. Add each crate that follows.
const PLAIN_CRATES: [&str; 20] = [
    "model",
    "fhir",
    "world",
    "hl7v2",
    "x12",
    "client",
    "agents",
    "authoring",
    "cli",
    "testkit",
    "server",
    "sftp",
    "app",
    "runtime",
    "store",
    "verify",
    "spoken",
    "documents",
    "population",
    "sims",
];
const BANNED_WORDS: [&str; 4] = ["told", "whoever", "leads nowhere", "stands beside"];
/// Type names that do not say what they are a place, answer or line of.
const BANNED_TYPES: [&str; 9] = ["Place", "Answer", "Refusal", "Kind", "Step", "Line", "Arguments", "Found", "Said"];
/// Members of JSON reports, which do not change.
const WIRE_WORDS: [&str; 1] = ["\"told\":"];

#[test]
fn reviewed_crates_avoid_banned_words_and_type_names() {
    let mut findings = Vec::new();
    for name in PLAIN_CRATES {
        let mut folders = vec![workspace().join("crates").join(name).join("src")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
                    findings.extend(
                        banned_language(&std::fs::read_to_string(&path).unwrap()).map(|line| (path.clone(), line)),
                    );
                }
            }
        }
    }
    assert!(findings.is_empty(), "{findings:#?}");
    for bad in ["/// What was told.", "struct Place {", "pub(crate) enum Answer<T> {", "// It leads nowhere."] {
        assert_eq!(banned_language(bad).count(), 1, "{bad}");
    }
    assert_eq!(banned_language("struct PlaceOfService; // a stolid answer").count(), 0);
}

/// The lines with a banned word or a declaration of a banned type.
fn banned_language(text: &str) -> impl Iterator<Item = String> {
    let is_bad = |line: &&str| {
        let line = WIRE_WORDS.iter().fold((*line).to_owned(), |line, word| line.replace(word, ""));
        let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let spaced = format!(" {} ", words.join(" ").to_lowercase());
        let declares =
            |pair: &[&str]| ["struct", "enum", "trait", "type"].contains(&pair[0]) && BANNED_TYPES.contains(&pair[1]);
        BANNED_WORDS.iter().any(|banned| spaced.contains(&format!(" {banned} "))) || words.windows(2).any(declares)
    };
    let bad: Vec<String> = text.lines().filter(is_bad).map(ToOwned::to_owned).collect();
    bad.into_iter()
}

/// Each row of the table under "## Walks" in `ARCHITECTURE.md` is a request: its name, and the functions that it passes
/// through, as `crate/file.rs::function`.
#[test]
fn the_walks_in_the_architecture_exist_and_are_short() {
    let architecture = std::fs::read_to_string(workspace().join("ARCHITECTURE.md")).unwrap();
    let section = architecture.split_once("\n## Walks\n").expect("a section about walks").1;
    let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
    let walks: Vec<(&str, Vec<&str>)> = section.lines().filter_map(walk).collect();
    assert_eq!(walks.len(), 7, "{walks:?}");
    for (name, functions) in walks {
        let hops = functions.len() - 1;
        assert!((1..=5).contains(&hops), "{name} takes {hops} hops");
        for function in functions {
            let (path, function_name) = function.split_once("::").unwrap_or_else(|| panic!("{name}: {function}"));
            let (package, file) = path.split_once('/').unwrap();
            let path = workspace().join("crates").join(package).join("src").join(file);
            let source =
                std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("{name}: no file {}", path.display()));
            let declares = |end: &str| source.contains(&format!("fn {function_name}{end}"));
            assert!(declares("(") || declares("<"), "{name}: no function {function}");
        }
    }
}

/// The name and the functions of a walk, from a row of the table.
fn walk(row: &str) -> Option<(&str, Vec<&str>)> {
    let (name, functions) = row.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ")?;
    let functions: Vec<&str> = functions.split('`').skip(1).step_by(2).collect();
    (!functions.is_empty()).then_some((name, functions))
}
