//! Which addresses may be called, tested with real listeners.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

fn list(entries: &[&str]) -> Vec<String> {
    entries.iter().map(|entry| (*entry).to_owned()).collect()
}

fn get(url: &str) -> OutboundRequest<'_> {
    OutboundRequest { method: "GET", url, headers: &[], body: Vec::new(), max_response_bytes: 1000, timeout: TIMEOUT }
}

/// Answers every connection with these bytes, and counts them.
async fn listener(answer: String) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, hits) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&hits);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (port, hits)
}

fn answer(head: &str, body: &str) -> String {
    format!("HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

#[test]
fn only_named_hosts_are_called() {
    let outbound = Outbound::new(&list(&["fhir.example.org", "localhost:8080"]));
    let is_allowed = |url: &str| outbound.permitted(&url.parse().unwrap()).is_ok();
    for good in ["https://fhir.example.org/r4", "http://fhir.example.org:81/", "http://localhost:8080/fhir"] {
        assert!(is_allowed(good), "{good}");
    }
    for bad in [
        "http://localhost/fhir",
        "http://localhost:8081/",
        "http://127.0.0.1:8080/",
        "http://[::1]:8080/",
        "http://fhir.example.org.evil.example/",
        "http://evil.example/?fhir.example.org",
        "http://fhir.example.org@evil.example/",
        "http://169.254.169.254/",
    ] {
        assert!(!is_allowed(bad), "{bad}");
    }
    assert!(Outbound::new(&[]).permitted(&"http://a".parse().unwrap()).is_err());
}

#[test]
fn nothing_leads_out_of_a_base_address() {
    let base = "https://fhir.example.org/r4";
    assert_eq!(below(base, "Patient/1", "a=b").as_deref(), Some("https://fhir.example.org/r4/Patient/1?a=b"));
    assert_eq!(below(base, "", "").as_deref(), Some("https://fhir.example.org/r4/"));
    assert_eq!(below(base, "Patient/a%2Fb", "").as_deref(), Some("https://fhir.example.org/r4/Patient/a%2Fb"));
    for outside in ["../admin", "Patient/../../admin", "%2e%2e/admin", ".%2E/%2e./admin", "..\\admin", "/../../admin"] {
        assert_eq!(below(base, outside, ""), None, "{outside}");
    }
}

#[tokio::test]
async fn a_name_that_leads_inside_is_not_called() {
    let (port, hits) = listener(answer("200 OK", "secret")).await;
    let names = |allowed: &[&str]| {
        let known = [("rebind.example", format!("127.0.0.1:{port}")), ("mixed.example", format!("127.0.0.1:{port}"))];
        let mut known: std::collections::HashMap<String, Vec<SocketAddr>> =
            known.into_iter().map(|(name, address)| (name.to_owned(), vec![address.parse().unwrap()])).collect();
        known.get_mut("mixed.example").unwrap().insert(0, "93.184.216.34:80".parse().unwrap());
        Outbound::with(Names { allowed: Arc::new(Allowed::new(&list(allowed))), known })
    };
    let outbound = names(&["rebind.example", "mixed.example"]);
    for name in ["rebind.example", "mixed.example", "REBIND.example", "rebind.example."] {
        let refused = outbound.call(get(&format!("http://{name}:{port}/"))).await.unwrap_err();
        // A name that the resolver of this test does not know has no answer.
        assert!(matches!(refused, CallError::NotAllowed(_) | CallError::NoAnswer), "{name}: {refused}");
    }
    let refused = outbound.call(get(&format!("http://rebind.example:{port}/"))).await.unwrap_err();
    assert!(refused.to_string().contains("to which rebind.example resolves"), "{refused}");
    assert!(matches!(outbound.addresses("rebind.example", port).await, Err(CallError::NotAllowed(_))));
    assert_eq!(hits.load(Ordering::SeqCst), 0);
    let outbound = names(&["rebind.example", "127.0.0.0/8"]);
    let fetched = outbound.call(get(&format!("http://rebind.example:{port}/"))).await.unwrap();
    assert_eq!((fetched.status, &fetched.body[..]), (200, &b"secret"[..]));
    assert_eq!(hits.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn redirects_are_answers_and_large_ones_are_cut() {
    let (inside, hits) = listener(answer("200 OK", "secret")).await;
    let (port, _) = listener(answer(&format!("302 Found\r\nlocation: http://127.0.0.1:{inside}/"), "")).await;
    let outbound = Outbound::new(&list(&[&format!("127.0.0.1:{port}")]));
    assert_eq!(outbound.call(get(&format!("http://127.0.0.1:{port}/"))).await.unwrap().status, 302);
    assert_eq!(hits.load(Ordering::SeqCst), 0);
    let (port, _) = listener(answer("200 OK", &"x".repeat(1001))).await;
    let outbound = Outbound::new(&list(&["127.0.0.1"]));
    let refused = outbound.call(get(&format!("http://127.0.0.1:{port}/"))).await.unwrap_err();
    assert_eq!(refused, CallError::TooLarge);
}
