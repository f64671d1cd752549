"""The words of the command that runs: its name, and the first thing that it names."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Any

_NAMES_MOST = 2
_arguments: ContextVar[tuple[str, ...]] = ContextVar("hanbeon_arguments", default=())


@contextlib.contextmanager
def running(arguments: Sequence[str]) -> Iterator[None]:
    """Remember the arguments of the program while it runs."""
    token = _arguments.set(tuple(arguments))
    try:
        yield
    finally:
        _arguments.reset(token)


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
