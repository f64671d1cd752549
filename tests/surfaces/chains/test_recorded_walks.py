"""Random chains through the store, all at once: each recorded walk is the source document's prose executed."""

from __future__ import annotations

import random

import msgspec
import pytest

from hanbeon.domain.outcome import Outcome, Raised, Returned, TimedOut
from hanbeon.surfaces.chains.rows import NewChain, NewChainJob, WholeChain, add_chain, whole_chain
from hanbeon.surfaces.chains.steps import StepArgs, task_of
from hanbeon.surfaces.chains.verify import verify_chains
from hanbeon.surfaces.chains.vocabulary import NO_OPERATION, UNINIT, OnBackwardFailure, OnUnknown
from hanbeon.surfaces.chains.walker import begin_run
from tests.store.world import World, new_id
from tests.surfaces.chains.reference import Job, QueueManager, Ran

LIBRARY = "lib"
_ENDS: dict[str, Outcome] = {
    "success": Returned('{"return": 1, "context": {}}'),
    "failure": Raised("broken"),
    "timeout": TimedOut(),
}


class Case:
    """A chain with an end for each of its operations, and the prose that says how it goes."""

    def __init__(self, chance: random.Random) -> None:
        self.jobs = [
            Job(
                place,
                chance.choice(["do", "do", "do", NO_OPERATION]),
                chance.choice(["undo", "undo", NO_OPERATION]),
                chance.choice([LIBRARY] * 9 + [UNINIT]),
            )
            for place in range(chance.randint(1, 8))
        ]
        outcomes = ["success"] * 6 + ["failure", "timeout"]
        self.ends = {
            (job.number, direction): chance.choice(outcomes)
            for job in self.jobs
            for direction in ("FORWARD", "BACKWARD")
        }
        self.manager = QueueManager(UNINIT, lambda number, direction: self.ends[number, direction])
        self.queue_id = 0

    async def begin(self, world: World) -> None:
        new = NewChain(
            uid=new_id(),
            queue_library=UNINIT,
            retries=0,
            on_unknown=OnUnknown.RETRY,
            on_backward_failure=OnBackwardFailure.CONTINUE,
            created_by="a test",
        )
        jobs = [
            NewChainJob(
                uid=new_id(),
                forward_operation=job.forward_operation,
                backward_operation=job.backward_operation,
                arguments=str(job.number),
                operation_library=job.operation_library,
                expired_us=30_000_000,
            )
            for job in self.jobs
        ]
        made = await world.store.write(lambda tx: add_chain(tx, new, jobs))
        self.queue_id = made.chain.id
        await world.store.write(lambda tx: begin_run(tx, world.store.lanes, self.queue_id, new_id(), "a test"))

    def expected(self) -> tuple[list[Ran], list[str], str]:
        for job in self.jobs:
            self.manager.enqueue(job)
        self.manager.run()
        return self.manager.ran, [job.state for job in self.jobs], self.manager.operation_direction


def _recorded(found: WholeChain) -> tuple[list[Ran], list[str], str]:
    places = {job.id: job.place for job in found.jobs}
    ran = [(places[step.job_id], step.direction.value, step.state) for step in found.steps]
    return ran, [job.state for job in found.jobs], found.chain.operation_direction.value


@pytest.mark.parametrize("count", [30, pytest.param(300, marks=pytest.mark.slow)])
async def test_recorded_walks_equal_the_prose(world: World, count: int) -> None:
    chance = random.Random(20261117)
    cases = [Case(chance) for _ in range(count)]
    for case in cases:
        await case.begin(world)
    by_id = {case.queue_id: case for case in cases}
    while held := await world.claim(7, [task_of(LIBRARY)]):
        for job in held:
            step = msgspec.json.decode(job.args, type=StepArgs)
            end = by_id[step.queue_id].ends[int(bytes(step.arguments)), step.direction.value]
            await world.settle(job, _ENDS[end])
    for case in cases:
        found = await world.store.read(lambda tx, case=case: whole_chain(tx, case.queue_id))  # type: ignore[misc]
        assert found.chain.state == "READY"
        assert _recorded(found) == case.expected()
    assert (await world.store.read(lambda tx: verify_chains(tx, 0))).findings == []
