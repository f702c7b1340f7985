//! Checks that links inside of the repository are valid, including headings.

use std::collections::BTreeSet;

use super::{PAGES, read, root};

const UNLAYERED: [&str; 4] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md"];

#[test]
fn all_links_are_valid() {
    let mut seen = 0;
    for page in PAGES.iter().chain(&UNLAYERED) {
        let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
        for target in links(&read(page)).into_iter().filter(|target| !target.contains("://")) {
            let (file, anchor) =
                target.split_once('#').map_or((target.as_str(), None), |(file, anchor)| (file, Some(anchor)));
            let path = if file.is_empty() { (*page).to_owned() } else { normalize(folder, file) };
            assert!(root().join(&path).exists(), "{page}: target not found: {target}");
            if let Some(anchor) = anchor {
                assert!(anchors(&read(&path)).contains(anchor), "{page}: heading not found: {target}");
            }
            seen += 1;
        }
    }
    assert!(seen > 100, "only {seen} links were checked");
}

/// Every page must link to at least one other page.
#[test]
fn every_page_links_to_another_page() {
    for page in PAGES {
        let has_link = links(&read(page)).iter().any(|target| target.contains(".md") && !target.contains("://"));
        assert!(has_link, "{page} has no link to another page");
    }
}

/// Targets of `[…](…)` outside of code.
fn links(page: &str) -> Vec<String> {
    let mut is_code = false;
    let mut found = Vec::new();
    for line in page.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        let prose: String = line.split('`').step_by(2).collect();
        found.extend(
            prose.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned()),
        );
    }
    found
}

fn normalize(folder: &str, file: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in file.split('/') {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Anchors of headings as GitHub generates them: lower case, hyphens instead of spaces, other characters removed.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = page.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let generated = headings.map(|heading| {
        let kept =
            heading.chars().filter(|character| character.is_alphanumeric() || [' ', '-', '_'].contains(character));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    });
    let explicit =
        page.lines().filter_map(|line| line.strip_prefix("<a id=\"")?.strip_suffix("\"></a>")).map(str::to_owned);
    generated.chain(explicit).collect()
}
