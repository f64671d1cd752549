"""A copy of the product with a mutant's changes: links to everything but what is changed."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import hanbeon
from tests.simulation.directed.case import Change, Mutant

PRODUCT = Path(hanbeon.__file__).parent


def misfits(mutant: Mutant) -> list[str]:
    """Return the changes that do not fit the product any more, as sentences."""
    found = []
    for change in mutant.changes:
        path = PRODUCT / change.file
        times = path.read_text().count(change.old) if path.is_file() else 0
        if times != 1:
            found.append(f"{mutant.name}: {change.file} has {times} times {change.old!r}")
    return found


@contextmanager
def broken_copy(mutant: Mutant) -> Iterator[Path]:
    """Make the copy; yields the folder for PYTHONPATH."""
    changes: dict[str, list[Change]] = defaultdict(list)
    for change in mutant.changes:
        changes[change.file].append(change)
    with tempfile.TemporaryDirectory(prefix="hanbeon-mutant-") as folder:
        copy = Path(folder, PRODUCT.name)
        for file, of_file in changes.items():
            _expose(copy, Path(file))
            path = copy / file
            text = path.read_text()
            for change in of_file:
                text = text.replace(change.old, change.new)
            path.unlink()
            path.write_text(text)
        yield Path(folder)


def _expose(copy: Path, file: Path) -> None:
    """Make the folders of a file real, with links in them."""
    for folder in reversed(file.parents):
        made = copy / folder
        if made.is_symlink():
            made.unlink()
        if not made.exists():
            made.mkdir(parents=True)
            for entry in (PRODUCT / folder).iterdir():
                (made / entry.name).symlink_to(entry)
