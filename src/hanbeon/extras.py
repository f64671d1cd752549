"""Optional packages: a feature whose packages are missing names its extra when it is asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from importlib import util

from hanbeon.errors import ExtraMissing
from hanbeon.rule import Rule


@contextlib.contextmanager
def extra(name: str, feature: str) -> Iterator[None]:
    """Surround the imports of an extra's packages, or of modules that import them. Raises ExtraMissing if one fails."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] == __package__:
            raise
        # A package that is there and cannot be loaded is another matter than one that is not.
        raise _missing(name, feature, "" if isinstance(error, ModuleNotFoundError) else str(error)) from error


def check_extra(name: str, feature: str, package: str) -> None:
    """Raise ExtraMissing unless a package of the extra is there; it is not imported."""
    if util.find_spec(package) is None:
        raise _missing(name, feature)


def _missing(name: str, feature: str, why: str = "") -> ExtraMissing:
    return ExtraMissing(Rule("extra_missing", feature=feature, extra=name, why=why))
