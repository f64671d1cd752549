"""The size of the dashboard as browsers load it: what every page needs, and what one page adds."""

import gzip
import re
from pathlib import Path

from hanbeon.server.docs_pages import FOLDER
from tests.absence import unavailable

_MOST_BYTES = 130_000
_MOST_FOR_ANY_PAGE = 92_000
_PAGE = FOLDER / "dashboard"
# Minified by the bundler: `from"./chunk-A.js"`, `import"./chunk-A.js"`, and `import("./home-B.js")` when it is opened.
_AT_ONCE = re.compile(r'(?:from|import)"(\.[^"]+)"')
_LATER = re.compile(r'import\("(\.[^"]+)"\)')


def _imports(file: Path, kind: re.Pattern[str]) -> set[Path]:
    return {(file.parent / each).resolve() for each in kind.findall(file.read_text())}


def _loaded(file: Path) -> set[Path]:
    """The script with all that it imports at once."""
    found, open_files = set[Path](), {file.resolve()}
    while open_files:
        each = open_files.pop()
        found.add(each)
        open_files |= _imports(each, _AT_ONCE) - found
    return found


def test_dashboard_loads_little_at_first_and_pages_later() -> None:
    if not (_PAGE / "index.html").exists():
        unavailable("the dashboard is not built; `make setup` builds it where the npm registry can be reached")
    frame = {_PAGE / "index.html", _PAGE / "app.css", _PAGE / "icon.svg"} | _loaded(_PAGE / "app.js")
    parts = {part for file in frame for part in _imports(file, _LATER)}
    first = frame | {file for part in parts if re.match("home|counts|blocked", part.name) for file in _loaded(part)}

    def size(files: set[Path]) -> int:
        return sum(len(gzip.compress(file.read_bytes(), 9)) for file in files)

    assert len(parts) > 5
    assert size(first) < _MOST_BYTES
    sizes = {part.name: size(frame | _loaded(part)) for part in parts}
    assert max(sizes.values()) < _MOST_FOR_ANY_PAGE, sizes
    everything = {file for part in parts for file in _loaded(part)} | frame
    assert {file.resolve() for file in (_PAGE / "chunks").iterdir()} <= {file.resolve() for file in everything}
