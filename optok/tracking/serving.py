"""MLflow's page over an SQLite store, on this machine alone."""

from __future__ import annotations

import os
import socket
import sys

from optok.errors import UserError
from optok.tracking.store import Store

HOST = "127.0.0.1"


def command(store: Store, port: int) -> list[str]:
    """What starts the server."""
    address = ("--backend-store-uri", store.address, "--default-artifact-root", str(store.artifacts))
    return [sys.executable, "-m", "mlflow", "server", *address, "--host", HOST, "--port", str(port), "--workers", "1"]


def serve(store: Store, pages: dict[str, str], port: int) -> None:
    """Prints the addresses of the pages and becomes the server, until Ctrl-C."""
    if store.database is None:
        raise UserError(f"--serve is for a store of your own: {store.shown} has its own page")
    if not store.database.exists():
        raise UserError(f"{store.shown} is missing: no run has written anything yet, train one first (make demo)")
    _check_free(port)
    print("MLflow's page is ready in some seconds; Ctrl-C ends it.")
    for what, page in pages.items():
        print(f"  {what}: http://{HOST}:{port}/{page}", flush=True)
    os.execv(sys.executable, command(store, port))


def _check_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            reason = error.strerror or error
            raise UserError(f"port {port} cannot be had ({reason}): choose another, make mlflow PORT=5001") from None
