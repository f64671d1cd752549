"""`--server URL` and `--token-file FILE`: operators reach a server instead of its database.

There is no `--token`: every user of a machine can read the arguments of its processes.
"""

from __future__ import annotations

import os
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from typer.main import get_command

from hanbeon.errors import InvalidInput, NotFound

SERVER, TOKEN, TOKEN_FILE = "HANBEON_SERVER", "HANBEON_TOKEN", "HANBEON_TOKEN_FILE"
_DATABASE = "HANBEON_DATABASE_URL"
_TOKEN_BYTES = 16_384
COMMANDS = frozenset(
    ("cancel", "explain", "instances", "job", "jobs", "limit", "pause", "priority", "queues", "resume", "retry", "top")
)
"""The commands that have these options."""
_server: ContextVar[str | None] = ContextVar("server", default=None)
_token_file: ContextVar[Path | None] = ContextVar("token_file", default=None)


class ServerAddress(NamedTuple):
    """A server's URL and the token for it, which nothing prints."""

    url: str
    token: str | None

    def __repr__(self) -> str:
        return f"ServerAddress({self.url!r})"


def with_server(command: Any) -> Any:
    """Add the options to a command, after `--database`, if it is one of those."""
    if command.name in COMMANDS:
        place = [parameter.name for parameter in command.params].index("database") + 1
        command.params[place:place] = _options()
    return command


def chosen_server(database: str | None) -> ServerAddress | None:
    """Return the server to use, or None for the database. Options win over the environment."""
    server = _server.get()
    if server is not None and database is not None:
        raise InvalidInput("pass --server or --database, not both", field="server")
    if server is None and database is None and os.environ.get(SERVER):
        if os.environ.get(_DATABASE):
            raise InvalidInput(
                f"{SERVER} and {_DATABASE} are both set; pass --server or --database, or unset one", field="server"
            )
        server = os.environ[SERVER]
    return None if server is None else ServerAddress(server, _token())


def _token() -> str | None:
    named = _token_file.get()
    path = named or (Path(os.environ[TOKEN_FILE]) if os.environ.get(TOKEN_FILE) else None)
    if named is None and os.environ.get(TOKEN):
        if path is not None:
            raise InvalidInput(f"{TOKEN} and {TOKEN_FILE} are both set; unset one", field="token")
        return os.environ[TOKEN].strip()
    return None if path is None else _read(path)


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            text = file.read(_TOKEN_BYTES).decode().strip()
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}; check --token-file or {TOKEN_FILE}") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise InvalidInput(f"cannot read {path}: {reason}", field="token-file") from None
    if not text:
        raise InvalidInput(
            f"must contain a token, as `hanbeon token create` prints it; {path} is empty", field="token-file"
        )
    return text


def _options() -> list[Any]:
    carrier = typer.Typer(add_completion=False)
    carrier.command()(_carry)
    return [parameter for parameter in get_command(carrier).params if parameter.name in ("server", "token_file")]


def _remember_server(url: str | None) -> str | None:
    _server.set(url)
    return url


def _remember_token_file(path: Path | None) -> Path | None:
    _token_file.set(path)
    return path


def _carry(
    server: Annotated[
        str | None,
        typer.Option(
            "--server",
            metavar="URL",
            help="Use this server instead of a database; by default $HANBEON_SERVER.",
            callback=_remember_server,
            expose_value=False,
            show_default=False,
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="With a server: a file with the token; by default $HANBEON_TOKEN or $HANBEON_TOKEN_FILE.",
            callback=_remember_token_file,
            expose_value=False,
            show_default=False,
        ),
    ] = None,
) -> None:
    """A command whose only purpose is to let typer build the options."""
