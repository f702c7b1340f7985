//! `verial serve`: runs the server.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context;
use app::{App, Options, SftpAddress};
use clap::Args;
use server::ServerOptions;
use tokio::net::TcpListener;

use crate::block_on;
use crate::exit::ListenError;
use crate::output::{Style, print};
use crate::settings::{self, SettingsFile, Storage, StorageArguments};

/// How long requests may take to finish after a stop signal.
const MAX_DRAIN: Duration = Duration::from_secs(30);

#[derive(Args)]
pub(crate) struct ServeArgs {
    /// Address of the HTTP server; port 0 uses a free one [default: 127.0.0.1:8080]
    #[arg(long, env = "VERIAL_LISTEN", value_name = "ADDR")]
    listen: Option<SocketAddr>,
    #[command(flatten)]
    storage: StorageArguments,
    /// The URL that clients use, if it differs from the listen address
    #[arg(long, env = "VERIAL_PUBLIC_URL", value_name = "URL")]
    public_url: Option<String>,
    /// MLLP ports of HL7 sandboxes: HOST:0 uses free ports, HOST:FIRST-LAST a range, `off` disables MLLP
    /// [default: 127.0.0.1:0]
    #[arg(long, env = "VERIAL_MLLP_LISTEN", value_name = "ADDR")]
    mllp_listen: Option<String>,
    /// Address of the SFTP server; port 0 uses a free one [default: 127.0.0.1:0]
    #[arg(long, env = "VERIAL_SFTP_LISTEN", value_name = "ADDR")]
    sftp_listen: Option<SocketAddr>,
    /// HOST or HOST:PORT where clients reach the SFTP server, if it differs from the host of the public URL
    #[arg(long, env = "VERIAL_SFTP_PUBLIC", value_name = "HOST")]
    sftp_public: Option<String>,
    /// Set a limit; repeatable: --limit upload_bytes=134217728
    #[arg(long = "limit", env = "VERIAL_LIMITS", value_name = "NAME=VALUE", value_delimiter = ',')]
    limits: Vec<String>,
    /// A server that simulators may call: HOST, HOST:PORT or a network (10.1.0.0/16); repeatable. By default they may call none
    #[arg(long = "allow-host", env = "VERIAL_ALLOW_HOSTS", value_name = "HOST", value_delimiter = ',')]
    allowed_hosts: Vec<String>,
    /// Load the bundled benchmarks that the server does not have yet
    #[arg(long)]
    bundled: bool,
    /// Log filter, such as `info` or `warn,verial_server=debug` [default: info]
    #[arg(long, env = "VERIAL_LOG", value_name = "FILTER")]
    log: Option<String>,
    /// Log lines as JSON
    #[arg(long, env = "VERIAL_LOG_JSON", value_parser = clap::builder::BoolishValueParser::new())]
    log_json: bool,
}

pub(crate) fn run(arguments: ServeArgs) -> anyhow::Result<()> {
    let file = SettingsFile::read(arguments.storage.config.as_deref())?;
    start_log(arguments.log.as_deref().or(file.log.as_deref()).unwrap_or("info"), arguments.log_json || file.log_json)?;
    let listen = arguments.listen.or(file.listen).unwrap_or(SocketAddr::from(([127, 0, 0, 1], 8080)));
    let mllp = settings::mllp(arguments.mllp_listen.as_deref().or(file.mllp_listen.as_deref()))?;
    let limits = settings::limits(&file, &arguments.limits)?;
    let allowed_hosts = [arguments.allowed_hosts, file.allow_hosts.clone()].concat();
    let storage = Storage::merge(&arguments.storage, &file)?;
    // The app needs the port because it is part of the credentials.
    let sftp = sftp_listener(arguments.sftp_listen.or(file.sftp_listen))?;
    let public = arguments.sftp_public.or(file.sftp_public);
    let address = sftp_address(public.as_deref(), sftp.local_addr()?.port())?;
    let spool = Some(storage.spool());
    let app = storage.open(Options { limits, allowed_hosts, sftp: Some(address), spool, engine: None })?;
    let public_url = arguments.public_url.or(file.public_url);
    block_on(serve(app, (listen, sftp), ServerOptions { public_url, mllp }, arguments.bundled))
}

fn sftp_listener(address: Option<SocketAddr>) -> anyhow::Result<std::net::TcpListener> {
    let address = address.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0)));
    let listener = std::net::TcpListener::bind(address);
    let message = format!("cannot listen for SFTP on {address}");
    let listener = listener.with_context(|| ListenError { flag: "--sftp-listen", message })?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Parses `files.example`, `files.example:22` or `[::1]:22`.
fn sftp_address(public: Option<&str>, port: u16) -> anyhow::Result<SftpAddress> {
    let Some(public) = public else { return Ok(SftpAddress { host: None, port }) };
    let (host, port_text) = match public.rsplit_once(':') {
        Some((host, port_text)) if !host.contains(':') || host.ends_with(']') => (host, Some(port_text)),
        _ => (public, None),
    };
    let port = port_text.map_or(Ok(port), str::parse).context("--sftp-public must be HOST or HOST:PORT")?;
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    Ok(SftpAddress { host: Some(host), port })
}

async fn serve(
    app: App,
    (listen, sftp): (SocketAddr, std::net::TcpListener),
    options: ServerOptions,
    load_bundled_benchmarks: bool,
) -> anyhow::Result<()> {
    allow_many_connections();
    let listener = TcpListener::bind(listen).await.with_context(|| format!("cannot listen on {listen}"))?;
    let sftp = TcpListener::from_std(sftp)?;
    let sftp_listen_address = sftp.local_addr()?;
    let address = listener.local_addr()?;
    if let Some(first) = app::admin::create_first_organization(&app).await? {
        print(format_args!("Organization {} ({})", first.organization.name, first.organization.id));
        print(format_args!("API key, shown this once: {}", first.api_key.key));
    }
    let url = options.public_url.clone().unwrap_or_else(|| format!("http://{address}"));
    print(format_args!("SFTP is at {sftp_listen_address}"));
    print(format_args!("The API is described at {url}/docs"));
    print(format_args!("Verial {} listens on http://{address}", env!("CARGO_PKG_VERSION")));
    let (stopping, stopped) = tokio::sync::watch::channel(false);
    let stop_requested = async move {
        stop_signal().await;
        stopping.send_replace(true);
    };
    let shutdown = |mut stopped: tokio::sync::watch::Receiver<bool>| async move {
        let _ = stopped.wait_for(|stopped| *stopped).await;
    };
    if load_bundled_benchmarks {
        tokio::spawn(load_bundled(app.clone(), address));
    }
    let sessions = tokio::spawn(sftp::serve(sftp, app.clone(), shutdown(stopped.clone())));
    let serving = server::serve(listener, app, options, stop_requested);
    tokio::pin!(serving);
    tokio::select! {
        () = &mut serving => {}
        () = async { shutdown(stopped).await; tokio::time::sleep(MAX_DRAIN).await } => {
            tracing::warn!("some requests did not finish within {MAX_DRAIN:?}");
        }
    }
    sessions.abort();
    Ok(())
}

/// Loads the bundled benchmarks through the API with a temporary key.
async fn load_bundled(app: App, address: SocketAddr) {
    if let Err(error) = try_load_bundled(&app, address).await {
        tracing::error!(error = format!("{error:#}"), "the bundled benchmarks could not be loaded");
    }
}

async fn try_load_bundled(app: &App, address: SocketAddr) -> anyhow::Result<()> {
    let organizations = app::admin::list_organizations(app).await?;
    let organization = organizations.first().context("there is no organization")?;
    let key = app::admin::create_key(app, &organization.id, "bundled benchmarks").await?;
    // A server on all addresses is reached over loopback.
    let host = if address.ip().is_unspecified() { "127.0.0.1".to_owned() } else { address.ip().to_string() };
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    let client = client::Client::new(&format!("http://{host}:{}", address.port()), &key.key)?;
    let loaded = crate::local_server::load_benchmarks(&client, None, |slug| tracing::info!(slug, "loading")).await;
    app::admin::revoke_key(app, &key.id).await?;
    loaded?;
    // Not to standard output: its reader may have closed the pipe.
    tracing::info!(benchmarks = agents::bundled::slugs().join(", "), "the bundled benchmarks are loaded");
    Ok(())
}

/// Raises the limit of open files to the maximum: each connection needs one, and the usual 1024 are not enough.
fn allow_many_connections() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        tracing::warn!(%error, "cannot raise the limit of open files");
    }
}

async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
    tracing::info!("stopping: finishing accepted requests");
}

fn start_log(filter: &str, json: bool) -> anyhow::Result<()> {
    let filter = tracing_subscriber::EnvFilter::try_new(filter).context("--log is not a valid filter")?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let log = log.with_ansi(Style::of_stderr().is_colored());
    if json {
        log.json().init()
    } else {
        log.init()
    }
    Ok(())
}
