//! A PostgreSQL server that stops answering, or drops its connections: callers get an error in time, and nothing needs a
//! restart afterwards.

use std::time::Duration;

use store::{DatabaseUrl, Store, StoreError, organizations};
use testkit::{Database, TestDatabase, postgres_url};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::{NOW, numbers, organization};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Traffic {
    Open,
    /// Connections are accepted and kept, and no byte passes.
    Paused,
    /// Connections that exist are closed.
    Cut,
}

/// Stands between the store and its database.
struct Proxy {
    port: u16,
    traffic: watch::Sender<Traffic>,
}

impl Proxy {
    async fn before(database: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (traffic, watching) = watch::channel(Traffic::Open);
        let database = database.to_owned();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (from_client, to_client) = client.into_split();
                let (from_database, to_database) = TcpStream::connect(&database).await.unwrap().into_split();
                tokio::spawn(forward(from_client, to_database, watching.clone()));
                tokio::spawn(forward(from_database, to_client, watching.clone()));
            }
        });
        Self { port, traffic }
    }

    fn set(&self, traffic: Traffic) {
        self.traffic.send_replace(traffic);
    }
}

async fn forward(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut traffic: watch::Receiver<Traffic>) {
    let mut buffer = [0; 8192];
    loop {
        let read = tokio::select! {
            read = from.read(&mut buffer) => read,
            _ = traffic.wait_for(|traffic| *traffic == Traffic::Cut) => return,
        };
        let Ok(length @ 1..) = read else { return };
        match traffic.wait_for(|traffic| *traffic != Traffic::Paused).await.map(|traffic| *traffic) {
            Ok(Traffic::Open) => {}
            _ => return,
        }
        if to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}

/// A database and a proxy before it, or nothing where there is no cluster.
async fn proxied() -> Option<(TestDatabase, Proxy, DatabaseUrl)> {
    postgres_url()?;
    let database = TestDatabase::new(Database::Postgres);
    let DatabaseUrl::Postgres(url) = database.url() else { unreachable!() };
    let (server, name) = url.split_once('@').unwrap().1.split_once('/').unwrap();
    let proxy = Proxy::before(server).await;
    let name = name.split('?').next().unwrap_or_default();
    let url = format!("postgres://postgres@127.0.0.1:{}/{name}?pool=2&timeout=1", proxy.port);
    Some((database, proxy, DatabaseUrl::Postgres(url)))
}

async fn open(url: &DatabaseUrl) -> Result<Store, StoreError> {
    let url = url.clone();
    tokio::task::spawn_blocking(move || Store::open(&url, NOW)).await.unwrap()
}

async fn insert(store: &Store, number: u128) -> Result<(), StoreError> {
    store.write(move |db| organizations::insert(db, &organization(number))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_does_not_answer_fails_requests_until_it_is_back() {
    let Some((_database, proxy, url)) = proxied().await else { return };
    let store = open(&url).await.unwrap();
    insert(&store, 1).await.unwrap();
    proxy.set(Traffic::Paused);
    for _ in 0..3 {
        assert!(matches!(store.ping().await, Err(StoreError::Unavailable(_))));
        assert!(matches!(insert(&store, 2).await, Err(StoreError::Unavailable(_))));
    }
    proxy.set(Traffic::Open);
    // The workers may still be busy with what was asked before, for which nobody waits any more.
    for attempt in 0.. {
        match insert(&store, 3).await {
            // An earlier attempt was committed although its caller gave up.
            Ok(()) | Err(StoreError::Unique(_)) => break,
            Err(error) => assert!(attempt < 50, "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // The first insertion had begun, and a caller who was answered with an error does not know its outcome.
    let kept = numbers(&store).await;
    assert!(kept == [1, 3] || kept == [1, 2, 3], "{kept:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_its_caller_has_given_up_is_not_committed() {
    let Some((_database, _proxy, url)) = proxied().await else { return };
    let DatabaseUrl::Postgres(url) = url else { unreachable!() };
    let store = open(&DatabaseUrl::Postgres(url.replace("pool=2", "pool=1"))).await.unwrap();
    // The only worker is busy for most of the second that the other caller waits.
    let busy = store.read(|_| {
        let (_sender, nothing) = std::sync::mpsc::channel::<()>();
        let _ = nothing.recv_timeout(Duration::from_millis(600));
        Ok::<_, StoreError>(())
    });
    let (give_up, given_up) = std::sync::mpsc::channel();
    let given_up = std::sync::Mutex::new(given_up);
    let late = store.write(move |db| {
        organizations::insert(db, &organization(1))?;
        let _ = given_up.lock().unwrap().recv();
        Ok::<_, StoreError>(())
    });
    let late = async {
        let answered = late.await;
        give_up.send(()).unwrap();
        answered
    };
    let (_, late) = tokio::join!(busy, late);
    assert!(matches!(late, Err(StoreError::Unavailable(_))), "{late:?}");
    // It waits for the worker, and so until the other transaction has ended.
    insert(&store, 2).await.unwrap();
    assert_eq!(numbers(&store).await, [2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_closes_and_opens_in_time_without_an_answer() {
    let Some((_database, proxy, url)) = proxied().await else { return };
    let store = open(&url).await.unwrap();
    insert(&store, 1).await.unwrap();
    proxy.set(Traffic::Paused);
    assert!(insert(&store, 2).await.is_err());
    tokio::task::spawn_blocking(move || drop(store)).await.unwrap();
    let refused = open(&url).await.err().unwrap().to_string();
    assert!(refused.contains("did not answer within 1 s"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_connections_are_replaced_without_an_error() {
    let Some((_database, proxy, url)) = proxied().await else { return };
    let store = open(&url).await.unwrap();
    for number in 1..5 {
        insert(&store, number).await.unwrap();
        store.ping().await.unwrap();
        proxy.set(Traffic::Cut);
        proxy.set(Traffic::Open);
    }
    assert_eq!(numbers(&store).await, [1, 2, 3, 4]);
}
