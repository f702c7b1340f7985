//! From a presented secret to a grant: checksum, hash, a look-up remembered for less than a second, constant-time comparison.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use model::api_key::{KeyKind, Secret};
use model::run::Status;
use model::{BenchmarkRunId, Id, KeyId, OrgId, SolverId, Timestamp, canonical};
use store::keys::{self, Credential, Owner};
use store::runs::{self, RunCredential};
use subtle::ConstantTimeEq;

use crate::response_encryption::ResponseKey;
use crate::{App, AppError};

/// A revocation on another node is effective after this time.
const REMEMBERED: Duration = Duration::from_millis(700);
const MOST_REMEMBERED: usize = 100_000;
const LAST_USED_GRAIN_MILLISECONDS: i64 = 60_000;

/// The power of an organization's key: everything that is the organization's.
#[derive(Clone)]
pub struct OrgGrant {
    pub org: OrgId,
    pub key: KeyId,
    pub(crate) response_key: ResponseKey,
}

/// The power of a solver's key: to run benchmarks and read its own runs.
#[derive(Clone)]
pub struct SolverGrant {
    pub org: OrgId,
    pub key: KeyId,
    pub solver: SolverId,
    pub(crate) response_key: ResponseKey,
}

/// The power of a run's token: to do the tasks of that run.
#[derive(Clone)]
pub struct RunGrant {
    pub org: OrgId,
    pub run: BenchmarkRunId,
    pub(crate) response_key: ResponseKey,
}

/// Who presented a credential.
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

    /// What its rate is counted under.
    pub fn name(&self) -> &str {
        match self {
            Principal::Organization(grant) => grant.key.as_str(),
            Principal::Solver(grant) => grant.key.as_str(),
            Principal::Run(grant) => grant.run.as_str(),
        }
    }
}

const REFUSED: AppError = AppError::Unauthorized("the credential is unknown or revoked");
/// How long a completed run can be read with its token.
const GRACE_MILLISECONDS: i64 = 24 * 60 * 60 * 1000;

/// Reads a bearer credential. Every way to be wrong is the same answer, but for a run's token that was right once.
pub async fn authenticate(app: &App, presented: &str) -> Result<Principal, AppError> {
    let secret = Secret::parse(presented).ok_or(REFUSED)?;
    let hash = hash(&secret);
    let found = find(app, secret.kind(), &hash).await?.ok_or(REFUSED)?;
    let same: bool = found.hash().as_bytes().ct_eq(hash.as_bytes()).into();
    if !same {
        return Err(REFUSED);
    }
    match &*found {
        Known::Run(run) => run_grant(run, app.now(), secret).map(Principal::Run),
        Known::Key(credential) => key_grant(app, &hash, credential, secret).await,
    }
}

async fn key_grant(app: &App, hash: &str, credential: &Credential, secret: Secret) -> Result<Principal, AppError> {
    if credential.revoked_at.is_some() {
        return Err(REFUSED);
    }
    note_use(app, hash, credential).await;
    let Credential { key, owner: Owner { org, solver }, .. } = credential;
    let (org, key, kind) = (org.clone(), key.clone(), secret.kind());
    let response_key = ResponseKey::from_credential(secret);
    match (kind, solver.clone()) {
        (KeyKind::Organization, None) => Ok(Principal::Organization(OrgGrant { org, key, response_key })),
        (KeyKind::Solver, Some(solver)) => Ok(Principal::Solver(SolverGrant { org, key, solver, response_key })),
        _ => Err(REFUSED),
    }
}

/// A completed run can be read for a while; a cancelled one's token has ended.
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

/// What is stored of a secret. It has too much randomness for a slow hash to add anything.
pub(crate) fn hash(secret: &Secret) -> String {
    canonical::sha256_hex(secret.reveal().as_bytes())
}

/// What a secret leads to.
#[derive(Clone, Debug)]
enum Known {
    Key(Credential),
    Run(RunCredential),
}

impl Known {
    fn hash(&self) -> &str {
        match self {
            Known::Key(credential) => &credential.hash,
            Known::Run(credential) => &credential.hash,
        }
    }
}

async fn find(app: &App, kind: KeyKind, hash: &str) -> Result<Option<Arc<Known>>, AppError> {
    if let Some(found) = app.inner.credentials.recall(hash) {
        return Ok(Some(found));
    }
    // Taken before the look-up: what was read cannot be older than this.
    let (read_at, era) = (Instant::now(), app.inner.credentials.era());
    let wanted = hash.to_owned();
    let look_up = move |db: &mut store::Db<'_>| match kind {
        KeyKind::Run => Ok(runs::find_by_token(db, &wanted)?.map(Known::Run)),
        KeyKind::Organization | KeyKind::Solver => Ok(keys::find_by_hash(db, &wanted)?.map(Known::Key)),
    };
    let known: Result<Option<Known>, AppError> = app.store().read(look_up).await;
    let Some(found) = known?.map(Arc::new) else { return Ok(None) };
    app.inner.credentials.remember(hash, &found, read_at, era);
    Ok(Some(found))
}

/// Writes the time of use at most once a minute for each key. A disk that takes no writes must not keep anyone from reading.
async fn note_use(app: &App, hash: &str, credential: &Credential) {
    let now = app.now();
    let recent = credential
        .last_used_at
        .is_some_and(|last| now.milliseconds() - last.milliseconds() < LAST_USED_GRAIN_MILLISECONDS);
    if recent {
        return;
    }
    app.inner.credentials.note_use(hash, now);
    let key = credential.key.clone();
    if let Err(error) = app.store().write(move |db| keys::touch(db, &key, now)).await {
        tracing::warn!(%error, "the time of a key's use could not be written");
    }
}

/// Credentials that were looked up a moment ago.
#[derive(Default)]
pub(crate) struct Cache {
    remembered: Mutex<Remembered>,
}

#[derive(Default)]
struct Remembered {
    entries: HashMap<String, (Arc<Known>, Instant)>,
    /// Rises with every revocation on this node.
    era: u64,
}

impl Cache {
    fn recall(&self, hash: &str) -> Option<Arc<Known>> {
        let remembered = self.lock();
        let entry = remembered.entries.get(hash).filter(|(_, read_at)| read_at.elapsed() < REMEMBERED);
        entry.map(|(found, _)| Arc::clone(found))
    }

    fn era(&self) -> u64 {
        self.lock().era
    }

    /// What was looked up in an earlier era may have been revoked since, and is not worth remembering.
    fn remember(&self, hash: &str, found: &Arc<Known>, read_at: Instant, era: u64) {
        let mut remembered = self.lock();
        if remembered.era != era {
            return;
        }
        if remembered.entries.len() >= MOST_REMEMBERED {
            remembered.entries.retain(|_, (_, read_at)| read_at.elapsed() < REMEMBERED);
        }
        remembered.entries.insert(hash.to_owned(), (Arc::clone(found), read_at));
    }

    fn note_use(&self, hash: &str, now: Timestamp) {
        if let Some((found, _)) = self.lock().entries.get_mut(hash)
            && let Known::Key(credential) = &**found
        {
            *found = Arc::new(Known::Key(Credential { last_used_at: Some(now), ..credential.clone() }));
        }
    }

    /// Called after a revocation is durable: on this node it is effective at once.
    pub(crate) fn forget_all(&self) {
        let mut remembered = self.lock();
        remembered.entries.clear();
        remembered.era += 1;
    }

    fn lock(&self) -> MutexGuard<'_, Remembered> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Ulid;

    #[test]
    fn a_look_up_that_a_revocation_overtook_is_not_remembered() {
        let found = Arc::new(Known::Key(Credential {
            key: KeyId::from_ulid(Ulid(1)),
            owner: Owner { org: OrgId::from_ulid(Ulid(2)), solver: None },
            hash: "hash".into(),
            last_used_at: None,
            revoked_at: None,
        }));
        let (cache, begun) = (Cache::default(), Instant::now());
        let before = cache.era();
        cache.forget_all();
        cache.remember("hash", &found, begun, before);
        assert!(cache.recall("hash").is_none());
        cache.remember("hash", &found, begun, cache.era());
        assert!(cache.recall("hash").is_some());
    }
}
