//! Which resources belong to a patient, an encounter and so on (<https://hl7.org/fhir/R4/compartmentdefinition.html>).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::SearchParameter;
use super::load::lines;
use crate::ResourceType;

/// The five compartments of R4, by the type of the resource that they belong to.
#[derive(Debug)]
pub struct Compartment {
    members: BTreeMap<ResourceType, Vec<&'static SearchParameter>>,
}

impl Compartment {
    pub fn of(owner: ResourceType) -> Option<&'static Self> {
        TABLE.get(&owner)
    }

    /// The types that can be in the compartment.
    pub fn types(&self) -> impl Iterator<Item = ResourceType> {
        self.members.keys().copied()
    }

    /// The reference parameters that put a resource of the type into the compartment: any of them is enough.
    pub fn parameters(&self, member: ResourceType) -> Option<&[&'static SearchParameter]> {
        self.members.get(&member).map(Vec::as_slice)
    }
}

static TABLE: LazyLock<BTreeMap<ResourceType, Compartment>> = LazyLock::new(|| {
    let mut table: BTreeMap<ResourceType, Compartment> = BTreeMap::new();
    for line in lines(include_str!("../../definitions/compartments.txt")) {
        let mut columns = line.split(' ');
        let mut kind = || columns.next().and_then(|name| name.parse::<ResourceType>().ok());
        let (Some(owner), Some(member)) = (kind(), kind()) else { continue };
        let codes = columns.next().unwrap_or_default().split(',');
        let parameters = codes.filter_map(|code| SearchParameter::find(member, code)).collect();
        table.entry(owner).or_insert(Compartment { members: BTreeMap::new() }).members.insert(member, parameters);
    }
    table
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_known() {
        let text = include_str!("../../definitions/compartments.txt");
        // `{def}` is the owner itself.
        let columns = lines(text).map(|line| line.split([' ', ',']).filter(|word| *word != "{def}").count() - 2);
        let read = TABLE.values().flat_map(|compartment| compartment.members.values()).map(Vec::len);
        assert_eq!(read.sum::<usize>(), columns.sum::<usize>());
        assert_eq!(TABLE.len(), 5);
    }

    #[test]
    fn observations_are_in_the_compartment_of_their_subject_or_performer() {
        let of = |name: &str| name.parse::<ResourceType>().unwrap();
        let patient = Compartment::of(of("Patient")).unwrap();
        let codes: Vec<_> = patient.parameters(of("Observation")).unwrap().iter().map(|found| found.code()).collect();
        assert_eq!(codes, ["performer", "subject"]);
        assert!(patient.parameters(of("Medication")).is_none() && Compartment::of(of("Group")).is_none());
    }
}
