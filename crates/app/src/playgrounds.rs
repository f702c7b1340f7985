//! Playgrounds: one sandbox for each simulator of an environment, with one log and one baseline.

use model::page::{Page, PageRequest};
use model::playground::{NewPlayground, Playground};
use model::{EnvironmentId, EventId, OrgId, PlaygroundId, SandboxId, TaskRunId};
use store::log::{Entry, Text};
use store::{Db, environments, log, playgrounds, simulators};

use crate::idempotency::ResponseStorage;
use crate::sandboxes::{self, Addresses, BaseUrl, Seed};
use crate::{App, AppError, Created, Once, OrgGrant};

pub async fn create(
    app: &App,
    grant: &OrgGrant,
    base: BaseUrl<'_>,
    once: Option<Once>,
    new: NewPlayground,
) -> Result<Created<Playground>, AppError> {
    let (org, now, base) = (grant.org.clone(), app.now(), app.addresses(base));
    let playground: PlaygroundId = app.new_id();
    // One for each simulator that an environment can have.
    let seeds = (0..MAX_SIMULATORS)
        .map(|_| {
            let (id, playground, secret) = (app.new_id(), playground.clone(), sandboxes::new_secret()?);
            Ok(Seed { id, playground, secret, now, is_standalone: false })
        })
        .collect::<Result<Vec<Seed>, AppError>>()?;
    let work = move |db: &mut Db<'_>| {
        let environment =
            environments::find(db, &org, &new.environment_id)?.ok_or(AppError::missing::<EnvironmentId>())?;
        if environment.simulators.is_empty() {
            return Err(AppError::conflict("the environment has no simulators; attach one first"));
        }
        if environment.simulators.len() > seeds.len() {
            return Err(AppError::conflict(format!("a playground has at most {MAX_SIMULATORS} sandboxes")));
        }
        playgrounds::insert(db, &org, &playground, Some(&environment.id), now)?;
        for (simulator, seed) in environment.simulators.iter().zip(&seeds) {
            let simulator = simulators::find(db, &org, &simulator.id)?;
            let simulator = simulator.ok_or_else(|| AppError::Internal("an attached simulator is missing".into()))?;
            sandboxes::provision(db, &org, &simulator, None, seed.clone())?;
        }
        found(db, &org, &playground, &base)
    };
    app.once(grant, once, ResponseStorage::Encrypted, work).await
}

const MAX_SIMULATORS: usize = 50;

pub async fn get(app: &App, grant: &OrgGrant, base: BaseUrl<'_>, id: &PlaygroundId) -> Result<Playground, AppError> {
    let (org, id, base) = (grant.org.clone(), id.clone(), app.addresses(base));
    app.store().read(move |db| found(db, &org, &id, &base)).await
}

pub async fn list(
    app: &App,
    grant: &OrgGrant,
    base: BaseUrl<'_>,
    page: PageRequest,
) -> Result<Page<Playground>, AppError> {
    let (org, base) = (grant.org.clone(), app.addresses(base));
    let listed = move |db: &mut Db<'_>| {
        let mut page = playgrounds::list(db, &org, &page)?;
        for playground in &mut page.items {
            fill(db, playground, &base)?;
        }
        Ok::<_, AppError>(page)
    };
    app.store().read(listed).await
}

/// Resets all changes to the baseline. Events stay.
pub async fn reset(
    app: &App,
    grant: &OrgGrant,
    base: BaseUrl<'_>,
    id: &PlaygroundId,
    once: Option<Once>,
) -> Result<Created<Playground>, AppError> {
    check_own(app, grant, id).await?;
    app.runtime().flush(id).await?;
    let playground = id;
    let (org, id, now, base) = (grant.org.clone(), id.clone(), app.now(), app.addresses(base));
    let (event, actor) = (app.new_id::<EventId>(), grant.key.to_string());
    let work = move |db: &mut Db<'_>| {
        let before = found(db, &org, &id, &base)?;
        check_free(db, &org, &id)?;
        let seq = playgrounds::reset(db, &id, now)?;
        let seq = seq.ok_or_else(|| AppError::conflict("the playground is torn down; make a new one"))?;
        // The event is about the whole playground and belongs to the first sandbox.
        if let Some(sandbox) = before.sandboxes.first() {
            log::insert_event(db, &id, seq, &reset_entry(&event, &sandbox.id, now, &actor))?;
        }
        found(db, &org, &id, &base)
    };
    let reset = app.once(grant, once, ResponseStorage::Encrypted, work).await;
    app.runtime().invalidate(playground);
    reset
}

fn reset_entry(id: &EventId, sandbox: &SandboxId, at: model::Timestamp, actor: &str) -> Entry {
    Entry {
        id: id.clone(),
        sandbox: sandbox.clone(),
        r#type: model::event::EventType::Reset,
        at,
        actor: actor.to_owned(),
        summary: "The playground went back to its baseline".to_owned(),
        payload: Text::Inline("{}".into()),
        changes: Vec::new(),
    }
}

/// Ends traffic and credentials of every sandbox. Ending it again changes nothing.
pub async fn tear_down(
    app: &App,
    grant: &OrgGrant,
    base: BaseUrl<'_>,
    id: &PlaygroundId,
    once: Option<Once>,
) -> Result<Created<Playground>, AppError> {
    check_own(app, grant, id).await?;
    app.runtime().flush(id).await?;
    let playground = id;
    let (org, id, now, base) = (grant.org.clone(), id.clone(), app.now(), app.addresses(base));
    let work = move |db: &mut Db<'_>| {
        found(db, &org, &id, &base)?;
        check_free(db, &org, &id)?;
        playgrounds::tear_down(db, &id, now)?;
        found(db, &org, &id, &base)
    };
    let ended = app.once(grant, once, ResponseStorage::Plain, work).await;
    app.runtime().invalidate(playground);
    if let Ok(ended) = &ended {
        ended.value.sandboxes.iter().for_each(|sandbox| app.notify_sandbox_end(&sandbox.id));
    }
    ended
}

/// Fails for the playground of a task run, which cannot be reset, torn down or changed by requests.
pub(crate) fn check_free(db: &mut Db<'_>, org: &OrgId, id: &PlaygroundId) -> Result<(), AppError> {
    match playgrounds::find(db, org, id)?.and_then(|playground| playground.task_run_id) {
        None => Ok(()),
        Some(task_run) => Err(belongs_to(&task_run)),
    }
}

fn belongs_to(task_run: &TaskRunId) -> AppError {
    AppError::conflict(format!("the playground belongs to {task_run}; complete or cancel that"))
}

/// Fails if the playground does not belong to the caller's organization, or if it belongs to a task run.
async fn check_own(app: &App, grant: &OrgGrant, id: &PlaygroundId) -> Result<(), AppError> {
    let (org, wanted) = (grant.org.clone(), id.clone());
    let known = app.store().read(move |db| playgrounds::find(db, &org, &wanted)).await?;
    let known = known.ok_or(AppError::missing::<PlaygroundId>())?;
    known.task_run_id.map_or(Ok(()), |task_run| Err(belongs_to(&task_run)))
}

fn found(db: &mut Db<'_>, org: &OrgId, id: &PlaygroundId, base: &Addresses) -> Result<Playground, AppError> {
    let mut playground = playgrounds::find(db, org, id)?.ok_or(AppError::missing::<PlaygroundId>())?;
    fill(db, &mut playground, base)?;
    Ok(playground)
}

fn fill(db: &mut Db<'_>, playground: &mut Playground, base: &Addresses) -> Result<(), AppError> {
    let stored = store::sandboxes::of_playground(db, &playground.id)?;
    playground.sandboxes = stored.iter().map(|sandbox| sandboxes::view(sandbox, base)).collect();
    Ok(())
}
