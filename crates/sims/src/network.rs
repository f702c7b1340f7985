//! Validation of hosts, base URLs and headers in authored values. The server's configuration decides which hosts may be
//! called.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use model::FieldErrors;
use model::reading::shortened;

/// Checks an absolute HTTP(S) URL to which paths can be appended: it has no user, query or fragment.
pub(crate) fn check_base_url(errors: &mut FieldErrors, field: &str, text: &str) {
    let Some(rest) = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")) else {
        errors.add(field, "must start with https:// or http://");
        return;
    };
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    if authority.contains('@') {
        errors.add(field, "must not contain a user name or password");
    } else if !is_authority(authority) {
        errors.add(field, "must name a host, such as https://fhir.example.org/r4");
    }
    let plain = |c: char| c.is_ascii_graphic() && !"?#\\\"<>^`{|}".contains(c);
    if text.len() > 2048 || !path.chars().all(plain) {
        errors.add(field, "must have a plain path: at most 2048 characters, no spaces, no query, no fragment");
    }
    if path.split('/').any(|segment| segment == "." || segment == "..") {
        errors.add(field, "must not have `.` or `..` in its path");
    }
}

/// A host or an IPv6 address in brackets, with an optional port.
fn is_authority(text: &str) -> bool {
    if let Some(bracketed) = text.strip_prefix('[') {
        let parts = bracketed.split_once(']');
        return parts.is_some_and(|(address, port)| address.parse::<Ipv6Addr>().is_ok() && is_port_suffix(port));
    }
    let (host, port) = text.split_at(text.find(':').unwrap_or(text.len()));
    is_host_name(host) && is_port_suffix(port)
}

fn is_port_suffix(text: &str) -> bool {
    let is_port =
        |port: &str| port.chars().all(|c| c.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0);
    text.is_empty() || text.strip_prefix(':').is_some_and(is_port)
}

/// A DNS name or an IPv4 address.
pub(crate) fn is_host_name(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    (1..=253).contains(&text.len()) && text.split('.').all(is_label)
}

pub(crate) fn check_host(errors: &mut FieldErrors, field: &str, text: &str) {
    if !is_host_name(text) && text.parse::<Ipv6Addr>().is_err() {
        errors.add(field, "must be a host name or an IP address");
    }
}

/// Headers that are set by the HTTP client and cannot be configured.
const CONNECTION_HEADERS: [&str; 10] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

pub(crate) fn check_headers(errors: &mut FieldErrors, field: &str, headers: &BTreeMap<String, String>) {
    if headers.len() > 32 {
        errors.add(field, format!("must be at most 32 headers, are {}", headers.len()));
        return;
    }
    for (name, value) in headers.iter() {
        let field = format!("{field}.{}", shortened(name, 80));
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if !(1..=200).contains(&name.len()) || !name.chars().all(is_token) {
            errors.add(&field, "is not a valid header name");
        } else if CONNECTION_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
            errors.add(&field, "cannot be configured; the HTTP client sets it");
        }
        if value.len() > 8192 || !value.chars().all(|c| c == ' ' || c.is_ascii_graphic()) {
            errors.add(&field, "must be at most 8192 printable ASCII characters");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls() {
        for (text, good) in [
            ("https://hapi.example.org/baseR4", true),
            ("http://localhost:8080", true),
            ("http://10.0.0.1:1/", true),
            ("http://[::1]:8080/fhir", true),
            ("http://[::1]", true),
            ("https://healthcare.googleapis.com/v1/projects/p/fhirStores/s/fhir", true),
            ("", false),
            ("ftp://example.org", false),
            ("file:///etc/passwd", false),
            ("https://", false),
            ("https:///path", false),
            ("https://user:secret@example.org", false),
            ("https://example.org:0", false),
            ("https://example.org:+80", false),
            ("https://example.org:65536", false),
            ("https://example.org:", false),
            ("https://exa mple.org", false),
            ("https://example.org/a b", false),
            ("https://example.org/a?b=c", false),
            ("https://example.org/#a", false),
            ("https://example.org/../admin", false),
            ("https://example.org/\r\nHost: x", false),
            ("https://-a.org", false),
            ("https://[::1", false),
            ("https://[zz]/", false),
            ("https://[::1]x", false),
            ("https://{{entity.host}}/", false),
        ] {
            let mut errors = FieldErrors::new();
            check_base_url(&mut errors, "base_url", text);
            assert_eq!(errors.is_empty(), good, "{text} {errors}");
        }
    }

    #[test]
    fn headers_that_would_break_the_request_are_rejected() {
        for (name, value, good) in [
            ("Authorization", "Bearer abc", true),
            ("X-Empty", "", true),
            ("Host", "evil", false),
            ("transfer-encoding", "chunked", false),
            ("X Y", "a", false),
            ("", "a", false),
            ("X", "a\r\nY: b", false),
            ("X", "ü", false),
        ] {
            let mut errors = FieldErrors::new();
            let headers = BTreeMap::from([(name.to_owned(), value.to_owned())]);
            check_headers(&mut errors, "headers", &headers);
            assert_eq!(errors.is_empty(), good, "{name}: {value}");
        }
    }
}
