"""Description of the machine, and waiting until it is quiet."""

from __future__ import annotations

import os
import platform
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil

_IDLE_ENOUGH = 0.9
_POLL_SECONDS = 0.5


class Quiet(NamedTuple):
    """The idle share of the CPUs and the load average just before a measurement."""

    idle: float = 0.0
    load: float = 0.0


UNKNOWN = Quiet()


def describe() -> dict[str, str]:
    return {
        "CPU": f"{_cpu()}, {os.cpu_count()} cores",
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "disk": f"{_filesystem()}, {_syncs():,.0f} fdatasync/s of 8 KiB",
        "kernel": f"{platform.system()} {platform.release().split('-')[0]}",
        "OS": _system(),
    }


def wait_quiet(limit: float) -> Quiet:
    """Wait until the CPUs are idle enough, at most `limit` seconds; return the last idle share and the load."""
    until = time.monotonic() + limit
    while True:
        idle = psutil.cpu_times_percent(_POLL_SECONDS).idle / 100
        if idle >= _IDLE_ENOUGH or time.monotonic() >= until:
            return Quiet(round(idle, 3), round(os.getloadavg()[0], 2))


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.platform(terse=True)


def _filesystem() -> str:
    """Return the file system of the folder that holds the benchmarks' databases."""
    folder = Path(tempfile.gettempdir()).resolve()
    mounts = {Path(part.mountpoint): part.fstype for part in psutil.disk_partitions(all=True)}
    return next((mounts[parent] for parent in (folder, *folder.parents) if parent in mounts), "unknown")


def _syncs(seconds: float = 1.0) -> float:
    """Measure how many pages per second can be synced; every durable commit needs one sync."""
    sync = getattr(os, "fdatasync", os.fsync)
    with tempfile.TemporaryFile() as file:
        count, began = 0, time.perf_counter()
        while time.perf_counter() - began < seconds:
            os.pwrite(file.fileno(), b"x" * 8192, 0)
            sync(file.fileno())
            count += 1
        return count / (time.perf_counter() - began)
