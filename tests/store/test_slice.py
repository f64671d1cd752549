"""The thin slice through the store: one job made, claimed and completed, on both databases."""

from hanbeon.domain.job import NewJob
from hanbeon.domain.lifecycle import State
from hanbeon.domain.outcome import Returned
from hanbeon.store.operations.claim import ClaimRequest
from hanbeon.store.operations.complete import CompletionReport
from hanbeon.store.store import Store
from tests.store.world import new_id


async def test_a_job_is_enqueued_claimed_and_completed(store: Store) -> None:
    job_id = new_id()
    made = await store.enqueue([NewJob(id=job_id, task="greet")])
    assert made[0].state is State.READY
    answer = await store.claim(ClaimRequest(instance=1, tasks=["greet"], want=10, lease_us=30_000_000))
    (held,) = answer.jobs
    assert (held.id, held.fence) == (job_id, 1)
    settled = await store.complete([CompletionReport(held.seq, held.fence, Returned('"hello"'))])
    assert settled[0].state is State.SUCCEEDED
    job = await store.job(job_id)
    assert (job.state, job.result) == (State.SUCCEEDED, '"hello"')
