"""Exports while workers, the server and Redis are killed and messages are mangled: each ends once, and rightly."""
# ruff: noqa: ASYNC240 - nothing else runs on this loop that a look at the disk could hold up

from __future__ import annotations

import hashlib
import random
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from hanbeon import App
from hanbeon.store.operations.events import events_after
from hanbeon.surfaces.exports.schemas import Export
from hanbeon.surfaces.exports.vocabulary import ExportStatus
from tests.databases.valkey import ValkeyServer
from tests.guarantees import guarantee
from tests.storm.exports.messages import UNKNOWN_JOB
from tests.storm.exports.storm import ExportStorm
from tests.storm.exports.stream_worker import Fate
from tests.storm.journal import Journal
from tests.storm.moments import assert_sound, rows_of, until
from tests.storm.sizes import SEEDS, TIMEOUT, sized

# Twice the usual: a server that is killed leaves requests that can be repeated a minute later.
pytestmark = [pytest.mark.chaos, pytest.mark.timeout(2 * TIMEOUT)]
_FEW = ["spoil_messages", "kill_worker", "cancel", "lose_redis", "kill_server", "cancel", "spoil_messages"]
_ROUND = ["spoil_messages", "kill_worker", "cancel", "cancel", "cancel", "kill_worker"]
_OPEN = (ExportStatus.QUEUED, ExportStatus.RUNNING)
_ENDS = {"job.completed": "SUCCEEDED", "job.failed": "FAILED", "job.cancelled": "CANCELLED"}


async def _storm(url: str, valkey: ValkeyServer, folder: Path, seed: int, jobs: int, faults: list[str]) -> None:
    folders = {"jobs_export_path": str(folder / "exports"), "replay_path": str(folder / "replays")}
    async with App(url, redis_url=valkey.url, **folders) as app:  # type: ignore[arg-type]
        await app.migrate()
        async with ExportStorm(app, valkey, folder, seed=seed, jobs=jobs, faults=faults).started() as storm:
            await storm.run()
            await storm.messages.check_letters()
            await _check_letters(storm)
            await until("the end of the requests", partial(_nothing_left, app))
            storm.assert_healthy()
        await _check_exports(storm)
        await assert_sound(app)


@pytest.mark.short
async def test_exports_survive_kills_and_mangled_messages(
    sqlite_url: str, valkey: ValkeyServer, tmp_path: Path
) -> None:
    await _storm(sqlite_url, valkey, tmp_path, seed=7, jobs=30, faults=_FEW)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
async def test_exports_survive_many_faults(database_url: str, valkey: ValkeyServer, tmp_path: Path, seed: int) -> None:
    """Seven exports for each fault; several times as many of both in a long run."""
    faults = [*_ROUND * sized(2, 8), *["kill_server"] * sized(1, 8)]
    random.Random(seed).shuffle(faults)
    for place in (0.2, 0.45, 0.65):
        faults.insert(round(place * len(faults)), "lose_redis")
    faults.insert(round(0.8 * len(faults)), "kill_renderer")
    await _storm(database_url, valkey, tmp_path, seed=seed, jobs=sized(120, 2_000), faults=faults)


async def _nothing_left(app: App) -> bool | None:
    return True if not await rows_of(app.store, "SELECT n FROM hanbeon.dispatch") else None


async def _check_letters(storm: ExportStorm) -> None:
    """Only what was spoilt and what names a foreign path is there; of exports since the last loss, all of that is."""
    foreign = {job for job in storm.late if storm.fates[job] is Fate.FOREIGN and not _may_be_cancelled(storm, job)}

    async def all_there() -> list[dict[str, str]] | None:
        letters = [each for each in await storm.messages.letters() if "mark" not in each["payload"]]
        return letters if foreign <= {int(each["payload"]["jobId"]) for each in letters} else None

    letters = await until("the letters of foreign paths", all_there, 120)
    with guarantee():
        assert {each["reason"] for each in letters} <= {"INVALID_OUTPUT_PATH"}
        named = {int(each["payload"]["jobId"]) for each in letters}  # type: ignore[index]
        assert UNKNOWN_JOB not in named
        assert all(storm.fates[job] is Fate.FOREIGN for job in named)


def _may_be_cancelled(storm: ExportStorm, job: int) -> bool:
    return storm.cancels.get(job, False) is not False


async def _check_exports(storm: ExportStorm) -> None:
    published = Journal(storm.journal).lines("published")
    digests = {path: digest for _, path, digest in published}
    found: dict[int, Export] = {}
    for page in range(storm.count // 100 + 1):
        for each in (await storm.app.exports.list(page=page, size=100)).items:
            found[each.job_id] = each
    ends = await _end_events(storm.app)
    with guarantee():
        assert found.keys() == storm.fates.keys()
        assert len(digests) == len(published), "each file is written once"
        for job, export in found.items():
            assert export.status in _right_ends(storm, job), (job, storm.fates[job], storm.cancels.get(job), export)
            assert ends[job] == [export.status], "one end"
            if export.status == "SUCCEEDED":
                file = Path(export.result_uri or "")
                digest = hashlib.sha256(file.read_bytes()).hexdigest()
                # A worker that is killed between the two has published the file, and not noted it.
                assert digest == export.result_checksum == digests.get(str(file), digest)
                assert file.stem == "1", "the first attempt goes on, whoever does it"
            elif export.status == "FAILED":
                code = "BROKEN" if storm.fates[job] is Fate.FAIL else "INVALID_OUTPUT_PATH"
                assert (export.error_code, export.result_uri) == (code, None)
    statuses = Counter(each.status for each in found.values())
    assert storm.count < 100 or min(statuses[each] for each in ExportStatus if each not in _OPEN) >= 5, statuses


def _right_ends(storm: ExportStorm, job: int) -> set[str]:
    own = "FAILED" if storm.fates[job] in (Fate.FAIL, Fate.FOREIGN) else "SUCCEEDED"
    match storm.cancels.get(job, False):
        case True:
            return {"CANCELLED"}
        case None:
            return {own, "CANCELLED"}
        case False:
            return {own}
    raise AssertionError


async def _end_events(app: App) -> dict[int, list[str]]:
    while await app.store.number_events():
        pass
    ends: dict[int, list[str]] = {}
    last = 0
    while page := await app.store.read(partial(events_after, after=last)):
        last = page[-1].id
        for event in page:
            if event.type in _ENDS:
                ends.setdefault(int(event.details["jobId"]), []).append(_ENDS[event.type])
    return ends
