"""`hanbeon chain`: chains in the database, and the walk as it goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from hanbeon import App
from tests.cli.hanbeon import Answer, call
from tests.surfaces.chains.chain_kit import LIBRARY


class Commands:
    """Commands on one database, with the libraries of a file."""

    def __init__(self, url: str, folder: Path) -> None:
        (folder / "hanbeon.toml").write_text(f'[chains]\nlibraries = ["{LIBRARY}"]\n')
        self._where = ("--database", url, "--config", str(folder / "hanbeon.toml"))

    async def run(self, *words: str) -> Answer:
        return await call("chain", *words, *self._where)


@pytest.fixture
async def chain(sqlite_url: str, tmp_path: Path) -> Commands:
    return Commands(sqlite_url, tmp_path)


async def test_walk_is_shown_forward_and_back(chain: Commands, sqlite_url: str) -> None:
    assert (await chain.run("create", "--library", LIBRARY)).lines == ["1"]
    assert (await chain.run("add", "1", "--forward", "do", "--backward", "undo", "name=a")).lines == ["1"]
    added = (await chain.run("add", "1", "--forward", "fail", "--expired-time", "5", "--json")).document
    assert (added["job_id"], added["expired_time"], added["prev_job"]) == (2, 5, 1)
    assert (await chain.run("explain", "1")).lines == ["chain_not_run: It is not running; run it."]
    async with App(sqlite_url, chain_libraries=LIBRARY) as app, app.worker():
        walked = await chain.run("run", "1", "--follow", "--context", '{"x": 1}')
    assert walked.out.splitlines() == [
        "run 1 started",
        "→ job 1 do  SUCCESS",
        "→ job 2 fail  FAILED",
        "the walk turns back",
        "← job 2  FAILED, CANCELED",
        "← job 1 undo  SUCCESS, CANCELED",
        "run 1 ended BACKWARD",
    ]
    assert walked.code == 1
    shown = await chain.run("show", "1")
    assert "job  forward  backward" in shown.out.lower()
    assert [row.split()[:2] for row in (await chain.run("list")).lines[1:]] == [["1", "READY"]]
    assert (await chain.run("runs", "1", "--json")).document["items"][0]["run"] == 1
    assert (await chain.run("delete", "1")).code == 0
    assert (await chain.run("show", "1")).code != 0


async def test_refusals_are_one_line(chain: Commands) -> None:
    refused = await chain.run("create", "--library", "os")
    assert refused.code != 0
    assert "queue_library: must be a library that chains may import, got 'os'" in refused.err
    await chain.run("create")
    for move in ("run", "resume", "skip", "abort"):
        assert "chain 1 is EMPTY" in (await chain.run(move, "1")).err
    assert "context: must be a JSON object" in (await chain.run("run", "1", "--context", "[]")).err
