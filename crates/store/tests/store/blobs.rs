//! Blobs in a directory and in an S3 bucket.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use futures_util::future::join_all;
use store::blobs::BlobUrl;
use store::{Blobs, StoreError};
use tempfile::TempDir;

const HELLO_SHA256: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

/// A place for blobs that can be looked into past [`Blobs`].
struct Place {
    blobs: Blobs,
    inside: Inside,
}

enum Inside {
    Directory(TempDir),
    Bucket { url: String, prefix: String },
}

impl Place {
    fn directory() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(&BlobUrl::Directory(directory.path().to_owned())).unwrap();
        Self { blobs, inside: Inside::Directory(directory) }
    }

    /// In the S3 server that `./test` starts, under a prefix that no other test uses.
    async fn s3(prefix: &str) -> Option<Self> {
        let url = testkit::s3_bucket("verial-test").await?;
        let blobs = Blobs::open(&format!("s3://verial-test/{prefix}").parse().unwrap()).unwrap();
        Some(Self { blobs, inside: Inside::Bucket { url, prefix: prefix.to_owned() } })
    }

    /// Names of the objects that are really there.
    async fn objects(&self) -> Vec<String> {
        match &self.inside {
            Inside::Directory(directory) => files(directory.path()).iter().map(|file| name_of(file)).collect(),
            Inside::Bucket { url, prefix } => {
                let listed = reqwest::get(format!("{url}?list-type=2&prefix={prefix}/")).await.unwrap();
                let listed = listed.text().await.unwrap();
                let keys = listed.split("<Key>").skip(1).map(|rest| rest.split('<').next().unwrap());
                keys.map(|key| name_of(Path::new(key))).collect()
            }
        }
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

/// One async test for each kind of place.
macro_rules! both_places {
    ($(async fn $name:ident($place:ident: Place) $body:block)*) => {$(
        mod $name {
            use super::*;

            async fn story($place: Place) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn directory() {
                story(Place::directory()).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn s3() {
                if let Some(place) = Place::s3(stringify!($name)).await {
                    story(place).await;
                }
            }
        }
    )*};
}

both_places! {
    async fn bytes_come_back_by_the_hash_of_their_content(place: Place) {
        let name = place.blobs.put("hello".into()).await.unwrap();
        assert_eq!(name, HELLO_SHA256);
        assert_eq!(place.blobs.get(&name).await.unwrap(), "hello");
        assert_eq!(place.objects().await, [format!("{HELLO_SHA256}.zst")]);
    }

    async fn the_same_bytes_twice_are_one_object(place: Place) {
        let first = place.blobs.put("hello".into()).await.unwrap();
        assert_eq!(place.blobs.put("hello".into()).await.unwrap(), first);
        place.blobs.put("other".into()).await.unwrap();
        assert_eq!(place.objects().await.len(), 2);
    }

    async fn nothing_is_a_blob_too(place: Place) {
        let name = place.blobs.put(Bytes::new()).await.unwrap();
        assert_eq!(place.blobs.get(&name).await.unwrap(), Bytes::new());
    }

    async fn twenty_megabytes(place: Place) {
        // A sequence that compression cannot shorten much.
        let content: Bytes = (0..5_000_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let name = place.blobs.put(content.clone()).await.unwrap();
        assert!(place.blobs.get(&name).await.unwrap() == content, "not the bytes that were put");
    }

    async fn sixty_four_that_put_the_same_bytes_at_once_all_succeed(place: Place) {
        let content = Bytes::from("the same ".repeat(10_000));
        let puts = (0..64).map(|_| {
            let (blobs, content) = (place.blobs.clone(), content.clone());
            tokio::spawn(async move { blobs.put(content).await.unwrap() })
        });
        let names: Vec<String> = join_all(puts).await.into_iter().map(Result::unwrap).collect();
        assert!(names.iter().all(|name| *name == names[0]));
        assert_eq!(place.blobs.get(&names[0]).await.unwrap(), content);
        assert_eq!(place.objects().await, [format!("{}.zst", names[0])]);
    }

    async fn what_was_never_put_is_an_error(place: Place) {
        assert!(matches!(place.blobs.get(HELLO_SHA256).await, Err(StoreError::Blob(_))));
        place.blobs.ping().await.unwrap();
    }
}

#[tokio::test]
async fn damaged_content_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(&BlobUrl::Directory(directory.path().to_owned())).unwrap();
    let name = blobs.put("hello".into()).await.unwrap();
    let file = files(directory.path()).remove(0);
    let whole = std::fs::read(&file).unwrap();
    let other = zstd::bulk::compress(b"something else", 3).unwrap();
    for damaged in [&whole[..whole.len() - 1], b"", b"not compressed", &other] {
        std::fs::write(&file, damaged).unwrap();
        assert!(matches!(blobs.get(&name).await, Err(StoreError::Corrupt(_))), "{damaged:?}");
    }
    std::fs::write(&file, whole).unwrap();
    assert_eq!(blobs.get(&name).await.unwrap(), "hello");
}

#[tokio::test]
async fn a_bucket_that_is_not_there_is_an_error() {
    if testkit::s3_bucket("verial-test").await.is_some() {
        let blobs = Blobs::open(&"s3://no-such-bucket".parse().unwrap()).unwrap();
        assert!(matches!(blobs.put("hello".into()).await, Err(StoreError::Blob(_))));
    }
}
