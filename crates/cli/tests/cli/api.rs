//! An API client for tests that kill the server.

use serde_json::Value;

/// A client whose requests may fail because the server was killed.
#[derive(Clone)]
pub(crate) struct Api {
    http: reqwest::Client,
    base_url: String,
    key: String,
}

impl Api {
    pub(crate) fn new(base_url: &str, key: &str) -> Self {
        Self { http: testkit::http_client(), base_url: base_url.to_owned(), key: key.to_owned() }
    }

    /// `None` when the server was killed before it responded.
    pub(crate) async fn create(&self, path: &str, body: Value) -> Option<Value> {
        let request = self.http.post(format!("{}{path}", self.base_url)).bearer_auth(&self.key).json(&body);
        let response = request.send().await.ok()?;
        assert_eq!(response.status(), 201, "{path}");
        response.json().await.ok()
    }

    /// Uploads content of any type; `None` when the server was killed before it responded.
    pub(crate) async fn put(&self, path: &str, media: &str, content: String) -> Option<Value> {
        let request = self.http.put(format!("{}{path}", self.base_url)).bearer_auth(&self.key);
        let response = request.header("content-type", media).body(content).send().await.ok()?;
        assert_eq!(response.status(), 200, "{path}");
        response.json().await.ok()
    }

    /// Sends a FHIR resource; `None` when the server was killed before it responded.
    pub(crate) async fn send(&self, method: &str, path: &str, body: Value) -> Option<Value> {
        let method = method.parse().expect("a method");
        let request = self.http.request(method, format!("{}{path}", self.base_url)).bearer_auth(&self.key).json(&body);
        let response = request.send().await.ok()?;
        assert!(response.status().is_success(), "{path}: {}", response.status());
        response.json().await.ok()
    }

    /// Sends any request, with an `Idempotency-Key` if it is not empty; `None` when the server was killed before it responded.
    pub(crate) async fn call(
        &self,
        method: &str,
        path: &str,
        idempotency_key: &str,
        body: Option<Value>,
    ) -> Option<(u16, Value)> {
        let method = method.parse().expect("a method");
        let mut request = self.http.request(method, format!("{}{path}", self.base_url)).bearer_auth(&self.key);
        if !idempotency_key.is_empty() {
            request = request.header("idempotency-key", idempotency_key);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.ok()?;
        Some((response.status().as_u16(), response.json().await.ok()?))
    }

    /// `None` for status 404.
    pub(crate) async fn try_get(&self, path: &str) -> Option<Value> {
        let response = self.http.get(format!("{}{path}", self.base_url)).bearer_auth(&self.key).send().await.unwrap();
        if response.status() == 404 {
            return None;
        }
        assert_eq!(response.status(), 200, "{path}");
        response.json().await.unwrap()
    }

    pub(crate) async fn read(&self, path: &str) -> String {
        let response = self.http.get(format!("{}{path}", self.base_url)).bearer_auth(&self.key).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        response.text().await.unwrap()
    }

    pub(crate) async fn delete(&self, path: &str) {
        let response =
            self.http.delete(format!("{}{path}", self.base_url)).bearer_auth(&self.key).send().await.unwrap();
        assert_eq!(response.status(), 204);
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let response = self.http.get(format!("{}{path}", self.base_url)).bearer_auth(&self.key).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        response.json().await.unwrap()
    }

    /// A member of every item of a list, over all pages.
    pub(crate) async fn all(&self, path: &str, member: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = self.get(&format!("{path}?limit=100{cursor}")).await;
            let rows = page["data"].as_array().unwrap();
            found.extend(rows.iter().filter_map(|row| row[member].as_str().map(ToOwned::to_owned)));
            match page["_meta"]["next"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return found,
            }
        }
    }
}
