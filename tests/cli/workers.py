"""Workers as separate processes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from typing import Any

from tests.cli.hanbeon import EXAMPLES, SCRIPT, environment, start_forked


class Running:
    """A worker process and its log lines."""

    def __init__(self, *arguments: str, **options: Any) -> None:
        given: dict[str, Any] = {"env": environment(), "stderr": subprocess.PIPE, "cwd": EXAMPLES, **options}
        if "preexec_fn" in given:
            self.process = subprocess.Popen([SCRIPT, *arguments], text=True, **given)
        else:
            self.process = start_forked(*arguments, **given)

    def lines(self) -> Iterator[dict[str, Any]]:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            yield json.loads(line)

    def until(self, event: str) -> dict[str, Any]:
        for line in self.lines():
            if line["event"] == event:
                return line
        raise AssertionError(f"it ended without {event}")

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *exc: object) -> None:
        self.process.kill()
        self.process.communicate()
