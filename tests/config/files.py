"""Configuration files for tests, and their problems."""

from pathlib import Path

from hanbeon.config.file import ConfigFile, examine, load
from hanbeon.errors import ConfigInvalid


def write(folder: Path, text: str, name: str = "hanbeon.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def read(folder: Path, text: str) -> ConfigFile:
    return load(write(folder, text))


def refused(folder: Path, text: str) -> list[str]:
    """Return every problem without the path, and check its class."""
    path = write(folder, text)
    _, problems = examine(path)
    assert all(type(each) is ConfigInvalid for each in problems)
    return [str(each).removeprefix(f"{path}: ") for each in problems]
