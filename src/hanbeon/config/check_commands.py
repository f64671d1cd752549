"""What cannot be seen in a file alone: whether what its commands need is on this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from hanbeon.config.document import Document
from hanbeon.config.file import ConfigFile
from hanbeon.config.reader import shown
from hanbeon.errors import ConfigInvalid
from hanbeon.tasks.command import Command


def missing(file: ConfigFile) -> Iterator[ConfigInvalid]:
    """Folders and programs that are not there, or not for this user."""
    for task in file.tasks:
        if not isinstance(task.spec, Command):
            continue
        command, folder = task.spec, Path(task.spec.cwd or ".")
        if not folder.is_dir():
            why = f"there is no folder {folder}; make it, or name another"
            yield problem_in(file, ("tasks", task.name, "cwd"), why)
        elif _program(command, folder) is None:
            program = command.argv[0].fill({})
            where = "is not there, or may not be run" if os.sep in program else "is not on the PATH"
            why = f"{program!r} {where}; install it, or write its whole path"
            yield problem_in(file, ("tasks", task.name, "command"), why)


def problem_in(file: ConfigFile, place: Sequence[str], message: str) -> ConfigInvalid:
    """A problem that shows when the file has been read already, with its line."""
    return ConfigInvalid(str(file.path), shown(place), message, Document.read(file.path, file.folder).line_of(place))


def _program(command: Command, folder: Path) -> str | None:
    program = command.argv[0].fill({})
    if os.sep in program:
        return shutil.which(str(folder / program))
    inherited = os.environ.get("PATH") if "PATH" in command.pass_env else None
    return shutil.which(program, path=command.env.get("PATH", inherited or os.defpath))
