//! `Idempotency-Key`: the effect and the kept answer are one transaction, so a retry never acts twice, whatever crashed.

use serde::Serialize;
use serde::de::DeserializeOwned;
use store::Db;
use store::idempotency::{self, Kept};

use crate::response_encryption::ResponseKey;
use crate::{App, AppError, OrgGrant, RunGrant, SolverGrant};

pub(crate) const KEPT_MILLISECONDS: i64 = 24 * 60 * 60 * 1000;

/// What the caller sent to make a request safe to repeat.
#[derive(Clone, Debug)]
pub struct Once {
    pub key: String,
    /// Hash of method, path and body: another request under the same key is a mistake.
    pub request_hash: String,
}

/// The value of a creation or transition, and whether it was made by an earlier request with the same key.
#[derive(Clone, Debug)]
pub struct Created<T> {
    pub value: T,
    pub replayed: bool,
}

/// How an answer is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    Plain,
    /// It holds a secret that must not be readable at rest.
    Sealed,
}

/// Whose keys they are, and what seals the secrets in answers.
#[derive(Clone)]
pub(crate) struct Holder {
    /// Each has a space of keys of its own.
    name: String,
    response_key: ResponseKey,
}

impl From<&OrgGrant> for Holder {
    fn from(grant: &OrgGrant) -> Self {
        Self { name: grant.org.to_string(), response_key: grant.response_key.clone() }
    }
}

impl From<&SolverGrant> for Holder {
    fn from(grant: &SolverGrant) -> Self {
        Self { name: grant.solver.to_string(), response_key: grant.response_key.clone() }
    }
}

impl From<&RunGrant> for Holder {
    fn from(grant: &RunGrant) -> Self {
        Self { name: grant.run.to_string(), response_key: grant.response_key.clone() }
    }
}

impl App {
    /// The answer to an earlier request with the same key: to be asked for before anything is done outside of the
    /// transaction of [`App::once`].
    pub(crate) async fn replayed<T>(
        &self,
        holder: impl Into<Holder>,
        once: Option<&Once>,
        keep: Keep,
    ) -> Result<Option<Created<T>>, AppError>
    where
        T: DeserializeOwned,
    {
        let Some(once) = once.cloned() else { return Ok(None) };
        let (oldest, holder) = (self.now().plus_milliseconds(-KEPT_MILLISECONDS), holder.into());
        let (owner, key) = (holder.name.clone(), once.key.clone());
        let kept = self.store().read(move |db| idempotency::find(db, &owner, &key, oldest)).await?;
        kept.map(|kept| replay(&holder, &once, keep, &kept)).transpose()
    }

    /// Runs the work in a transaction, once for each idempotency key.
    pub(crate) async fn once<T, F>(
        &self,
        holder: impl Into<Holder>,
        once: Option<Once>,
        keep: Keep,
        work: F,
    ) -> Result<Created<T>, AppError>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        F: Fn(&mut Db<'_>) -> Result<T, AppError> + Send + 'static,
    {
        let (now, holder) = (self.now(), holder.into());
        let transaction = move |db: &mut Db<'_>| {
            let Some(once) = &once else {
                return work(db).map(|value| Created { value, replayed: false });
            };
            if let Some(kept) =
                idempotency::find(db, &holder.name, &once.key, now.plus_milliseconds(-KEPT_MILLISECONDS))?
            {
                return replay(&holder, once, keep, &kept);
            }
            let value = work(db)?;
            let text = serde_json::to_string(&value).map_err(|error| AppError::Internal(error.to_string()))?;
            let answer = if keep == Keep::Sealed { holder.response_key.encrypt(&text)? } else { text };
            idempotency::keep(
                db,
                &holder.name,
                &once.key,
                &Kept { request_hash: once.request_hash.clone(), answer },
                now,
            )?;
            Ok(Created { value, replayed: false })
        };
        self.store().write(transaction).await
    }
}

fn replay<T: DeserializeOwned>(holder: &Holder, once: &Once, keep: Keep, kept: &Kept) -> Result<Created<T>, AppError> {
    if kept.request_hash != once.request_hash {
        return Err(AppError::conflict("this Idempotency-Key was used with another request; use a new one"));
    }
    let text = match keep {
        Keep::Plain => kept.answer.clone(),
        Keep::Sealed => holder.response_key.decrypt(&kept.answer).ok_or_else(|| {
            AppError::conflict("this Idempotency-Key was used under another API key; its answer held a secret and can be read only with that one")
        })?,
    };
    // Answers of an older server may lack members that this one requires.
    let value = serde_json::from_str(&text).map_err(|_| {
        AppError::conflict("this Idempotency-Key was used before the server was upgraded; use a new one")
    })?;
    Ok(Created { value, replayed: true })
}
/// For a message to a sandbox, whose own rows remember it.
impl From<Once> for sims::idempotency::IdempotencyKey {
    fn from(once: Once) -> Self {
        Self { key: once.key, sha256: once.request_hash }
    }
}
