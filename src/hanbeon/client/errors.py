"""Problems of a server as the errors that an App raises for the same reasons."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from hanbeon.client.problems import Problem
from hanbeon.errors import HanbeonError, all_errors


@contextlib.contextmanager
def raised_as_by_app() -> Iterator[None]:
    """Raise the error of the App instead of a problem; problems that only HTTP has stay what they are."""
    try:
        yield
    except Problem as problem:
        found = error_of(problem)
        if found is None:
            raise
        raise found from problem


def error_of(problem: Problem) -> HanbeonError | None:
    """Return the error with the problem's code, its text and its members; None if no App raises it."""
    kind = _kind_of(problem.code)
    if kind is None:
        return None
    # Not by its constructor, which makes the text from values that a problem need not have.
    error = kind.__new__(kind, problem.detail)
    error.field, error.rule = problem.field, problem.rule
    for name, value in problem.more.items():
        setattr(error, name, tuple(value) if isinstance(value, list) else value)
    return error


def _kind_of(code: str) -> type[HanbeonError] | None:
    return next((each for each in all_errors() if each.code == code and "code" in vars(each)), None)
