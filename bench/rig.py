"""The test bed of a scenario: databases, clients and workers of a subject, and waiting for a quiet machine."""

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
from bench.processes import ProcessGroup
from bench.records import ROOT
from bench.servers import Servers
from bench.subjects import Store, Subject

_TIMEOUT = 600.0
_IN_MEMORY = Path("/dev/shm")


class ClientStats(NamedTuple):
    """A client's report: the seconds that its enqueues took, and its peak memory in bytes."""

    seconds: float = 0.0
    peak: float = 0.0


class Rig:
    """One per run. At the end of its block, all its processes have ended and all its files are deleted."""

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
        """Wait for a quiet machine, within the limit, and return how quiet it was."""
        return wait_quiet(self.options.quiet_wait)

    @contextmanager
    def database(self, subject: Subject) -> Iterator[str]:
        """Yield the URL of a new database that the subject has set up, and clear the marks."""
        with self.servers.database(subject.store) as url:
            self.marks.clear()
            self.client(subject, url, "setup")
            yield url

    def ours(self) -> list[Subject]:
        """Return ours on PostgreSQL, for scenarios without peers."""
        return [subject for subject in self.subjects if subject.is_ours and subject.store is Store.POSTGRES]

    def client(self, subject: Subject, url: str, *arguments: object) -> ClientStats:
        """Run the subject's client to its end."""
        output = processes.run(subject.client(*arguments), self.environment(url), _TIMEOUT)
        for line in output.splitlines():
            if line.startswith('{"seconds"'):
                return ClientStats(**json.loads(line))
        return ClientStats()

    def fill(self, subject: Subject, url: str, count: int) -> None:
        """Enqueue that many jobs as fast as the subject can."""
        self.client(subject, url, "bulk" if subject.bulk else "enqueue", count)

    @contextmanager
    def workers(
        self, subject: Subject, url: str, count: int, settings: Mapping[str, str] = {}
    ) -> Iterator[ProcessGroup]:
        """Run workers for the block; `settings` are additional environment variables."""
        commands = [subject.worker_command(number, url) for number in range(count)]
        with processes.group(commands, {**self.environment(url), **settings}, self.folder / "worker.log") as group:
            yield group

    def environment(self, url: str) -> dict[str, str]:
        """Return the environment variables of a measurement's programs."""
        return {
            "BENCH_URL": url,
            "BENCH_MARKS": str(self.marks.path),
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
            "TMPDIR": str(self.folder),  # A killed worker cannot clean up.
        }

    def _folder(self, base: Path | None) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="hanbeon-bench-", dir=base))
        self._ending.callback(shutil.rmtree, folder, ignore_errors=True)
        return folder
