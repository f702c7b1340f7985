//! A report as a list for people: each fault with its place.

use super::{Report, SegmentReport, TransactionReport};
use crate::Place;

impl Report {
    /// All faults, those of the envelope before those inside.
    pub fn listed(&self) -> Vec<(Place, String)> {
        let place = Place::interchange(self.number);
        let mut listed: Vec<(Place, String)> = self.faults.iter().map(|fault| (place, fault.to_string())).collect();
        for (group, number) in self.groups.iter().zip(1..) {
            let place = Place { group: Some(number), ..place };
            listed.extend(group.faults.iter().map(|fault| (place, fault.to_string())));
            for (transaction, number) in group.transactions.iter().zip(1..) {
                transaction.list(Place { transaction: Some(number), ..place }, &mut listed);
            }
        }
        listed
    }
}

impl TransactionReport {
    fn list(&self, place: Place, listed: &mut Vec<(Place, String)>) {
        listed.extend(self.faults.iter().map(|fault| (place, fault.to_string())));
        for segment in &self.segments {
            segment.list(Place { segment: Some(segment.position), ..place }, listed);
        }
    }
}

impl SegmentReport {
    fn list(&self, place: Place, listed: &mut Vec<(Place, String)>) {
        let within = self.within.as_ref().map_or_else(String::new, |within| format!(" in loop {within}"));
        listed.extend(self.fault.map(|fault| (place, format!("{}{within}: {fault}", self.name))));
        for element in &self.elements {
            let said = format!("{:?}: {}", element.value, element.fault);
            listed.push((Place { element: Some(element.element), ..place }, said));
        }
    }
}
