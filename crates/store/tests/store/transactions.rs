//! What a transaction promises, on either database and however many run at once.

use std::sync::mpsc;
use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use futures_util::poll;
use model::identity::ApiKey;
use model::{EnvironmentId, Id, KeyId, PlaygroundId, TaskRunId, Ulid};
use store::keys::{self, Owner};
use store::playgrounds::Provisioned;
use store::{StoreError, organizations, playgrounds};

use crate::{NOW, both_databases, numbers, open, organization};

/// A refusal that is the caller's own, beside those of the store.
#[derive(Debug)]
enum Refusal {
    Full,
    Store(StoreError),
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

both_databases! {
    async fn all_and_only_the_acknowledged_rows_are_kept(database: TestDatabase) {
        let store = open(&database).await.unwrap();
        let writes = (0..256u128).map(|number| {
            let store = store.clone();
            // Each on a task of its own, as requests are.
            tokio::spawn(async move {
                let work = move |db: &mut store::Db<'_>| -> Result<u128, Refusal> {
                    organizations::insert(db, &organization(number))?;
                    if number % 3 == 0 { Err(Refusal::Full) } else { Ok(number) }
                };
                store.write(work).await
            })
        });
        let answers = join_all(writes).await;
        let acknowledged: Vec<u128> = answers.into_iter().filter_map(|answer| answer.unwrap().ok()).collect();
        assert_eq!(acknowledged, (0..256).filter(|number| number % 3 != 0).collect::<Vec<_>>());
        assert_eq!(numbers(&store).await, acknowledged);
        drop(store);
        let reopened = open(&database).await.unwrap();
        assert_eq!(numbers(&reopened).await, acknowledged);
    }

    async fn a_failing_transaction_leaves_no_trace_while_its_neighbours_commit(database: TestDatabase) {
        let store = open(&database).await.unwrap();
        // The first holds the writer until the others wait behind it, so that on SQLite all of them share one commit.
        let (release, held) = mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        let mut first = Box::pin(store.write(move |db| {
            let _ = held.lock().unwrap().recv();
            organizations::insert(db, &organization(1))
        }));
        assert!(poll!(&mut first).is_pending());
        let mut fails = Box::pin(store.write(|db| {
            organizations::insert(db, &organization(2))?;
            Err::<(), Refusal>(Refusal::Full)
        }));
        let mut clashes = Box::pin(store.write(|db| {
            organizations::insert(db, &organization(3))?;
            organizations::insert(db, &organization(3))
        }));
        let mut panics = Box::pin(store.write(|db| -> Result<(), StoreError> {
            organizations::insert(db, &organization(4))?;
            panic!("as a defect would")
        }));
        let mut last = Box::pin(store.write(|db| organizations::insert(db, &organization(5))));
        let _ = (poll!(&mut fails), poll!(&mut clashes), poll!(&mut panics), poll!(&mut last));
        release.send(()).unwrap();
        first.await.unwrap();
        last.await.unwrap();
        assert!(matches!(fails.await, Err(Refusal::Full)));
        assert!(matches!(clashes.await, Err(StoreError::Unique(_))));
        assert!(matches!(panics.await, Err(StoreError::Panicked)));
        assert_eq!(numbers(&store).await, [1, 5]);
    }

    async fn the_store_goes_on_after_more_panics_than_it_has_threads(database: TestDatabase) {
        let store = open(&database).await.unwrap();
        for _ in 0..20 {
            let panicked = store.write(|_| -> Result<(), StoreError> { panic!("as a defect would") }).await;
            assert!(matches!(panicked, Err(StoreError::Panicked)));
            let panicked = store.read(|_| -> Result<(), StoreError> { panic!("as a defect would") }).await;
            assert!(matches!(panicked, Err(StoreError::Panicked)));
        }
        store.write(|db| organizations::insert(db, &organization(1))).await.unwrap();
        assert_eq!(numbers(&store).await, [1]);
    }

    /// After a failed statement PostgreSQL undoes the whole transaction, even when it is asked to commit it.
    async fn work_that_swallows_a_failed_statement_is_not_acknowledged(database: TestDatabase) {
        let store = open(&database).await.unwrap();
        store.write(|db| organizations::insert(db, &organization(1))).await.unwrap();
        let swallowed = store.write(|db| {
            organizations::insert(db, &organization(2))?;
            let _ = organizations::insert(db, &organization(1));
            Ok::<(), StoreError>(())
        });
        assert!(matches!(swallowed.await, Err(StoreError::Database(_))));
        assert_eq!(numbers(&store).await, [1]);
    }

    async fn checks_inside_transactions_hold_however_many_run_at_once(database: TestDatabase) {
        const MOST_KEYS: usize = 5;
        let store = open(&database).await.unwrap();
        let owner = Owner { org: organization(1).id, solver: None };
        store.write(|db| organizations::insert(db, &organization(1))).await.unwrap();
        let attempts = (0..64u128).map(|number| {
            let (store, owner) = (store.clone(), owner.clone());
            tokio::spawn(async move {
                let work = move |db: &mut store::Db<'_>| -> Result<(), Refusal> {
                    if keys::count_active(db, &owner)? >= MOST_KEYS as i64 {
                        return Err(Refusal::Full);
                    }
                    Ok(keys::insert(db, &owner, &key(number), &format!("hash {number}"))?)
                };
                store.write(work).await
            })
        });
        let mut made = 0;
        for answer in join_all(attempts).await {
            match answer.unwrap() {
                Ok(()) => made += 1,
                Err(Refusal::Full) => {}
                Err(Refusal::Store(error)) => panic!("{error}"),
            }
        }
        let kept = store.read(move |db| keys::count_active(db, &owner)).await.unwrap();
        assert_eq!((made, kept), (MOST_KEYS, MOST_KEYS as i64));
    }

    async fn a_read_cannot_write(database: TestDatabase) {
        let store = open(&database).await.unwrap();
        // More often than there are readers: none of them is left in a bad state.
        for number in 0..20 {
            let refused = store.read(move |db| organizations::insert(db, &organization(number))).await;
            assert!(matches!(refused, Err(StoreError::Database(_))), "{refused:?}");
        }
        assert!(numbers(&store).await.is_empty());
        store.write(|db| organizations::insert(db, &organization(1))).await.unwrap();
        assert_eq!(numbers(&store).await, [1]);
    }

    async fn a_read_sees_one_state_from_its_beginning_to_its_end(database: TestDatabase) {
        let store = open(&database).await.unwrap();
        let (began, beginning) = mpsc::channel::<()>();
        let (release, held) = mpsc::channel::<()>();
        let (began, held) = (Mutex::new(began), Mutex::new(held));
        let reading = tokio::spawn({
            let store = store.clone();
            async move {
                let count_twice = move |db: &mut store::Db<'_>| -> Result<(usize, usize), StoreError> {
                    let before = organizations::all(db)?.len();
                    let _ = began.lock().unwrap().send(());
                    let _ = held.lock().unwrap().recv();
                    Ok((before, organizations::all(db)?.len()))
                };
                store.read(count_twice).await
            }
        });
        tokio::task::spawn_blocking(move || beginning.recv().unwrap()).await.unwrap();
        store.write(|db| organizations::insert(db, &organization(1))).await.unwrap();
        release.send(()).unwrap();
        assert_eq!(reading.await.unwrap().unwrap(), (0, 0));
        assert_eq!(numbers(&store).await, [1]);
    }

    /// Whatever wrote to it, a start would not be the first in its log.
    async fn a_playground_with_a_log_is_not_opened_for_a_start(database: TestDatabase) {
        let store = open(&database).await.unwrap();
        let opened = store.write(|db| {
            let organization = organization(1);
            organizations::insert(db, &organization)?;
            let (environment, task_run) = (EnvironmentId::from_ulid(Ulid(1)), TaskRunId::from_ulid(Ulid(1)));
            let ids = [1, 2].map(|number| PlaygroundId::from_ulid(Ulid(number)));
            let rows = ids.each_ref().map(|id| Provisioned { id, task_run: &task_run });
            playgrounds::provision(db, &organization.id, &environment, &rows, NOW)?;
            playgrounds::reshape(db, &ids[1])?;
            Ok::<_, StoreError>([playgrounds::open(db, &ids[0], NOW)?, playgrounds::open(db, &ids[1], NOW)?])
        });
        assert_eq!(opened.await.unwrap(), [true, false]);
    }
}

fn key(number: u128) -> ApiKey {
    ApiKey {
        id: KeyId::from_ulid(Ulid::new(0, number)),
        name: format!("key {number}"),
        prefix: "vk_".into(),
        suffix: "abcd".into(),
        created_at: NOW,
        created_at_alias: None,
        last_used_at: None,
        revoked_at: None,
    }
}
