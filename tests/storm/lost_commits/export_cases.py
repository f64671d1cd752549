"""Cases of replays and exports: uploaded, rendered elsewhere, cancelled, deleted with their files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from hanbeon.domain.job import Claimed
from hanbeon.domain.outcome import Returned
from hanbeon.errors import ReplayNotFound
from hanbeon.store.operations.complete import CompletionReport
from hanbeon.store.operations.lease import Lease
from hanbeon.surfaces.exports.jobs import QUEUE, JobType, task_of
from hanbeon.surfaces.exports.paths import replay_root
from hanbeon.surfaces.exports.replays.unwanted_files import delete_unwanted
from hanbeon.surfaces.exports.vocabulary import ExportEventType
from tests.storm.lost_commits.scene import Scene

_SAMPLE = Path(__file__).parents[3] / "examples" / "replay.jsonl"
_SIZE = {"width": 160, "height": 90}
_DAY = 86_400.0


async def replays(scene: Scene) -> None:
    """A repeated upload is one replay with one file, which counts once and goes with it."""
    service, user, ids = scene.app.replays, scene.named("ada"), scene.repeatable_ids()
    root = replay_root(scene.app.settings)
    with scene.losing():
        made = await scene.surely(lambda: service.upload(_SAMPLE, by=user, new_id=ids))
    assert made is not None
    assert [each.replay_id for each in (await service.list(by=user)).items] == [made.replay_id]
    size = _SAMPLE.stat().st_size
    assert await _space_used(scene, user) == size
    await _clear(scene)
    assert [each.stat().st_size for each in root.iterdir()] == [size], "the file of a lost upload goes after a day"
    with scene.losing():
        await scene.surely(lambda: service.delete(made.replay_id, by=user), ReplayNotFound)
    await _clear(scene)
    assert await _space_used(scene, user) == 0
    assert (await service.list(by=user)).total == 0
    assert list(root.iterdir()) == []


async def _space_used(scene: Scene, user: str) -> int:
    found: int = (await scene.store.write(lambda tx: tx.fetch("use_replay_space", user, 0)))[0]["bytes"]
    return found


async def exports(scene: Scene) -> None:
    """One is rendered, and one cancelled; a repeat gets the number of the first."""
    service, user = scene.app.exports, scene.named("ada")
    replay = (await scene.app.replays.upload(_SAMPLE, by=user)).replay_id
    video, picture = scene.repeatable_ids(), scene.repeatable_ids()
    with scene.losing():
        first = await scene.surely(lambda: service.export_mp4(replay, by=user, new_id=video, **_SIZE))
        second = await scene.surely(lambda: service.export_thumbnail(replay, by=user, new_id=picture, **_SIZE))
        assert first is not None
        assert second is not None
        await scene.surely(lambda: service.cancel(second.job_id, by=user))
    (held,) = await scene.claim(task_of(JobType.MP4))
    assert held.id == video(0)
    with scene.losing():
        await _render(scene, held)
    found = {each.job_id: each for each in (await service.list(by=user)).items}
    assert found.keys() == {first.job_id, second.job_id}
    done, cancelled = found[first.job_id], found[second.job_id]
    assert (done.status, done.progress, done.result_checksum) == ("SUCCEEDED", 100, "00")
    assert cancelled.status == "CANCELLED"
    sent = Counter((each.details.get("jobId"), each.type) for each in await scene.events() if each.queue == QUEUE)
    ends = {key: times for key, times in sent.items() if key[0] in found and key[1] != ExportEventType.PROGRESS}
    assert ends == {(first.job_id, ExportEventType.COMPLETED): 1, (second.job_id, ExportEventType.CANCELLED): 1}
    await scene.app.replays.delete(replay, by=user)


async def _render(scene: Scene, held: Claimed) -> None:
    """Report what a worker does: half of it, then all."""
    store, lease = scene.store, Lease(held.seq, held.fence, held.instance)
    progress = '{"progress":50,"phase":"draw","message":""}'
    result = Returned(f'{{"resultUri":"{held.id}/1.mp4","checksum":"00"}}')
    assert await scene.surely(lambda: store.write_progress(lease, progress))
    report = CompletionReport(held.seq, held.fence, result, instance=held.instance)
    await scene.surely(lambda: store.complete([report]))


async def _clear(scene: Scene) -> None:
    """Let a day pass, and have files deleted that nobody wants."""
    await scene.clock.advance(_DAY + 1)
    while await scene.store.write(delete_unwanted):
        pass


CASES = [replays, exports]
