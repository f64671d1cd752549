"""docs/promises.md, from the promises and the ids of the tests that hold them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.docs.markdown import table

PATH = "promises.md"
SOURCE = "tests/promises.toml"
DECISIONS = "Decisions"
_ROOT = Path(__file__).parents[2]

_PAGE = """# Promises and their tests

Each promise of the product, with tests that fail when it is broken. [guarantees.md](guarantees.md) states the first
four sections in full. The requirements of [schedules](../tests/requirements/schedules.md),
[chains](../tests/requirements/chains.md) and [workflows](../tests/requirements/workflows.md) are quoted sentence by
sentence, each with its tests.
{sections}"""


def promises() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return the ids of tests by section and promise; decisions go by their number."""
    return tomllib.loads((_ROOT / SOURCE).read_text())


def render() -> str:
    return _PAGE.format(sections="".join(map(_section, *zip(*promises().items(), strict=True))))


def _section(title: str, promised: Mapping[str, Sequence[str]]) -> str:
    name = _decision if title == DECISIONS else str
    rows = ((name(promise), "<br>".join(map(_link, tests))) for promise, tests in promised.items())
    return f"\n## {title[0].upper()}{title[1:]}\n\n{table(('promise', 'tests'), rows)}"


def _decision(number: str) -> str:
    (record,) = (_ROOT / "docs" / "decisions").glob(f"{number}-*.md")
    title = record.read_text().splitlines()[0].removeprefix(f"# {number} ")
    return f"[{number}](decisions/{record.name}) {title}"


def _link(test: str) -> str:
    path, _, name = test.partition("::")
    return f"[`{name.removeprefix('test_')}`](../{path})"
