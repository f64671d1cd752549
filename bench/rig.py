"""What a scenario works with: databases, clients and workers of a subject, and a quiet moment."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

from bench import processes
from bench.machine import Quiet, wait_quiet
from bench.marking import Marks
from bench.options import Options
from bench.processes import Crew
from bench.records import ROOT
from bench.servers import Servers
from bench.subjects import Subject

_PATIENCE = 600.0
_IN_MEMORY = Path("/dev/shm")


class Rig:
    """One for a run. Whatever it started has ended, and whatever it wrote is gone, when its block ends."""

    def __init__(self, options: Options, subjects: list[Subject]) -> None:
        self.options = options
        self.subjects = subjects
        self._ending = ExitStack()

    def __enter__(self) -> Self:
        memory = _IN_MEMORY if os.access(_IN_MEMORY, os.W_OK) else None
        try:
            self.folder = self._folder(None)
            self.marks = Marks(self._folder(memory))
            self.servers = self._ending.enter_context(Servers(self.folder))
        except BaseException:
            self._ending.close()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        self._ending.close()

    def quiet(self) -> Quiet:
        """Wait for a quiet machine, within the limit; how quiet it was."""
        return wait_quiet(self.options.quiet_wait)

    @contextmanager
    def database(self, subject: Subject) -> Iterator[str]:
        """The URL of a new database that the subject has set up, and no marks."""
        with self.servers.database(subject.store) as url:
            self.marks.clear()
            self.client(subject, url, "setup")
            yield url

    def client(self, subject: Subject, url: str, *arguments: object) -> float:
        """Run the subject's client; the seconds that its enqueues took."""
        said = processes.run(subject.client(*arguments), self.environment(url), _PATIENCE)
        for line in said.splitlines():
            if line.startswith('{"seconds"'):
                return float(json.loads(line)["seconds"])
        return 0.0

    def fill(self, subject: Subject, url: str, count: int) -> None:
        """Enqueue that many jobs as fast as the subject can."""
        self.client(subject, url, "bulk" if subject.bulk else "enqueue", count)

    @contextmanager
    def workers(self, subject: Subject, url: str, count: int) -> Iterator[Crew]:
        commands = [subject.worker_command(number, url) for number in range(count)]
        with processes.crew(commands, self.environment(url), self.folder / "worker.log") as crew:
            yield crew

    def environment(self, url: str) -> dict[str, str]:
        """What a program of a measurement finds its way by."""
        return {
            "BENCH_URL": url,
            "BENCH_MARKS": str(self.marks.path),
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
            "TMPDIR": str(self.folder),  # A killed worker cannot tidy up.
        }

    def _folder(self, base: Path | None) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="hanbeon-bench-", dir=base))
        self._ending.callback(shutil.rmtree, folder, ignore_errors=True)
        return folder
