//! Realistic sample messages. All people in them are fictional.

/// Replaces the LF line ends of the source with CR.
fn with_returns(text: &str) -> String {
    text.trim_start().replace('\n', "\r")
}

pub(crate) fn admission() -> String {
    with_returns(
        r#"
MSH|^~\&|ADT1|NORTHGATE|LAB|NORTHGATE|20260301093015+0100||ADT^A01^ADT_A01|MSG00001|P|2.5.1|||AL|NE||UNICODE UTF-8
EVN|A01|20260301093000
PID|1||483920^^^NORTHGATE^MR~987-65-4329^^^USSSA^SS||Brandt^Zoë^M^^Ms.||19790514|F|||12 Elm St.^^Springvale^OH^44001||(555)010-0199
NK1|1|Brandt^Tomas|SPO
PV1|1|I|4W^401^A^NORTHGATE||||1044^Okafor^Adaeze^^^Dr.|||MED||||7|||||V7731
AL1|1|DA|70618^Penicillin^RXNORM|SV|Hives \T\ wheeze
DG1|1||I50.9^Heart failure^I10|||A
IN1|1|PPO|HLT01|Harbor Health
ZPI|1|wears a \F\ shaped brace
"#,
    )
}

pub(crate) fn result() -> String {
    with_returns(
        r"
MSH|^~\&|LAB|NORTHGATE|EHR|NORTHGATE|20260301101500||ORU^R01^ORU_R01|LAB77|P|2.5.1
PID|1||483920^^^NORTHGATE^MR||Brandt^Zoe
PV1|1|I
ORC|RE|ORD1|LAB1
OBR|1|ORD1|LAB1|58410-2^CBC panel^LN|||20260301094500|||||||||||||||20260301101400||HM|F
OBX|1|NM|718-7^Hemoglobin^LN||13.2|g/dL|12.0-16.0|N|||F|||20260301094500
OBX|2|NM|6690-2^Leukocytes^LN||11.9|10*3/uL|4.5-11.0|H|||F
NTE|1|L|Slightly raised.\.br\Repeat in a week.
OBX|3|SN|777-3^Platelets^LN||>^400|10*3/uL||H|||F
OBR|2|ORD2|LAB2|24323-8^CMP^LN|||20260301094500
OBX|1|TX|8251-1^Comment^LN||line one~line two||||||F
SPM|1|||119297000^Blood^SCT
",
    )
}

pub(crate) fn order() -> String {
    with_returns(
        r"
MSH|^~\&|EHR|NORTHGATE|LAB|NORTHGATE|20260301093500||ORM^O01|ORD1|P|2.3
PID|1||483920||Brandt^Zoe
PV1|1|I
ORC|NW|ORD1
OBR|1|ORD1||58410-2^CBC panel^LN
NTE|1||fasting
ORC|NW|ORD2
RXO|308136^Amlodipine^RXNORM|5||mg
RXR|PO
",
    )
}

pub(crate) fn lab_order() -> String {
    with_returns(
        r"
MSH|^~\&|EHR|N|LAB|N|20260301093500||OML^O21^OML_O21|O21|P|2.5.1
PID|1||483920||Brandt^Zoe
ORC|NW|ORD1
TQ1|1||||||20260301||R
OBR|1|ORD1||58410-2^CBC panel^LN
SPM|1|||119297000^Blood^SCT
ORC|NW|ORD2
OBR|2|ORD2||24323-8^CMP^LN
",
    )
}

pub(crate) fn appointment() -> String {
    with_returns(
        r"
MSH|^~\&|SCHED|N|EHR|N|20260301||SIU^S12^SIU_S12|S1|P|2.5
SCH|A100|||||ROUTINE|Follow-up||30|min|^^30^20260310090000^20260310093000
PID|1||483920||Brandt^Zoe
PV1|1|O
RGS|1|A
AIS|1|A|OV^Office visit|20260310090000|||30|min
AIL|1|A|CLINIC^2
AIP|1|A|1044^Okafor^Adaeze
",
    )
}

pub(crate) fn document() -> String {
    with_returns(
        r"
MSH|^~\&|TRANS|N|EHR|N|20260301||MDM^T02^MDM_T02|D1|P|2.5
EVN||20260301120000
PID|1||483920||Brandt^Zoe
PV1|1|I
TXA|1|DS|TX|20260301||20260301115500||||||DOC77^TRANS|||||AU
OBX|1|TX|18842-5^Discharge summary^LN||Went home well.||||||F
",
    )
}

pub(crate) fn pharmacy_order() -> String {
    with_returns(
        r"
MSH|^~\&|EHR|N|RX|N|20260301||RDE^O11^RDE_O11|R1|P|2.5
PID|1||483920||Brandt^Zoe
ORC|NW|RX1
RXE|^^^20260301^^R|308136^Amlodipine^RXNORM|5||mg
TQ1|1|||QD
RXR|PO
",
    )
}

pub(crate) fn charge() -> String {
    with_returns(
        r"
MSH|^~\&|EHR|N|BILL|N|20260301||DFT^P03^DFT_P03|F1|P|2.5
EVN|P03|20260301120000
PID|1||483920||Brandt^Zoe
PV1|1|O
FT1|1|||20260301|20260302|CG|99213^Office visit^C4|||1
PR1|1||99213^Office visit^C4||20260301
DG1|1||I10^Hypertension^I10|||F
",
    )
}

pub(crate) fn vaccination() -> String {
    with_returns(
        r"
MSH|^~\&|EHR|N|IIS|STATE|20260301||VXU^V04^VXU_V04|V1|P|2.5.1
PID|1||483920^^^N^MR||Brandt^Zoe||19790514|F
ORC|RE||IZ1
RXA|0|1|20260301|20260301|140^Influenza^CVX|0.5|mL
RXR|IM
OBX|1|CE|64994-7^Funding^LN|1|V02||||||F
",
    )
}

pub(crate) fn merge() -> String {
    with_returns(
        r"
MSH|^~\&|ADT1|N|EHR|N|20260301||ADT^A40^ADT_A39|M1|P|2.4
EVN|A40|20260301
PID|1||483920||Brandt^Zoe
MRG|483921
PID|2||483922||Brandt^Z
MRG|483923
",
    )
}

pub(crate) fn all() -> Vec<String> {
    vec![
        admission(),
        result(),
        order(),
        lab_order(),
        appointment(),
        document(),
        pharmacy_order(),
        charge(),
        vaccination(),
        merge(),
    ]
}
