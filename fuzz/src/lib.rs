//! Fuzzing of every parser and path language: each target takes any bytes, must return, and holds what it read against
//! a property where there is one. `./test` runs each for a bounded number of rounds; `tools/fuzz` runs one for as long
//! as one likes, guided by coverage.

mod fixture;
mod json;
#[cfg(test)]
mod rounds;

/// One thing that reads bytes, and what must be true of it.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Also the folder of its seeds, below `corpus`.
    pub name: &'static str,
    pub run: fn(&[u8]),
}

macro_rules! targets {
    ($($module:ident: $($target:ident)+;)+) => {
        mod targets {
            $(pub(crate) mod $module;)+
        }

        pub const TARGETS: &[Target] = &[$($(
            Target { name: stringify!($target), run: targets::$module::$target },
        )+)+];

        #[cfg(test)]
        mod tests {
            $($(#[test]
            fn $target() {
                crate::rounds::run(stringify!($target));
            })+)+
        }
    };
}

targets! {
    hl7v2: hl7_message hl7_batch hl7_path hl7_escape mllp;
    x12: x12_interchange x12_query;
    documents: document_file document_specification;
    fhir: fhir_ndjson fhir_bundle fhir_layer fhir_validate fhir_search fhir_search_value fhir_reference;
    fhirpath: fhirpath_expression fhirpath_resource fhirpath_temporal;
    sims: fhir_request fhir_page fhir_json_patch fhir_transaction fhir_scopes simulator_config scenario
        x12_clearinghouse cds_answer;
    voice: voice_message;
    verify: assertion agent_data file_content transcript comparison glob json_path notation;
    model: authored canonical_json template id slug weight score timestamp;
}

pub fn find(name: &str) -> Option<Target> {
    TARGETS.iter().find(|target| target.name == name).copied()
}
