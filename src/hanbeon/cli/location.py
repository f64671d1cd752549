"""Where a command works: `--app`, `--server`, `--token-file` and `--config`, beside `--database`.

They are not parameters of each function: no command uses them except to open its installation. There is no `--token`:
every user of a machine can read the arguments of its processes.
"""

from __future__ import annotations

import copy
import functools
import os
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer.main import get_command

from hanbeon.errors import InvalidInput, NotFound
from hanbeon.rule import Rule

if TYPE_CHECKING:
    from hanbeon.settings import Settings

SERVER, TOKEN, TOKEN_FILE, APP = "HANBEON_SERVER", "HANBEON_TOKEN", "HANBEON_TOKEN_FILE", "HANBEON_APP"
_DATABASE = "HANBEON_DATABASE_URL"
_TOKEN_BYTES = 16_384
DATABASE_ONLY = frozenset(
    ("backup", "config", "doctor", "migrate", "prune", "restore", "serve", "tasks", "tick", "verify", "worker")
)
"""Commands, and groups of them, that work beside the database or on an App; they refuse a server."""
_OWN_DATABASE = frozenset(("demo",))
_FILE_ONLY = frozenset(("export-worker", "secrets"))
"""Commands, and groups of them, that use the file and neither a database nor an App."""


class Given(NamedTuple):
    """The options of the command that runs."""

    app: str | None = None
    app_typed: bool = False
    """On the command line, not in the environment."""
    server: str | None = None
    token_file: Path | None = None
    config: Path | None = None


class ServerAddress(NamedTuple):
    """A server's URL and the token for it, which nothing prints."""

    url: str
    token: str | None

    def __repr__(self) -> str:
        return f"ServerAddress({self.url!r})"


_given: ContextVar[Given] = ContextVar("location", default=Given())  # noqa: B039 - a tuple cannot be changed


def _remember_app(context: Any, parameter: Any, target: str | None) -> str | None:
    typed = context.get_parameter_source(parameter.name).name == "COMMANDLINE"
    _given.set(_given.get()._replace(app=target, app_typed=typed))
    return target


AppName = Annotated[
    str | None,
    typer.Option(
        "--app",
        metavar="MODULE:NAME",
        envvar=APP,
        help="The App, for example shop.jobs:app; by default $HANBEON_APP, or the one in hanbeon.toml.",
        callback=_remember_app,
        show_default=False,
        show_envvar=False,
    ),
]


def with_location(command: Any, name: str | None = None) -> Any:
    """Add the options to a command that uses an installation, an App or the file, or to all such of a group."""
    name = name or command.name
    for inner in getattr(command, "commands", {}).values():
        with_location(inner, name)
    if hasattr(command, "commands") or name in _OWN_DATABASE:
        return command
    names = [parameter.name for parameter in command.params]
    uses = {"database", "app"} & set(names)
    if name in _FILE_ONLY:
        command.params.insert(0, _option("config"))
    elif uses:
        server = [_refused()] if name in DATABASE_ONLY else [_option("server"), _option("token_file")]
        app = [] if "app" in names else [_option("app")]
        place = max(names.index(each) for each in uses) + 1
        command.params[place:place] = [*app, *server, _option("config")]
    return command


def named_file() -> Path | None:
    """Return the file that `--config` names, if it was given."""
    return _given.get().config


def settings_here(**given: Any) -> Settings:
    """Return a command's settings from its options, the environment and the file, in this order of precedence."""
    from hanbeon.config.file import find, load_settings_of
    from hanbeon.settings import load_settings

    path = find(named_file())
    return load_settings(None if path is None else load_settings_of(path), **given)


def database_settings(database: str | None, **given: Any) -> Settings:
    """Return the settings for a database: that of the option, else of the App that was chosen, else as any other's."""
    target = _given.get().app
    if target is None or database is not None:
        return settings_here(database_url=database, **given)
    from hanbeon.cli.app_loader import app_or_empty
    from hanbeon.settings import load_settings

    app = app_or_empty(target)
    return load_settings(None if app.file is None else app.file.settings, **{**app.given, **given})


def chosen_server(database: str | None) -> ServerAddress | None:
    """Return the server to use, or None for the database. Options win over the environment."""
    server = _given.get().server
    if server is not None and database is not None:
        raise InvalidInput(Rule("server_or_database"), field="server")
    if server is not None and _given.get().app_typed:
        raise InvalidInput(Rule("server_or_app"), field="server")
    if server is None and database is None and not _given.get().app_typed and os.environ.get(SERVER):
        if os.environ.get(_DATABASE):
            raise InvalidInput(Rule("both_addresses_set", first=SERVER, second=_DATABASE), field="server")
        server = os.environ[SERVER]
    return None if server is None else ServerAddress(server, _token())


def _token() -> str | None:
    named = _given.get().token_file
    path = named or (Path(os.environ[TOKEN_FILE]) if os.environ.get(TOKEN_FILE) else None)
    if named is None and os.environ.get(TOKEN):
        if path is not None:
            raise InvalidInput(Rule("both_tokens_set", first=TOKEN, second=TOKEN_FILE), field="token")
        return os.environ[TOKEN].strip()
    return None if path is None else _read(path)


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            text = file.read(_TOKEN_BYTES).decode().strip()
    except FileNotFoundError:
        raise NotFound(Rule("no_token_file", path=path, variable=TOKEN_FILE)) from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise InvalidInput(Rule("cannot_read_path", path=path, reason=reason), field="token-file") from None
    if not text:
        raise InvalidInput(Rule("token_file_empty", path=path), field="token-file")
    return text


def _remember_server(url: str | None) -> None:
    _given.set(_given.get()._replace(server=url))


def _remember_token_file(path: Path | None) -> None:
    _given.set(_given.get()._replace(token_file=path))


def _remember_config(path: Path | None) -> None:
    _given.set(_given.get()._replace(config=path))


@functools.cache
def _option(name: str) -> Any:
    carrier = typer.Typer(add_completion=False)
    carrier.command()(_carry)
    found: Any = next(parameter for parameter in get_command(carrier).params if parameter.name == name)
    found.expose_value = False
    return found


@functools.cache
def _refused() -> Any:
    """Return `--server` for a command that cannot use it: hidden, and refused with what to do instead."""
    found = copy.copy(_option("server"))
    found.hidden, found.callback = True, _refuse_server
    return found


def _refuse_server(context: Any, parameter: Any, url: str | None) -> None:
    if url is not None:
        raise InvalidInput(
            Rule("beside_database", command=context.command_path, variable=_DATABASE),
            field="server",
        )


def _carry(
    app: AppName = None,
    server: Annotated[
        str | None,
        typer.Option(
            "--server",
            metavar="URL",
            help="Use this server instead of a database; by default $HANBEON_SERVER.",
            callback=_remember_server,
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
            show_default=False,
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="The hanbeon.toml to use; by default $HANBEON_CONFIG, or the one in the current folder.",
            callback=_remember_config,
            show_default=False,
        ),
    ] = None,
) -> None:
    """A command whose only purpose is to let typer build the options."""
