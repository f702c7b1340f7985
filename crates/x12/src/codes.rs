//! Error codes of the acknowledgments (data elements I17, I18, 715–718 and 620, 621 of 005010).

use std::fmt;

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $code:literal $meaning:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($variant,)+ }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            pub fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)+ }
            }

            pub fn from_code(code: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.code() == code)
            }
        }

        /// The description in the code list.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $meaning,)+ })
            }
        }
    };
}

codes! {
    /// TA105, interchange note code (I18).
    InterchangeFault {
        ControlNumbersDiffer = "001" "the interchange control numbers in the header ISA13 and in the trailer IEA02 do not match",
        StandardNotSupported = "002" "the standard in the control standards identifier is not supported",
        VersionNotSupported = "003" "this version of the controls is not supported",
        Terminator = "004" "the segment terminator is invalid",
        SenderQualifier = "005" "invalid interchange id qualifier for the sender",
        Sender = "006" "invalid interchange sender id",
        ReceiverQualifier = "007" "invalid interchange id qualifier for the receiver",
        Receiver = "008" "invalid interchange receiver id",
        UnknownReceiver = "009" "unknown interchange receiver id",
        AuthorizationQualifier = "010" "invalid authorization information qualifier value",
        Authorization = "011" "invalid authorization information value",
        SecurityQualifier = "012" "invalid security information qualifier value",
        Security = "013" "invalid security information value",
        Date = "014" "invalid interchange date value",
        Time = "015" "invalid interchange time value",
        Standard = "016" "invalid interchange standards identifier value (ISA11, the repetition separator)",
        Version = "017" "invalid interchange version id value",
        ControlNumber = "018" "invalid interchange control number value",
        AcknowledgmentRequested = "019" "invalid acknowledgment requested value",
        TestIndicator = "020" "invalid test indicator value",
        GroupCount = "021" "invalid number of included groups value",
        Structure = "022" "invalid control structure",
        EndOfFile = "023" "improper (premature) end of file",
        Content = "024" "invalid interchange content (such as an invalid GS segment)",
        Duplicate = "025" "duplicate interchange control number",
        ElementSeparator = "026" "invalid data element separator",
        ComponentSeparator = "027" "invalid component element separator",
    }
}

codes! {
    /// AK905 to AK909, functional group syntax error code (716).
    GroupFault {
        NotSupported = "1" "functional group not supported",
        VersionNotSupported = "2" "functional group version not supported",
        TrailerMissing = "3" "functional group trailer missing",
        ControlNumbersDiffer = "4" "group control number in the functional group header and trailer do not agree",
        Count = "5" "number of included transaction sets does not match actual count",
        ControlNumber = "6" "group control number violates syntax",
        Duplicate = "19" "functional group control number not unique within interchange",
    }
}

codes! {
    /// IK502 to IK506, implementation transaction set syntax error code (618).
    TransactionFault {
        NotSupported = "1" "transaction set not supported",
        TrailerMissing = "2" "transaction set trailer missing",
        ControlNumbersDiffer = "3" "transaction set control number in header and trailer do not match",
        Count = "4" "number of included segments does not match actual count",
        Segments = "5" "one or more segments in error",
        Identifier = "6" "missing or invalid transaction set identifier",
        ControlNumber = "7" "missing or invalid transaction set control number",
        NotInGroup = "18" "transaction set not in functional group",
        Version = "19" "invalid transaction set implementation convention reference",
        Duplicate = "23" "transaction set control number not unique within the functional group",
        ImplementationSegments = "I5" "implementation one or more segments in error",
        VersionNotSupported = "I6" "implementation convention not supported",
    }
}

codes! {
    /// IK304, implementation segment syntax error code (620).
    SegmentFault {
        Unrecognized = "1" "unrecognized segment id",
        Unexpected = "2" "unexpected segment",
        Missing = "3" "required segment missing",
        TooManyLoops = "4" "loop occurs over maximum times",
        TooMany = "5" "segment exceeds maximum use",
        NotInSet = "6" "segment not in defined transaction set",
        Sequence = "7" "segment not in proper sequence",
        Elements = "8" "segment has data element errors",
        NotUsed = "I4" "implementation not used segment present",
        DependentMissing = "I6" "implementation dependent segment missing",
        TooFewLoops = "I7" "implementation loop occurs under minimum times",
        TooFew = "I8" "implementation segment below minimum use",
        DependentNotUsed = "I9" "implementation dependent not used segment present",
    }
}

codes! {
    /// IK403, implementation data element syntax error code (621).
    ElementFault {
        Missing = "1" "required data element missing",
        ConditionalMissing = "2" "conditional required data element missing",
        TooMany = "3" "too many data elements",
        TooShort = "4" "data element too short",
        TooLong = "5" "data element too long",
        Character = "6" "invalid character in data element",
        Code = "7" "invalid code value",
        Date = "8" "invalid date",
        Time = "9" "invalid time",
        Exclusion = "10" "exclusion condition violated",
        TooManyRepetitions = "12" "too many repetitions",
        TooManyComponents = "13" "too many components",
        NotUsed = "I10" "implementation not used data element present",
        TooFewRepetitions = "I11" "implementation too few repetitions",
        Pattern = "I12" "implementation pattern match failure",
        DependentNotUsed = "I13" "implementation dependent not used data element present",
        CodeNotUsed = "I6" "code value not used in implementation",
        DependentMissing = "I9" "implementation dependent data element missing",
    }
}
