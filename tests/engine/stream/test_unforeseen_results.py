"""Results of workers that the server cannot judge or store: a failed attempt with the error, never a lost one."""

from __future__ import annotations

from typing import Any

import pytest

from hanbeon import App, State
from hanbeon.domain.outcome import Returned
from hanbeon.engine.stream import replies
from hanbeon.store.operations.stream import apply_replies
from hanbeon.tasks.stream_call import StreamCall
from tests.databases.valkey import ValkeyServer
from tests.engine.stream.kit import working


def throw(*args: Any) -> Any:
    raise RuntimeError("on purpose")


async def throw_at_results(tx: Any, lanes: Any, given: Any, *rest: Any) -> Any:
    if any(isinstance(each.outcome, Returned) for each in given):
        throw()
    return await apply_replies(tx, lanes, given, *rest)


@pytest.mark.parametrize(
    ("place", "name", "instead"),
    [(StreamCall, "outcome", throw), (replies, "apply_replies", throw_at_results)],
    ids=["judged", "stored"],
)
async def test_result_that_fails_here_fails_its_attempt(
    streaming_here: App, valkey: ValkeyServer, monkeypatch: pytest.MonkeyPatch, place: Any, name: str, instead: Any
) -> None:
    monkeypatch.setattr(place, name, instead)
    async with streaming_here.worker(), working(valkey.url):
        job = await streaming_here.enqueue("thumb")
        record = await job.wait(60)
    assert (record.state, record.error_message) == (State.FAILED, "RuntimeError: on purpose")
    assert [each.status.value for each in await job.attempts()] == ["failed"]
