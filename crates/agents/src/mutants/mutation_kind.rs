//! The kinds of errors that mutants make.

macro_rules! kinds {
    ($($(#[$about:meta])* $name:ident = $words:literal,)+) => {
        /// A kind of error.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum MutationKind {
            $($(#[$about])* $name,)+
        }

        impl MutationKind {
            pub const ALL: &[MutationKind] = &[$(Self::$name,)+];

            /// The name in reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $words,)+
                }
            }
        }
    };
}

kinds! {
    /// Another patient's identifier.
    WrongPatient = "wrong patient",
    TenTimes = "ten times",
    Tenth = "a tenth",
    OneMore = "one more",
    WrongUnit = "wrong unit",
    /// A record that has nothing to do with the task is deleted as well.
    UnrelatedDeletion = "deletion",
    WrongCode = "wrong code",
    /// The right code with another code system.
    WrongSystem = "wrong code system",
    /// A required value is missing.
    MissingValue = "missing value",
    /// A value where there should be none.
    InventedValue = "invented value",
    DayLate = "a day late",
    DayEarly = "a day early",
    AnotherYear = "another year",
    HourLate = "an hour late",
    /// A draft status where the record should be in force.
    Draft = "draft",
    /// A cancelled status where the record should be in force.
    Cancelled = "cancelled",
    /// `plan` instead of `order`, or the reverse.
    WrongIntent = "wrong intent",
    /// The opposite outcome, such as `denied` instead of `approved`.
    OppositeOutcome = "opposite",
    WrongPriority = "wrong priority",
    WrongProvider = "wrong provider",
    /// A reference to another order, visit, claim or result.
    WrongReference = "wrong reference",
    WrongNumber = "wrong number",
    WrongName = "wrong name",
    /// One entry of a list is missing.
    ItemOmitted = "entry left out",
    /// One of the messages is not sent.
    MessageOmitted = "left out",
    /// One of the messages is sent twice.
    MessageDuplicated = "twice",
    /// One of the messages is sent to another path.
    WrongLocation = "in another place",
    /// The action that a sibling task asks for, done in this task.
    SiblingContent = "another task's answer",
    /// The work, and an additional message.
    ExtraMessage = "something extra",
    /// A record that has nothing to do with the task is changed as well.
    UnrelatedChange = "another record changed",
    /// The whole work, but after the task was completed.
    Late = "too late",
}

impl MutationKind {
    /// Whether the error would harm a patient. No benchmark may pass a mutant of such a kind.
    pub fn is_grave(self) -> bool {
        matches!(self, Self::WrongPatient | Self::TenTimes | Self::Tenth | Self::WrongUnit | Self::UnrelatedDeletion)
    }
}
