//! X12: reading an interchange and looking one value up, against the Python libraries of the tests, and against a plain scan
//! of the same bytes, which is the limit.

use std::io;
use std::path::Path;

use x12::query::{Position, Query, Selector, View};
use x12::{Limits, parse};

use super::{Corpus, Figure, python_program};

const MESSAGES: usize = 500;

/// Ours first. The interpreter has `tools/clients/x12/requirements.txt` (`./test` makes `.test/x12-venv/bin/python`).
pub fn figures(python: &Path) -> io::Result<Vec<Figure>> {
    let corpus = Corpus { messages: (0..MESSAGES).map(message).collect() };
    let mut figures = vec![
        corpus.measure("Verial: parse and one look-up", look_up),
        corpus.measure("Verial: parse alone", |text| {
            parse(text, &Limits::default()).map_or(0, |body| body.transactions().count())
        }),
        corpus.measure("scan of the same bytes", |text| text.bytes().filter(|byte| *byte == b'~').count()),
    ];
    for (name, setup) in [
        ("pyx12, segments", PYX12),
        ("linuxforhealth-x12, segments", SEGMENTS),
        ("linuxforhealth-x12, model", MODEL),
        ("badx12, document", BADX12),
    ] {
        figures.push(corpus.measure_python(name, python, &python_program(setup, "assert member(m)[0] == 'W'"))?);
    }
    Ok(figures)
}

/// A 271 with twenty benefits.
fn message(number: usize) -> String {
    let benefit = |code: usize| format!("EB*B*IND*{code}***27*{}~MSG*COPAY FOR SERVICE {code}~", 20 + code);
    let benefits: String = (1..=20).map(benefit).collect();
    format!(
        "ISA*00*          *00*          *ZZ*PAYER          *ZZ*CLINIC         *260423*1200*^*00501*{number:09}*0*T*:~\
         GS*HB*PAYER*CLINIC*20260423*1200*1*X*005010X279A1~ST*271*0001*005010X279A1~BHT*0022*11*R*20260423*1200~\
         HL*1**20*1~NM1*PR*2*BLUE PLAN*****PI*60054~HL*2*1*21*1~NM1*1P*2*CLINIC*****XX*1234567893~HL*3*2*22*0~\
         TRN*2*TRACE*9CLINICSYS~NM1*IL*1*MORROW*ADA****MI*W{number:04}~DMG*D8*19800229*F~EB*1*IND*30*PR*GOLD~{benefits}\
         SE*52*0001~GE*1*1~IEA*1*{number:09}~"
    )
}

fn look_up(text: &str) -> usize {
    let member = Query {
        within: None,
        segment: "NM1",
        selector: Some(Selector::Where { position: Position::element(1), value: "IL" }),
        position: Some(Position::element(9)),
    };
    let Ok(body) = parse(text, &Limits::default()) else { return 0 };
    body.transactions().map(|found| View::of_transaction(&found).values(&member).len()).sum()
}

const PYX12: &str = "
import io, logging
from pyx12.x12file import X12Reader
logging.disable(logging.CRITICAL)
def member(m):
    for s in X12Reader(io.StringIO(m)):
        if s.get_seg_id() == 'NM1' and s.get_value('NM101') == 'IL':
            return s.get_value('NM109')
";

const SEGMENTS: &str = "
from linuxforhealth.x12.io import X12SegmentReader
def member(m):
    with X12SegmentReader(m) as r:
        for name, fields in r.segments():
            if name == 'NM1' and fields[1] == 'IL':
                return fields[9]
";

const MODEL: &str = "
from linuxforhealth.x12.io import X12ModelReader
def member(m):
    with X12ModelReader(m) as r:
        [model] = r.models()
    return model.loop_2000a[0].loop_2000b[0].loop_2000c[0].loop_2100c.nm1_segment.identification_code
";

/// It asks Python for a name that has moved.
const BADX12: &str = "
import collections.abc, tempfile
collections.Iterable = collections.abc.Iterable
from badx12 import Parser
def member(m):
    with tempfile.NamedTemporaryFile('w', suffix='.edi') as f:
        f.write(m)
        f.flush()
        document = Parser().parse_document(f.name)
    for group in document.interchange.groups:
        for transaction in group.transaction_sets:
            for s in transaction.transaction_body:
                fields = [field.content for field in s.fields]
                if fields[0] == 'NM1' and fields[1] == 'IL':
                    return fields[9]
";
