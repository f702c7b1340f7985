//! HL7 v2: our codec, a plain scan of the same bytes (what memory allows), and the Python libraries `hl7` and `hl7apy`.

use std::io;
use std::path::Path as FilePath;

use hl7v2::{Limits, Message, Path};

use super::{Corpus, Figure, python_program};

const MESSAGES: usize = 500;

/// The first figure is ours; the scan is the limit.
pub fn figures(python: &FilePath) -> io::Result<Vec<Figure>> {
    let corpus = Corpus { messages: (0..MESSAGES).map(result).collect() };
    let path: Path = "OBX[3.1=718-7].5".parse().map_err(io::Error::other)?;
    let limits = Limits::default();
    let look_up = |text: &str| {
        let message = Message::parse(text.as_bytes(), &limits).ok();
        message.and_then(|message| message.value(&path)).map_or(0, |value| value.len())
    };
    let parse = |text: &str| Message::parse(text.as_bytes(), &limits).map_or(0, |message| message.segments().len());
    let scan = |text: &str| text.bytes().filter(|byte| *byte == b'\r').count();
    let hl7 =
        python_program("import hl7", "[s for s in hl7.parse(m).segments('OBX') if str(s[3][0][0]) == '718-7'][0][5]");
    let find =
        "[s for s in parse_message(m, find_groups=False).obx if s.obx_3.obx_3_1.value == '718-7'][0].obx_5.value";
    let hl7apy = python_program("from hl7apy.parser import parse_message", find);
    Ok(vec![
        corpus.measure("verial-hl7v2, parse and one value", look_up),
        corpus.measure("verial-hl7v2, parse", parse),
        corpus.measure("a scan of the same bytes", scan),
        corpus.measure_python("hl7 (Python), parse and one value", python, &hl7)?,
        corpus.measure_python("hl7apy (Python), parse and one value", python, &hl7apy)?,
    ])
}

/// A laboratory result with twenty observations: about 2 KB.
fn result(number: usize) -> String {
    let header = format!(
        "MSH|^~\\&|LAB|HOSP|EHR|CLINIC|20260401120000||ORU^R01^ORU_R01|R{number}|P|2.5.1\r\
         PID|1||{number}^^^MRN||Doe^Ann||19700101|F\rOBR|1|||58410-2^CBC^LN|||20260401110000\r"
    );
    let observation = |index: usize| {
        let code = if index == 14 { "718-7".to_owned() } else { format!("{}-{}", 1000 + index, index % 10) };
        format!(
            "OBX|{index}|NM|{code}^Something that is measured^LN||{}.{}|g/dL|12-16|N|||F|||20260401113000\r",
            index + 1,
            number % 10
        )
    };
    (1..=20).fold(header, |text, index| text + &observation(index))
}
