"""Where tracking goes: an SQLite file of our own or any tracking server, opened by one import at a time."""

from __future__ import annotations

import logging
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from optok.errors import UserError

if TYPE_CHECKING:
    from mlflow import MlflowClient

DATABASE = "mlflow.db"
ARTIFACTS = "mlflow-artifacts"  # beside the database
PATIENCE = 10.0  # seconds for a lock of the database
TURN = 600.0  # seconds for another import to end
AGAIN = "run `optok track` again, it goes on where it stopped"
CAUSE = 200  # characters of somebody else's error message


@dataclass(frozen=True)
class Store:
    """An MLflow tracking store by its address."""

    address: str  # as MLflow takes it
    database: Path | None  # of SQLite
    lock: Path

    @classmethod
    def at(cls, address: str | None, results: Path) -> Store:
        """The store at an address (`sqlite:///FILE`, `http://HOST:PORT`, …); by default in the results folder."""
        scheme, separator, rest = (address or f"sqlite:///{results / DATABASE}").partition("://")
        if not separator:
            raise UserError(f"--store {address!r} is no address: give sqlite:///FILE or http://HOST:PORT")
        if scheme != "sqlite":
            return cls(str(address), None, results.absolute() / ".tracking.lock")
        path = Path(rest.removeprefix("/")).absolute()
        return cls(f"sqlite:///{path}", path, path.with_name(f".{path.name}.lock"))

    @property
    def shown(self) -> str:
        """The address without user and password."""
        if self.database is not None:
            return str(self.database)
        return re.sub(r"(?<=://)[^/@]*@", "", self.address)

    @property
    def artifacts(self) -> str | None:
        """Where an SQLite store's files lie; a server decides for itself."""
        return None if self.database is None else (self.database.parent / ARTIFACTS).as_uri()

    @contextmanager
    def opened(self) -> Iterator[MlflowClient]:
        """A client; raises `UserError` where the store is locked, of another version or does not answer.

        The lock also covers the making of a new database: MLflow's migrations fail when two run at once.
        """
        self.lock.parent.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self.lock, timeout=TURN):
                self._check_database()
                try:
                    yield self._client()
                except Exception as error:
                    if not _is_of_a_store(error):
                        raise
                    raise self._explained(error) from None
        except Timeout:
            raise UserError(
                f"another import has held {self.lock} for {TURN / 60:.0f} minutes: stop it, then {AGAIN}"
            ) from None

    def _client(self) -> MlflowClient:
        for name in ("mlflow", "alembic", "urllib3"):
            logging.getLogger(name).setLevel(logging.ERROR)
        from mlflow import MlflowClient

        return MlflowClient(tracking_uri=self.address)

    def _check_database(self) -> None:
        """MLflow itself would try a bad database for minutes."""
        if self.database is None or not self.database.exists():
            return
        try:
            with closing(sqlite3.connect(self.database, timeout=PATIENCE, isolation_level=None)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
                known = "alembic_version" in tables
                found = connection.execute("SELECT version_num FROM alembic_version").fetchall() if known else []
                connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise self._explained(error) from None
        if not tables:
            return
        from mlflow.store.db.utils import _get_latest_schema_revision

        if [(_get_latest_schema_revision(),)] != found:
            raise UserError(
                f"{self.shown} was made by another version of MLflow (schema {found[0][0] if found else 'unknown'}): "
                f"delete it and run `optok track` again (the run logs hold all of it), or take over its contents "
                f"with `mlflow db upgrade {self.address}`"
            )

    def _explained(self, error: Exception) -> UserError:
        text = " ".join(str(error).split())
        if self.database is not None:
            if "locked" in text or "busy" in text:
                return UserError(f"{self.shown} is locked by another program: stop it or wait for it, then {AGAIN}")
            if "not a database" in text or "malformed" in text:
                return UserError(f"{self.shown} is not a database (any more): delete it, then {AGAIN}")
            return UserError(f"{self.shown} cannot be written ({text[:CAUSE]}): mend or delete it, then {AGAIN}")
        if "Max retries exceeded" in text or "Connection" in text or "timed out" in text:
            return UserError(f"the tracking server {self.shown} does not answer: start it, then {AGAIN}")
        return UserError(f"the tracking server {self.shown} refused ({text[:CAUSE]}): mend that, then {AGAIN}")


def _is_of_a_store(error: Exception) -> bool:
    from mlflow.exceptions import MlflowException
    from requests import RequestException
    from sqlalchemy.exc import SQLAlchemyError

    return isinstance(error, MlflowException | RequestException | SQLAlchemyError)
