"""A private PgBouncer in front of a PostgreSQL server, in transaction mode with few connections."""

import os
import shutil
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from tests.databases import keeper
from tests.databases.account import Account

_PATIENCE = 30.0
_CONFIGURATION = """
[databases]
* = host=127.0.0.1 port={server_port}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = plain
auth_file = {folder}/users
pidfile = {folder}/pid
pool_mode = transaction
default_pool_size = {size}
max_client_conn = 500
"""


def find_pgbouncer() -> str | None:
    """The program; Debian installs it in a folder that only root's PATH includes."""
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/usr/local/sbin")


@contextmanager
def pgbouncer(program: str, url: str, *, size: int = 5) -> Iterator[str]:
    """The address of the database of `url`, through a pooler that lasts as long as the block."""
    parts = urlsplit(url)
    account = Account.choose()
    folder = account.make_folder("hanbeon-pgb-")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    configuration = _CONFIGURATION.format(server_port=parts.port, port=port, folder=folder, size=size)
    (folder / "pgbouncer.ini").write_text(configuration)
    (folder / "users").write_text(f'"{parts.username}" "{parts.password}"\n')
    account.give(folder)
    keeper.start(
        keeper.Charge(
            command=[program, f"{folder}/pgbouncer.ini"],
            uid=account.identity.get("user"),
            gid=account.identity.get("group"),
            owner=os.getpid(),
            folder=str(folder),
            log=f"{folder}/log",
            exit_file=f"{folder}/exited",
        )
    )
    try:
        _wait_until_ready(folder, port)
        yield url.replace(f":{parts.port}/", f":{port}/")
    finally:
        _end(folder)


def _wait_until_ready(folder: Path, port: int) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and not (folder / "exited").exists():
        try:
            with socket.create_connection(("127.0.0.1", port), 1):
                return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError(f"PgBouncer did not start:\n{(folder / 'log').read_text(errors='replace')[-4000:]}")


def _end(folder: Path) -> None:
    try:
        process = psutil.Process(int((folder / "pid").read_text()))
        process.send_signal(signal.SIGTERM)
    except (FileNotFoundError, psutil.NoSuchProcess):
        pass
    deadline = time.monotonic() + _PATIENCE
    while not (folder / "exited").exists() and time.monotonic() < deadline:
        time.sleep(0.02)  # Its keeper writes into the folder last.
    shutil.rmtree(folder, ignore_errors=True)
