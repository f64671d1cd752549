"""The App of worker processes that run workflows."""

from __future__ import annotations

from typing import Any

from hanbeon import App
from hanbeon.cli.logs import log_to_stderr


def make_app(url: str, **settings: Any) -> App:
    log_to_stderr()
    return App(url, outbound_allow_private=True, **settings)
