"""Short words for stream tasks on a store: dispatch, and the replies of workers."""

from __future__ import annotations

from hanbeon.domain.job import Claimed
from hanbeon.domain.outcome import Outcome
from hanbeon.store.operations.claim import ClaimRequest
from hanbeon.store.operations.stream import Reply, StreamProgress, Verdict, apply_replies, dispatch
from hanbeon.tasks.stream_call import StreamCall
from tests.store.world import INSTANCE, LEASE_US, World

CALLS = {"t": StreamCall(name="thumbs")}


async def send(world: World, want: int = 10, calls: dict[str, StreamCall] | None = None) -> list[Claimed]:
    """Dispatch what is ready."""
    request = ClaimRequest(INSTANCE, ["t"], want, LEASE_US)
    return (await world.store.write(lambda tx: dispatch(tx, world.store.lanes, request, calls or CALLS))).jobs


async def hear(world: World, *replies: Reply, lease_us: int | None = None) -> list[Verdict]:
    """Apply what workers say."""
    answer = await world.store.write(
        lambda tx: apply_replies(tx, world.store.lanes, replies, {"t": lease_us}, INSTANCE)
    )
    return answer[0]


def progress(job_id: str, percent: int, fence: int | None = None) -> Reply:
    return Reply(job_id, fence, StreamProgress(percent))


def result(job_id: str, outcome: Outcome, fence: int | None = None) -> Reply:
    return Reply(job_id, fence, outcome=outcome)
