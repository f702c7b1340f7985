//! Validation of the IVR graph: edges have targets, all nodes are reachable, and every call can end.

use std::collections::{BTreeMap, BTreeSet};

use model::FieldErrors;
use model::reading::shortened;

use crate::voice::node::IvrNode;

type Edges<'a> = BTreeMap<&'a str, Vec<&'a str>>;

/// Checks the graph. Errors are named `nodes.<name>`. If an edge has no target, only the edges are checked.
pub(crate) fn check<'a>(start: &'a str, nodes: &'a BTreeMap<&'a str, IvrNode>, errors: &mut FieldErrors) {
    if !check_edges(nodes, errors) || !nodes.contains_key(start) {
        return;
    }
    let edges: Edges<'_> = nodes.iter().map(|(name, node)| (*name, targets(node))).collect();
    let reached = reachable([start], &edges);
    let endings = nodes.iter().filter(|(_, node)| node.can_end_the_call()).map(|(name, _)| *name);
    let ends = reachable(endings, &reversed(&edges));
    let cyclic = cycles_without_listening(nodes);
    for name in nodes.keys() {
        let field = format!("nodes.{name}");
        if !reached.contains(name) {
            errors.add(&field, format!("cannot be reached from `{start}`"));
        } else if !ends.contains(name) {
            errors.add(&field, "is a dead end: no hangup, voicemail, transfer or representative can be reached");
        } else if cyclic.contains(name) {
            errors.add(&field, "is in a cycle of nodes that never listen to the caller");
        }
    }
}

fn check_edges(nodes: &BTreeMap<&str, IvrNode>, errors: &mut FieldErrors) -> bool {
    let mut is_valid = true;
    for (name, node) in nodes {
        for (field, target) in node.edges() {
            if !nodes.contains_key(target) {
                errors.add(format!("nodes.{name}.{field}"), format!("no node `{}`", shortened(target, 60)));
                is_valid = false;
            }
        }
    }
    is_valid
}

fn targets(node: &IvrNode) -> Vec<&str> {
    node.edges().into_iter().map(|(_, target)| target).collect()
}

fn reversed<'a>(edges: &Edges<'a>) -> Edges<'a> {
    let mut reversed = Edges::new();
    for (from, targets) in edges {
        for target in targets {
            reversed.entry(*target).or_default().push(*from);
        }
    }
    reversed
}

fn reachable<'a>(starts: impl IntoIterator<Item = &'a str>, edges: &Edges<'a>) -> BTreeSet<&'a str> {
    let mut open: Vec<&str> = starts.into_iter().collect();
    let mut reached: BTreeSet<&str> = open.iter().copied().collect();
    while let Some(name) = open.pop() {
        for target in edges.get(name).into_iter().flatten() {
            if reached.insert(*target) {
                open.push(*target);
            }
        }
    }
    reached
}

/// The nodes on which a line would talk forever: those on a cycle without a node that listens.
fn cycles_without_listening<'a>(nodes: &'a BTreeMap<&'a str, IvrNode>) -> BTreeSet<&'a str> {
    let talking: BTreeSet<&str> = nodes.iter().filter(|(_, node)| !node.listens()).map(|(name, _)| *name).collect();
    let mut edges: Edges<'_> = Edges::new();
    for name in &talking {
        let targets = nodes.get(name).map(targets).unwrap_or_default();
        edges.insert(*name, targets.into_iter().filter(|target| talking.contains(target)).collect());
    }
    let is_on_cycle = |name: &&str| reachable(edges.get(name).into_iter().flatten().copied(), &edges).contains(name);
    talking.iter().copied().filter(|name| is_on_cycle(name)).collect()
}
