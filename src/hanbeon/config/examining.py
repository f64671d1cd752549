"""What cannot be seen in a file alone: whether what its commands need is on this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from hanbeon.config.file import ConfigFile
from hanbeon.config.reading import shown
from hanbeon.errors import ConfigInvalid
from hanbeon.tasks.command import Command


def missing(file: ConfigFile) -> Iterator[ConfigInvalid]:
    """Folders and programs that are not there, or not for this user."""
    for task in file.tasks:
        if not isinstance(task.spec, Command):
            continue
        command, place = task.spec, shown(("tasks", task.name))
        folder = Path(command.cwd or ".")
        if not folder.is_dir():
            yield ConfigInvalid(
                str(file.path), f"{place}.cwd", f"there is no folder {folder}; make it, or name another"
            )
        elif _program(command, folder) is None:
            program = command.argv[0].fill({})
            where = "is not there, or may not be run" if os.sep in program else "is not on the PATH"
            yield ConfigInvalid(
                str(file.path), f"{place}.command", f"{program!r} {where}; install it, or write its whole path"
            )


def _program(command: Command, folder: Path) -> str | None:
    program = command.argv[0].fill({})
    if os.sep in program:
        return shutil.which(str(folder / program))
    inherited = os.environ.get("PATH") if "PATH" in command.pass_env else None
    return shutil.which(program, path=command.env.get("PATH", inherited or os.defpath))
