"""Runs of plans in processes of their own: with the same memory each time, and no end of a dead process's objects."""

from __future__ import annotations

import contextlib
import gc
import importlib
import logging
import os
import pickle
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import msgspec

from hanbeon.testing.simulation.database import SimulatedStore
from hanbeon.testing.simulation.oracles import ORACLES, Oracle
from hanbeon.testing.simulation.plan import Plan
from hanbeon.testing.simulation.simulation import Result, Scenario, Simulation
from hanbeon.testing.simulation.sqlite_store import SqliteStore
from hanbeon.testing.simulation.world import World

_REAL_SECONDS = 300
_MEMORY = Path("/dev/shm")


class Simulator:
    """Runs plans of a scenario, one after the other. Use it as a context: it has a folder of its own."""

    def __init__(
        self, make: Callable[[], Scenario], oracles: Sequence[Oracle] = ORACLES, store: SimulatedStore | None = None
    ) -> None:
        """`make` is called in each fork, so that nothing of one run reaches the next. `store`: SQLite, or another."""
        self._make, self._oracles, self._store = make, oracles, store or SqliteStore()
        self._folder: Path

    def __enter__(self) -> Simulator:
        self._folder = Path(tempfile.mkdtemp(prefix="hanbeon-simulation-", dir=_MEMORY if _MEMORY.is_dir() else None))
        if (error := _Fork(partial(self._store.prepare, self._folder)).answer()) is not None:
            raise RuntimeError(error)
        # A fork would import it for each plan again.
        for name in _Fork(self._modules).answer():
            importlib.import_module(name)
        self._store.warm()
        return self

    def __exit__(self, *exc: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def run(self, plan: Plan, *, traced: bool = False) -> Result:
        """Run a plan. `traced`: with the trace even if there is no finding."""
        return self.run_at_once([plan], traced=traced)[0]

    def run_at_once(self, plans: Sequence[Plan], *, traced: bool = False) -> list[Result]:
        """Run all of the plans, each in a process of its own."""
        runs = [_Fork(partial(self._run, plan, traced)) for plan in plans]
        answers = [run.answer() for run in runs]
        return [
            answer if isinstance(answer, Result) else Result(plan.seed, (f"simulation: {answer}",))
            for plan, answer in zip(plans, answers, strict=True)
        ]

    def _run(self, plan: Plan, traced: bool) -> Result:
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            world = World(plan.seed)
            with self._store.database(self._folder, Path(folder), world) as database:
                began = time.process_time()
                simulation = Simulation(self._make(), plan, world, database, Path(folder), self._oracles)
                with _limited(simulation):
                    result = simulation.run()
            result = msgspec.structs.replace(result, processor_seconds=time.process_time() - began)
            keeps = traced or bool(result.findings)
            return result if keeps else msgspec.structs.replace(result, trace=())

    def _modules(self) -> list[str]:
        self._run(Plan(seed=0, until=1.0), traced=False)
        return sorted(name for name in sys.modules if name.startswith("hanbeon."))


class _Fork:
    """A function that runs in a child."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._reading, writing = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            os.close(self._reading)
            _answer(work, writing)
        os.close(writing)

    def answer(self) -> Any:
        """Wait for it; return its value, or a text of what it raised."""
        with os.fdopen(self._reading, "rb") as answered:
            data = answered.read()
        os.waitpid(self._child, 0)
        return pickle.loads(data) if data else "the process of the run ended without an answer"


def _answer(work: Callable[[], Any], writing: int) -> NoReturn:
    try:
        gc.disable()
        logging.raiseExceptions = False
        try:
            answer = work()
        except BaseException as error:
            answer = "".join(traceback.format_exception(error))
        with os.fdopen(writing, "wb") as out:
            pickle.dump(answer, out)
    finally:
        os._exit(0)  # Whatever happens, or it would go on as a second parent.


class _Hang(BaseException):
    """The run took too long by the real clock."""


@contextlib.contextmanager
def _limited(simulation: Simulation) -> Iterator[None]:
    def expired(number: int, frame: FrameType | None) -> None:
        stack = "".join(traceback.format_stack(frame)[-8:])
        simulation.find("hang", f"no end in {_REAL_SECONDS} real seconds, at {simulation.world.now:.3f}\n{stack}")
        simulation.world.is_over = True  # A thread of the simulation may take what is raised here for its own.
        raise _Hang

    before = signal.signal(signal.SIGALRM, expired)
    signal.alarm(_REAL_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
