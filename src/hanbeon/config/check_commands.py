"""Checks that the programs and folders of a file's commands exist on this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from hanbeon.config.document import Document
from hanbeon.config.file import ConfigFile
from hanbeon.config.reader import shown
from hanbeon.errors import ConfigInvalid
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.tasks.command import Command


def missing(file: ConfigFile) -> Iterator[ConfigInvalid]:
    """Yield a problem for each folder and program that is missing, or that this user may not use."""
    for task in file.tasks:
        if not isinstance(task.spec, Command):
            continue
        command, folder = task.spec, Path(task.spec.cwd or ".")
        if not folder.is_dir():
            message = f"there is no folder {folder}; create it, or choose another"
            yield problem_in(file, ("tasks", task.name, "cwd"), message)
        elif _program(command, folder) is None:
            program = command.argv[0].fill({})
            reason = "does not exist or is not executable" if os.sep in program else "is not on the PATH"
            message = f"{quoted(program)} {reason}; install it, or write its full path"
            yield problem_in(file, ("tasks", task.name, "command"), message)


def problem_in(file: ConfigFile, place: Sequence[str], message: str | Rule) -> ConfigInvalid:
    """Return a problem with its line, for a file that has been read already."""
    return ConfigInvalid(str(file.path), shown(place), message, Document.read(file.path, file.folder).line_of(place))


def _program(command: Command, folder: Path) -> str | None:
    program = command.argv[0].fill({})
    if os.sep in program:
        return shutil.which(str(folder / program))
    inherited = os.environ.get("PATH") if "PATH" in command.pass_env else None
    return shutil.which(program, path=command.env.get("PATH", inherited or os.defpath))
