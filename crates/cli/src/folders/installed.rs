//! `verial benchmarks install`: the bundled benchmarks on a server.

use clap::Args;
use serde_json::json;

use crate::auth::Connection;
use crate::output::{Form, say, tell};
use crate::{block_on, exit, local};

#[derive(Args)]
pub(crate) struct Install {
    #[command(flatten)]
    connection: Connection,
    /// Their slugs; all of them without it
    slugs: Vec<String>,
}

pub(super) fn install(arguments: &Install, form: &Form) -> anyhow::Result<()> {
    let bundled = agents::bundled::slugs();
    if let Some(unknown) = arguments.slugs.iter().find(|slug| !bundled.contains(&slug.as_str())) {
        return Err(exit::usage(format!("`{unknown}` is not bundled; there are {}", bundled.join(", "))));
    }
    let wanted: Vec<&str> = match arguments.slugs.is_empty() {
        true => bundled,
        false => arguments.slugs.iter().map(String::as_str).collect(),
    };
    let client = arguments.connection.client()?;
    block_on(async {
        for slug in &wanted {
            local::load_benchmarks(&client, Some(slug), |slug| tell(format_args!("loading {slug}"))).await?;
        }
        Ok(())
    })?;
    form.print(&json!({"installed": wanted}), |_| say(format_args!("Installed: {}.", wanted.join(", "))))
}
