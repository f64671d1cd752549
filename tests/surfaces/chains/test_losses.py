"""Backward operations whose workers die: never given up for that, and a person may skip them."""

from __future__ import annotations

from typing import Any

import pytest

from hanbeon.clock import MICROS
from hanbeon.domain.job import JobRecord
from hanbeon.errors import ChainWrongState
from hanbeon.store.operations.claim import ClaimRequest
from hanbeon.store.operations.complete import recover
from hanbeon.store.operations.lease import Lease
from hanbeon.store.operations.totals import totals
from hanbeon.surfaces.chains.schemas import Chain
from hanbeon.surfaces.chains.steps import QUEUE, task_of
from tests.surfaces.chains.chain_kit import LIBRARY, ChainKit, job, ran

_GONE = 4711
_HOUR = 3600.0
_LEASE = 30


async def _turned(chain_kit: ChainKit, **fields: Any) -> Chain:
    """A chain whose first job has succeeded and whose second has failed: the backward operation of `b` is next."""
    chain = await chain_kit.chain(job("a"), job("b", "fail"), **fields)
    await chain_kit.chains.run(chain)
    while (await chain_kit.chains.get(chain)).operation_direction.value == "FORWARD":
        await chain_kit.kit.tick()
        await chain_kit.kit.advance(2)
    return chain


async def _lose(chain_kit: ChainKit, *, begun: bool = True) -> float:
    """Lose the step with the instance that claimed it; return the seconds until its next try."""
    await chain_kit.kit.worker.promote.run_once()
    request = ClaimRequest(_GONE, [task_of(LIBRARY)], 1, _LEASE * MICROS)
    (claimed,) = (await chain_kit.app.store.claim(request)).jobs
    if not begun:
        assert await chain_kit.app.store.note_begin(Lease(claimed.seq, claimed.fence, claimed.instance), begun=False)
    await chain_kit.kit.clock.advance(_LEASE + 1)
    assert len(await chain_kit.app.store.write(lambda tx: recover(tx, chain_kit.app.store.lanes, 10))) == 1
    return ((await _step(chain_kit)).run_at - chain_kit.kit.clock.now_us()) / MICROS


async def _step(chain_kit: ChainKit) -> JobRecord:
    steps = await chain_kit.app.jobs(queue=QUEUE)
    return max(steps, key=lambda each: each.seq)


@pytest.mark.parametrize("fields", [{}, {"retries": 1}, {"on_backward_failure": "stop"}], ids=str)
async def test_losses_never_end_a_backward_step(chain_kit: ChainKit, fields: dict[str, Any]) -> None:
    chain = await _turned(chain_kit, **fields)
    waits = []
    for _ in range(16):
        waits.append(await _lose(chain_kit))
        await chain_kit.kit.clock.advance(max(0.0, waits[-1]))
    assert waits == [0.0, *(min(_HOUR, 2.0**n) for n in range(15))]
    assert (await _step(chain_kit)).retry_count == 0
    ended = await chain_kit.finish(chain)
    assert [each.state for each in ended.jobs] == ["SUCCESS, CANCELED", "FAILED, CANCELED"]
    assert await chain_kit.findings() == []


async def test_third_loss_in_a_row_is_noticed(chain_kit: ChainKit) -> None:
    chain = await _turned(chain_kit)
    for lost in range(4):
        assert await _notices(chain_kit, chain) == list(range(3, lost + 1))
        await chain_kit.kit.clock.advance(await _lose(chain_kit))
    assert (await chain_kit.app.store.read(totals))["chain_losses"] == 2


async def _notices(chain_kit: ChainKit, chain: Chain) -> list[int]:
    noticed, page = [], await chain_kit.chains.events(chain)
    while page.items:
        noticed += [each.details["losses"] for each in page.items if each.type.value == "chain_step_lost"]
        page = await chain_kit.chains.events(chain, after=page.after)
    return noticed


@pytest.mark.parametrize("begun", [True, False])
@pytest.mark.parametrize("on_backward_failure", ["continue", "stop"])
async def test_person_skips_a_lost_backward_step(chain_kit: ChainKit, on_backward_failure: str, begun: bool) -> None:
    """Also one that nobody could ever begin: it is put off for longer and longer, and has no failure."""
    chain = await _turned(chain_kit, on_backward_failure=on_backward_failure)
    with pytest.raises(ChainWrongState, match="is RUNNING BACKWARD"):
        await chain_kit.chains.skip(chain)
    for _ in range(2):
        await _lose(chain_kit, begun=begun)
    await chain_kit.chains.skip(chain)
    ended = await chain_kit.finish(chain)
    assert ran(ended)[2:] == [("b", "BACKWARD", "FAILED, FAILED"), ("a", "BACKWARD", "SUCCESS, CANCELED")]
    assert ended.jobs[1].job_return["backward"]["error"]["type"] == "lost"  # type: ignore[index]
    assert await chain_kit.findings() == []
