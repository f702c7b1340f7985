//! Publishing freezes a draft as an immutable version.

use app::AppError;
use app::etag::IfMatch;
use model::page::PageRequest;
use serde_json::json;

use crate::both_databases;
use crate::fixture::{BASE, conflict, not_found, request};

both_databases! {
    async fn a_version_does_not_change_with_its_draft(fixture: Fixture) {
        let (app, author) = (&fixture.app, &fixture.author);
        let draft = fixture.draft(1, json!({})).await;
        assert_eq!(fixture.publish(&draft).await.unwrap(), "orders@1");
        let patch = request(json!({"name": "Renamed"}));
        app::tasks::update(app, author, &draft.tasks[0], IfMatch::default(), patch).await.unwrap();
        assert_eq!(fixture.publish(&draft).await.unwrap(), "orders@2");
        for (version, name) in [("orders@1", "Task 0"), ("orders@2", "Renamed")] {
            let new = request(json!({"benchmark": version}));
            let run = app::runs::create_run(app, author, BASE, None, new).await.unwrap().value;
            assert_eq!(run.task_runs[0].name, name);
        }
        app::benchmarks::delete(app, author, &draft.id, IfMatch::default()).await.unwrap();
        let version = app::publications::version(app, author, &"orders@1".parse().unwrap()).await.unwrap();
        assert_eq!(version.version, 1);
    }

    async fn unchanged_content_is_not_published_again(fixture: Fixture) {
        let draft = fixture.draft(1, json!({})).await;
        fixture.publish(&draft).await.unwrap();
        assert!(conflict(fixture.publish(&draft).await).contains("orders@1"));
        let page = PageRequest { limit: 10, cursor: None };
        let versions = app::publications::versions(&fixture.app, &fixture.author, &draft.id, page).await.unwrap();
        assert_eq!(versions.items.len(), 1);
    }

    async fn a_draft_that_cannot_be_run_is_rejected(fixture: Fixture) {
        let (app, author) = (&fixture.app, &fixture.author);
        let empty = fixture.draft(0, json!({})).await;
        let rejected = fixture.publish(&empty).await.unwrap_err();
        assert!(matches!(rejected, AppError::Invalid(_) | AppError::Conflict { .. }), "{rejected:?}");
        let draft = fixture.draft(1, json!({"name": "Templates"})).await;
        let patch = request(json!({"task_item": {"title": "{{entity.nothing}}"}}));
        let patched = app::tasks::update(app, author, &draft.tasks[0], IfMatch::default(), patch).await;
        assert!(patched.is_err() || fixture.publish(&draft).await.is_err());
        let page = PageRequest { limit: 10, cursor: None };
        let versions = app::publications::versions(app, author, &empty.id, page).await.unwrap();
        assert!(versions.items.is_empty());
    }

    async fn a_private_version_is_only_visible_to_its_organization(fixture: Fixture) {
        let app = &fixture.app;
        let other = fixture.organization("Other").await;
        let private = fixture.version(1, json!({})).await;
        let public = fixture.version(1, json!({"name": "Open orders", "visibility": "Public"})).await;
        not_found(app::publications::version(app, &other, &private.parse().unwrap()).await);
        let new = |benchmark: &str| request(json!({"benchmark": benchmark}));
        not_found(app::runs::create_run(app, &other, BASE, None, new(&private)).await);
        let run = app::runs::create_run(app, &other, BASE, None, new(&public)).await.unwrap().value;
        // The criteria of a public version are only shown to its owner.
        let task_run = app::runs::complete_task_run(app, &other, &run.task_runs[0].id, None).await.unwrap().value;
        assert_eq!(json!(task_run.score), json!(0.0));
        let shown = json!(task_run.snapshot);
        assert!(!shown.to_string().contains("code.text"), "{shown}");
    }

    async fn a_slug_belongs_to_one_benchmark(fixture: Fixture) {
        let first = fixture.draft(1, json!({"slug": "orders"})).await;
        fixture.publish(&first).await.unwrap();
        let second = fixture.draft(1, json!({"name": "Other orders"})).await;
        let publish = request(json!({"slug": "orders"}));
        let taken = app::publications::publish(&fixture.app, &fixture.author, &second.id, None, publish).await;
        assert!(conflict(taken).contains("orders"));
    }
}
