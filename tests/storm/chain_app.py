"""The App of worker processes that run chains."""

from __future__ import annotations

from typing import Any

from hanbeon import App
from hanbeon.cli.logs import log_to_stderr

LIBRARY = "tests.storm.chain_operations"


def make_app(url: str, **settings: Any) -> App:
    log_to_stderr()
    return App(url, chain_libraries=LIBRARY, **settings)
