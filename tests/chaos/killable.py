"""Tasks that are processes or commands and do not want to end; what the harness starts in each worker process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from hanbeon import App, SyncContext
from hanbeon.cli.logs import log_to_stderr
from tests.chaos.moments import boottime
from tests.processes.journal import Journal, write_line

GRACE = 0.5
_ROOT = Path(__file__).parents[2]
SETTINGS = {"lease": 8.0, "poll": 0.5, "stop_grace": GRACE}
_GRANDCHILD = (
    "import os, signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0);"
    "open(sys.argv[1], 'a').write(f'child {sys.argv[2]} {sys.argv[3]} {os.getpid()}\\n'); time.sleep(3600)"
)


def make_app(url: str, **settings: Any) -> App:
    log_to_stderr()
    return quiet_app(url, **settings)


def quiet_app(url: str, **settings: Any) -> App:
    app = App(url, **settings)
    app.task(timeout=60.0, retries=1000, retry_delay=0.0)(stubborn)
    app.task(executor="process", retries=0)(quick)
    line = [sys.executable, "-m", "tests.chaos.killable", "{args.journal}", "{job.id}", "{job.attempt}"]
    app.command("stubborn_command", line, timeout=60.0, retries=1000, retry_delay=0.0, cwd=str(_ROOT))
    return app


def quick(ctx: SyncContext, journal: str = "") -> None:
    """Tells if anything still runs that was told to be running."""
    if journal:
        _tell_overlaps(ctx.job_id, ctx.fence, journal)


def stubborn(ctx: SyncContext, journal: str) -> None:
    refuse_to_end(journal, ctx.job_id, ctx.fence)


def refuse_to_end(journal: str, job: str, fence: int) -> None:
    """The first attempt ignores SIGTERM, as does a daemon that it starts. The others tell if they saw any of it."""
    _tell_overlaps(job, fence, journal)
    write_line(journal, f"began {job} {fence} {boottime()} {os.getpid()}")
    if fence > 1:
        return
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.run([sys.executable, "-S", "-c", _GRANDCHILD, journal, job, str(fence)], check=True, env={})
    while True:
        time.sleep(3600)


def _tell_overlaps(job: str, fence: int, journal: str) -> None:
    for words in Journal.at(journal).lines():
        # The processes of later attempts, which returned, may wait for other jobs.
        if words[0] in ("began", "child") and words[2] == "1" and runs(int(words[-1])):
            write_line(journal, f"overlap {job} {fence} {words[-1]}")


def runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


if __name__ == "__main__":
    refuse_to_end(sys.argv[1], sys.argv[2], int(sys.argv[3]))
