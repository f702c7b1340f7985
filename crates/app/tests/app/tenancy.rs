//! A grant reaches what belongs to its holder. Everything else does not exist for it.

use app::AppError;
use model::page::PageRequest;
use serde_json::json;

use crate::both_databases;
use crate::fixture::{BASE, not_found, request};

both_databases! {
    async fn another_organization_finds_nothing(fixture: Fixture) {
        let app = &fixture.app;
        let other = fixture.organization("Other").await;
        let draft = fixture.draft(1, json!({})).await;
        assert_eq!(not_found(app::benchmarks::get(app, &other, &draft.id).await), "benchmark");
        assert_eq!(not_found(app::tasks::get(app, &other, &draft.tasks[0]).await), "task");
        let new = request(json!({"benchmark_id": draft.id}));
        assert_eq!(not_found(app::runs::create_run(app, &other, BASE, None, new).await), "benchmark");
        let solver = fixture.solver(&fixture.author, "solver").await;
        let agent = fixture.agent(&solver, &fixture.publish(&draft).await.unwrap(), false).await;
        let (run, task_run) = (&agent.created.id, agent.task(0));
        not_found(app::runs::get_run(app, &other, run).await);
        not_found(app::runs::get_run_summary(app, &other, run).await);
        not_found(app::runs::cancel_run(app, &other, run, None).await);
        not_found(app::runs::get_task_run(app, &other, task_run).await);
        not_found(app::runs::start_task_run(app, &other, BASE, task_run, None).await);
        not_found(app::runs::complete_task_run(app, &other, task_run, None).await);
        not_found(app::runs::cancel_task_run(app, &other, task_run, None).await);
        let page = PageRequest { limit: 10, cursor: None };
        assert!(app::runs::list_task_runs(app, &other, None, page).await.unwrap().items.is_empty());
    }

    async fn a_solver_reads_only_its_own_runs(fixture: Fixture) {
        let app = &fixture.app;
        let (one, two) = (fixture.solver(&fixture.author, "one").await, fixture.solver(&fixture.author, "two").await);
        let agent = fixture.agent(&one, &fixture.version(1, json!({})).await, false).await;
        app::runs::get_run_summary(app, &one, &agent.created.id).await.unwrap();
        not_found(app::runs::get_run_summary(app, &two, &agent.created.id).await);
    }

    async fn a_run_token_reaches_only_its_own_run(fixture: Fixture) {
        let app = &fixture.app;
        let solver = fixture.solver(&fixture.author, "solver").await;
        let version = fixture.version(1, json!({})).await;
        let (one, two) = (fixture.agent(&solver, &version, false).await, fixture.agent(&solver, &version, false).await);
        one.start(app, 0).await.unwrap();
        not_found(app::runs::get_run_summary(app, &two.grant, &one.created.id).await);
        not_found(app::runs::get_task_run(app, &two.grant, one.task(0)).await);
        not_found(app::runs::complete_task_run(app, &two.grant, one.task(0), None).await);
        let kind = model::simulator::SimulatorType::Fhir;
        not_found(app::runs::access::of_run(app, &two.grant, &one.created.id, kind).await.map(|_| ()));
        not_found(app::runs::access::of_task_run(app, &two.grant, one.task(0), kind, None).await.map(|_| ()));
    }

    async fn a_revoked_key_and_an_unknown_key_are_rejected_alike(fixture: Fixture) {
        let app = &fixture.app;
        let created = app::admin::create_key(app, &fixture.author.org, "Temporary").await.unwrap();
        app::credentials::authenticate(app, &created.key).await.unwrap();
        app::admin::revoke_key(app, &created.id).await.unwrap();
        let mut unknown = created.key.clone();
        unknown.push('x');
        for key in [created.key.as_str(), unknown.as_str(), ""] {
            let error = app::credentials::authenticate(app, key).await.map(|_| ()).unwrap_err();
            assert!(matches!(error, AppError::Unauthorized("the credential is unknown or revoked")), "{error:?}");
        }
    }

    async fn the_token_of_a_run_ends_with_it(fixture: Fixture) {
        let app = &fixture.app;
        let solver = fixture.solver(&fixture.author, "solver").await;
        let version = fixture.version(1, json!({})).await;
        let cancelled = fixture.agent(&solver, &version, false).await;
        app::runs::cancel_run(app, &fixture.author, &cancelled.created.id, None).await.unwrap();
        let error = fixture.run_grant(&cancelled.created.bearer_token).await.map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("cancelled"), "{error}");
        let expired = fixture.agent(&solver, &version, false).await;
        let now = fixture.clock.now();
        fixture.clock.advance(expired.created.bearer_token_expires_at.milliseconds() - now.milliseconds());
        let error = fixture.run_grant(&expired.created.bearer_token).await.map(|_| ()).unwrap_err();
        assert!(matches!(error, AppError::TokenExpired), "{error:?}");
    }

    async fn the_agent_of_a_scored_run_does_not_see_which_tasks_it_works_on(fixture: Fixture) {
        let app = &fixture.app;
        let solver = fixture.solver(&fixture.author, "solver").await;
        let draft = fixture.draft(1, json!({})).await;
        let version = fixture.publish(&draft).await.unwrap();
        let agent = fixture.agent(&solver, &version, true).await;
        assert_ne!(agent.created.task_runs[0].task_id, draft.tasks[0]);
        agent.start(app, 0).await.unwrap();
        let result = app::runs::complete_task_run(app, &agent.grant, agent.task(0), None).await.unwrap().value;
        assert!(result.checks.iter().all(|check| check.evidence.is_none() && check.details.is_none()));
        let full = app::runs::get_task_run(app, &fixture.author, agent.task(0)).await.unwrap();
        assert_eq!(full.task_id, draft.tasks[0]);
        assert_eq!(full.snapshot.unwrap().name, "Task 0");
        // The solver may see it after the run has ended, the run's token never.
        let summary = app::runs::get_run_summary(app, &solver, &agent.created.id).await.unwrap();
        assert_eq!(summary.task_runs[0].task_id, draft.tasks[0]);
        let summary = app::runs::get_run_summary(app, &agent.grant, &agent.created.id).await.unwrap();
        assert_ne!(summary.task_runs[0].task_id, draft.tasks[0]);
    }
}
