"""The named statements of `sql/`: one file each, portable unless a folder of the dialect has its own."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from hanbeon.store.dialect import Dialect, translate

SQL = Path(__file__).parent / "sql"


@cache
def statement(name: str, dialect: Dialect) -> str:
    """The statement's text for this database. Its override, if it has one, opens with why it cannot be shared."""
    own = SQL / dialect.name / f"{name}.sql"
    path = own if own.exists() else SQL / f"{name}.sql"
    return translate(path.read_text(), dialect)


def names(dialect: Dialect) -> list[str]:
    """Every statement this database has, for the tests that look at each."""
    return sorted({path.stem for folder in (SQL, SQL / dialect.name) for path in folder.glob("*.sql")})
