//! A request with an `Idempotency-Key` has its effect once.

use app::AppError;
use model::page::PageRequest;
use serde_json::json;

use crate::both_databases;
use crate::fixture::{BASE, conflict, once, request};

const DAY: i64 = 24 * 60 * 60 * 1000;

fn environment(name: &str) -> model::environment::NewEnvironment {
    request(json!({"name": name}))
}

both_databases! {
    async fn the_same_request_returns_the_stored_response(fixture: Fixture) {
        let (app, author) = (&fixture.app, &fixture.author);
        let first = app::environments::create(app, author, once("k", "h"), environment("Clinic")).await.unwrap();
        let again = app::environments::create(app, author, once("k", "h"), environment("Clinic")).await.unwrap();
        assert_eq!((first.replayed, again.replayed), (false, true));
        assert_eq!(first.value.id, again.value.id);
        let other = app::environments::create(app, author, once("k2", "h"), environment("Clinic")).await.unwrap();
        assert_ne!(other.value.id, first.value.id);
        let page = PageRequest { limit: 10, cursor: None };
        assert_eq!(app::environments::list(app, author, page).await.unwrap().items.len(), 2);
    }

    async fn a_key_cannot_be_used_for_another_request(fixture: Fixture) {
        let (app, author) = (&fixture.app, &fixture.author);
        app::environments::create(app, author, once("k", "h"), environment("Clinic")).await.unwrap();
        let other = app::environments::create(app, author, once("k", "other"), environment("Ward")).await;
        assert!(conflict(other).contains("was used with another request"));
    }

    async fn a_failed_request_stores_no_response(fixture: Fixture) {
        let (app, author) = (&fixture.app, &fixture.author);
        let invalid = app::environments::create(app, author, once("k", "h"), environment("")).await;
        assert!(matches!(invalid, Err(AppError::Invalid(_))));
        let valid = app::environments::create(app, author, once("k", "other"), environment("Clinic")).await.unwrap();
        assert!(!valid.replayed);
    }

    async fn a_stored_response_expires_after_a_day(fixture: Fixture) {
        let (app, author) = (&fixture.app, &fixture.author);
        let first = app::environments::create(app, author, once("k", "h"), environment("Clinic")).await.unwrap();
        fixture.clock.advance(DAY);
        let still = app::environments::create(app, author, once("k", "h"), environment("Clinic")).await.unwrap();
        assert_eq!(still.value.id, first.value.id);
        fixture.clock.advance(1);
        app.sweep().await.unwrap();
        let later = app::environments::create(app, author, once("k", "other"), environment("Clinic")).await.unwrap();
        assert_ne!(later.value.id, first.value.id);
    }

    async fn each_caller_has_its_own_keys(fixture: Fixture) {
        let (app, author) = (&fixture.app, &fixture.author);
        let other = fixture.organization("Other").await;
        let first = app::environments::create(app, author, once("k", "h"), environment("Clinic")).await.unwrap();
        let second = app::environments::create(app, &other, once("k", "h"), environment("Clinic")).await.unwrap();
        assert_ne!(first.value.id, second.value.id);
        let solvers = [fixture.solver(author, "one").await, fixture.solver(author, "two").await];
        let version = fixture.version(1, json!({})).await;
        for solver in &solvers {
            let new = request(json!({"benchmark": version}));
            assert!(!app::runs::create_run(app, solver, BASE, once("k", "h"), new).await.unwrap().replayed);
        }
    }

    async fn a_stored_secret_can_only_be_read_with_the_same_credential(fixture: Fixture) {
        let (app, author) = (&fixture.app, &fixture.author);
        let draft = fixture.draft(1, json!({})).await;
        let new = || request(json!({"benchmark_id": draft.id}));
        let first = app::runs::create_run(app, author, BASE, once("k", "h"), new()).await.unwrap();
        let again = app::runs::create_run(app, author, BASE, once("k", "h"), new()).await.unwrap();
        assert!(again.replayed);
        assert_eq!(again.value.bearer_token, first.value.bearer_token);
        let other_key = fixture.second_key(author).await;
        let other = app::runs::create_run(app, &other_key, BASE, once("k", "h"), new()).await;
        assert!(conflict(other).contains("another API key"));
    }

    async fn a_transition_is_repeated_with_its_result(fixture: Fixture) {
        let app = &fixture.app;
        let solver = fixture.solver(&fixture.author, "solver").await;
        let agent = fixture.agent(&solver, &fixture.version(1, json!({})).await, false).await;
        let start = || app::runs::start_task_run(app, &agent.grant, BASE, agent.task(0), once("s", "h"));
        let (started, again) = (start().await.unwrap(), start().await.unwrap());
        assert_eq!((started.replayed, again.replayed), (false, true));
        assert_eq!(json!(started.value), json!(again.value));
        agent.write(app, "a").await.unwrap();
        let complete = || app::runs::complete_task_run(app, &agent.grant, agent.task(0), once("c", "h"));
        let (completed, again) = (complete().await.unwrap(), complete().await.unwrap());
        assert_eq!((completed.replayed, again.replayed), (false, true));
        assert_eq!(json!(completed.value), json!(again.value));
    }
}
