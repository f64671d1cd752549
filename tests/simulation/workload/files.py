"""A configuration file that changes while workers have it; they reload it when a fault says so, or when they start."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, ClassVar

from hanbeon import App
from hanbeon.config.file import load
from hanbeon.testing.simulation import Simulation
from tests.simulation.workload.load import Load

_TEXT = """[settings]
concurrency = {concurrency}

[queues.filed]
max_concurrent = {limit}
"""
FIRST = {"concurrency": 3, "limit": 2}


class Files(Load):
    operations: ClassVar[dict[str, int]] = {"edit_file": 1}

    def set_up(self, simulation: Simulation, app: App) -> None:
        path = _path(simulation)
        if not path.exists():
            _write(path, FIRST)
        app.file = load(path)

    async def carry_out(self, simulation: Simulation, kind: str, args: dict[str, Any], rng: random.Random) -> None:
        drawn = {"concurrency": rng.choice((1, 3, 8)), "limit": rng.choice((1, 2, 5))}
        _write(_path(simulation), drawn | args)


def _path(simulation: Simulation) -> Path:
    return simulation.folder / "hanbeon.toml"


def _write(path: Path, values: dict[str, int]) -> None:
    part = path.with_suffix(".part")
    part.write_text(_TEXT.format(**values))
    part.replace(path)  # As an editor does: a process that is killed meanwhile leaves a whole file.
