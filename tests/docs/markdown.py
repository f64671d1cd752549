"""Pages of the repository and their contents: code blocks, links and anchors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("tests/requirements/*.md")])

_FENCE = re.compile(
    r"^(?:<!-- (?P<source>\S+) -->\n)?```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


class Block(NamedTuple):
    """A fenced block; `source` is the file that a comment above it names, if any."""

    page: Path
    language: str
    source: str | None
    text: str


def blocks(page: Path) -> list[Block]:
    return [
        Block(page, match["language"], match["source"], match["text"]) for match in _FENCE.finditer(page.read_text())
    ]


def links(page: Path) -> Iterator[str]:
    """Yield the targets of the links of a page, except those in code."""
    yield from _LINK.findall(_CODE.sub("", page.read_text()))


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))
