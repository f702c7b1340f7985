//! SSRF: agents choose the addresses of CDS services, and no address inside the operator's network may be called.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use testkit::both_databases;
use tokio::net::TcpListener;

use crate::cds_services::{SERVICE_IDS, Services};

/// Counts connections.
async fn canary(address: &str) -> Option<(u16, Arc<AtomicUsize>)> {
    let listener = TcpListener::bind(address).await.ok()?;
    let (port, hits) = (listener.local_addr().ok()?.port(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&hits);
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    Some((port, hits))
}

/// One address in every notation that some library accepts.
fn spellings(address: [u8; 4]) -> Vec<String> {
    let [a, b, c, d] = address;
    let number = u32::from_be_bytes(address);
    vec![
        format!("{a}.{b}.{c}.{d}"),
        format!("{number}"),
        format!("0x{number:x}"),
        format!("0{number:o}"),
        format!("0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("{a}.{b}.{}", u16::from_be_bytes([c, d])),
        format!("{a}.{}", number & 0xff_ffff),
        format!("{a}.{b}.{c}.{d}."),
        format!("[::ffff:{a}.{b}.{c}.{d}]"),
        format!("[::ffff:{:x}:{:x}]", u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])),
        format!("[::{a}.{b}.{c}.{d}]"),
        format!("[64:ff9b::{:x}:{:x}]", u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])),
        format!("[2002:{:x}:{:x}::]", u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])),
    ]
}

fn addresses(port: u16) -> Vec<String> {
    let inner: [[u8; 4]; 9] = [
        [127, 0, 0, 1],
        [127, 1, 2, 3],
        [0, 0, 0, 0],
        [10, 0, 0, 1],
        [172, 16, 0, 1],
        [192, 168, 0, 1],
        [169, 254, 169, 254],
        [100, 64, 0, 1],
        [198, 18, 0, 1],
    ];
    let mut hosts: Vec<String> = inner.into_iter().flat_map(spellings).collect();
    let names = [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "ip6-localhost",
        "metadata.google.internal",
        "[::1]",
        "[::]",
        "[fe80::1]",
        "[fd00::1]",
        "[0:0:0:0:0:0:0:1]",
        "127.0.0.1.nip.io",
        "localtest.me",
        "user@127.0.0.1",
        "127.0.0.1%2f@example.org",
        "127。0。0。1",
        "①②⑦.⓪.⓪.①",
    ];
    hosts.extend(names.map(ToOwned::to_owned));
    let urls = hosts.iter().flat_map(|host| {
        [format!("http://{host}:{port}"), format!("http://{host}:{port}/a/"), format!("https://{host}:{port}")]
    });
    urls.chain(
        ["file:///etc/passwd", "gopher://127.0.0.1/", "//127.0.0.1/", "http:/127.0.0.1", "http://"]
            .map(ToOwned::to_owned),
    )
    .collect()
}

both_databases! {
    async fn internal_addresses_are_never_called(server: TestServer) {
        let (port, hits) = canary("127.0.0.1:0").await.unwrap();
        // The same port of the IPv6 loopback, if it exists.
        let other = canary(&format!("[::1]:{port}")).await;
        // The operator allows a host, another port of this machine, and a public network.
        let near = server.stranger(vec!["cds.example.org".into(), "127.0.0.1:1".into(), "93.184.216.0/24".into()]).await;
        let caller = near.organization("Clinic").await;
        let simulator = caller.post("/simulators", json!({"type": "CdsHooks", "name": "CDS"})).await.expect(201).id();
        let sandbox = caller.post("/sandboxes", json!({"simulator_id": simulator})).await.expect(201).id();
        let path = format!("/sandboxes/{sandbox}/cds/services");
        let corpus = addresses(port);
        assert!(corpus.len() >= 300, "{}", corpus.len());
        for url in &corpus {
            let refused = caller.post(&path, json!({"base_url": url, "timeout_seconds": 1})).await;
            assert!([400, 409].contains(&refused.status), "{url}: {} {}", refused.status, refused.text());
            assert!(refused.status == 400 || refused.text().contains("not allowed"), "{url}: {}", refused.text());
        }
        assert!(caller.get(&path).await.expect(200).data().is_empty());
        assert_eq!(hits.load(Ordering::SeqCst), 0, "somebody inside was called");
        assert_eq!(other.map_or(0, |(_, hits)| hits.load(Ordering::SeqCst)), 0);
    }

    async fn only_hosts_that_the_operator_allows_are_called(server: TestServer) {
        let services = Services::start(&SERVICE_IDS).await;
        let port: u16 = services.host().rsplit(':').next().unwrap().parse().unwrap();
        for (allowed, host, is_called) in [
            (format!("127.0.0.1:{port}"), "127.0.0.1", true),
            ("127.0.0.0/8".to_owned(), "127.0.0.1", true),
            (format!("localhost:{port}"), "localhost", true),
            (format!("localhost:{port}"), "127.0.0.1", false),
            ("127.0.0.1:1".to_owned(), "127.0.0.1", false),
            ("10.0.0.0/8".to_owned(), "127.0.0.1", false),
        ] {
            let near = server.stranger(vec![allowed.clone()]).await;
            let caller = near.organization("Clinic").await;
            let simulator = caller.post("/simulators", json!({"type": "CdsHooks", "name": "CDS"})).await.expect(201).id();
            let sandbox = caller.post("/sandboxes", json!({"simulator_id": simulator})).await.expect(201).id();
            let body = json!({"base_url": format!("http://{host}:{port}/r4")});
            let response = caller.post(&format!("/sandboxes/{sandbox}/cds/services"), body).await;
            assert_eq!(response.status, if is_called { 201 } else { 409 }, "{allowed} {host}: {}", response.text());
        }
    }
}
