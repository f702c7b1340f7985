//! Carries the steps of a scenario out: those that are due at the start in their order, all or none; later ones when
//! somebody looks after they became due.

use model::event::EventType;
use model::reading::shortened;
use model::{FieldErrors, Timestamp};
use serde_json::{Map, Value};
use world::{Change, Context, NewEvent, Outcome, World};

use super::changes::Changes;
use super::find;
use super::prepare::Prepared;
use super::scheduled::{self, SCHEDULED};
use super::step::{Arrival, Done, Stage, object};

/// Who did it, in the events of a scenario.
const ACTOR: &str = "scenario";
/// Marks an event that tells of what a step brought; its value is the step's number.
const MARK: &str = "scenario_step";
const LONGEST_SUMMARY: usize = 200;

/// Carries out the steps that are due at once, in order, each on the world that the ones before leave, and puts the
/// later ones by: all or none. Faults are named like `steps.1.bundle`. Once for a playground, or once after each reset.
pub fn begin(world: &World, context: &Context<'_>, steps: &[Prepared]) -> Result<Outcome<()>, FieldErrors> {
    let mut run = Run::new(world, context);
    for step in steps {
        let begun = match step.after_seconds {
            ..=0 => run.carry_out(step, None),
            seconds => run.put_by(step, context.now.plus_milliseconds(seconds.saturating_mul(1000))),
        };
        begun.map_err(|faults| {
            let mut errors = FieldErrors::new();
            errors.nest(&format!("steps.{}", step.index), faults);
            errors
        })?;
    }
    Ok(run.outcome())
}

/// Carries out every step that was put by and is due, in order of time and then of number. One that cannot be carried
/// out any more is told in an event and dropped. The outcome is a message of its own: it must be in the log before what
/// an agent does next.
pub fn catch_up(world: &World, context: &Context<'_>) -> Outcome<()> {
    let mut run = Run::new(world, context);
    for put_by in scheduled::due(world, context.now) {
        if let Err(faults) = run.carry_out(&put_by.step, Some(put_by.due_at)) {
            run.drop_step(&put_by.step, put_by.due_at, &faults);
        }
        run.take_off(&put_by.step, &put_by.key);
    }
    run.outcome()
}

struct Run<'a> {
    before: &'a World,
    context: &'a Context<'a>,
    /// As the steps so far have left it.
    staged: World,
    changes: Changes,
    events: Vec<NewEvent>,
}

impl<'a> Run<'a> {
    fn new(world: &'a World, context: &'a Context<'a>) -> Self {
        Self { before: world, context, staged: world.clone(), changes: Changes::default(), events: Vec::new() }
    }

    fn outcome(self) -> Outcome<()> {
        Outcome { answer: (), changes: self.changes.settled(self.before), events: self.events }
    }

    /// `due_at` is given for a step that was put by. A step that fails leaves nothing.
    fn carry_out(&mut self, step: &Prepared, due_at: Option<Timestamp>) -> Result<(), FieldErrors> {
        let (_, info) = find(&step.name).ok_or_else(|| FieldErrors::one("do", "no such step"))?;
        let stage = self.stage(step, due_at.unwrap_or(self.context.now))?;
        let Done { summary, told, changes, arrivals } = (info.carry_out)(&stage, &step.parameters)?;
        self.tell(step, due_at, "done", &summary, told);
        for arrival in arrivals {
            self.announce(step, arrival);
        }
        for change in changes {
            self.apply(change);
        }
        Ok(())
    }

    fn put_by(&mut self, step: &Prepared, due_at: Timestamp) -> Result<(), FieldErrors> {
        let (key, row) = scheduled::row(step, due_at);
        let change = self.stage(step, due_at)?.put(SCHEDULED, &key, &row);
        self.tell(step, Some(due_at), "scheduled", &format!("is due at {due_at}"), Map::new());
        self.apply(change);
        Ok(())
    }

    fn drop_step(&mut self, step: &Prepared, due_at: Timestamp, faults: &FieldErrors) {
        let reason = shortened(&faults.to_string(), 2000);
        let told = object([("reason", reason.as_str().into())]);
        self.tell(step, Some(due_at), "dropped", &format!("could not be carried out: {reason}"), told);
    }

    fn take_off(&mut self, step: &Prepared, key: &str) {
        if let Ok(stage) = self.stage(step, self.context.now) {
            let change = stage.delete(SCHEDULED, key);
            self.apply(change);
        }
    }

    fn stage<'s>(&'s self, step: &'s Prepared, due_at: Timestamp) -> Result<Stage<'s>, FieldErrors> {
        let sandbox = self.staged.sandboxes.get(&step.sandbox).filter(|sandbox| sandbox.is_active);
        let sandbox =
            sandbox.ok_or_else(|| FieldErrors::one("sandbox", "is not there or takes no traffic any more"))?;
        Ok(Stage { world: &self.staged, sandbox, context: self.context, due_at, file: step.file.as_ref() })
    }

    fn apply(&mut self, change: Change) {
        self.staged.apply(self.before.seq + 1, &change);
        self.changes.add(change);
    }

    fn tell(
        &mut self,
        step: &Prepared,
        due_at: Option<Timestamp>,
        outcome: &str,
        summary: &str,
        told: Map<String, Value>,
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
        payload.extend(told);
        let summary = format!("step {} {}: {summary}", step.index, step.name);
        self.log(step, EventType::ScenarioStep, &summary, payload);
    }

    fn announce(&mut self, step: &Prepared, arrival: Arrival) {
        let Arrival { r#type, summary, mut payload } = arrival;
        payload.insert(MARK.to_owned(), step.index.into());
        self.log(step, r#type, &summary, payload);
    }

    fn log(&mut self, step: &Prepared, r#type: EventType, summary: &str, payload: Map<String, Value>) {
        let one_line: String = summary.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        self.events.push(NewEvent {
            sandbox: step.sandbox.clone(),
            r#type,
            actor: ACTOR.to_owned(),
            summary: shortened(&one_line, LONGEST_SUMMARY),
            payload: Value::Object(payload).into(),
        });
    }
}
