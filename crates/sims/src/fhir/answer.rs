//! From a request to its answer, its changes and its event.

use model::SandboxId;
use world::{Context, Outcome, World};

use super::http::{Request, Response};
use super::scopes::Scopes;

/// Whether the request can change nothing, so that any copy of the world may answer it.
pub fn is_read_only(request: &Request) -> bool {
    matches!(request.method.as_str(), "GET" | "HEAD")
}

/// Who asks: a name for the event, and what it may do; no scopes for a caller who may do everything.
#[derive(Clone, Debug)]
pub struct Client {
    pub name: String,
    pub scopes: Option<Scopes>,
}

pub fn answer(
    _world: &World,
    _sandbox: &SandboxId,
    _client: &Client,
    _request: &Request,
    _context: &Context<'_>,
) -> Outcome<Response> {
    Outcome { answer: Response::default(), changes: Vec::new(), events: Vec::new() }
}
