//! The API as a test calls it whose server may be killed at any moment.

use serde_json::Value;

/// Calls that may find nobody there.
#[derive(Clone)]
pub(crate) struct Api {
    http: reqwest::Client,
    base_url: String,
    key: String,
}

impl Api {
    pub(crate) fn new(base_url: &str, key: &str) -> Self {
        Self { http: reqwest::Client::new(), base_url: base_url.to_owned(), key: key.to_owned() }
    }

    /// `None` when the server was gone before it answered.
    pub(crate) async fn create(&self, path: &str, body: Value) -> Option<Value> {
        let request = self.http.post(format!("{}{path}", self.base_url)).bearer_auth(&self.key).json(&body);
        let answer = request.send().await.ok()?;
        assert_eq!(answer.status(), 201, "{path}");
        answer.json().await.ok()
    }

    /// The same for content of any type.
    pub(crate) async fn put(&self, path: &str, media: &str, content: String) -> Option<Value> {
        let request = self.http.put(format!("{}{path}", self.base_url)).bearer_auth(&self.key);
        let answer = request.header("content-type", media).body(content).send().await.ok()?;
        assert_eq!(answer.status(), 200, "{path}");
        answer.json().await.ok()
    }

    /// A FHIR resource by any method; `None` when the server was gone before it answered.
    pub(crate) async fn send(&self, method: &str, path: &str, body: Value) -> Option<Value> {
        let method = method.parse().expect("a method");
        let request = self.http.request(method, format!("{}{path}", self.base_url)).bearer_auth(&self.key).json(&body);
        let answer = request.send().await.ok()?;
        assert!(answer.status().is_success(), "{path}: {}", answer.status());
        answer.json().await.ok()
    }

    /// Any request, under an `Idempotency-Key` if that is not empty; `None` when the server was gone before it answered.
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
        let answer = request.send().await.ok()?;
        Some((answer.status().as_u16(), answer.json().await.ok()?))
    }

    /// `None` when there is no such thing.
    pub(crate) async fn try_get(&self, path: &str) -> Option<Value> {
        let answer = self.http.get(format!("{}{path}", self.base_url)).bearer_auth(&self.key).send().await.unwrap();
        if answer.status() == 404 {
            return None;
        }
        assert_eq!(answer.status(), 200, "{path}");
        answer.json().await.unwrap()
    }

    pub(crate) async fn read(&self, path: &str) -> String {
        let answer = self.http.get(format!("{}{path}", self.base_url)).bearer_auth(&self.key).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        answer.text().await.unwrap()
    }

    pub(crate) async fn delete(&self, path: &str) {
        let answer = self.http.delete(format!("{}{path}", self.base_url)).bearer_auth(&self.key).send().await.unwrap();
        assert_eq!(answer.status(), 204);
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let answer = self.http.get(format!("{}{path}", self.base_url)).bearer_auth(&self.key).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        answer.json().await.unwrap()
    }

    /// A member of every row of a list, page by page.
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
