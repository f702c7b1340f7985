//! The ways in which the right work can have one thing wrong.

macro_rules! kinds {
    ($($(#[$about:meta])* $name:ident = $words:literal,)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind {
            $($(#[$about])* $name,)+
        }

        impl Kind {
            pub const ALL: &[Kind] = &[$(Self::$name,)+];

            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $words,)+
                }
            }
        }
    };
}

kinds! {
    /// It is about somebody else.
    WrongPatient = "wrong patient",
    TenTimes = "ten times",
    Tenth = "a tenth",
    OneMore = "one more",
    WrongUnit = "wrong unit",
    /// Something that nobody spoke of is deleted as well.
    Deletion = "deletion",
    WrongCode = "wrong code",
    /// The right code of another code system.
    WrongSystem = "wrong code system",
    /// A value that was asked for is not there.
    Missing = "missing value",
    /// Something is said where there is nothing to say.
    Invented = "invented value",
    DayLate = "a day late",
    DayEarly = "a day early",
    AnotherYear = "another year",
    HourLate = "an hour late",
    /// What is to be in force is a draft.
    Draft = "draft",
    /// What is to be in force is cancelled.
    Cancelled = "cancelled",
    /// What is ordered is only planned.
    WrongIntent = "wrong intent",
    /// What went well is said to have gone badly, and the reverse.
    Opposite = "opposite",
    WrongPriority = "wrong priority",
    WrongProvider = "wrong provider",
    /// Another order, visit, claim or result than the one that is meant.
    WrongReference = "wrong reference",
    WrongNumber = "wrong number",
    WrongName = "wrong name",
    /// One entry of a list is not there.
    ItemLeftOut = "entry left out",
    /// One of the messages is not sent.
    LeftOut = "left out",
    Twice = "twice",
    /// Under another name or in another place.
    Elsewhere = "in another place",
    /// What a sibling task asks for, done here.
    Instead = "another task's answer",
    /// The work, and one thing more.
    Beside = "something beside it",
    /// A record that has nothing to do with it is changed as well.
    Rewritten = "another record changed",
    /// All of it, after the task was completed.
    Late = "too late",
}

impl Kind {
    /// Those that harm somebody: none of them may pass.
    pub fn is_grave(self) -> bool {
        matches!(self, Self::WrongPatient | Self::TenTimes | Self::Tenth | Self::WrongUnit | Self::Deletion)
    }
}
