"""Processes and commands that refuse to end, and the App that has them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hanbeon import App, SyncContext
from tests.storm.stubborn import refuse_to_end, tell_overlaps

GRACE = 0.5
_ROOT = Path(__file__).parents[2]
SETTINGS = {"lease": 8.0, "poll": 0.5, "stop_grace": GRACE}


def make_app(url: str, **settings: Any) -> App:
    app = App(url, **settings)
    app.task(timeout=60.0, retries=1000, retry_delay=0.0)(stubborn)
    app.task(executor="process", retries=0)(quick)
    line = [sys.executable, "-S", "-m", "tests.storm.stubborn", "{args.journal}", "{job.id}", "{job.attempt}"]
    app.command("stubborn_command", line, timeout=60.0, retries=1000, retry_delay=0.0, cwd=str(_ROOT))
    return app


def quick(ctx: SyncContext, journal: str = "") -> None:
    """Record every process that the journal lists and that still runs."""
    if journal:
        tell_overlaps(ctx.job_id, ctx.fence, journal)


def stubborn(ctx: SyncContext, journal: str) -> None:
    refuse_to_end(journal, ctx.job_id, ctx.fence)
