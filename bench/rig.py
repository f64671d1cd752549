"""What a scenario works with: databases, clients and workers of a subject, and a quiet moment."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple, Self

from bench import processes
from bench.machine import Quiet, wait_quiet
from bench.marks import Marks
from bench.options import Options
from bench.processes import Crew
from bench.records import ROOT
from bench.servers import Servers
from bench.subjects import Store, Subject

_PATIENCE = 600.0
_IN_MEMORY = Path("/dev/shm")


class Said(NamedTuple):
    """What a client tells: the seconds that its enqueues took, and the most memory that it had, in bytes."""

    seconds: float = 0.0
    peak: float = 0.0


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

    def ours(self) -> list[Subject]:
        """Ours on PostgreSQL, for what only we are asked."""
        return [subject for subject in self.subjects if subject.is_ours and subject.store is Store.POSTGRES]

    def client(self, subject: Subject, url: str, *arguments: object) -> Said:
        """Run the subject's client to its end."""
        said = processes.run(subject.client(*arguments), self.environment(url), _PATIENCE)
        for line in said.splitlines():
            if line.startswith('{"seconds"'):
                return Said(**json.loads(line))
        return Said()

    def fill(self, subject: Subject, url: str, count: int) -> None:
        """Enqueue that many jobs as fast as the subject can."""
        self.client(subject, url, "bulk" if subject.bulk else "enqueue", count)

    @contextmanager
    def workers(self, subject: Subject, url: str, count: int, settings: Mapping[str, str] = {}) -> Iterator[Crew]:
        """`settings` are further variables of their environment."""
        commands = [subject.worker_command(number, url) for number in range(count)]
        with processes.crew(commands, {**self.environment(url), **settings}, self.folder / "worker.log") as crew:
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
