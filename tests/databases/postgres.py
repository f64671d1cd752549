"""A private PostgreSQL server on a free port of this machine."""

import atexit
import json
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import psycopg

from tests.databases import keeper
from tests.databases.account import Account
from tests.databases.installations import reachable
from tests.databases.ports import free_port

_USER = "hanbeon"
_PATIENCE = 60.0
_CONFIGURATION = """
listen_addresses = '127.0.0.1'
max_connections = 400
shared_buffers = 128MB
unix_socket_directories = '{folder}'
"""
# A server that lives as long as the run has nothing to recover, so it need not write for it either.
_NOT_DURABLE = """
fsync = off
synchronous_commit = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
max_wal_size = 2GB
checkpoint_timeout = 30min
"""
_kept: dict[str, psycopg.Connection] = {}
"""Connections for CREATE and DROP DATABASE, one per server that lives as long as the run."""


class PostgresStartError(Exception):
    """The server did not start; the message has the end of its log."""


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """One server: its programs, its data and its port stay the same over every restart."""

    bindir: str
    folder: str
    port: int
    password: str
    durable: bool
    """As in production: what was committed survives a kill. Otherwise quick, in memory, and never restarted."""

    @classmethod
    def start(cls, bindir: Path, *, durable: bool = True, owner: int | None = None) -> "PostgresServer":
        """A fresh server that accepts connections; it ends with the process `owner`, by default this one."""
        account = Account.choose()
        folder = account.make_folder("hanbeon-pg-", in_memory=not durable)
        try:
            password = secrets.token_hex(16)
            programs = reachable(bindir, account, folder)
            _initdb(programs, folder, password, account)
            if not durable:
                with Path(folder, "data", "postgresql.conf").open("a") as configuration:
                    configuration.write(_NOT_DURABLE)
            server = cls._start_on_free_port(programs, folder, password, durable, owner)
            server._shorten_authentication()
            return server
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    @classmethod
    def _start_on_free_port(
        cls, bindir: Path, folder: Path, password: str, durable: bool, owner: int | None
    ) -> "PostgresServer":
        # A port that is free now may be taken before the server binds it.
        for last in (False, False, True):
            server = cls(str(bindir), str(folder), free_port(), password, durable)
            try:
                server.up(owner=owner)
            except PostgresStartError as error:
                if last or "could not bind" not in str(error):
                    raise
            else:
                return server
        raise AssertionError("unreachable")

    @classmethod
    def load(cls, text: str) -> "PostgresServer":
        """The server that another process of this test run started."""
        return cls(**json.loads(text))

    def dump(self) -> str:
        return json.dumps(asdict(self))

    @property
    def pid(self) -> int:
        """The process id of the postmaster. Raises FileNotFoundError while the server is down."""
        return int(self._pid_file.read_text().split("\n", 1)[0])

    @property
    def log(self) -> str:
        return self._log_file.read_text(errors="replace")

    def url(self, database: str) -> str:
        return f"postgresql://{_USER}:{self.password}@127.0.0.1:{self.port}/{database}"

    def create_database(self, template: str = "template0") -> str:
        """The URL of a new database: empty, or a copy of another without connections."""
        name = f"test_{secrets.token_hex(8)}"
        # In memory, copying the files takes half as long as writing them through the log.
        strategy = "WAL_LOG" if self.durable else "FILE_COPY"
        self._administer(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY {strategy}")
        return self.url(name)

    def drop_database(self, url: str) -> None:
        """Remove a database, closing any open connections to it."""
        name = urlsplit(url).path.removeprefix("/")
        self._administer(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    @contextmanager
    def database(self, template: str = "template0") -> Iterator[str]:
        url = self.create_database(template)
        try:
            yield url
        finally:
            self.drop_database(url)

    def up(self, *, owner: int | None = None) -> None:
        """Start the server over its data; returns when it accepts connections, recovery included."""
        account = Account.choose()
        self._exit_file.unlink(missing_ok=True)
        keeper.start(
            keeper.Charge(
                command=[f"{self.bindir}/postgres", "-D", f"{self.folder}/data", "-p", str(self.port)],
                uid=account.identity.get("user"),
                gid=account.identity.get("group"),
                owner=os.getpid() if owner is None else owner,
                folder=self.folder,
                log=str(self._log_file),
                exit_file=str(self._exit_file),
            )
        )
        self._wait_until_ready()

    def down(self, *, graceful: bool = False) -> None:
        """Stop the server: a clean shutdown if `graceful`, else SIGKILL to all its processes."""
        postmaster = psutil.Process(self.pid)
        keeper_of_it = _keeper(postmaster)
        if graceful:
            postmaster.send_signal(signal.SIGINT)
        else:
            # The postmaster first: it would start recovery when it saw its children die. All of them, because
            # a survivor keeps the shared memory, and the next start would fail; so it must not fork meanwhile.
            postmaster.suspend()
            while postmaster.status() != psutil.STATUS_STOPPED:
                time.sleep(0.001)
            children = postmaster.children(recursive=True)
            postmaster.kill()
            for child in children:
                with suppress(psutil.NoSuchProcess):
                    child.kill()
            _wait_gone(*children)
        _wait_gone(postmaster, *keeper_of_it)

    def restart(self, *, graceful: bool = False) -> None:
        """Restart with the same port and data."""
        self.down(graceful=graceful)
        self.up()

    def stop(self) -> None:
        """End the server for good and remove its data; safe to call when it is down or already gone."""
        try:
            postmaster = psutil.Process(self.pid)
        except (FileNotFoundError, psutil.NoSuchProcess):
            pass
        else:
            keeper_of_it = _keeper(postmaster)
            postmaster.send_signal(signal.SIGQUIT)
            _wait_gone(postmaster, *keeper_of_it)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def _pid_file(self) -> Path:
        return Path(self.folder, "data", "postmaster.pid")

    @property
    def _log_file(self) -> Path:
        return Path(self.folder, "server.log")

    @property
    def _exit_file(self) -> Path:
        return Path(self.folder, "exited")

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            if self._exit_file.exists():
                break
            if self._is_ready():
                return
            time.sleep(0.01)
        raise PostgresStartError(f"PostgreSQL of {self.bindir} did not start:\n{self.log[-4000:]}")

    def _is_ready(self) -> bool:
        # The eighth line of postmaster.pid is the state that pg_ctl waits for. A file left over from a killed
        # server says "ready", too, but names a process that is gone.
        try:
            lines = self._pid_file.read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) > 7 and lines[7].strip() == "ready" and psutil.pid_exists(int(lines[0]))

    def _shorten_authentication(self) -> None:
        """Hash the password once instead of 4096 times, which is most of what a connection costs the server."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            if connection.info.server_version >= 160000:  # Older ones have no such setting.
                connection.execute("SET scram_iterations = 1")
                connection.execute(f"ALTER ROLE {_USER} PASSWORD '{self.password}'".encode())

    def _administer(self, statement: str) -> None:
        if self.durable:
            with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
                connection.execute(statement.encode())
            return
        kept = _kept.get(self.folder)
        if kept is None:
            kept = _kept[self.folder] = psycopg.connect(self.url("postgres"), autocommit=True)
            atexit.register(kept.close)
        kept.execute(statement.encode())


def _initdb(bindir: Path, folder: Path, password: str, account: Account) -> None:
    secret = folder / "password"
    secret.write_text(password)
    os.chown(secret, account.uid, account.gid)
    done = subprocess.run(
        [
            bindir / "initdb",
            f"--pgdata={folder}/data",
            f"--username={_USER}",
            f"--pwfile={secret}",
            "--auth=password",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
        ],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env={"PATH": os.defpath, "LC_ALL": "C"},
        **account.identity,
    )
    if done.returncode != 0:
        raise PostgresStartError(f"initdb of {bindir} failed:\n{done.stdout}{done.stderr}")
    with Path(folder, "data", "postgresql.conf").open("a") as configuration:
        configuration.write(_CONFIGURATION.format(folder=folder))


def _keeper(postmaster: psutil.Process) -> list[psutil.Process]:
    """The keeper, which must be waited for, too: it finally writes into the folder that may be removed next."""
    try:
        parent = postmaster.parent()
        return [parent] if parent is not None and keeper.__file__ in parent.cmdline() else []
    except psutil.Error:
        return []


def _wait_gone(*processes: psutil.Process) -> None:
    """Wait for the end of each. A zombie counts as ended: some containers never reap their orphans."""
    deadline = time.monotonic() + _PATIENCE
    while not all(_is_gone(process) for process in processes):
        if time.monotonic() > deadline:
            raise TimeoutError(f"still alive after {_PATIENCE:.0f} s: {processes}")
        time.sleep(0.01)


def _is_gone(process: psutil.Process) -> bool:
    # is_running() also tells a process from a later one that was given the same id.
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
