//! The house rules of the tree: licences, banned crates, lints, and which crate may depend on which.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

/// Crates may depend on those of lower layers only. A new crate is added here, in the layer where it belongs.
const LAYERS: [&[&str]; 7] = [
    &["model", "fhir", "hl7v2", "x12", "documents"],
    &["world", "spoken"],
    &["sims", "store", "client"],
    &["verify"],
    &["app", "authoring", "agents"],
    &["server", "sftp", "gateway", "web", "mcp"],
    &["cli"],
];

/// Beside the layers: they may use everything, and nothing that ships may use them.
const BESIDE: [&str; 4] = ["testkit", "bench", "fuzz", "fhir-definitions"];

/// Crates that only some of ours may name, because only those know HTTP, SQL, blobs or the network.
const KEPT_TO: [(&[&str], &[&str]); 3] = [
    (&["axum", "tower", "tower-http", "utoipa-axum"], &["server", "gateway", "web", "mcp"]),
    (&["rusqlite", "postgres", "tokio-postgres-rustls", "object_store"], &["store"]),
    (&["reqwest"], &["client", "app"]),
];

/// Values, simulators and checks are pure: nothing that waits, measures time or throws dice.
const PURE: [&str; 9] = ["model", "fhir", "hl7v2", "x12", "documents", "spoken", "world", "sims", "verify"];
const IMPURE: [&str; 6] = ["tokio", "futures-util", "getrandom", "rand", "tracing", "tempfile"];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// A crate of ours, as its manifest says.
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

    /// What it ships with: its tests may use more.
    fn uses(&self) -> impl Iterator<Item = &str> {
        let shipped = self.dependencies.iter().filter(|dependency| dependency.kind.as_deref() != Some("dev"));
        shipped.map(|dependency| short(&dependency.name))
    }
}

fn ours() -> Vec<Package> {
    let metadata = cargo(&["metadata", "--locked", "--offline", "--no-deps", "--format-version", "1"]);
    serde_json::from_str::<Metadata>(&metadata).unwrap().packages
}

/// A crate that takes part in a build on this machine.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Used {
    name: String,
    version: String,
    licence: String,
}

/// `cargo tree` and not `cargo metadata`, which also lists what only an inactive feature would bring.
fn used(what: &[&str]) -> BTreeSet<Used> {
    let tree = ["tree", "--locked", "--offline", "--prefix", "none", "--format", "{p}\t{l}"];
    let lines = cargo(&[&tree, what].concat());
    let read = |line: &str| {
        let (package, licence) = line.split_once('\t')?;
        let mut words = package.split(' ');
        let (name, version) = (words.next()?.to_owned(), words.next()?.to_owned());
        Some(Used { name, version, licence: licence.trim_end_matches(" (*)").to_owned() })
    };
    lines.lines().filter_map(read).collect()
}

fn cargo(words: &[&str]) -> String {
    crate::process::output(Command::new(env!("CARGO")).args(words).current_dir(workspace()))
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
fn our_crates_depend_downwards_only() {
    let packages = ours();
    let names: BTreeSet<&str> = packages.iter().map(Package::short_name).collect();
    for package in &packages {
        let name = package.short_name();
        if BESIDE.contains(&name) {
            continue;
        }
        let own_layer = layer(name).unwrap_or_else(|| panic!("{name} is in no layer; see LAYERS"));
        for below in package.uses().filter(|used| names.contains(used)) {
            let downwards = layer(below).is_some_and(|layer| layer < own_layer);
            assert!(downwards, "{name} must not depend on {below}: dependencies point to lower layers only");
        }
    }
}

#[test]
fn only_store_knows_sql_only_faces_know_http_and_logic_is_pure() {
    for package in ours() {
        let name = package.short_name();
        if BESIDE.contains(&name) {
            continue;
        }
        for used in package.uses() {
            for (kept, to) in KEPT_TO {
                assert!(!kept.contains(&used) || to.contains(&name), "{used} is for {to:?}, not for {name}");
            }
            assert!(!PURE.contains(&name) || !IMPURE.contains(&used), "{name} is pure and must not use {used}");
        }
    }
}

#[test]
fn every_crate_of_ours_has_the_workspace_lints() {
    let lints = &read_toml(&workspace().join("Cargo.toml"))["workspace"]["lints"];
    assert_eq!(lints["rust"]["unsafe_code"].as_str(), Some("forbid"));
    for package in ours() {
        let manifest = read_toml(Path::new(&package.manifest_path));
        let inherits = manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(toml::Value::as_bool);
        assert_eq!(inherits, Some(true), "{} lacks `lints.workspace = true`", package.name);
    }
}

#[test]
fn every_direct_dependency_has_its_reason() {
    let reasons = std::fs::read_to_string(workspace().join("docs/dependencies.md")).unwrap();
    let manifest = read_toml(&workspace().join("Cargo.toml"));
    for (name, dependency) in manifest["workspace"]["dependencies"].as_table().unwrap() {
        let is_ours = dependency.get("path").is_some();
        assert!(is_ours || reasons.contains(&format!("| {name} |")), "docs/dependencies.md has no line for {name}");
    }
}

#[test]
fn licences_are_those_that_deny_toml_allows() {
    let deny = read_toml(&workspace().join("deny.toml"));
    let allowed: Vec<&str> =
        deny["licenses"]["allow"].as_array().unwrap().iter().map(|licence| licence.as_str().unwrap()).collect();
    let shipped = used(&["--package", "verial-cli", "--edges", "normal,build"]);
    assert!(shipped.len() > 100, "the whole tree was read");
    for Used { name, version, licence } in &shipped {
        assert!(permits(licence, &allowed), "{name} {version}: {licence:?} is not allowed");
    }
}

#[test]
fn no_crate_that_deny_toml_bans_is_in_the_tree() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for Used { name, version, .. } in used(&["--workspace", "--edges", "normal,build,dev"]) {
        versions.entry(name).or_default().insert(version);
    }
    for ban in read_toml(&workspace().join("deny.toml"))["bans"]["deny"].as_array().unwrap() {
        let name = ban["crate"].as_str().unwrap();
        let most = usize::from(ban.get("deny-multiple-versions").is_some());
        let found = versions.get(name).cloned().unwrap_or_default();
        assert!(found.len() <= most, "{name} {found:?}: at most {most} may be there");
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

/// Whether an SPDX expression can be met with the allowed licences alone. `/` is an old way to write `OR`.
fn permits(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let met = any_of(&mut rest, allowed);
    met && rest.is_empty()
}

fn any_of(words: &mut &[&str], allowed: &[&str]) -> bool {
    let mut met = all_of(words, allowed);
    while words.first() == Some(&"OR") {
        *words = &words[1..];
        met |= all_of(words, allowed);
    }
    met
}

fn all_of(words: &mut &[&str], allowed: &[&str]) -> bool {
    let mut met = one(words, allowed);
    while words.first() == Some(&"AND") {
        *words = &words[1..];
        met &= one(words, allowed);
    }
    met
}

fn one(words: &mut &[&str], allowed: &[&str]) -> bool {
    match **words {
        ["(", ..] => {
            *words = &words[1..];
            let met = any_of(words, allowed);
            let closed = words.first() == Some(&")");
            *words = words.get(1..).unwrap_or_default();
            met && closed
        }
        [licence, "WITH", exception, ..] => {
            *words = &words[3..];
            allowed.contains(&format!("{licence} WITH {exception}").as_str())
        }
        [licence, ..] => {
            *words = &words[1..];
            allowed.contains(&licence)
        }
        [] => false,
    }
}

#[test]
fn licence_expressions() {
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
