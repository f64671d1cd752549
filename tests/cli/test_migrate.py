"""`hanbeon migrate` is idempotent."""

import shlex
from pathlib import Path

from hanbeon.settings import masked
from hanbeon.store.schema import VERSION
from tests.cli.hanbeon import hanbeon


def test_postgresql_is_migrated_on_purpose_and_once(empty_postgres_url: str) -> None:
    missing = hanbeon("verify", "--database", empty_postgres_url)
    assert (missing.returncode, missing.stdout) == (5, "")
    assert f"run `hanbeon migrate --database {shlex.quote(masked(empty_postgres_url))}` once" in missing.stderr

    first = hanbeon("migrate", "--database", empty_postgres_url)
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.startswith("applied 1")

    second = hanbeon("migrate", HANBEON_DATABASE_URL=empty_postgres_url)
    assert (second.returncode, second.stdout) == (0, f"up to date: the schema is at version {VERSION}\n")


def test_sqlite_is_made_where_it_is_missing(tmp_path: Path) -> None:
    done = hanbeon("migrate", "--database", "sqlite:///jobs.db", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "jobs.db").exists()


def test_the_command_that_an_error_recommends_is_that_of_its_app(empty_postgres_url: str, tmp_path: Path) -> None:
    (tmp_path / "own_shop.py").write_text(f"from hanbeon import App\napp = App({empty_postgres_url!r})\n")
    for command in ("worker", "jobs", "verify"):
        refused = hanbeon(command, "--app", "own_shop:app", cwd=tmp_path)
        assert (refused.returncode, refused.stdout) == (5, "")
        assert refused.stderr.endswith("run `hanbeon migrate --app own_shop:app` once\n"), command
    by_environment = hanbeon("jobs", cwd=tmp_path, HANBEON_APP="own_shop:app")
    assert by_environment.stderr.endswith("run `hanbeon migrate` once\n"), "the next command finds it as well"

    assert hanbeon("migrate", "--app", "own_shop:app", cwd=tmp_path).stdout.startswith("applied 1")
    assert hanbeon("migrate", cwd=tmp_path, HANBEON_APP="own_shop:app").stdout.startswith("up to date")
    made = hanbeon("token", "create", "--user", "ada", "--scope", "read", "--app", "own_shop:app", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "ada" in hanbeon("token", "list", cwd=tmp_path, HANBEON_APP="own_shop:app").stdout
    assert not (tmp_path / "hanbeon.db").exists()
