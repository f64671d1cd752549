"""The columns of a job are declared once: another one needs the declaration, the migration and what it is for."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import hanbeon
from hanbeon.domain.job import Claimed
from hanbeon.store.job_columns import CLAIMED_COLUMNS, NEW

PACKAGE = Path(hanbeon.__file__).parent
PROGRAM = Path(__file__).with_name("colored_jobs.py")
CHANGES = {
    "store/job_columns.py": [('    NewColumn("work_item", "text"),\n', '    NewColumn("color", "text"),\n')],
    "store/migrations/0001_engine.sql": [
        ("  digest text NOT NULL,\n  work_item text,\n", "  color text,\n"),
        ("j.unique_key, j.work_item,", " j.color,"),
    ],
    "domain/job.py": [
        (
            "    policy: RetryPolicy = RetryPolicy()\n    work_item: str | None = None\n",
            "    color: str | None = None\n",
        ),
        ("    started_at: int\n    progress: str | None\n", "    color: str | None\n"),
        ("    dispatched_at: int | None = None\n", "    color: str | None = None\n"),
    ],
}
"""For each file what is inserted behind what: all that a color of jobs needs."""
PRINTED = ["single green", "general None blue red", "bulk red", "batch red green", "claim blue red"]


def _add(text: str, anchor: str, line: str) -> str:
    assert text.count(anchor) == 1, f"{anchor!r} is there {text.count(anchor)} times"
    return text.replace(anchor, anchor + line)


def test_adding_a_column_takes_three_files(tmp_path: Path, empty_database_url: str) -> None:
    copy = tmp_path / "hanbeon"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "static"))
    for name, insertions in CHANGES.items():
        text = (copy / name).read_text()
        for anchor, line in insertions:
            text = _add(text, anchor, line)
        (copy / name).write_text(text)
    ran = subprocess.run(
        [sys.executable, PROGRAM, empty_database_url],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == PRINTED


def test_claimed_columns_are_fields_of_claimed() -> None:
    """A field behind the policy is none of the row."""
    fields = Claimed.__struct_fields__
    assert fields[fields.index("policy") + 1 :] == ("queue", "task", "role", "instance", "trace", "comment")
    assert len(CLAIMED_COLUMNS.split(", ")) == fields.index("policy") + 1 + len(("rank", "created_at", "free_at"))


def test_declared_defaults_have_no_quotes() -> None:
    """They stand between quotes in SQL."""
    assert not [column for column in NEW if "'" in str(column.default)]
