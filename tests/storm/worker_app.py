"""The App that the harness starts in each worker process, with logging on and a clock chosen by name."""

from typing import Any

from hanbeon import App
from hanbeon.cli.logs import log_to_stderr
from tests.storm import tasks
from tests.storm.clocks import CLOCKS


def make_app(url: str, *, clock: str = "system", **settings: Any) -> App:
    log_to_stderr()
    return tasks.make_app(url, clock=CLOCKS[clock](), **settings)
