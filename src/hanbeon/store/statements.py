"""The named statements of `sql/`: one file each, portable unless a folder of the dialect has its own."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from hanbeon.store.dialect import PARAMETER, Dialect, translate, with_new_columns

SQL = Path(__file__).parent / "sql"


_NO_PRECONDITION = "SELECT 0 AS version"


@cache
def statement(name: str, dialect: Dialect, precondition: str | None = None) -> str:
    """Return the statement's text for this database. Its override, if it has one, opens with why it cannot be shared.

    `precondition` names another statement, which replaces `@precondition` in this one: it locks the row whose id is its
    only parameter, the last parameter of the whole, and returns the row's `version`.
    """
    text = with_new_columns(_text(name, dialect), dialect)
    if "@precondition" in text:
        text = text.replace("@precondition", _condition(text, precondition, dialect))
    return translate(text, dialect)


def _condition(text: str, precondition: str | None, dialect: Dialect) -> str:
    if precondition is None:
        return _NO_PRECONDITION
    last = max(int(number) for number in PARAMETER.findall(text))
    return "\n" + _text(precondition, dialect).replace("$1", f"${last + 1}")


def _text(name: str, dialect: Dialect) -> str:
    return load(dialect)[name]


def load(dialect: Dialect) -> dict[str, str]:
    """Read all statements of this database, by name.

    Called when a database is opened: a process that has run out of descriptors must still be able to complete its jobs.
    """
    return _texts(dialect.name)


@cache
def _texts(dialect: str) -> dict[str, str]:
    folders = (SQL, SQL / dialect)  # The dialect's own come last, and replace the shared ones.
    return {path.stem: path.read_text() for folder in folders for path in folder.glob("*.sql")}


def names(dialect: Dialect) -> list[str]:
    """Return the names of all statements of this database, for the tests that check each."""
    return sorted(load(dialect))
