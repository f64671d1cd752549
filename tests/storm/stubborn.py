"""Work that refuses to end. It needs only the standard library, so that a command that runs it starts at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.storm.journal import Journal, boottime, write_line

_GRANDCHILD = (
    "import os, signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0);"
    "open(sys.argv[1], 'a').write(f'child {sys.argv[2]} {sys.argv[3]} {os.getpid()}\\n'); time.sleep(3600)"
)


def refuse_to_end(journal: str, job: str, fence: int) -> None:
    """Ignore SIGTERM in the first attempt, as does a daemon that it starts; later attempts report survivors."""
    tell_overlaps(job, fence, journal)
    write_line(journal, f"began {job} {fence} {boottime()} {os.getpid()}")
    if fence > 1:
        return
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.run([sys.executable, "-S", "-c", _GRANDCHILD, journal, job, str(fence)], check=True, env={})
    while True:
        time.sleep(3600)


def tell_overlaps(job: str, fence: int, journal: str) -> None:
    """Write a line to the journal for each process of a first attempt that still runs."""
    for words in Journal.at(journal).lines():
        # The processes of later attempts, which returned, may wait for other jobs.
        if words[0] in ("began", "child") and words[2] == "1" and runs(int(words[-1])):
            write_line(journal, f"overlap {job} {fence} {words[-1]}")


def runs(pid: int) -> bool:
    """Return true if the process exists and is no zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    # The name, in parentheses before the state, may contain anything.
    return stat.rpartition(")")[2].split()[0] != "Z"


if __name__ == "__main__":
    refuse_to_end(sys.argv[1], sys.argv[2], int(sys.argv[3]))
