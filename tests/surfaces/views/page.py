"""Reads what docs/views.md documents of the views."""

import re

from tests.docs.markdown import ROOT, blocks
from tests.surfaces.views.reader import Reader

PAGE = ROOT / "docs" / "views.md"
_ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \| (\w+) \| (.*?) ?\|$", re.MULTILINE)


def documented(view: str) -> list[tuple[str, str, str, str]]:
    """Return the rows of a view's table: column, type on PostgreSQL, type on SQLite, meaning."""
    section = PAGE.read_text().partition(f"\n## `{view}`\n")[2].partition("\n## ")[0]
    return _ROW.findall(section)


def examples_and_grants() -> tuple[list[str], str]:
    examples, grants = (block.text for block in blocks(PAGE) if block.language == "sql")
    return examples.strip().removesuffix(";").split(";\n"), grants


async def check_types_of_values(reader: Reader, view: str, *unseen: str) -> None:
    """On SQLite only values have types. Of every column there is some value, but for the `unseen`."""
    if not reader.on_sqlite:
        return
    for name, _, type, _ in documented(view):
        rows = await reader.rows(f"SELECT DISTINCT typeof({name}) AS type FROM hanbeon.{view} WHERE {name} IS NOT NULL")
        assert [row["type"] for row in rows] == ([] if name in unseen else [type]), f"{view}.{name}"
