"""`hanbeon serve` in its own process: started, used, killed, and always reaped."""

from __future__ import annotations

import contextlib
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from tests.cli.hanbeon import environment, start_forked
from tests.server.client import Client

T = TypeVar("T")
PATIENCE = 60.0


class ServerProcess:
    """One server; `client` is its client once it is ready. It logs to a file, so that no pipe has to be drained."""

    def __init__(self, database_url: str, config: Path, name: str, *more: str, **settings: str) -> None:
        self.name = name
        self._log = config.with_name(f"{name}.log")
        with self._log.open("w") as log:
            self.process = start_forked(
                *("serve", "--database", database_url, "--config", str(config), "--port", "0", *more),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                cwd=config.parent,
                env=environment(**{f"HANBEON_{setting.upper()}": value for setting, value in settings.items()}),
            )
        try:
            self.client = Client(self._url())
        except BaseException:
            self.kill()
            raise

    def _url(self) -> str:
        def started() -> str | None:
            assert self.process.poll() is None, f"{self.name} has ended:\n{self._log.read_text()}"
            return next((str(line["url"]) for line in self.lines() if line["event"] == "server_started"), None)

        return until(started, f"{self.name} is ready")

    def lines(self) -> Iterator[dict[str, Any]]:
        """Return the lines that it has logged so far."""
        for line in self._log.read_text().splitlines():
            with contextlib.suppress(json.JSONDecodeError):  # It may be written just now.
                yield json.loads(line)

    def kill(self) -> None:
        """Send SIGKILL to it alone: nothing is handed back, and nothing kills its sessions."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()
        assert self.process.wait(PATIENCE) == 0, self._log.read_text()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        if error is not None:
            error.add_note(f"{self.name} logged:\n{self._log.read_text()[-6_000:]}")


def until(look: Callable[[], T | None], what: str, patience: float = PATIENCE) -> T:
    """Poll until there is a result, and return it."""
    end = time.monotonic() + patience
    while not (found := look()):
        assert time.monotonic() < end, f"it never came to this: {what}"
        time.sleep(0.02)
    return found
