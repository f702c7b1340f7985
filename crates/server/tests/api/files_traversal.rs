//! S8 over HTTP: generated path traversal attempts reach nothing outside of the tree.

use futures_util::{StreamExt, stream};
use reqwest::Method;
use serde_json::json;
use testkit::traversal::{SECRET, attempts};
use testkit::{Database, TestServer};

use crate::files_http::drop_of;

/// On one database, because paths are resolved before the database is used.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_path_escapes_the_file_tree() {
    let server = TestServer::start(Database::Sqlite).await;
    let own = drop_of(&server, json!({}), &[("inbox/own.txt", "own")]).await;
    let foreign = drop_of(&server, json!({}), &[("inbox/secret.txt", SECRET)]).await;
    let before = foreign.paths("").await;
    let attempts = attempts(&foreign.sandbox);
    assert!(attempts.len() >= 2000, "{}", attempts.len());
    let client = testkit::http_client();
    let asked = attempts.iter().enumerate().flat_map(|(number, attempt)| {
        let address = own.caller.address(&format!("/sandboxes/{}/files/{}", own.sandbox, in_url(attempt)));
        // Writes are expensive, and paths are resolved in the same way.
        let writes = number.is_multiple_of(4).then_some(Method::PUT);
        [Some(Method::GET), writes].into_iter().flatten().map(move |method| (method, address.clone()))
    });
    let answers = stream::iter(asked.collect::<Vec<_>>()).map(|(method, address)| {
        let request = raw(&client, own.caller.key(), method.clone(), address.clone());
        async move { (method, address, request.await) }
    });
    let answers: Vec<_> = answers.buffer_unordered(16).collect().await;
    for (method, address, (status, text)) in answers {
        assert!(!text.contains(SECRET) && !text.contains("root:"), "{method} {address}: {text}");
        assert!(status < 500, "{method} {address}: {text}");
    }
    assert_eq!(foreign.paths("").await, before);
    assert_eq!(foreign.read("inbox/secret.txt").await, SECRET);
    let own = own.paths("").await;
    let is_inside = |path: &String| path.split('/').all(|segment| !["", ".", ".."].contains(&segment));
    assert!(own.iter().all(is_inside), "{own:?}");
}

/// Percent-encodes all but letters, so that no client normalizes dots.
fn in_url(attempt: &[u8]) -> String {
    let shown = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'/' || *byte == b'%';
    attempt.iter().map(|byte| if shown(byte) { (*byte as char).to_string() } else { format!("%{byte:02X}") }).collect()
}

async fn raw(client: &reqwest::Client, key: &str, method: Method, address: String) -> (u16, String) {
    let Ok(url) = reqwest::Url::parse(&address) else { return (0, String::new()) };
    match client.request(method, url).bearer_auth(key).body("x").send().await {
        Ok(response) => (response.status().as_u16(), response.text().await.unwrap_or_default()),
        // Bytes that HTTP itself does not allow.
        Err(_) => (0, String::new()),
    }
}
