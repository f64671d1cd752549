"""Named statements: sections of SQL files, one file a noun; those of the engine are in `sql/`.

A section begins with `-- name: claim`. It is portable unless a file of the dialect beside it, such as
`claims.postgres.sql`, has a section of that name, which opens with why the text cannot be shared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hanbeon.store import schema
from hanbeon.store.dialect import PARAMETER, Dialect, Postgres, Sqlite, translate, with_new_columns

SQL = Path(__file__).parent / "sql"
_SECTION = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_files = sorted(path for path in SQL.glob("*.sql") if "." not in path.stem)
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


def add_statements(file: Path) -> None:
    """Add the statements of a surface: those of a file, and of the files of dialects beside it."""
    if file not in _files:
        _files.append(file)
        _texts.cache_clear()
        statement.cache_clear()


@cache
def _texts(dialect: str) -> dict[str, str]:
    own = [path for path in (file.with_suffix(f".{dialect}.sql") for file in _files) if path.exists()]
    return _sections(_files) | _sections(own)


def _sections(files: Iterable[Path]) -> dict[str, str]:
    found: dict[str, str] = {}
    for file in files:
        _, *parts = _SECTION.split(file.read_text())
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            assert name not in found, f"{file}: {name} has two texts"
            found[name] = text
    return found


def names(dialect: Dialect) -> list[str]:
    """Return the names of all statements of this database, for the tests that check each."""
    return sorted(load(dialect))


class StorePart(NamedTuple):
    """The files `schema.sql` and `statements.sql` of a folder, and the words that only these use.

    What is for one database alone is in `schema.sqlite.sql`, `statements.postgres.sql` and the like, and in its words.
    """

    folder: Path
    words: Mapping[str, str] = {}
    postgres: Mapping[str, str] = {}
    sqlite: Mapping[str, str] = {}


def add_part(part: StorePart) -> None:
    """Give the part to all stores that are opened and migrated from now on. Twice is once."""
    Postgres.words.update({**part.words, **part.postgres})
    Sqlite.words.update({**part.words, **part.sqlite})
    schema.add_tables(part.folder / "schema.sql")
    add_statements(part.folder / "statements.sql")
