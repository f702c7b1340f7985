//! Datasets as their authors write them, pushed in pieces.

mod properties;
mod stories;

use verial_fhir::ingest::{Format, Ingest, IngestError, IngestFault, Limits, Summary};

/// What a dataset was read as.
#[derive(Debug, PartialEq)]
struct Dataset {
    summary: Summary,
    references: Vec<String>,
    lines: Vec<String>,
}

fn read(format: Format, limits: Limits, pieces: &[&[u8]]) -> Result<Dataset, IngestFault> {
    let (mut references, mut lines) = (Vec::new(), Vec::new());
    let mut sink = |resource: verial_fhir::ingest::Resource<'_>| -> Result<(), std::convert::Infallible> {
        references.push(format!("{}/{}", resource.resource_type, resource.id));
        lines.push(String::from_utf8_lossy(resource.line).into_owned());
        Ok(())
    };
    let mut ingest = Ingest::new(format, limits);
    let pushed = pieces.iter().try_for_each(|piece| ingest.push(piece, &mut sink));
    let summary = pushed.and_then(|()| ingest.finish(&mut sink)).map_err(|error| match error {
        IngestError::Fault(fault) => fault,
        IngestError::Sink(never) => match never {},
    })?;
    Ok(Dataset { summary, references, lines })
}
