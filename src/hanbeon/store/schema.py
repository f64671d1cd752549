"""Schema versions: the one this release needs, those it is compatible with, and the migrations."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from hanbeon.errors import SchemaMissing, SchemaTooNew, SchemaTooOld
from hanbeon.rule import Rule
from hanbeon.store.dialect import Dialect, Postgres, translate

FOLDER = Path(__file__).parent / "migrations"
VERSION = 1
_tables: list[Path] | None = None
"""Files with the tables of parts beside the engine's; None: nobody has added any, which is never meant."""

CREATE_VERSION_TABLE = """
CREATE TABLE IF NOT EXISTS hanbeon.schema_version (
  version integer PRIMARY KEY,
  runs_from integer NOT NULL,
  applied_at bigint NOT NULL
)"""
WRITE_VERSION = "INSERT INTO hanbeon.schema_version (version, runs_from, applied_at) VALUES ($1, $2, hanbeon.now())"


class Migration(NamedTuple):
    """One step. `runs_from` is the oldest release (by the schema it knows) that still works on the result."""

    version: int
    runs_from: int
    file: str


MIGRATIONS = (Migration(1, 1, "0001_engine.sql"),)


def add_tables(file: Path) -> None:
    """Add the tables of a part to those of the first migration."""
    global _tables  # noqa: PLW0603 - see there
    _tables = [*(_tables or ()), *([] if file in (_tables or ()) else [file])]


def script(migration: Migration, dialect: Dialect) -> str:
    files = [FOLDER / migration.file]
    if migration.version == 1:
        if _tables is None:
            raise RuntimeError("the tables of the surfaces are missing; see `surfaces/store_parts.py`")
        of_dialect = (file.with_suffix(f".{dialect.name}.sql") for file in _tables)
        first = [FOLDER / "postgres_only.sql"] if dialect is Postgres else []
        files = [*first, *files, *_tables, *(file for file in of_dialect if file.exists())]
    return "\n".join(translate(file.read_text(), dialect) for file in files)


def pending(version: int) -> list[Migration]:
    return [migration for migration in MIGRATIONS if migration.version > version]


def check(version: int | None, runs_from: int | None) -> None:
    """Raise for a database that this release cannot use, with a remedy."""
    if version is None or runs_from is None:
        raise SchemaMissing(Rule("schema_missing"))
    if version < VERSION:
        raise SchemaTooOld(Rule("schema_too_old", version=version, needed=VERSION))
    if runs_from > VERSION:
        raise SchemaTooNew(Rule("schema_too_new", version=version, needed=runs_from, known=VERSION))
