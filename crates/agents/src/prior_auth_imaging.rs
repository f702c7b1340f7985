//! Reference agent of `prior-auth-imaging`: requests authorization for an imaging order and records the outcome.

use anyhow::Context;
use client::segment;
use serde_json::Value;

use crate::prior_auth::{Order, Outcome};
use crate::sandbox::Sandbox;

pub(crate) async fn solve(sandbox: &Sandbox) -> anyhow::Result<()> {
    let order = Order::read(sandbox, sandbox.item_text("order")?).await?;
    let outcome = outcome(sandbox, &order).await?;
    order.record(sandbox, &outcome).await
}

async fn outcome(sandbox: &Sandbox, order: &Order) -> anyhow::Result<Outcome> {
    if order.resource["status"] != "active" {
        return Ok(Outcome::plain("order_withdrawn"));
    }
    let code = order.resource["code"]["coding"][0]["code"].as_str().context("the order has no code")?;
    let listed = sandbox.item["codes_that_need_authorization"].as_array().context("the task lists no codes")?;
    if listed.iter().all(|listed| listed != code) {
        return Ok(Outcome::plain("not_required"));
    }
    let timestamp = order.resource["occurrenceDateTime"].as_str().context("the order has no date")?;
    let day = timestamp.get(..10).unwrap_or(timestamp);
    let member = order.member(sandbox, day).await?;
    if let Some(request) = approved_before(sandbox, &member, code).await? {
        return Outcome::approved(&request);
    }
    let mut request = order.request(sandbox, &member).await?;
    request["procedure_code"] = code.into();
    request["service_date"] = day.into();
    order.submit(sandbox, &request).await
}

/// An earlier request for the same procedure that the payer has approved.
async fn approved_before(sandbox: &Sandbox, member: &str, code: &str) -> anyhow::Result<Option<Value>> {
    let (member, code) = (segment(member, false), segment(code, false));
    let listed = sandbox.get(&format!("portal/prior-auths?patient_member_id={member}&procedure_code={code}")).await?;
    let rows = listed["data"].as_array().cloned().unwrap_or_default();
    let is_valid = |row: &Value| row["determination"]["status"] == "approved" && row["status"] != "withdrawn";
    Ok(rows.into_iter().find(is_valid))
}
