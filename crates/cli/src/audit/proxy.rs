//! A loopback proxy for one task: requests to the task's sandboxes go through the mutating proxy, others are forwarded as
//! they are.

use std::sync::Arc;

use agents::{Message, MutatingProxy};
use anyhow::Context;
use bytes::Bytes;
use client::Client;
use server::proxy::{self, ProxyRequest, ProxyResponse};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub(super) struct Proxy {
    pub(super) url: String,
    serving: JoinHandle<std::io::Result<()>>,
}

#[derive(Clone)]
struct Forwarder {
    mutating: Arc<MutatingProxy>,
    client: Client,
}

impl Proxy {
    pub(super) async fn start(mutating: Arc<MutatingProxy>, client: Client) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.context("no port for the proxy")?;
        let url = format!("http://{}", listener.local_addr()?);
        let forwarder = Forwarder { mutating, client };
        let handler = move |request| {
            let forwarder = forwarder.clone();
            async move { forwarder.forward(request).await }
        };
        Ok(Self { url, serving: tokio::spawn(proxy::serve(listener, handler)) })
    }

    /// Does not wait for requests in progress.
    pub(super) async fn stop(self) {
        self.serving.abort();
        let _ = self.serving.await;
    }
}

impl Forwarder {
    async fn forward(&self, request: ProxyRequest) -> ProxyResponse {
        let ProxyRequest { method, path_and_query, headers, body } = request;
        let response = match sandbox_path(&path_and_query) {
            Some((root, path)) => {
                let (root, path) = (Some(root.to_owned()), path.to_owned());
                self.mutating.forward(Message { method, root, path, headers, body }).await
            }
            None => self.client.exchange(method, &path_and_query, &headers, body).await,
        };
        match response {
            Ok(response) => ProxyResponse { status: response.status, headers: response.headers, body: response.body },
            Err(error) => ProxyResponse { status: 502, headers: Vec::new(), body: Bytes::from(error.to_string()) },
        }
    }
}

/// Splits a path to a sandbox of a task, in any of its address forms, into the prefix of the sandbox and the rest.
fn sandbox_path(path: &str) -> Option<(&str, &str)> {
    let split_after = |prefix: &str, segments: usize| {
        let rest = path.strip_prefix(prefix)?;
        let mut slashes = rest.match_indices('/').map(|(at, _)| prefix.len() + at);
        let end = slashes.nth(segments)?;
        Some((&path[..end], &path[end + 1..])).filter(|(_, rest)| !rest.is_empty())
    };
    let task_path = split_after("/v1/task-runs/", 1).filter(|(root, _)| root.ends_with("/sandbox"));
    let run_path = || split_after("/v1/benchmark-runs/", 0);
    let sandbox_or_service_path = || split_after("/sandboxes/", 0).or_else(|| split_after("/services/", 0));
    task_path.or_else(run_path).or_else(sandbox_or_service_path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sandbox_paths_are_split_in_every_address_form() {
        assert_eq!(
            sandbox_path("/v1/task-runs/tr_1/sandbox/fhir/Task?x=/"),
            Some(("/v1/task-runs/tr_1/sandbox", "fhir/Task?x=/"))
        );
        assert_eq!(sandbox_path("/v1/benchmark-runs/br_1/files/a/b"), Some(("/v1/benchmark-runs/br_1", "files/a/b")));
        assert_eq!(sandbox_path("/sandboxes/sb_1/fhir/Task"), Some(("/sandboxes/sb_1", "fhir/Task")));
        assert_eq!(
            (sandbox_path("/v1/task-runs/tr_1/complete"), sandbox_path("/v1/task-runs/tr_1"), sandbox_path("/healthz")),
            (None, None, None)
        );
    }
}
