"""A folder for configuration files, with a module that they can name."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

_MODULE = """
from hanbeon import App, Context

other = App()
number = 7

@other.task(retries=7, queue="slow", retry_delay=9)
async def report(ctx: Context, month: str) -> str:
    return month

def plain(month: str) -> str:
    return month
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with a module; imports from it are undone afterwards."""
    path, modules = list(sys.path), set(sys.modules)
    (tmp_path / "config_tasks.py").write_text(_MODULE)
    yield tmp_path
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.startswith("config_"):
            del sys.modules[name]
