"""The pages of `docs/` that are derived from the code: what is declared once is not told twice by hand."""

from __future__ import annotations

from pathlib import Path

from tools import keywords, stubs
from tools.docs import commands, configuration, errors, lifecycle, options, settings, surfaces

ROOT = Path(__file__).parents[2]
NOTE = "<!-- Made by `make docs` from the code; edit {source} instead. -->\n\n"
_PAGES = (commands, configuration, errors, lifecycle, options, settings, surfaces)


def pages() -> dict[Path, str]:
    """Every generated page: where it is and what it should say."""
    made = {each.PATH: NOTE.format(source=each.SOURCE) + each.render() for each in _PAGES}
    docs = {ROOT / "docs" / name: text for name, text in made.items()}
    return docs | {path: keywords.keywords(path) for path in keywords.paths()} | {stubs.PATH: stubs.sync_services()}
