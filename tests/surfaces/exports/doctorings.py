"""An export that has succeeded, and one that waits; and ways to break the invariants of exports and replays."""

from __future__ import annotations

from collections.abc import AsyncIterator

from hanbeon.surfaces.exports.replays.verify import ReplayInvariant
from hanbeon.surfaces.exports.verify import ExportInvariant
from hanbeon.testing import TestKit
from tests.clinic import Doctorings
from tests.surfaces.exports.export_kit import SAMPLE


async def _parts() -> AsyncIterator[bytes]:
    yield SAMPLE.read_bytes()


async def live(kit: TestKit) -> int:
    app = kit.app
    async with app.replays.receive(_parts(), name="경기.jsonl") as upload:
        replay = await app.replays.create(upload)
    await app.exports.export_thumbnail(replay.replay_id, width=160, height=90)
    await kit.tick()
    return replay.replay_id


async def leave(kit: TestKit, replay: int) -> int:
    await kit.app.exports.export_thumbnail(replay, width=160, height=90)
    return replay


DOCTORINGS = Doctorings("exports")


DOCTORINGS.script(
    ExportInvariant.EXPORT_HAS_JOB,
    "an export has no job",
    "UPDATE hanbeon.export SET uid = '00000000-0000-0000-0000-000000000001' WHERE result_uri IS NULL",
)
DOCTORINGS.script(
    ExportInvariant.JOB_HAS_EXPORT,
    "a job has no export",
    "DELETE FROM hanbeon.export WHERE result_uri IS NULL",
)
DOCTORINGS.script(
    ExportInvariant.SOURCE_KEPT,
    "the replay of an export that waits is gone",
    "UPDATE hanbeon.export SET replay_id = replay_id + 1 WHERE result_uri IS NULL",
)
DOCTORINGS.script(
    ExportInvariant.RESULT_KEPT,
    "the file of a result is not where it should be",
    "UPDATE hanbeon.export SET result_uri = result_uri || '.away' WHERE result_uri IS NOT NULL",
)
DOCTORINGS.script(
    ExportInvariant.RESULT_KEPT,
    "a result lies outside its folder",
    "UPDATE hanbeon.export SET result_uri = '/etc/passwd' WHERE result_uri IS NOT NULL",
)
DOCTORINGS.script(
    ExportInvariant.RESULT_KEPT,
    "a result names no file",
    "UPDATE hanbeon.export SET result_uri = NULL WHERE result_uri IS NOT NULL",
)
DOCTORINGS.script(
    ReplayInvariant.REPLAY_HAS_FILE,
    "the file of a replay is not where it should be",
    "UPDATE hanbeon.replay SET file = 'away.jsonl'",
)
DOCTORINGS.script(
    ReplayInvariant.USAGE_NOTED,
    "more space is noted than replays take",
    "UPDATE hanbeon.replay_usage SET bytes = bytes + 1",
)
DOCTORINGS.script(
    ReplayInvariant.USAGE_NOTED,
    "no space is noted",
    "DELETE FROM hanbeon.replay_usage",
)
DOCTORINGS.script(
    ReplayInvariant.USAGE_NOTED,
    "space is noted for nobody",
    "INSERT INTO hanbeon.replay_usage (owner, bytes) VALUES ('nobody', 5)",
)
