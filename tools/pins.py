"""The packages that `constraints.txt` and the dashboard's `package-lock.json` pin, and the hashes of their files.

As a program: fail unless `constraints.txt` has a version with hashes for everything that `pyproject.toml` asks for.
"""

from __future__ import annotations

import base64
import json
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})(?= |$)")


@dataclass(frozen=True)
class Pin:
    """One version of a package; `marker` says on which Pythons and systems it is installed, "" on all."""

    ecosystem: str
    name: str
    version: str
    marker: str = ""
    # Pairs of an algorithm, as CycloneDX writes it, and a digest in hexadecimal digits.
    hashes: tuple[tuple[str, str], ...] = ()
    # Part of what is shipped or asked for at run time, and not of development alone.
    shipped: bool = True

    @property
    def purl(self) -> str:
        """The package URL, which advisories and bills of materials know a version by."""
        return f"pkg:{self.ecosystem}/{self.name.replace('@', '%40')}@{self.version.replace('+', '%2B')}"


def python_pins(text: str) -> Iterator[Pin]:
    """Read a file of `make lock`: exact versions, each followed by the hashes of its files."""
    for line in text.replace("\\\n", " ").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        requirement = Requirement(line.partition(" --hash=")[0])
        (specifier,) = requirement.specifier
        hashes = tuple(("SHA-256", digest) for digest in _HASH.findall(line))
        yield Pin("pypi", requirement.name, specifier.version, str(requirement.marker or ""), hashes)


def npm_pins(text: str) -> Iterator[Pin]:
    """Read a `package-lock.json`; what it marks as `dev` builds the page and is no part of it."""
    for path, entry in json.loads(text)["packages"].items():
        if not path:
            continue
        algorithm, _, digest = entry.get("integrity", "").partition("-")
        hashes = ((f"SHA-{algorithm[3:]}", base64.b64decode(digest).hex()),) if digest else ()
        name = path.rpartition("node_modules/")[2]
        yield Pin("npm", name, entry["version"], hashes=hashes, shipped=not entry.get("dev", False))


def requirements(project: str) -> dict[str, list[Requirement]]:
    """Return what a `pyproject.toml` asks for, by extra; "" is asked for always and "build-system" by builds.

    An extra that names others of the project has all that they have.
    """
    tables = tomllib.loads(project)
    texts = {
        "": tables["project"]["dependencies"],
        **tables["project"]["optional-dependencies"],
        "build-system": tables["build-system"]["requires"],
    }
    name = tables["project"].get("name")

    def expanded(listed: Sequence[str]) -> Iterator[Requirement]:
        for requirement in map(Requirement, listed):
            if requirement.name != name:
                yield requirement
            for extra in sorted(requirement.extras) if requirement.name == name else ():
                yield from expanded(texts[extra])

    return {extra: list(expanded(listed)) for extra, listed in texts.items()}


def complaints(project: str, pins: Sequence[Pin]) -> Iterator[str]:
    """Name each pin without a hash, and each requirement that no pin satisfies."""
    versions: dict[str, list[str]] = {}
    for pin in pins:
        versions.setdefault(canonicalize_name(pin.name), []).append(pin.version)
        if not pin.hashes:
            yield f"{pin.name}=={pin.version} has no hash"
    for listed in requirements(project).values():
        for requirement in listed:
            pinned = versions.get(canonicalize_name(requirement.name), [])
            if not any(requirement.specifier.contains(each, prereleases=True) for each in pinned):
                yield f"{requirement} is required, but {', '.join(pinned) or 'no version'} is pinned"


def main() -> int:
    pins = list(python_pins((ROOT / "constraints.txt").read_text()))
    found = list(complaints((ROOT / "pyproject.toml").read_text(), pins))
    for complaint in found:
        print(f"constraints.txt must match pyproject.toml, got: {complaint}; run make lock", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
