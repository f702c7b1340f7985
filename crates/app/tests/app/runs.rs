//! Runs: created, started, completed, cancelled, and expired.

use app::AppError;
use model::run::{Phase, Status};
use serde_json::json;

use crate::both_databases;
use crate::fixture::{BASE, TIMEOUT, conflict, request};

both_databases! {
    async fn a_run_is_scored_task_by_task(fixture: Fixture) {
        let app = &fixture.app;
        let solver = fixture.solver(&fixture.author, "solver").await;
        let agent = fixture.agent(&solver, &fixture.version(2, json!({})).await, false).await;
        agent.start(app, 0).await.unwrap();
        assert_eq!(agent.write(app, "a").await.unwrap().status, 201);
        let result = app::runs::complete_task_run(app, &agent.grant, agent.task(0), None).await.unwrap().value;
        assert_eq!(json!(result.score), json!(1.0));
        assert_eq!(result.benchmark_run.status, Status::Active);
        agent.start(app, 1).await.unwrap();
        agent.write(app, "something else").await.unwrap();
        let result = app::runs::complete_task_run(app, &agent.grant, agent.task(1), None).await.unwrap().value;
        assert_eq!(json!(result.score), json!(0.0));
        let run = app::runs::get_run(app, &fixture.author, &agent.created.id).await.unwrap();
        assert_eq!((run.status, json!(run.score)), (Status::Completed, json!(0.5)));
        assert_eq!(run.task_runs.unwrap().len(), 2);
    }

    async fn a_draft_is_frozen_when_its_run_is_created(fixture: Fixture) {
        let (app, author) = (&fixture.app, &fixture.author);
        let draft = fixture.draft(1, json!({})).await;
        let new = request(json!({"benchmark_id": draft.id}));
        let run = app::runs::create_run(app, author, BASE, None, new).await.unwrap().value;
        let patch = request(json!({"name": "Renamed"}));
        app::tasks::update(app, author, &draft.tasks[0], app::etag::IfMatch::default(), patch).await.unwrap();
        let task_run = app::runs::get_task_run(app, author, &run.task_runs[0].id).await.unwrap();
        assert_eq!(task_run.name, "Task 0");
    }

    async fn a_selection_of_unknown_tasks_is_rejected(fixture: Fixture) {
        let draft = fixture.draft(2, json!({})).await;
        let new = request(json!({"benchmark_id": draft.id, "tasks": ["Task 1", "Task 7"]}));
        let rejected = app::runs::create_run(&fixture.app, &fixture.author, BASE, None, new).await.unwrap_err();
        assert!(matches!(&rejected, AppError::Invalid(errors) if errors.to_string().contains("tasks.1")), "{rejected:?}");
        let new = request(json!({"benchmark_id": draft.id, "tasks": ["Task 1"]}));
        let run = app::runs::create_run(&fixture.app, &fixture.author, BASE, None, new).await.unwrap().value;
        assert!(run.partial_selection);
        assert_eq!(run.task_runs.len(), 1);
    }

    async fn a_task_run_goes_through_its_phases_once(fixture: Fixture) {
        let app = &fixture.app;
        let solver = fixture.solver(&fixture.author, "solver").await;
        let agent = fixture.agent(&solver, &fixture.version(2, json!({})).await, false).await;
        let complete = || app::runs::complete_task_run(app, &agent.grant, agent.task(0), None);
        assert!(conflict(agent.write(app, "a").await).contains("no task of the run is started"));
        assert!(conflict(complete().await).contains("is not started"));
        agent.start(app, 0).await.unwrap();
        assert!(conflict(agent.start(app, 0).await).contains("is started already"));
        assert!(conflict(agent.start(app, 1).await).contains("may be started at a time"));
        complete().await.unwrap();
        assert!(conflict(complete().await).contains("its result stands"));
        assert!(conflict(agent.start(app, 0).await).contains("cannot be started again"));
        conflict(agent.write(app, "a").await);
        let cancelled = app::runs::cancel_task_run(app, &agent.grant, agent.task(0), None).await;
        assert!(conflict(cancelled).contains("has ended already"));
    }

    async fn an_organization_completes_a_task_that_was_not_started(fixture: Fixture) {
        let app = &fixture.app;
        let solver = fixture.solver(&fixture.author, "solver").await;
        let agent = fixture.agent(&solver, &fixture.version(1, json!({})).await, false).await;
        let completed = app::runs::complete_task_run(app, &fixture.author, agent.task(0), None).await.unwrap().value;
        assert_eq!((completed.phase, completed.status), (Phase::Completed, Status::Completed));
        assert!(completed.started_at.is_some());
        assert_eq!(completed.snapshot.unwrap().criteria.len(), 1);
    }

    async fn an_overdue_task_run_times_out_when_it_is_read(fixture: Fixture) {
        let app = &fixture.app;
        let solver = fixture.solver(&fixture.author, "solver").await;
        let agent = fixture.agent(&solver, &fixture.version(1, json!({})).await, false).await;
        agent.start(app, 0).await.unwrap();
        agent.write(app, "a").await.unwrap();
        fixture.clock.advance(TIMEOUT - 1);
        let result = app::runs::get_task_run(app, &agent.grant, agent.task(0)).await.unwrap();
        assert_eq!(result.status, Status::Active);
        fixture.clock.advance(1);
        let result = app::runs::get_task_run(app, &agent.grant, agent.task(0)).await.unwrap();
        assert_eq!((result.phase, result.status), (Phase::Completed, Status::TimedOut));
        assert_eq!(result.benchmark_run.status, Status::Completed);
        assert_eq!(json!(result.benchmark_run.score), json!(0.0));
    }

    async fn a_late_completion_is_rejected(fixture: Fixture) {
        let app = &fixture.app;
        let solver = fixture.solver(&fixture.author, "solver").await;
        let agent = fixture.agent(&solver, &fixture.version(1, json!({})).await, false).await;
        agent.start(app, 0).await.unwrap();
        agent.write(app, "a").await.unwrap();
        fixture.clock.advance(TIMEOUT);
        assert!(conflict(agent.write(app, "a").await).contains("timed out"));
        let late = app::runs::complete_task_run(app, &agent.grant, agent.task(0), None).await;
        let Err(AppError::Conflict { message, details }) = late else { panic!("{late:?}") };
        assert!(message.contains("timed out"), "{message}");
        assert!(details.to_string().contains("timed_out"), "{details}");
        let run = app::runs::get_run(app, &fixture.author, &agent.created.id).await.unwrap();
        assert_eq!((run.status, json!(run.score)), (Status::Completed, json!(0.0)));
    }

    async fn the_sweep_ends_overdue_task_runs(fixture: Fixture) {
        let app = &fixture.app;
        let solver = fixture.solver(&fixture.author, "solver").await;
        let agent = fixture.agent(&solver, &fixture.version(1, json!({})).await, false).await;
        agent.start(app, 0).await.unwrap();
        fixture.clock.advance(TIMEOUT);
        app::runs::sweep(app).await.unwrap();
        // At an earlier time nothing would expire on reading.
        fixture.clock.advance(-TIMEOUT);
        let result = app::runs::get_task_run(app, &agent.grant, agent.task(0)).await.unwrap();
        assert_eq!(result.status, Status::TimedOut);
    }

    async fn completing_a_run_scores_the_started_tasks_and_cancels_the_others(fixture: Fixture) {
        let app = &fixture.app;
        let solver = fixture.solver(&fixture.author, "solver").await;
        let agent = fixture.agent(&solver, &fixture.version(2, json!({})).await, false).await;
        agent.start(app, 0).await.unwrap();
        agent.write(app, "a").await.unwrap();
        let run = app::runs::complete_run(app, &fixture.author, &agent.created.id, None).await.unwrap().value;
        assert_eq!((run.status, json!(run.score)), (Status::Completed, json!(0.5)));
        let statuses: Vec<Status> = run.task_runs.unwrap().iter().map(|task_run| task_run.status).collect();
        assert_eq!(statuses, [Status::Completed, Status::Cancelled]);
        let again = app::runs::complete_run(app, &fixture.author, &agent.created.id, None).await;
        assert!(conflict(again).contains("only an active run can be ended"));
    }

    async fn cancelling_a_run_keeps_the_results_of_completed_tasks(fixture: Fixture) {
        let app = &fixture.app;
        let solver = fixture.solver(&fixture.author, "solver").await;
        let agent = fixture.agent(&solver, &fixture.version(2, json!({})).await, false).await;
        agent.start(app, 0).await.unwrap();
        agent.write(app, "a").await.unwrap();
        app::runs::complete_task_run(app, &agent.grant, agent.task(0), None).await.unwrap();
        let run = app::runs::cancel_run(app, &fixture.author, &agent.created.id, None).await.unwrap().value;
        assert_eq!((run.status, run.score), (Status::Cancelled, None));
        let task_runs = run.task_runs.unwrap();
        assert_eq!((task_runs[0].status, json!(task_runs[0].score)), (Status::Completed, json!(1.0)));
        assert_eq!(task_runs[1].status, Status::Cancelled);
    }

    async fn a_cancelled_task_run_counts_as_zero(fixture: Fixture) {
        let app = &fixture.app;
        let solver = fixture.solver(&fixture.author, "solver").await;
        let agent = fixture.agent(&solver, &fixture.version(2, json!({})).await, false).await;
        let cancelled = app::runs::cancel_task_run(app, &agent.grant, agent.task(0), None).await.unwrap().value;
        assert_eq!((cancelled.status, cancelled.benchmark_run.status), (Status::Cancelled, Status::Active));
        agent.start(app, 1).await.unwrap();
        agent.write(app, "a").await.unwrap();
        let result = app::runs::complete_task_run(app, &agent.grant, agent.task(1), None).await.unwrap().value;
        assert_eq!(json!(result.benchmark_run.score), json!(0.5));
    }
}
