"""Tables and statements that stand beside the engine's own: those of the surfaces."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hanbeon.store import schema
from hanbeon.store.dialect import Postgres, Sqlite
from hanbeon.store.statements import add_statements


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
