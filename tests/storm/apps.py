"""The Apps that the harness starts in worker processes, with logging on: one for each kind of work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hanbeon import App
from hanbeon.cli.logs import log_to_stderr
from tests.storm import killable, tasks
from tests.storm.clocks import CLOCKS
from tests.storm.schedules import tasks as schedule_tasks

CHAIN_LIBRARY = "tests.storm.chain_operations"


def make_app(url: str, *, kind: str = "jobs", **settings: Any) -> App:
    log_to_stderr()
    return _APPS[kind](url, **settings)


def _jobs(url: str, *, clock: str = "system", **settings: Any) -> App:
    return tasks.make_app(url, clock=CLOCKS[clock](), **settings)


def _chains(url: str, **settings: Any) -> App:
    return App(url, chain_libraries=CHAIN_LIBRARY, **settings)


def _workflows(url: str, **settings: Any) -> App:
    return App(url, outbound_allow_private=True, **settings)


_APPS: dict[str, Callable[..., App]] = {
    "jobs": _jobs,
    "chains": _chains,
    "killable": killable.make_app,
    "schedules": schedule_tasks.make_app,
    "workflows": _workflows,
}
