//! Lists the faults of a report as text, each with its location.

use super::{Report, SegmentReport, TransactionReport};
use crate::X12Location;

impl Report {
    /// All faults as text; envelope faults come before the faults inside.
    pub fn listed(&self) -> Vec<(X12Location, String)> {
        let location = X12Location::interchange(self.number);
        let mut listed: Vec<(X12Location, String)> =
            self.faults.iter().map(|fault| (location, fault.to_string())).collect();
        for (group, number) in self.groups.iter().zip(1..) {
            let location = X12Location { group: Some(number), ..location };
            listed.extend(group.faults.iter().map(|fault| (location, fault.to_string())));
            for (transaction, number) in group.transactions.iter().zip(1..) {
                transaction.list(X12Location { transaction: Some(number), ..location }, &mut listed);
            }
        }
        listed
    }
}

impl TransactionReport {
    fn list(&self, location: X12Location, listed: &mut Vec<(X12Location, String)>) {
        listed.extend(self.faults.iter().map(|fault| (location, fault.to_string())));
        for segment in &self.segments {
            segment.list(X12Location { segment: Some(segment.position), ..location }, listed);
        }
    }
}

impl SegmentReport {
    fn list(&self, location: X12Location, listed: &mut Vec<(X12Location, String)>) {
        let within = self.within.as_ref().map_or_else(String::new, |within| format!(" in loop {within}"));
        listed.extend(self.fault.map(|fault| (location, format!("{}{within}: {fault}", self.name))));
        for element in &self.elements {
            let message = format!("{:?}: {}", element.value, element.fault);
            listed.push((X12Location { element: Some(element.element), ..location }, message));
        }
    }
}
