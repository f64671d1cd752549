"""The words of the command that runs: its name, the first thing that it names, and where it works."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Any

from hanbeon.error_base import HanbeonError
from hanbeon.settings import masked

_NAMES_MOST = 2
_CHOOSING = ("--app", "--database", "--config", "--server", "--token-file")
_OF_SERVER = ("--server", "--token-file")
_arguments: ContextVar[tuple[str, ...]] = ContextVar("hanbeon_arguments", default=())


@contextlib.contextmanager
def running(arguments: Sequence[str]) -> Iterator[None]:
    """Remember the arguments of the program while it runs."""
    token = _arguments.set(tuple(arguments))
    try:
        yield
    finally:
        _arguments.reset(token)


def given_arguments() -> tuple[str, ...]:
    """Return the arguments of the program."""
    return _arguments.get()


def command_words() -> tuple[str, str | None]:
    """Return `hanbeon office delete` and the office, for example. Options are left out: a secret may be among them."""
    from hanbeon.cli.program import command_named

    given = _arguments.get()
    names: list[str] = []
    command: Any = None
    for word in given[:_NAMES_MOST]:
        if (found := command_named(word) if command is None else getattr(command, "commands", {}).get(word)) is None:
            break
        command = found
        names.append(word)
    return " ".join(["hanbeon", *names]), next(_positional(given[len(names) :], command), None)


def typed_options(*, server: bool = True) -> str:
    """Return the options that say where the command works, as they were typed, without passwords.

    Those of the environment need no mention: they apply to the next command as well.
    """
    words, found = iter(_arguments.get()), []
    for word in words:
        if word == "--":
            break
        name, equals, value = word.partition("=")
        if name in _CHOOSING:
            value = value if equals else next(words, "")
            if server or name not in _OF_SERVER:
                found.append(f"{name} {shlex.quote(masked(value))}")
    return " ".join(found)


def command_here(words: str, *, server: bool = True) -> str:
    """Return a command that works where this one does. `server`: it works over a server, too."""
    return f"hanbeon {words} {typed_options(server=server)}".rstrip()


def located(error: HanbeonError) -> str:
    """Return the text of an error, whose commands work where the command did that failed."""
    text, here = str(error), typed_options()
    if error.rule is None or not here:
        return text
    return text.replace(str(error.rule), str(error.rule.extended(here=here)))


def _positional(words: Sequence[str], command: Any) -> Iterator[str]:
    """Yield the words that are neither options nor their values."""
    params = [] if command is None else command.params
    flags = {name for each in params if getattr(each, "is_flag", False) for name in (*each.opts, *each.secondary_opts)}
    rest = iter(words)
    for word in rest:
        if word == "--":
            yield from rest
        elif not word.startswith("-") or word == "-":
            yield word
        elif word not in flags and "=" not in word:
            next(rest, None)
