//! Connections: who is let in, for how long, and the end of all.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::sync::Semaphore;
use tower::ServiceExt;

use crate::app::App;
use crate::audience::Peer;

/// How long a client may take to send its headers, and a connection may be idle.
const HEADER_TIME: Duration = Duration::from_secs(30);
/// How long the server waits for answers that are under way when it stops.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// The server could not run.
#[derive(Debug, thiserror::Error)]
#[error("the server cannot run: {0}")]
pub struct ServeError(#[from] std::io::Error);

/// Serves until SIGINT or SIGTERM comes (elsewhere than on Unix: Ctrl-C); says on `ready` when it can be asked.
///
/// # Errors
/// Where the system grants no threads, sockets or signals.
pub fn serve(app: &App, listener: TcpListener, ready: impl FnOnce()) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let result = runtime.block_on(async {
        let stop = stop_signal()?;
        ready();
        serve_until(app, listener, stop).await
    });
    runtime.shutdown_timeout(Duration::from_millis(100));
    result
}

/// Serves until `stop` is there. Computations then end at their next step, their clients are told, and it returns within
/// seconds.
///
/// # Errors
/// Where the listener cannot be used.
pub async fn serve_until(
    app: &App,
    listener: TcpListener,
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let (router, graceful) = (app.router(), GracefulShutdown::new());
    let places = Arc::new(Semaphore::new(app.limits().connections));
    let mut connections = http1::Builder::new();
    connections.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME);
    tokio::pin!(stop);
    loop {
        let enter = async {
            // The semaphore is never closed.
            let place = Arc::clone(&places).acquire_owned().await;
            (listener.accept().await, place)
        };
        let (accepted, place) = tokio::select! {
            entered = enter => entered,
            () = &mut stop => break,
        };
        let Ok((stream, peer)) = accepted else {
            // Out of file descriptors, most likely: the others will give some back.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        // A connection without it is slower and nothing else.
        let _ = stream.set_nodelay(true);
        let router = router.clone();
        let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let mut request: Request = request.map(Body::new);
            request.extensions_mut().insert(Peer(peer));
            router.clone().oneshot(request)
        });
        let connection = graceful.watch(connections.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            // How a connection ends is its client's business.
            let _ = connection.await;
            drop(place);
        });
    }
    app.stop();
    drop(listener);
    // Who has not sent a whole request by then gets no answer.
    let _ = tokio::time::timeout(LAST_ANSWERS, graceful.shutdown()).await;
    Ok(())
}

#[cfg(unix)]
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        // Without the signal nothing but the end of the process can stop it.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
