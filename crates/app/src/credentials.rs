//! Authentication: turns a presented secret into a grant. Checks the checksum, looks up the hash (cached for less than a
//! second), and compares in constant time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use model::api_key::{KeyKind, Secret};
use model::run::Status;
use model::{BenchmarkRunId, Id, KeyId, OrgId, SolverId, Timestamp, canonical};
use runtime::LruCache;
use store::keys::{self, Credential, Owner};
use store::runs::{self, RunCredential};
use subtle::ConstantTimeEq;

use crate::response_encryption::ResponseKey;
use crate::{App, AppError};

/// A revocation on another node is effective after this time.
const CACHE_LIFETIME: Duration = Duration::from_millis(700);
const MAX_CACHED: usize = 100_000;
const LAST_USED_GRAIN_MILLISECONDS: i64 = 60_000;

/// The grant of an organization's key: access to everything that belongs to the organization.
#[derive(Clone)]
pub struct OrgGrant {
    pub org: OrgId,
    pub key: KeyId,
    pub(crate) response_key: ResponseKey,
}

/// The grant of a solver's key: to run benchmarks and read its own runs.
#[derive(Clone)]
pub struct SolverGrant {
    pub org: OrgId,
    pub key: KeyId,
    pub solver: SolverId,
    pub(crate) response_key: ResponseKey,
}

/// The grant of a run's token: to work on the tasks of that run.
#[derive(Clone)]
pub struct RunGrant {
    pub org: OrgId,
    pub run: BenchmarkRunId,
    pub(crate) response_key: ResponseKey,
}

/// The grant of a presented credential.
#[derive(Clone)]
pub enum Principal {
    Organization(OrgGrant),
    Solver(SolverGrant),
    Run(RunGrant),
}

impl Principal {
    pub fn org(&self) -> &OrgId {
        match self {
            Principal::Organization(grant) => &grant.org,
            Principal::Solver(grant) => &grant.org,
            Principal::Run(grant) => &grant.org,
        }
    }

    /// The name for its rate limit.
    pub fn name(&self) -> &str {
        match self {
            Principal::Organization(grant) => grant.key.as_str(),
            Principal::Solver(grant) => grant.key.as_str(),
            Principal::Run(grant) => grant.run.as_str(),
        }
    }
}

const REJECTED: AppError = AppError::Unauthorized("the credential is unknown or revoked");
/// How long a completed run can be read with its token.
const GRACE_MILLISECONDS: i64 = 24 * 60 * 60 * 1000;

/// Authenticates a bearer credential. All invalid credentials get the same error, except for tokens of cancelled and expired
/// runs.
pub async fn authenticate(app: &App, presented: &str) -> Result<Principal, AppError> {
    let secret = Secret::parse(presented).ok_or(REJECTED)?;
    let hash = hash(&secret);
    let credential = find(app, secret.kind(), &hash).await?.ok_or(REJECTED)?;
    let same: bool = credential.hash().as_bytes().ct_eq(hash.as_bytes()).into();
    if !same {
        return Err(REJECTED);
    }
    match &*credential {
        StoredCredential::Run(run) => run_grant(run, app.now(), secret).map(Principal::Run),
        StoredCredential::Key(credential) => key_grant(app, &hash, credential, secret).await,
    }
}

async fn key_grant(app: &App, hash: &str, credential: &Credential, secret: Secret) -> Result<Principal, AppError> {
    if credential.revoked_at.is_some() {
        return Err(REJECTED);
    }
    record_use(app, hash, credential).await;
    let Credential { key, owner: Owner { org, solver }, .. } = credential;
    let (org, key, kind) = (org.clone(), key.clone(), secret.kind());
    let response_key = ResponseKey::from_credential(secret);
    match (kind, solver.clone()) {
        (KeyKind::Organization, None) => Ok(Principal::Organization(OrgGrant { org, key, response_key })),
        (KeyKind::Solver, Some(solver)) => Ok(Principal::Solver(SolverGrant { org, key, solver, response_key })),
        _ => Err(REJECTED),
    }
}

/// A completed run can be read for some time; the token of a cancelled run is invalid.
fn run_grant(credential: &RunCredential, now: Timestamp, secret: Secret) -> Result<RunGrant, AppError> {
    let RunCredential { run, org, status, completed_at, expires_at, .. } = credential;
    if *status == Status::Cancelled {
        return Err(AppError::Unauthorized("the run is cancelled, and its token has ended with it"));
    }
    let readable_until = completed_at.map(|completed| completed.plus_milliseconds(GRACE_MILLISECONDS));
    if readable_until.map_or(*expires_at, |until| until.max(*expires_at)) <= now {
        return Err(AppError::TokenExpired);
    }
    Ok(RunGrant { org: org.clone(), run: run.clone(), response_key: ResponseKey::from_credential(secret) })
}

/// The stored hash of a secret. A slow hash would not help, because the secret is random.
pub(crate) fn hash(secret: &Secret) -> String {
    canonical::sha256_hex(secret.reveal().as_bytes())
}

/// The stored form of a credential.
#[derive(Clone, Debug)]
enum StoredCredential {
    Key(Credential),
    Run(RunCredential),
}

impl StoredCredential {
    fn hash(&self) -> &str {
        match self {
            StoredCredential::Key(credential) => &credential.hash,
            StoredCredential::Run(credential) => &credential.hash,
        }
    }
}

async fn find(app: &App, kind: KeyKind, hash: &str) -> Result<Option<Arc<StoredCredential>>, AppError> {
    if let Some(credential) = app.inner.credentials.get(hash) {
        return Ok(Some(credential));
    }
    // Before the lookup, so that the age of the cached credential is never underestimated.
    let (read_at, generation) = (Instant::now(), app.inner.credentials.generation());
    let wanted = hash.to_owned();
    let read = move |db: &mut store::Db<'_>| match kind {
        KeyKind::Run => Ok(runs::find_by_token(db, &wanted)?.map(StoredCredential::Run)),
        KeyKind::Organization | KeyKind::Solver => Ok(keys::find_by_hash(db, &wanted)?.map(StoredCredential::Key)),
    };
    let stored: Result<Option<StoredCredential>, AppError> = app.store().read(read).await;
    let Some(credential) = stored?.map(Arc::new) else { return Ok(None) };
    app.inner.credentials.insert(hash, &credential, read_at, generation);
    Ok(Some(credential))
}

/// Writes the time of use, at most once a minute for each key. Its failure does not fail the request, so that reads still
/// work if the disk is full.
async fn record_use(app: &App, hash: &str, credential: &Credential) {
    let now = app.now();
    let recent = credential
        .last_used_at
        .is_some_and(|last| now.milliseconds() - last.milliseconds() < LAST_USED_GRAIN_MILLISECONDS);
    if recent {
        return;
    }
    app.inner.credentials.record_use(hash, now);
    let key = credential.key.clone();
    if let Err(error) = app.store().write(move |db| keys::touch(db, &key, now)).await {
        tracing::warn!(%error, "the time of a key's use could not be written");
    }
}

/// Credentials that were looked up less than a second ago.
pub(crate) struct Cache {
    cached: Mutex<Cached>,
}

impl Default for Cache {
    fn default() -> Self {
        Self { cached: Mutex::new(Cached { entries: LruCache::new(MAX_CACHED), generation: 0 }) }
    }
}

struct Cached {
    entries: LruCache<String, (Arc<StoredCredential>, Instant)>,
    /// Incremented by every revocation on this node.
    generation: u64,
}

impl Cache {
    fn get(&self, hash: &str) -> Option<Arc<StoredCredential>> {
        let mut cached = self.lock();
        let entry = cached.entries.get(hash).filter(|(_, read_at)| read_at.elapsed() < CACHE_LIFETIME);
        entry.map(|(credential, _)| Arc::clone(credential))
    }

    fn generation(&self) -> u64 {
        self.lock().generation
    }

    /// Does nothing if there was a revocation since the lookup.
    fn insert(&self, hash: &str, credential: &Arc<StoredCredential>, read_at: Instant, generation: u64) {
        let mut cached = self.lock();
        if cached.generation != generation {
            return;
        }
        cached.entries.insert(hash.to_owned(), (Arc::clone(credential), read_at), 1);
    }

    fn record_use(&self, hash: &str, now: Timestamp) {
        if let Some((found, _)) = self.lock().entries.get(hash)
            && let StoredCredential::Key(credential) = &**found
        {
            *found = Arc::new(StoredCredential::Key(Credential { last_used_at: Some(now), ..credential.clone() }));
        }
    }

    /// Called after a revocation is durable, which makes it effective on this node at once.
    pub(crate) fn clear(&self) {
        let mut cached = self.lock();
        cached.entries.clear();
        cached.generation += 1;
    }

    fn lock(&self) -> MutexGuard<'_, Cached> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Ulid;

    #[test]
    fn a_lookup_from_before_a_revocation_is_not_cached() {
        let credential = Arc::new(StoredCredential::Key(Credential {
            key: KeyId::from_ulid(Ulid(1)),
            owner: Owner { org: OrgId::from_ulid(Ulid(2)), solver: None },
            hash: "hash".into(),
            last_used_at: None,
            revoked_at: None,
        }));
        let (cache, started) = (Cache::default(), Instant::now());
        let before = cache.generation();
        cache.clear();
        cache.insert("hash", &credential, started, before);
        assert!(cache.get("hash").is_none());
        cache.insert("hash", &credential, started, cache.generation());
        assert!(cache.get("hash").is_some());
    }
}
