"""A PostgreSQL server for the tests: private, on a socket in its folder, never run by root, and not durable.

Out: addresses of databases, each new. With `PROSA_POSTGRES=required` in the environment, as in CI, a server that is not
installed is a failure; otherwise these tests are left out.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path

import psycopg

LONGEST = 180
MISSING = "there is no PostgreSQL: install Debian's package postgresql"
USER, SECRET = "prosa", "a-password-of-a-test"
OPTIONS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "16MB",
    "max_connections": "60",
    "autovacuum": "off",
    "listen_addresses": "",
}


def programs() -> Path | None:
    """The folder of the programs of PostgreSQL."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    return max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)


def is_required() -> bool:
    """Whether a session without these tests has failed."""
    return os.environ.get("PROSA_POSTGRES") == "required"


class Cluster:
    """A server, which can be ended and begun again."""

    def __init__(self) -> None:
        found = programs()
        assert found is not None, MISSING
        self.programs, self.folder = found, Path(tempfile.mkdtemp(prefix="prosa-pg-"))
        self._user = _unprivileged()
        if self._user:
            os.chown(self.folder, pwd.getpwnam(self._user).pw_uid, pwd.getpwnam(self._user).pw_gid)
        self._names = count(1)
        self._emptied: list[str] = []
        self._run("initdb", "-D", self.data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        rules = "local all secret scram-sha-256\nlocal all all trust\n"
        (self.data / "pg_hba.conf").write_text(rules)
        self.server = self._begun()
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE ROLE secret LOGIN PASSWORD '{SECRET}'")

    @property
    def data(self) -> Path:
        """The folder of the cluster."""
        return self.folder / "data"

    def url(self, database: str, user: str = USER) -> str:
        """The address of a database."""
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def database(self) -> str:
        """The address of an empty database: a new one, which takes a sixth of a second, or one that was emptied."""
        name = f"t{next(self._names)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            if self._emptied:
                connection.execute(f"ALTER DATABASE {self._emptied.pop()} RENAME TO {name}")
            else:
                connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def empty(self, url: str) -> None:
        """Takes everything out of a database, for the next test that needs one. One that cannot be entered is left."""
        try:
            connection = psycopg.connect(url, autocommit=True)
        except psycopg.OperationalError:
            return
        with connection:
            name = connection.info.dbname
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            connection.execute("DROP SCHEMA IF EXISTS prosa CASCADE")
            connection.execute(f"REVOKE ALL ON DATABASE {name} FROM secret")
            left = connection.execute("SELECT COUNT(*) FROM pg_class WHERE relnamespace >= 16384").fetchone()
        if left == (0,):
            self._emptied.append(name)

    def stop(self) -> None:
        """Ends the server at once, and with it every connection."""
        self.server.send_signal(signal.SIGINT)
        assert self.server.wait(LONGEST) is not None

    def start(self) -> None:
        """Begins the server again."""
        self.server = self._begun()

    def remove(self) -> None:
        """Ends the server and takes its folder away."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _begun(self) -> subprocess.Popen[bytes]:
        options = [f"-c{name}={value}" for name, value in OPTIONS.items()]
        words = [self.programs / "postgres", "-D", self.data, "-k", self.folder, *options]
        with (self.folder / "log").open("ab") as log:
            server = subprocess.Popen(words, stdout=log, stderr=log, cwd=self.folder, **self._as_user())
        end = time.monotonic() + LONGEST
        while True:
            try:
                psycopg.connect(self.url("postgres"), connect_timeout=5).close()
                return server
            except psycopg.OperationalError:
                said = (self.folder / "log").read_text()
                assert server.poll() is None and time.monotonic() < end, said
                time.sleep(0.05)

    def _run(self, program: str, *words: object) -> None:
        given = [str(self.programs / program), *map(str, words)]
        done = subprocess.run(given, capture_output=True, cwd=self.folder, check=False, **self._as_user())
        assert done.returncode == 0, done.stderr.decode()

    def _as_user(self) -> dict[str, object]:
        """PostgreSQL refuses to run as root."""
        return {"user": self._user, "group": pwd.getpwnam(self._user).pw_gid, "extra_groups": []} if self._user else {}


def _unprivileged() -> str | None:
    if os.geteuid() != 0:
        return None
    names = {each.pw_name for each in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in names)
