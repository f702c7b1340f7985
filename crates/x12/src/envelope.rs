//! The sender, receiver and time that the interchange and the groups of one response share.

use crate::draft::{GroupDraft, InterchangeDraft, Party, SegmentDraft, TransactionDraft, Usage};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    pub sender: Party,
    pub receiver: Party,
    /// `CCYYMMDD` and `HHMM`.
    pub date: String,
    pub time: String,
    pub usage: Usage,
}

impl Envelope {
    pub fn interchange(
        &self,
        control: u32,
        acknowledgments: Vec<SegmentDraft>,
        groups: Vec<GroupDraft>,
    ) -> InterchangeDraft {
        InterchangeDraft {
            sender: self.sender.clone(),
            receiver: self.receiver.clone(),
            date: self.date.chars().skip(2).collect(),
            time: self.time.clone(),
            control,
            acknowledgment_requested: false,
            usage: self.usage,
            acknowledgments,
            groups,
        }
    }

    /// A group with the same sender and receiver as the interchange.
    pub fn group(
        &self,
        function: &str,
        version: &str,
        control: u32,
        transactions: Vec<TransactionDraft>,
    ) -> GroupDraft {
        GroupDraft {
            function: function.to_owned(),
            sender: self.sender.id.clone(),
            receiver: self.receiver.id.clone(),
            date: self.date.clone(),
            time: self.time.clone(),
            control,
            version: version.to_owned(),
            transactions,
        }
    }
}
