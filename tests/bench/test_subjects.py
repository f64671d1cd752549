"""Every subject has its adapter, its pinned versions and a worker to start."""

import re
from pathlib import Path

import pytest

from bench.environments import OURS
from bench.records import ROOT
from bench.subjects import Subject, rival
from bench.table import SUBJECTS

_PINS = ROOT / "bench" / "peers"


@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=lambda subject: subject.name)
def test_the_subject_is_complete(subject: Subject) -> None:
    assert (ROOT / "bench" / "adapters" / f"{subject.adapter}.py").is_file()
    assert subject.environment == OURS or (_PINS / f"{subject.environment}.txt").is_file()
    assert SUBJECTS[rival(subject)].is_ours
    assert "{" not in " ".join(subject.worker_command(0, "url"))


@pytest.mark.parametrize("wanted", sorted(_PINS.glob("*.in")), ids=lambda path: path.stem)
def test_requirements_are_pinned(wanted: Path) -> None:
    lines = wanted.with_suffix(".txt").read_text().splitlines()
    pinned = [line.removesuffix(" \\") for line in lines if not line.lstrip().startswith("--hash=")]
    for line in wanted.read_text().split():
        name = re.sub(r"\[.*?\]", "", line).replace("_", "-")
        assert any(pin == name or pin.startswith((f"{name}==", f"{name} ;")) for pin in pinned), line
    assert all("==" in pin for pin in pinned)
