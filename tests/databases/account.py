"""The account that a server runs as. PostgreSQL does not run as root, so root starts it as an unprivileged one."""

import os
import pwd
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from tests.databases.memory import memory_folder

# It must have a passwd entry: initdb looks up the name of its user.
_UNPRIVILEGED = ("nobody", "postgres", "daemon")


class NoAccountError(Exception):
    """The tests run as root, and the machine has no unprivileged account to start a server as."""


class Identity(TypedDict, total=False):
    """Arguments for `subprocess` that drop root privileges; empty if there are none to drop."""

    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True, slots=True)
class Account:
    """The account that servers run as: our own, unless we are root."""

    uid: int
    gid: int

    @classmethod
    def choose(cls) -> "Account":
        if os.geteuid() != 0:
            return cls(os.geteuid(), os.getegid())
        for name in _UNPRIVILEGED:
            try:
                entry = pwd.getpwnam(name)
            except KeyError:
                continue
            return cls(entry.pw_uid, entry.pw_gid)
        raise NoAccountError

    @property
    def identity(self) -> Identity:
        if os.geteuid() != 0:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def make_folder(self, prefix: str, *, in_memory: bool = False) -> Path:
        """A new folder that this account owns and can reach, with a path short enough for a unix socket."""
        memory = memory_folder() if in_memory else None
        for base in (*([str(memory)] if memory else []), tempfile.gettempdir(), "/tmp", "/var/tmp"):
            folder = Path(tempfile.mkdtemp(prefix=prefix, dir=base))
            os.chown(folder, self.uid, self.gid)
            if len(str(folder)) < 80 and self.can_run("test", "-w", str(folder)):
                return folder
            folder.rmdir()
        raise PermissionError(f"uid {self.uid} cannot write to any temporary folder; set TMPDIR to one that it can")

    def can_run(self, *command: str) -> bool:
        try:
            done = subprocess.run(command, check=False, capture_output=True, cwd="/", **self.identity)
        except OSError:
            return False
        return done.returncode == 0

    def give(self, tree: Path) -> None:
        """Make this account the owner of a copied tree."""
        for path in (tree, *tree.rglob("*")):
            shutil.chown(path, self.uid, self.gid)
