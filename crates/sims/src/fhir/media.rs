//! Content negotiation (<https://hl7.org/fhir/R4/http.html#mime-type>): this server reads and writes JSON only.

use serde_json::Value;

use super::outcome::{FhirError, excerpt};

pub(crate) const FHIR_JSON: &str = "application/fhir+json; charset=utf-8";
pub(crate) const JSON_PATCH: &str = "application/json-patch+json";
pub(crate) const FORM: &str = "application/x-www-form-urlencoded";

const JSON_TYPES: [&str; 4] = ["application/fhir+json", "application/json", "text/json", "application/json+fhir"];

/// Whether the response may be JSON. `_format` takes precedence over the header.
pub(crate) fn check_accept(format: Option<&str>, accept: Option<&str>) -> Result<(), FhirError> {
    let is_acceptable = match format {
        // In a query that was not encoded, the plus of `fhir+json` has become a space.
        Some(format) => format.is_empty() || format == "json" || is_json(&format.replace(' ', "+")),
        None => accept.is_none_or(|accept| accept.trim().is_empty() || accept.split(',').any(accepts_json)),
    };
    if is_acceptable {
        return Ok(());
    }
    let requested = excerpt(format.or(accept).unwrap_or_default());
    let message = format!("the server only returns application/fhir+json of FHIR 4.0, not `{requested}`");
    Err(FhirError::new(406, "not-supported", message))
}

/// Whether a resource may be sent with this content type. Default: JSON.
pub(crate) fn check_resource(content_type: Option<&str>) -> Result<(), FhirError> {
    match content_type {
        None => Ok(()),
        Some(given) if is_json(given) && is_unicode(given) => Ok(()),
        Some(given) => Err(unsupported(given, "application/fhir+json")),
    }
}

/// Whether a patch may be sent with this content type: JSON Patch, or FHIRPath Patch, which is a resource.
pub(crate) fn check_patch(content_type: Option<&str>) -> Result<(), FhirError> {
    match content_type {
        Some(given) if is_json_patch(given) && is_unicode(given) => Ok(()),
        Some(given) if is_json(given) && is_unicode(given) => Ok(()),
        given => Err(unsupported(given.unwrap_or_default(), PATCHES)),
    }
}

/// A resource that is not Parameters is not a patch.
pub(crate) fn check_patch_body(content_type: Option<&str>, body: &Value) -> Result<(), FhirError> {
    let given = content_type.unwrap_or_default();
    if is_json_patch(given) || body["resourceType"] == "Parameters" {
        return Ok(());
    }
    Err(unsupported(given, PATCHES))
}

const PATCHES: &str =
    "application/json-patch+json, or application/fhir+json with a Parameters resource (FHIRPath Patch),";

fn is_json_patch(content_type: &str) -> bool {
    media_type(content_type) == JSON_PATCH
}

/// Whether one of the media types is FHIR, in any version and format. JSON counts as FHIR.
pub(crate) fn names_fhir(types: &str) -> bool {
    types.split(',').map(media_type).any(|name| JSON_TYPES.contains(&name.as_str()) || name.contains("fhir"))
}

/// Whether the header `Accept` allows a content type.
pub(crate) fn accepts(accept: &str, content_type: &str) -> bool {
    let given = media_type(content_type);
    let (main_type, _) = given.split_once('/').unwrap_or((&given, ""));
    accept.trim().is_empty()
        || accept.split(',').map(media_type).any(|range| {
            range == "*/*" || range == given || range.strip_suffix("/*").is_some_and(|wanted| wanted == main_type)
        })
}

pub(crate) fn check_form(content_type: Option<&str>, is_empty: bool) -> Result<(), FhirError> {
    match content_type {
        _ if is_empty => Ok(()),
        Some(given) if is_form(given) => Ok(()),
        given => Err(unsupported(given.unwrap_or_default(), FORM)),
    }
}

pub(crate) fn is_form(content_type: &str) -> bool {
    media_type(content_type) == FORM
}

fn unsupported(given: &str, wanted: &str) -> FhirError {
    let message = format!("the content type must be {wanted}, not `{}`", excerpt(given));
    FhirError::new(415, "not-supported", message)
}

fn accepts_json(range: &str) -> bool {
    matches!(media_type(range).as_str(), "*/*" | "application/*" | "text/*") || is_json(range)
}

fn is_json(text: &str) -> bool {
    let is_version = parameter(text, "fhirversion").is_none_or(|version| version.starts_with("4.0"));
    JSON_TYPES.contains(&media_type(text).as_str()) && is_version
}

fn is_unicode(text: &str) -> bool {
    parameter(text, "charset").is_none_or(|charset| charset.eq_ignore_ascii_case("utf-8"))
}

fn media_type(text: &str) -> String {
    text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn parameter<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut parameters = text.split(';').skip(1).filter_map(|part| part.split_once('='));
    parameters
        .find(|(known, _)| known.trim().eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim().trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_json() {
        for accept in [
            "*/*",
            "application/json",
            "application/fhir+json; fhirVersion=4.0",
            "application/fhir+xml, application/fhir+json;q=0.1",
            "text/html,application/xhtml+xml,*/*;q=0.8",
            "",
        ] {
            assert!(check_accept(None, Some(accept)).is_ok(), "{accept}");
        }
        for accept in ["application/fhir+xml", "text/turtle", "application/fhir+json; fhirVersion=3.0", "nonsense"] {
            assert_eq!(check_accept(None, Some(accept)).unwrap_err().status, 406, "{accept}");
        }
        assert!(check_accept(Some("application/fhir json"), Some("application/fhir+xml")).is_ok());
        assert_eq!(check_accept(Some("xml"), Some("*/*")).unwrap_err().status, 406);
    }

    #[test]
    fn content_types_are_checked() {
        assert!(check_resource(Some("application/json; charset=\"UTF-8\"")).is_ok() && check_resource(None).is_ok());
        assert_eq!(check_resource(Some("application/json;charset=latin1")).unwrap_err().status, 415);
        assert_eq!(check_resource(Some("application/fhir+xml")).unwrap_err().status, 415);
        assert!(check_patch(Some("application/json-patch+json")).is_ok() && check_patch(None).is_err());
        assert!(check_form(None, true).is_ok() && check_form(Some("application/json"), false).is_err());
    }
}
