//! `verial benchmarks install`: publishes the bundled benchmarks on a server.

use clap::Args;
use serde_json::json;

use crate::auth::Connection;
use crate::output::{OutputFormat, eprint, print};
use crate::{block_on, exit, local_server};

#[derive(Args)]
pub(crate) struct Install {
    #[command(flatten)]
    connection: Connection,
    /// Slugs of the benchmarks; all if omitted
    slugs: Vec<String>,
}

pub(super) fn install(arguments: &Install, format: &OutputFormat) -> anyhow::Result<()> {
    let bundled = agents::bundled::slugs();
    if let Some(unknown) = arguments.slugs.iter().find(|slug| !bundled.contains(&slug.as_str())) {
        return Err(exit::usage(format!("`{unknown}` is not bundled; bundled are {}", bundled.join(", "))));
    }
    let wanted: Vec<&str> = match arguments.slugs.is_empty() {
        true => bundled,
        false => arguments.slugs.iter().map(String::as_str).collect(),
    };
    let client = arguments.connection.client()?;
    block_on(async {
        for slug in &wanted {
            local_server::load_benchmarks(&client, Some(slug), |slug| eprint(format_args!("loading {slug}"))).await?;
        }
        Ok(())
    })?;
    format.print(&json!({"installed": wanted}), |_| print(format_args!("Installed: {}.", wanted.join(", "))))
}
