"""Chains through the Python API, on both stores, with operations in real processes."""

from __future__ import annotations

from tests.surfaces.chains.chain_kit import LIBRARY, ChainKit, job, ran


async def test_run_goes_forward_to_the_end(chain_kit: ChainKit) -> None:
    chain = await chain_kit.chain(job("a"))
    added = await chain_kit.chains.enqueue(chain, **job("b"))
    assert (added.prev_job, added.next_job, added.state) == (chain.jobs[0].job_id, "TAIL", "NOTYET")
    started = await chain_kit.chains.run(chain)
    assert (started.state, started.running_job, started.run) == ("RUNNING", chain.jobs[0].job_id, 1)
    ended = await chain_kit.finish(chain)
    assert (ended.state, ended.running_job) == ("READY", "QUEUE_NOT_RUNNING")
    assert ran(ended) == [("a", "FORWARD", "SUCCESS"), ("b", "FORWARD", "SUCCESS")]
    assert ended.context == {"done": ["a", "b"]}
    assert ended.jobs[1].job_return == {"forward": {"did": "b"}}
    assert ended.jobs[1].operation_library == LIBRARY


async def test_failure_undoes_from_its_own_backward(chain_kit: ChainKit) -> None:
    chain = await chain_kit.chain(job("a"), job("b", "fail"), job("c"))
    ended = await chain_kit.run(chain)
    assert ran(ended) == [
        ("a", "FORWARD", "SUCCESS"),
        ("b", "FORWARD", "FAILED"),
        ("b", "BACKWARD", "FAILED, CANCELED"),
        ("a", "BACKWARD", "SUCCESS, CANCELED"),
    ]
    assert (ended.state, ended.operation_direction) == ("READY", "BACKWARD")
    assert ended.context == {"done": ["a"], "half": True, "undone": ["b", "a"]}
    assert ended.jobs[1].job_return == {
        "forward": {"error": {"type": "ValueError", "message": "it did not work"}},
        "backward": {"undid": "b"},
    }
    assert (ended.jobs[2].state, ended.jobs[2].job_return) == ("NOTYET", "UNINIT")
