"""The Apps that the harness starts in worker processes, with logging on: one for each kind of work."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from hanbeon import App
from hanbeon.cli.logs import log_to_stderr
from tests.storm import killable, tasks
from tests.storm.chain_operations import __name__ as CHAIN_LIBRARY
from tests.storm.chaos import tasks as chaos_tasks
from tests.storm.clocks import CLOCKS
from tests.storm.schedules import tasks as schedule_tasks


def make_app(url: str, *, kind: str = "jobs", **settings: Any) -> App:
    # A line for each of a hundred thousand jobs would be most of what a run of faults costs.
    log_to_stderr(logging.WARNING if kind == "chaos" else logging.INFO)
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
    "chaos": chaos_tasks.make_app,
    "killable": killable.make_app,
    "schedules": schedule_tasks.make_app,
    "workflows": _workflows,
}
