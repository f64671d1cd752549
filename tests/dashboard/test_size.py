"""The size of the dashboard as browsers load it."""

import gzip

from hanbeon.server.docs_pages import FOLDER
from tests.absence import unavailable

_MOST_BYTES = 130_000


def test_dashboard_is_smaller_than_its_limit() -> None:
    files = sorted((FOLDER / "dashboard").glob("*.*"))
    if not files:
        unavailable("the dashboard is not built; `make setup` builds it where the npm registry can be reached")
    sizes = {file.name: len(gzip.compress(file.read_bytes(), 9)) for file in files}
    assert sum(sizes.values()) < _MOST_BYTES, sizes
