//! A server on loopback for one task: what goes to a door of the task is carried by the courier, all else as it is.

use std::sync::Arc;

use agents::{Courier, Message};
use anyhow::Context;
use bytes::Bytes;
use client::Client;
use server::forward::{Passed, Returned, forward};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub(super) struct Proxy {
    pub(super) url: String,
    serving: JoinHandle<std::io::Result<()>>,
}

#[derive(Clone)]
struct Passage {
    courier: Arc<Courier>,
    client: Client,
}

impl Proxy {
    pub(super) async fn start(courier: Arc<Courier>, client: Client) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.context("no port for the proxy")?;
        let url = format!("http://{}", listener.local_addr()?);
        let passage = Passage { courier, client };
        let pass = move |passed| {
            let passage = passage.clone();
            async move { passage.pass(passed).await }
        };
        Ok(Self { url, serving: tokio::spawn(forward(listener, pass)) })
    }

    /// What the agent has left behind is not waited for.
    pub(super) async fn stop(self) {
        self.serving.abort();
        let _ = self.serving.await;
    }
}

impl Passage {
    async fn pass(&self, passed: Passed) -> Returned {
        let Passed { method, place, headers, body } = passed;
        let answered = match door(&place) {
            Some((root, path)) => {
                let (root, path) = (Some(root.to_owned()), path.to_owned());
                self.courier.carry(Message { method, root, path, headers, body }).await
            }
            None => self.client.exchange(method, &place, &headers, body).await,
        };
        match answered {
            Ok(answer) => Returned { status: answer.status, headers: answer.headers, body: answer.body },
            Err(error) => Returned { status: 502, headers: Vec::new(), body: Bytes::from(error.to_string()) },
        }
    }
}

/// The doors of a task, by each of the ways to them: what is before the door, and the door with the rest.
fn door(place: &str) -> Option<(&str, &str)> {
    let of = |before: &str, more: usize| {
        let rest = place.strip_prefix(before)?;
        let mut slashes = rest.match_indices('/').map(|(at, _)| before.len() + at);
        let end = slashes.nth(more)?;
        Some((&place[..end], &place[end + 1..])).filter(|(_, path)| !path.is_empty())
    };
    let of_task = of("/v1/task-runs/", 1).filter(|(root, _)| root.ends_with("/sandbox"));
    let of_run = || of("/v1/benchmark-runs/", 0);
    let of_sandbox = || of("/sandboxes/", 0).or_else(|| of("/services/", 0));
    of_task.or_else(of_run).or_else(of_sandbox)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doors_are_found_on_every_way_to_them() {
        assert_eq!(
            door("/v1/task-runs/tr_1/sandbox/fhir/Task?x=/"),
            Some(("/v1/task-runs/tr_1/sandbox", "fhir/Task?x=/"))
        );
        assert_eq!(door("/v1/benchmark-runs/br_1/files/a/b"), Some(("/v1/benchmark-runs/br_1", "files/a/b")));
        assert_eq!(door("/sandboxes/sb_1/fhir/Task"), Some(("/sandboxes/sb_1", "fhir/Task")));
        assert_eq!(
            (door("/v1/task-runs/tr_1/complete"), door("/v1/task-runs/tr_1"), door("/healthz")),
            (None, None, None)
        );
    }
}
