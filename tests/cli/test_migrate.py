"""`hanbeon migrate` is idempotent."""

from pathlib import Path

from hanbeon.store.schema import VERSION
from tests.cli.hanbeon import hanbeon


def test_postgresql_is_migrated_on_purpose_and_once(empty_postgres_url: str) -> None:
    missing = hanbeon("verify", "--database", empty_postgres_url)
    assert (missing.returncode, missing.stdout) == (5, "")
    assert "run `hanbeon migrate`" in missing.stderr

    first = hanbeon("migrate", "--database", empty_postgres_url)
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.startswith("applied 1")

    second = hanbeon("migrate", HANBEON_DATABASE_URL=empty_postgres_url)
    assert (second.returncode, second.stdout) == (0, f"up to date: the schema is at version {VERSION}\n")


def test_sqlite_is_made_where_it_is_missing(tmp_path: Path) -> None:
    done = hanbeon("migrate", "--database", "sqlite:///jobs.db", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "jobs.db").exists()
