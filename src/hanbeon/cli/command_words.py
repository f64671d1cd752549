"""The words of the command that runs: its name, and the first thing that it names."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from contextvars import ContextVar

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
    from hanbeon.cli.program import has_subcommands

    words = list(itertools.takewhile(lambda word: not word.startswith("-"), _arguments.get()))
    length = 2 if words and has_subcommands(words[0]) else 1
    return " ".join(["hanbeon", *words[:length]]), words[length] if len(words) > length else None
