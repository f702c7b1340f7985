//! The seed of the server's SSH host key. It is created once and stored in the database, so that all nodes use the same key.

use crate::{App, AppError, random};

const NAME: &str = "ssh_host_key";

pub async fn seed(app: &App) -> Result<[u8; 32], AppError> {
    let fresh: String = random::bytes::<32>()?.iter().map(|byte| format!("{byte:02x}")).collect();
    let now = app.now();
    let keep = move |db: &mut store::Db<'_>| Ok(store::server_secrets::find_or_keep(db, NAME, &fresh, now)?);
    let kept: Result<String, AppError> = app.store().write(keep).await;
    let kept = kept?;
    let byte = |at: usize| kept.get(2 * at..2 * at + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    let bytes: Option<Vec<u8>> = (0..32).map(byte).collect();
    bytes.and_then(|bytes| bytes.try_into().ok()).ok_or_else(|| AppError::Internal("the host key is damaged".into()))
}
