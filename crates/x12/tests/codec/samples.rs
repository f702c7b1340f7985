//! One synthetic transaction of each set, written for these tests. All people and organizations are fictional.

use std::fmt::Write as _;

use verial_x12::draft::{Party, Usage};
use verial_x12::envelope::Envelope;

pub(crate) struct Sample {
    pub(crate) set: &'static str,
    /// GS01 and GS08.
    pub(crate) function: &'static str,
    pub(crate) version: &'static str,
    /// The segments between ST and SE, one per line, each preceded by its loop.
    pub(crate) segments: &'static str,
}

impl Sample {
    /// The text of an interchange with this transaction.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "ISA*00*          *00*          *ZZ*CLINIC         *ZZ*VERIALPAYER    *260115*0930*^*00501*000000905*1*T*:~\n\
             GS*{}*CLINIC*VERIALPAYER*20260115*0930*7*X*{}~\n",
            self.function, self.version
        );
        let version = if self.set == "835" { String::new() } else { format!("*{}", self.version) };
        writeln!(text, "ST*{}*0001{version}~", self.set).unwrap();
        let lines: Vec<&str> = self.lines().map(|(_, segment)| segment).collect();
        for line in &lines {
            writeln!(text, "{line}~").unwrap();
        }
        write!(text, "SE*{}*0001~\nGE*1*7~\nIEA*1*000000905~\n", lines.len() + 2).unwrap();
        text
    }

    /// The loop (`-` for none) and the text of each segment.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.segments.lines().map(|line| line.trim().split_once(' ').unwrap())
    }
}

/// The envelope for responses of the payer in the samples.
pub(crate) fn envelope() -> Envelope {
    Envelope {
        sender: Party::agreed("VERIALPAYER"),
        receiver: Party::agreed("CLINIC"),
        date: "20260115".to_owned(),
        time: "0931".to_owned(),
        usage: Usage::Test,
    }
}

pub(crate) const ALL: [Sample; 10] = [
    ELIGIBILITY_REQUEST,
    ELIGIBILITY,
    STATUS_REQUEST,
    STATUS,
    CLAIM_ACKNOWLEDGMENT,
    REVIEW_REQUEST,
    REVIEW,
    CLAIM,
    PAYMENT,
    ACKNOWLEDGMENT,
];

pub(crate) const ELIGIBILITY_REQUEST: Sample = Sample {
    set: "270",
    function: "HS",
    version: "005010X279A1",
    segments: "- BHT*0022*13*10001234*20260115*0930
               2000A HL*1**20*1
               2100A NM1*PR*2*VERIAL HEALTH PLAN*****PI*VHP01
               2000B HL*2*1*21*1
               2100B NM1*1P*2*RIVERSIDE CLINIC*****XX*1234567893
               2100B REF*4A*000111222
               2000C HL*3*2*22*0
               2000C TRN*1*TRACE-1*9VERIALTST
               2100C NM1*IL*1*MORROW*ADA****MI*W0001
               2100C DMG*D8*19800229*F
               2100C DTP*291*D8*20260115
               2110C EQ*30^98
               2110C EQ*1
               2000C HL*4*2*22*1
               2100C NM1*IL*1*OKAFOR*BEN****MI*W0002
               2000D HL*5*4*23*0
               2000D TRN*1*TRACE-2*9VERIALTST
               2100D NM1*03*1*OKAFOR*CLEO
               2100D DMG*D8*20150601*F
               2110D EQ**HC:99213
               2110D DTP*291*D8*20260115",
};

pub(crate) const ELIGIBILITY: Sample = Sample {
    set: "271",
    function: "HB",
    version: "005010X279A1",
    segments: "- BHT*0022*11*10001234*20260115*0931
               2000A HL*1**20*1
               2100A NM1*PR*2*VERIAL HEALTH PLAN*****PI*VHP01
               2100A PER*IC**TE*5550100
               2000B HL*2*1*21*1
               2100B NM1*1P*2*RIVERSIDE CLINIC*****XX*1234567893
               2000C HL*3*2*22*0
               2000C TRN*2*TRACE-1*9VERIALTST
               2100C NM1*IL*1*MORROW*ADA****MI*W0001
               2100C REF*6P*GRP42
               2100C N3*12 LAKE ST
               2100C N4*SPRINGFIELD*IL*62701
               2100C DMG*D8*19800229*F
               2100C DTP*346*D8*20260101
               2110C EB*1*IND*30*HM*GOLD
               2110C DTP*291*D8*20260115
               2110C EB*B*IND*98^1***27*25
               2110C MSG*COPAY WAIVED FOR PREVENTIVE CARE
               2115C III*ZZ*11
               2110C EB*C*IND*30***23*1500
               2110C LS*2120
               2120C NM1*P3*1*REED*JO****XX*1999999992
               2120C PER*IC**TE*5550111
               2110C LE*2120
               2110C EB*I*IND*35
               2000C HL*4*2*22*0
               2100C NM1*IL*1*NOBODY*NEMO****MI*W9999
               2100C AAA*N**75*C",
};

pub(crate) const STATUS_REQUEST: Sample = Sample {
    set: "276",
    function: "HR",
    version: "005010X212",
    segments: "- BHT*0010*13*CS-1*20260115*1000
               2000A HL*1**20*1
               2100A NM1*PR*2*VERIAL HEALTH PLAN*****PI*VHP01
               2000B HL*2*1*21*1
               2100B NM1*41*2*RIVERSIDE CLINIC*****46*X67E
               2000C HL*3*2*19*1
               2100C NM1*1P*2*RIVERSIDE CLINIC*****XX*1234567893
               2000D HL*4*3*22*0
               2000D DMG*D8*19800229*F
               2100D NM1*IL*1*MORROW*ADA****MI*W0001
               2200D TRN*1*STATUS-1
               2200D REF*1K*PAYERCLAIM1
               2200D AMT*T3*85
               2200D DTP*472*D8*20260105
               2210D SVC*HC:99213*85*****1
               2210D DTP*472*D8*20260105
               2000D HL*5*3*22*1
               2100D NM1*IL*1*OKAFOR*BEN****MI*W0002
               2000E HL*6*5*23
               2000E DMG*D8*20150601*F
               2100E NM1*QC*1*OKAFOR*CLEO
               2200E TRN*1*STATUS-2
               2210E SVC*HC:90460*30*****1
               2210E DTP*472*D8*20260106",
};

pub(crate) const STATUS: Sample = Sample {
    set: "277",
    function: "HN",
    version: "005010X212",
    segments: "- BHT*0010*08*CS-1*20260115*1001*DG
               2000A HL*1**20*1
               2100A NM1*PR*2*VERIAL HEALTH PLAN*****PI*VHP01
               2100A PER*IC**TE*5550100
               2000B HL*2*1*21*1
               2100B NM1*41*2*RIVERSIDE CLINIC*****46*X67E
               2000C HL*3*2*19*1
               2100C NM1*1P*2*RIVERSIDE CLINIC*****XX*1234567893
               2000D HL*4*3*22*0
               2100D NM1*IL*1*MORROW*ADA****MI*W0001
               2200D TRN*2*STATUS-1
               2200D STC*F1:65*20260110**85*68*20260112**CHK100
               2200D REF*1K*PAYERCLAIM1
               2200D DTP*472*D8*20260105
               2220D SVC*HC:99213*85*68****1
               2220D STC*F1:65*20260110
               2220D DTP*472*D8*20260105",
};

pub(crate) const CLAIM_ACKNOWLEDGMENT: Sample = Sample {
    set: "277",
    function: "HN",
    version: "005010X214",
    segments: "- BHT*0085*08*ACK-1*20260115*1002*TH
               2000A HL*1**20*1
               2100A NM1*PR*2*VERIAL HEALTH PLAN*****PI*VHP01
               2200A TRN*1*200501010001
               2200A DTP*050*D8*20260115
               2200A DTP*009*D8*20260115
               2000B HL*2*1*21*1
               2100B NM1*41*2*RIVERSIDE CLINIC*****46*X67E
               2200B TRN*2*BATCH1
               2200B STC*A1:19:PR*20260115*WQ*85
               2200B QTY*90*1
               2200B AMT*YU*85
               2000C HL*3*2*19*1
               2100C NM1*85*2*RIVERSIDE CLINIC*****XX*1234567893
               2200C TRN*1*0
               2200C STC*A1:19:PR**WQ*85
               2000D HL*4*3*PT
               2100D NM1*QC*1*MORROW*ADA****MI*W0001
               2200D TRN*2*CLAIM-1
               2200D STC*A2:20:PR*20260115*WQ*85
               2200D REF*1K*PAYERCLAIM1
               2200D DTP*472*D8*20260105",
};

pub(crate) const REVIEW_REQUEST: Sample = Sample {
    set: "278",
    function: "HI",
    version: "005010X217",
    segments: "- BHT*0007*13*AUTH-1*20260115*1100
               2000A HL*1**20*1
               2010A NM1*X3*2*VERIAL HEALTH PLAN*****PI*VHP01
               2000B HL*2*1*21*1
               2010B NM1*1P*2*RIVERSIDE CLINIC*****XX*1234567893
               2010B PER*IC*FRONT DESK*TE*5550122
               2000C HL*3*2*22*1
               2010C NM1*IL*1*OKAFOR*BEN****MI*W0002
               2000D HL*4*3*23*1
               2010D NM1*QC*1*OKAFOR*CLEO
               2010D DMG*D8*20150601*F
               2000E HL*5*4*EV*1
               2000E TRN*1*EVENT-1*9VERIALTST
               2000E UM*HS*I*2
               2000E HI*BK:J45
               2010EA NM1*SJ*1*REED*JO****XX*1999999992
               2010EA PRV*PE*PXC*207RC0000X
               2010EB NM1*PW*2*HOME
               2010EB N3*12 LAKE ST
               2000F HL*6*5*SS*0
               2000F SV1*HC:94010*120*UN*1
               2010F NM1*72*1*REED*JO****XX*1999999992
               2000E HL*7*3*EV*0
               2000E UM*HS*I*1",
};

pub(crate) const REVIEW: Sample = Sample {
    set: "278",
    function: "HI",
    version: "005010X217",
    segments: "- BHT*0007*11*AUTH-1*20260115*1101*18
               2000A HL*1**20*1
               2010A NM1*X3*2*VERIAL HEALTH PLAN*****PI*VHP01
               2000B HL*2*1*21*1
               2010B NM1*1P*2*RIVERSIDE CLINIC*****XX*1234567893
               2000C HL*3*2*22*1
               2010C NM1*IL*1*MORROW*ADA****MI*W0001
               2000E HL*4*3*EV*1
               2000E TRN*2*EVENT-1*9VERIALTST
               2000E UM*HS*I*2
               2000E HCR*A1*AUTH0001
               2000E DTP*AAH*RD8*20260120-20260320
               2010EA NM1*SJ*1*REED*JO****XX*1999999992
               2010EB NM1*L5*1*DESK
               2010EB PER*IC**TE*5550133
               2000F HL*5*4*SS*0
               2000F HCR*A3**0V
               2000F SV1*HC:94010*120*UN*1
               2010FA NM1*72*1*REED*JO****XX*1999999992",
};

pub(crate) const CLAIM: Sample = Sample {
    set: "837",
    function: "HC",
    version: "005010X222A1",
    segments: "- BHT*0019*00*BATCH1*20260115*1200*CH
               1000A NM1*41*2*RIVERSIDE CLINIC*****46*X67E
               1000A PER*IC*BILLING*TE*5550144444
               1000B NM1*40*2*VERIAL HEALTH PLAN*****46*VHP01
               2000A HL*1**20*1
               2000A PRV*BI*PXC*207Q00000X
               2010AA NM1*85*2*RIVERSIDE CLINIC*****XX*1234567893
               2010AA N3*1 RIVER RD
               2010AA N4*SPRINGFIELD*IL*627010001
               2010AA REF*EI*123456789
               2000B HL*2*1*22*0
               2000B SBR*P*18*GRP42******CI
               2010BA NM1*IL*1*MORROW*ADA****MI*W0001
               2010BA N3*12 LAKE ST
               2010BA N4*SPRINGFIELD*IL*62701
               2010BA DMG*D8*19800229*F
               2010BB NM1*PR*2*VERIAL HEALTH PLAN*****PI*VHP01
               2300 CLM*CLAIM-1*85***11:B:1*Y*A*Y*Y
               2300 REF*D9*17312345600006351
               2300 HI*ABK:J0190
               2310B NM1*82*1*REED*JO****XX*1999999992
               2310B PRV*PE*PXC*207Q00000X
               2320 SBR*S*01*GRP77******CI
               2320 OI***Y***Y
               2330A NM1*IL*1*MORROW*SAM****MI*Z7
               2330B NM1*PR*2*OTHER PLAN*****PI*OP9
               2400 LX*1
               2400 SV1*HC:99213*85*UN*1***1
               2400 DTP*472*D8*20260105
               2420A NM1*82*1*REED*JO****XX*1999999992
               2430 SVD*OP9*10*HC:99213**1
               2430 CAS*CO*45*75
               2430 DTP*573*D8*20260110
               2000B HL*3*1*22*1
               2000B SBR*P**GRP42******CI
               2010BA NM1*IL*1*OKAFOR*BEN****MI*W0002
               2010BB NM1*PR*2*VERIAL HEALTH PLAN*****PI*VHP01
               2000C HL*4*3*23*0
               2000C PAT*19
               2010CA NM1*QC*1*OKAFOR*CLEO
               2010CA N3*4 HILL ST
               2010CA N4*SPRINGFIELD*IL*62701
               2010CA DMG*D8*20150601*F
               2300 CLM*CLAIM-2*30***11:B:1*Y*A*Y*Y
               2300 HI*ABK:Z23
               2400 LX*1
               2400 SV1*HC:90460*30*UN*1***1
               2400 DTP*472*D8*20260106",
};

pub(crate) const PAYMENT: Sample = Sample {
    set: "835",
    function: "HP",
    version: "005010X221A1",
    segments: "- BPR*I*68*C*CHK************20260112
               - TRN*1*CHK100*1999999999
               - DTM*405*20260112
               1000A N1*PR*VERIAL HEALTH PLAN
               1000A N3*9 PLAN PLAZA
               1000A N4*SPRINGFIELD*IL*62701
               1000A PER*BL*HELP*TE*5550100000
               1000B N1*PE*RIVERSIDE CLINIC*XX*1234567893
               2000 LX*1
               2100 CLP*CLAIM-1*1*85*68*7*12*PAYERCLAIM1*11
               2100 CAS*CO*45*10
               2100 NM1*QC*1*MORROW*ADA****MI*W0001
               2100 DTM*232*20260105
               2110 SVC*HC:99213*75*68**1
               2110 DTM*472*20260105
               2110 CAS*PR*3*7
               2110 AMT*B6*75
               - PLB*1234567893*20261231*WO:ADJ1*0",
};

pub(crate) const ACKNOWLEDGMENT: Sample = Sample {
    set: "999",
    function: "FA",
    version: "005010X231A1",
    segments: "- AK1*HC*7*005010X222A1
               2000 AK2*837*0001*005010X222A1
               2100 IK3*HL*5*2000*8
               2110 IK4*4*736*7*9
               2110 CTX*SITUATIONAL TRIGGER*HL*5
               2000 IK5*R*5
               2000 AK2*837*0002*005010X222A1
               2000 IK5*A
               - AK9*P*2*2*1",
};
