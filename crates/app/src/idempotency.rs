//! `Idempotency-Key`: the changes and the stored response are one transaction, so a retry never acts twice, even after a
//! crash.

use model::Id;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::Db;
use store::idempotency::{self, StoredResponse};

use crate::caller::Caller;
use crate::response_encryption::ResponseKey;
use crate::{App, AppError};

/// How long a response is stored.
pub(crate) const LIFETIME_MILLISECONDS: i64 = 24 * 60 * 60 * 1000;

/// What the caller sent to make a request safe to repeat.
#[derive(Clone, Debug)]
pub struct Once {
    pub key: String,
    /// Hash of method, path and body. Another request with the same key is an error.
    pub request_hash: String,
}

/// The value of a creation or transition, and whether it is the stored response to an earlier request with the same key.
#[derive(Clone, Debug)]
pub struct Created<T> {
    pub value: T,
    pub replayed: bool,
}

/// How a response is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseStorage {
    Plain,
    /// For responses with a secret, which must not be readable in the database.
    Encrypted,
}

/// Whose idempotency keys a caller sends, and the key that encrypts stored responses.
#[derive(Clone)]
pub(crate) struct IdempotencyScope {
    /// The organization, solver or run. Each has its own idempotency keys.
    owner: String,
    response_key: ResponseKey,
}

impl IdempotencyScope {
    pub(crate) fn new(owner: &impl Id, response_key: &ResponseKey) -> Self {
        Self { owner: owner.to_string(), response_key: response_key.clone() }
    }

    /// The stored response, if it is to the same request.
    fn replay<T: DeserializeOwned>(
        &self,
        once: &Once,
        storage: ResponseStorage,
        stored: &StoredResponse,
    ) -> Result<Created<T>, AppError> {
        if stored.request_hash != once.request_hash {
            return Err(AppError::conflict("this Idempotency-Key was used with another request; use a new one"));
        }
        let text = match storage {
            ResponseStorage::Plain => stored.response.clone(),
            ResponseStorage::Encrypted => self.response_key.decrypt(&stored.response).ok_or_else(|| {
                AppError::conflict(
                    "this Idempotency-Key was used with another API key, and the stored response contains a secret \
                     that only that API key can decrypt; use a new Idempotency-Key",
                )
            })?,
        };
        // Responses that an older server stored may lack members that this one requires.
        let value = serde_json::from_str(&text).map_err(|_| {
            AppError::conflict("this Idempotency-Key was used before the server was upgraded; use a new one")
        })?;
        Ok(Created { value, replayed: true })
    }
}

impl App {
    /// The stored response to an earlier request with the same key. For operations that do something before the
    /// transaction of [`App::once`].
    pub(crate) async fn replayed<T>(
        &self,
        caller: impl Into<Caller>,
        once: Option<&Once>,
        storage: ResponseStorage,
    ) -> Result<Option<Created<T>>, AppError>
    where
        T: DeserializeOwned,
    {
        let Some(once) = once.cloned() else { return Ok(None) };
        let (oldest, scope) = (self.now().plus_milliseconds(-LIFETIME_MILLISECONDS), caller.into().idempotency);
        let (owner, key) = (scope.owner.clone(), once.key.clone());
        let stored = self.store().read(move |db| idempotency::find(db, &owner, &key, oldest)).await?;
        stored.map(|stored| scope.replay(&once, storage, &stored)).transpose()
    }

    /// Runs the work in a transaction, once for each idempotency key.
    pub(crate) async fn once<T, F>(
        &self,
        caller: impl Into<Caller>,
        once: Option<Once>,
        storage: ResponseStorage,
        work: F,
    ) -> Result<Created<T>, AppError>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        F: Fn(&mut Db<'_>) -> Result<T, AppError> + Send + 'static,
    {
        let (now, scope) = (self.now(), caller.into().idempotency);
        let transaction = move |db: &mut Db<'_>| {
            let Some(once) = &once else {
                return work(db).map(|value| Created { value, replayed: false });
            };
            let oldest = now.plus_milliseconds(-LIFETIME_MILLISECONDS);
            if let Some(stored) = idempotency::find(db, &scope.owner, &once.key, oldest)? {
                return scope.replay(once, storage, &stored);
            }
            let value = work(db)?;
            let text = serde_json::to_string(&value).map_err(|error| AppError::Internal(error.to_string()))?;
            let response = match storage {
                ResponseStorage::Plain => text,
                ResponseStorage::Encrypted => scope.response_key.encrypt(&text)?,
            };
            let stored = StoredResponse { request_hash: once.request_hash.clone(), response };
            idempotency::insert(db, &scope.owner, &once.key, &stored, now)?;
            Ok(Created { value, replayed: false })
        };
        self.store().write(transaction).await
    }
}

/// For messages to a sandbox, whose own records store it.
impl From<Once> for sims::idempotency::IdempotencyKey {
    fn from(once: Once) -> Self {
        Self { key: once.key, sha256: once.request_hash }
    }
}
