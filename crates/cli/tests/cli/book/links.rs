//! Every link inside the repository leads somewhere, to the heading that it names.

use std::collections::BTreeSet;

use super::{PAGES, read, root};

const BESIDE: [&str; 4] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md"];

#[test]
fn no_link_is_dead() {
    let mut seen = 0;
    for page in PAGES.iter().chain(&BESIDE) {
        let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
        for target in links(&read(page)).into_iter().filter(|target| !target.contains("://")) {
            let (file, anchor) =
                target.split_once('#').map_or((target.as_str(), None), |(file, anchor)| (file, Some(anchor)));
            let path = if file.is_empty() { (*page).to_owned() } else { normal(folder, file) };
            assert!(root().join(&path).exists(), "{page} leads to {target}, which is not there");
            if let Some(anchor) = anchor {
                assert!(anchors(&read(&path)).contains(anchor), "{page} leads to {target}; {path} has no such heading");
            }
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen} links were looked at");
}

/// A page that nobody can go on from is no page of a book.
#[test]
fn every_page_leads_on() {
    for page in PAGES {
        let leads_on = links(&read(page)).iter().any(|target| target.contains(".md") && !target.contains("://"));
        assert!(leads_on, "{page} leads nowhere");
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

fn normal(folder: &str, file: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in file.split('/') {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// As forges make them: lower case, words joined by hyphens, other signs dropped.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = page.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let made = headings.map(|heading| {
        let kept = heading.chars().filter(|sign| sign.is_alphanumeric() || [' ', '-', '_'].contains(sign));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    });
    let named =
        page.lines().filter_map(|line| line.strip_prefix("<a id=\"")?.strip_suffix("\"></a>")).map(str::to_owned);
    made.chain(named).collect()
}
