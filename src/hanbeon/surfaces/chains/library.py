"""Libraries of chains: which operations a module defines, found out in a process of its own.

The process that takes a request never imports a library itself: an import may block, may have side effects, and would
go on showing the operations of the day on which the server was started.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Callable, Collection
from types import ModuleType
from typing import Any

from hanbeon.surfaces.chains.vocabulary import NO_OPERATION, UNINIT
from hanbeon.tasks import import_guard

_IMPORT_SECONDS = 10.0
_ABSENT_SECONDS = 60.0
_NAMES_MOST = 4 * 2**20

_seen: dict[tuple[str, ...], frozenset[str]] = {}
_absent_until: dict[tuple[str, ...], float] = {}
_probes: dict[tuple[asyncio.AbstractEventLoop, tuple[str, ...]], asyncio.Task[frozenset[str] | None]] = {}


def load_library(name: str) -> ModuleType:
    """Import a library, which must not open the App."""
    with import_guard.in_worker_process():
        return importlib.import_module(name)


def operations_of(library: ModuleType) -> dict[str, Callable[..., Any]]:
    """Return the public functions that the module itself defines; nothing that it imported."""
    return {
        name: found
        for name, found in vars(library).items()
        if not name.startswith("_") and inspect.isfunction(found) and found.__module__ == library.__name__
    }


async def operation_names(library: str, needed: Collection[str]) -> frozenset[str] | None:
    """Return the names of a library's operations; None if it cannot be imported here.

    Names that were found once are trusted. If one of `needed` is not among them, the library is looked at again: its
    file may have changed.
    """
    wanted = set(needed) - {NO_OPERATION}
    if library == UNINIT or not wanted:
        return None
    key = (library, *sys.path)
    known = _seen.get(key)
    if known is not None and wanted <= known:
        return known
    loop = asyncio.get_running_loop()
    if _absent_until.get(key, 0) > loop.time():
        return None
    probe = _probes.get((loop, key))
    if probe is None:
        probe = _probes[loop, key] = loop.create_task(_probe(library))
        probe.add_done_callback(lambda _: _probes.pop((loop, key), None))
    found = await asyncio.shield(probe)
    if found is None:
        _absent_until[key] = loop.time() + _ABSENT_SECONDS
    else:
        _seen[key] = found
    return found


async def _probe(library: str) -> frozenset[str] | None:
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "hanbeon.surfaces.chains.library", library),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,  # Ctrl-C is for the program.
            limit=_NAMES_MOST,
        )
    except OSError:
        return None
    assert process.stdout is not None
    try:
        async with asyncio.timeout(_IMPORT_SECONDS):
            line = await process.stdout.readline()
            # After its answer it ends by itself. asyncio warns of a process that ends just before it is killed.
            await process.wait()
        return frozenset(json.loads(line))
    except (TimeoutError, ValueError):
        return None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await asyncio.shield(process.wait())


def main() -> None:
    # What the library prints must not get before the answer.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    print(json.dumps(list(operations_of(load_library(sys.argv[1])))), file=answer, flush=True)
    os._exit(0)  # Threads that the library started do not matter.


if __name__ == "__main__":
    main()
