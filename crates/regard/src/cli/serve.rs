//! `regard serve`: models over HTTP, and the page.

use std::net::{IpAddr, TcpListener};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use regard_serve::{App, Limits, Model, serve, unique_names};

use super::settings::{Settings, explained};

/// Serve models over HTTP: a page to look into them, a JSON API, and LibreTranslate's routes.
///
/// Example: regard serve demo/attention demo/transformer
#[derive(Args)]
pub(super) struct ServeArgs {
    /// The models' directories; requests call each by the last part of its path
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<PathBuf>,
    /// Listen on this address. Requests must call the server by it, by localhost, or by an --allow-host
    #[arg(long, default_value = "127.0.0.1", value_name = "HOST")]
    host: String,
    /// Requests may call the server by this name or address too, whatever the port. May be given more than once
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Listen on this port; 0 for any that is free
    #[arg(long, default_value_t = 5000, value_name = "PORT")]
    port: u16,
    #[command(flatten)]
    settings: Settings,
}

pub(super) fn run(args: &ServeArgs) -> Result<()> {
    let host = args.host.trim_start_matches('[').trim_end_matches(']');
    let busy = || {
        let (host, port) = (&args.host, args.port);
        format!("{host}, port {port}: cannot be listened on; name another --port or --host")
    };
    let listener = TcpListener::bind((host, args.port)).with_context(busy)?;
    let load = |(directory, name): (&PathBuf, String)| {
        explained(directory, Model::load(directory, name, &args.settings.threads()?))
    };
    let models = args.models.iter().zip(unique_names(&args.models)).map(load).collect::<Result<Vec<_>>>()?;
    let names = models.iter().map(|model| model.name.as_str()).collect::<Vec<_>>().join(", ");
    let address = listener.local_addr().with_context(busy)?;
    if !is_this_machine(host) {
        let by = "by a name that --allow-host or --host gives";
        args.settings.say(format_args!("everybody who can reach {host} can use this server, {by}"));
    }
    let hosts: Vec<String> =
        std::iter::once(host.to_owned()).chain(args.allow_host.iter().cloned()).collect();
    let app = App::new(models, hosts, Limits::default()).context("no threads to compute with")?;
    serve(&app, listener, || args.settings.say(format_args!("serving {names} on http://{address}/")))?;
    Ok(())
}

fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}
