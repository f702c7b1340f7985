//! Executes scenario steps: [`begin`] those that are due at the start, in order and atomically; [`catch_up`] those that
//! were deferred and have become due.

use model::event::EventType;
use model::reading::shortened;
use model::{FieldErrors, Timestamp};
use serde_json::{Map, Value};
use world::{Change, Context, NewEvent, Outcome, World};

use super::changes::MergedChanges;
use super::find;
use super::prepare::PreparedStep;
use super::scheduled::{self, SCHEDULED};
use super::step::{Arrival, StepContext, StepOutput, object};

/// The actor of scenario events.
const ACTOR: &str = "scenario";
/// Member of an arrival's payload that holds the step's index.
const STEP_INDEX_MEMBER: &str = "scenario_step";
const MAX_SUMMARY_LENGTH: usize = 200;

/// Executes the steps without a delay in order, each on the world that the previous steps left, and defers the others.
/// Atomic: if a step fails, nothing happens. Errors are named like `steps.1.bundle`. Call this once for a playground and
/// once after each reset.
pub fn begin(world: &World, context: &Context<'_>, steps: &[PreparedStep]) -> Result<Outcome<()>, FieldErrors> {
    let mut run = ScenarioRun::new(world, context);
    for step in steps {
        let result = match step.after_seconds {
            ..=0 => run.execute(step, None),
            seconds => run.defer(step, context.now.plus_milliseconds(seconds.saturating_mul(1000))),
        };
        result.map_err(|step_errors| {
            let mut errors = FieldErrors::new();
            errors.nest(&format!("steps.{}", step.index), step_errors);
            errors
        })?;
    }
    Ok(run.outcome())
}

/// Executes every deferred step that is due, ordered by due time and index. A step that fails is dropped with an event.
/// The outcome must be a message of its own, which comes before the agent's next action in the log.
pub fn catch_up(world: &World, context: &Context<'_>) -> Outcome<()> {
    let mut run = ScenarioRun::new(world, context);
    for deferred in scheduled::due(world, context.now) {
        if let Err(errors) = run.execute(&deferred.step, Some(deferred.due_at)) {
            run.log_dropped(&deferred.step, deferred.due_at, &errors);
        }
        run.remove_deferred(&deferred.step, &deferred.key);
    }
    run.outcome()
}

struct ScenarioRun<'a> {
    before: &'a World,
    context: &'a Context<'a>,
    /// The world after the steps so far.
    staged: World,
    changes: MergedChanges,
    events: Vec<NewEvent>,
}

impl<'a> ScenarioRun<'a> {
    fn new(world: &'a World, context: &'a Context<'a>) -> Self {
        Self { before: world, context, staged: world.clone(), changes: MergedChanges::default(), events: Vec::new() }
    }

    fn outcome(self) -> Outcome<()> {
        Outcome { answer: (), changes: self.changes.relative_to(self.before), events: self.events }
    }

    /// `due_at` is given for a deferred step. A step that fails changes nothing.
    fn execute(&mut self, step: &PreparedStep, due_at: Option<Timestamp>) -> Result<(), FieldErrors> {
        let (_, info) = find(&step.name).ok_or_else(|| FieldErrors::one("do", "no such step"))?;
        let context = self.step_context(step, due_at.unwrap_or(self.context.now))?;
        let StepOutput { summary, details, changes, arrivals } = (info.execute)(&context, &step.parameters)?;
        self.log_step(step, due_at, "done", &summary, details);
        for arrival in arrivals {
            self.log_arrival(step, arrival);
        }
        for change in changes {
            self.apply(change);
        }
        Ok(())
    }

    fn defer(&mut self, step: &PreparedStep, due_at: Timestamp) -> Result<(), FieldErrors> {
        let (key, row) = scheduled::row(step, due_at);
        let change = self.step_context(step, due_at)?.put(SCHEDULED, &key, &row);
        self.log_step(step, Some(due_at), "scheduled", &format!("is due at {due_at}"), Map::new());
        self.apply(change);
        Ok(())
    }

    fn remove_deferred(&mut self, step: &PreparedStep, key: &str) {
        if let Ok(context) = self.step_context(step, self.context.now) {
            let change = context.delete(SCHEDULED, key);
            self.apply(change);
        }
    }

    fn step_context<'s>(&'s self, step: &'s PreparedStep, due_at: Timestamp) -> Result<StepContext<'s>, FieldErrors> {
        let sandbox = self.staged.sandboxes.get(&step.sandbox).filter(|sandbox| sandbox.is_active);
        let sandbox = sandbox.ok_or_else(|| FieldErrors::one("sandbox", "does not exist or is not active any more"))?;
        Ok(StepContext { world: &self.staged, sandbox, world_context: self.context, due_at, file: step.file.as_ref() })
    }

    fn apply(&mut self, change: Change) {
        self.staged.apply(self.before.seq + 1, &change);
        self.changes.add(change);
    }

    fn log_dropped(&mut self, step: &PreparedStep, due_at: Timestamp, errors: &FieldErrors) {
        let reason = shortened(&errors.to_string(), 2000);
        let details = object([("reason", reason.as_str().into())]);
        self.log_step(step, Some(due_at), "dropped", &format!("could not be carried out: {reason}"), details);
    }

    fn log_step(
        &mut self,
        step: &PreparedStep,
        due_at: Option<Timestamp>,
        outcome: &str,
        summary: &str,
        details: Map<String, Value>,
    ) {
        let mut payload = object([
            ("index", step.index.into()),
            ("do", step.name.as_str().into()),
            ("sandbox", step.sandbox.to_string().into()),
            ("outcome", outcome.into()),
        ]);
        if let Some(due_at) = due_at {
            payload.insert("due_at".to_owned(), due_at.to_string().into());
        }
        payload.extend(details);
        let summary = format!("step {} {}: {summary}", step.index, step.name);
        self.log(step, EventType::ScenarioStep, &summary, payload);
    }

    fn log_arrival(&mut self, step: &PreparedStep, arrival: Arrival) {
        let Arrival { r#type, summary, mut payload } = arrival;
        payload.insert(STEP_INDEX_MEMBER.to_owned(), step.index.into());
        self.log(step, r#type, &summary, payload);
    }

    fn log(&mut self, step: &PreparedStep, r#type: EventType, summary: &str, payload: Map<String, Value>) {
        let one_line: String = summary.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        self.events.push(NewEvent {
            sandbox: step.sandbox.clone(),
            r#type,
            actor: ACTOR.to_owned(),
            summary: shortened(&one_line, MAX_SUMMARY_LENGTH),
            payload: Value::Object(payload).into(),
        });
    }
}
