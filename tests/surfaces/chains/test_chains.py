"""Chains through the Python API, on both stores, with operations in real processes."""

from __future__ import annotations

import asyncio
import uuid
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App, ChainJob, LogLine
from hanbeon.errors import ChainNotFound, ChainWrongState, Conflict, InvalidInput, MovedElsewhere
from hanbeon.service.backup import back_up
from hanbeon.store.operations.complete import recover
from hanbeon.store.operations.prune import count_prunable
from hanbeon.surfaces.chains.schemas import ChainEvent
from hanbeon.testing import TestKit
from tests.cli.hanbeon import hanbeon
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


async def test_timeout_kills_and_forgets_its_context(chain_kit: ChainKit) -> None:
    chain = await chain_kit.chain(job("a"), job("b", "hang", expired_time=1))
    await chain_kit.chains.run(chain)
    await chain_kit.kit.tick()
    await chain_kit.kit.start_ready()
    await chain_kit.until_begun("hang")
    await chain_kit.kit.advance(2)
    ended = await chain_kit.finish(chain)
    assert ran(ended)[1:] == [
        ("b", "FORWARD", "TIMEOUT"),
        ("b", "BACKWARD", "TIMEOUT, CANCELED"),
        ("a", "BACKWARD", "SUCCESS, CANCELED"),
    ]
    assert ended.context == {"done": ["a"], "undone": ["b", "a"]}
    assert ended.jobs[1].job_return == {
        "forward": {"error": {"type": "timeout", "message": "Job execution timed out"}},
        "backward": {"undid": "b"},
    }


async def test_jobs_without_operation_or_library(chain_kit: ChainKit) -> None:
    chain = await chain_kit.chains.create(
        jobs=[
            {"arguments": {"name": "a"}, "operation_library": LIBRARY},
            job("b", operation_library=LIBRARY),
            job("c"),
        ]
    )
    assert [each.state for each in chain.jobs] == ["NOTYET", "NOTYET", "NOLIB"]
    ended = await chain_kit.run(chain)
    assert ran(ended) == [
        ("a", "FORWARD", "SUCCESS"),
        ("b", "FORWARD", "SUCCESS"),
        ("b", "BACKWARD", "SUCCESS, CANCELED"),
        ("a", "BACKWARD", "SUCCESS, CANCELED"),
    ]
    assert [each.state for each in ended.jobs][2] == "NOLIB"
    assert (ended.jobs[0].job_return, ended.jobs[2].job_return) == ({"forward": None, "backward": None}, "UNINIT")


async def test_uninit_equals_omission(chain_kit: ChainKit) -> None:
    chain = await chain_kit.chain({"operation_library": "UNINIT"})
    bare = await chain_kit.chains.create(queue_library="UNINIT", jobs=[{}])
    assert [(each.operation_library, each.state) for each in (*chain.jobs, *bare.jobs)] == [
        (LIBRARY, "NOTYET"),
        ("UNINIT", "NOLIB"),
    ]


async def test_second_run_starts_over(chain_kit: ChainKit, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    arguments = {"name": "b", "gate": str(gate)}
    chain = await chain_kit.chain(job("a"), job("b", "fail_until") | {"arguments": arguments})
    first = await chain_kit.run(chain)
    assert first.operation_direction == "BACKWARD"
    gate.touch()
    second = await chain_kit.run(chain, context={"given": 1})
    assert (second.run, second.operation_direction) == (2, "FORWARD")
    assert ran(second) == [("a", "FORWARD", "SUCCESS"), ("b", "FORWARD", "SUCCESS")]
    assert second.context == {"given": 1, "done": ["a"], "tries": 1}
    runs = (await chain_kit.chains.runs(chain)).items
    assert [(run.run, run.operation_direction, len(run.queue_return)) for run in runs] == [
        (2, "FORWARD", 2),
        (1, "BACKWARD", 4),
    ]
    assert (await chain_kit.chains.run_of(chain, 1)).queue_return == runs[1].queue_return
    assert await chain_kit.findings() == []


async def test_operation_gets_its_context_and_arguments(chain_kit: ChainKit) -> None:
    chain = await chain_kit.chain(
        {"forward_operation": "echo"},
        job("b", "tell"),
        job("c", "do_async"),
        job("d", "give_object"),
    )
    ended = await chain_kit.run(chain, context={"x": [1]})
    assert isinstance(ended.queue_return, list)
    echoed, facts, awaited, shown = [each.returned for each in ended.queue_return]
    assert echoed == ["EMPTY_ARGS", {"x": [1]}]
    assert (facts["fence"], facts["stopping"]) == (1, False)
    step = (await chain_kit.chains.run_of(chain, 1)).queue_return[1]
    assert facts["key"] == step.execution_id
    assert awaited == "awaited"
    assert shown == "<class 'set'>"
    lines = (await chain_kit.app.log(facts["key"])).entries
    assert [line.text for line in lines if isinstance(line, LogLine)] == ["told"]


@pytest.mark.parametrize("field", ["forward_operation", "backward_operation"])
async def test_rejects_operation_that_the_library_lacks(chain_kit: ChainKit, field: str) -> None:
    chain = await chain_kit.chain(job("a"))
    for operation in ("json", "Path", "_note", "missing"):
        fields: dict[str, Any] = {field: operation}
        with pytest.raises(InvalidInput) as refused:
            await chain_kit.chains.enqueue(chain, **fields)
        assert refused.value.field == field
    with pytest.raises(InvalidInput, match="did you mean 'undo'") as refused:
        await chain_kit.chain(job("a"), {field: "undoo"})
    assert refused.value.field == f"jobs[1].{field}"
    assert await chain_kit.chains.get(chain) == chain
    assert [each.queue_id for each in (await chain_kit.chains.list()).items] == [chain.queue_id]


async def test_operation_is_looked_for_again_when_missed(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    library = tmp_path / "changing_library.py"
    library.write_text("print('a line of its own')\ndef first(arguments, context): pass\n")
    async with TestKit(App(chain_libraries="changing_library"), sqlite_url) as kit:
        chains = ChainKit(kit)
        chain = await kit.app.chains.create(queue_library="changing_library", jobs=[{"forward_operation": "first"}])
        with pytest.raises(InvalidInput, match="forward_operation"):
            await kit.app.chains.enqueue(chain, forward_operation="second")
        library.write_text("def second(arguments, context): pass\n")
        await kit.app.chains.enqueue(chain, forward_operation="second")
        ended = await chains.run(chain)
        assert ended.jobs[0].state == "FAILED, CANCELED"
        assert "no operation 'first'" in ended.jobs[0].job_return["forward"]["error"]["message"]  # type: ignore[index]


async def test_context_over_its_limit_fails(chain_kit: ChainKit) -> None:
    ended = await chain_kit.run(await chain_kit.chain(job("a", "swell")))
    assert ended.jobs[0].state == "FAILED, CANCELED"
    assert isinstance(ended.jobs[0].job_return, dict)
    assert "context" in ended.jobs[0].job_return["forward"]["error"]["message"]


async def test_library_that_cannot_be_imported(database_url: str) -> None:
    app = App(chain_libraries=f"{LIBRARY} no.such.library")
    async with TestKit(app, database_url) as kit:
        chains = ChainKit(kit)
        missing = "no.such.library"
        chain = await chains.chain(job("a"), job("b", operation_library=missing, backward="NO_OPERATION"))
        ended = await chains.run(chain)
        assert [each.state for each in ended.jobs] == ["SUCCESS, CANCELED", "FAILED, CANCELED"]
        assert ended.jobs[1].job_return["forward"]["error"]["type"] == "ModuleNotFoundError"  # type: ignore[index]


async def test_states_that_forbid_a_move(chain_kit: ChainKit) -> None:
    chains = chain_kit.chains
    chain = await chain_kit.chain()
    assert (chain.state, chain.job_queue, chain.last_job, chain.queue_return) == ("EMPTY", "UNINIT", "UNINIT", "UNINIT")
    with pytest.raises(ChainWrongState, match="is EMPTY"):
        await chains.run(chain)
    await chains.enqueue(chain, ChainJob(forward_operation="do", arguments={"name": "a"}))
    for move in (chains.resume, chains.skip, chains.abort):
        with pytest.raises(ChainWrongState, match="is READY"):
            await move(chain)
    await chains.run(chain)
    for forbidden in (chains.run, chains.enqueue, chains.delete, chains.resume, chains.skip):
        with pytest.raises(ChainWrongState, match="is RUNNING"):
            await forbidden(chain)
    await chain_kit.finish(chain)
    await chains.delete(chain)
    with pytest.raises(ChainNotFound):
        await chains.get(chain)


async def test_abort_goes_backward(chain_kit: ChainKit) -> None:
    chain = await chain_kit.chain(job("a"), job("b", "hang", "hang"))
    await chain_kit.chains.run(chain)
    await chain_kit.kit.tick()
    await chain_kit.kit.start_ready()
    await chain_kit.until_begun("hang")
    await chain_kit.chains.abort(chain)
    await chain_kit.kit.settle()
    backward = await chain_kit.chains.get(chain)
    assert (backward.state, backward.operation_direction) == ("RUNNING", "BACKWARD")
    assert backward.jobs[1].state == "FAILED"
    assert backward.jobs[1].job_return["forward"]["error"]["type"] == "cancelled"  # type: ignore[index]
    with pytest.raises(ChainWrongState, match="RUNNING BACKWARD"):
        await chain_kit.chains.abort(chain)


async def test_abort_of_a_waiting_step(chain_kit: ChainKit) -> None:
    chain = await chain_kit.chain(job("a"))
    await chain_kit.chains.run(chain)
    aborted = await chain_kit.chains.abort(chain)
    assert (aborted.operation_direction, aborted.jobs[0].state) == ("BACKWARD", "FAILED")
    assert (await chain_kit.finish(chain)).jobs[0].state == "FAILED, CANCELED"


async def test_blocked_chain_waits_for_a_person(chain_kit: ChainKit, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    undone = {"arguments": {"name": "b", "gate": str(gate)}}
    chain = await chain_kit.chain(job("a"), job("b", "fail", "fail_until") | undone, on_backward_failure="stop")
    blocked = await chain_kit.run(chain)
    assert (blocked.state, blocked.running_job, blocked.jobs[1].state) == ("BLOCKED", chain.jobs[1].job_id, "FAILED")
    assert blocked.jobs[1].job_return["backward"]["error"]["type"] == "RuntimeError"  # type: ignore[index]
    (reason,) = (await chain_kit.chains.explain(chain)).reasons
    assert reason["code"] == "chain_blocked"
    for forbidden in (chain_kit.chains.run, chain_kit.chains.enqueue, chain_kit.chains.delete, chain_kit.chains.abort):
        with pytest.raises(ChainWrongState, match="is BLOCKED"):
            await forbidden(chain)
    assert await chain_kit.findings() == []
    await chain_kit.chains.resume(chain)
    assert (await chain_kit.finish(chain)).state == "BLOCKED"
    gate.touch()
    await chain_kit.chains.resume(chain)
    ended = await chain_kit.finish(chain)
    assert (ended.state, [each.state for each in ended.jobs]) == ("READY", ["SUCCESS, CANCELED", "FAILED, CANCELED"])
    assert ended.context["tries"] == 3
    assert await chain_kit.findings() == []


async def test_skip_leaves_the_blocked_job_failed(chain_kit: ChainKit) -> None:
    chain = await chain_kit.chain(job("a"), job("b", "fail", "fail"), on_backward_failure="stop")
    await chain_kit.run(chain)
    await chain_kit.chains.skip(chain)
    ended = await chain_kit.finish(chain)
    assert [each.state for each in ended.jobs] == ["SUCCESS, CANCELED", "FAILED, FAILED"]
    assert ran(ended)[2:] == [("b", "BACKWARD", "FAILED, FAILED"), ("a", "BACKWARD", "SUCCESS, CANCELED")]
    assert await chain_kit.findings() == []


async def test_retries_keep_the_context_of_each_try(chain_kit: ChainKit, tmp_path: Path) -> None:
    failing = {"arguments": {"name": "a", "gate": str(tmp_path / "gate")}}
    chain = await chain_kit.chain(job("a", "fail_until") | failing, retries=2)
    ended = await chain_kit.run(chain)
    assert ended.context["tries"] == 3
    assert ran(ended) == [("a", "FORWARD", "FAILED"), ("a", "BACKWARD", "FAILED, CANCELED")]


async def test_repeated_requests_change_nothing(chain_kit: ChainKit) -> None:
    ids = [str(uuid.uuid4()) for _ in range(4)]
    made = [
        await chain_kit.chains.create(queue_library=LIBRARY, jobs=[job("a")], new_id=lambda n: ids[n]) for _ in range(2)
    ]
    assert made[0] == made[1]
    added = [await chain_kit.chains.enqueue(made[0], new_id=lambda _: ids[2], **job("b")) for _ in range(2)]
    assert added[0] == added[1]
    runs = [await chain_kit.chains.run(made[0], new_id=lambda _: ids[3]) for _ in range(2)]
    assert [(each.run, each.job_number) for each in runs] == [(1, 2), (1, 2)]


async def test_events_follow_the_walk(chain_kit: ChainKit) -> None:
    other = await chain_kit.chain(job("x"))
    chain = await chain_kit.chain(job("a"), job("b", "fail"))
    await chain_kit.chains.run(other)
    await chain_kit.run(chain)
    events: list[ChainEvent] = []
    page = await chain_kit.chains.events(chain)
    while page.items:
        events += page.items
        page = await chain_kit.chains.events(chain, after=page.after)
    assert [event.type.value for event in events] == [
        "chain_started",
        "chain_step_ended",
        "chain_step_ended",
        "chain_turned",
        "chain_step_ended",
        "chain_step_ended",
        "chain_ended",
    ]
    assert events[1].details == {
        "operation_direction": "FORWARD",
        "job_id": chain.jobs[0].job_id,
        "direction": "FORWARD",
        "state": "SUCCESS",
    }


async def test_verify_finds_a_stranded_chain(chain_kit: ChainKit) -> None:
    chain = await chain_kit.chain(job("a"), job("b"))
    await chain_kit.run(chain)
    await chain_kit.chains.run(chain)
    assert await chain_kit.findings() == []
    await chain_kit.script(f"UPDATE hanbeon.chain SET step_job = '{uuid.uuid4()}'")
    assert await chain_kit.findings() == ["stranded_chain"]
    await chain_kit.script("UPDATE hanbeon.chain_step SET state = 'FAILED' WHERE n = 1")
    assert await chain_kit.findings() == ["stranded_chain", "broken_walk", "broken_chain"]


async def test_old_runs_are_pruned_but_the_last(chain_kit: ChainKit) -> None:
    chain = await chain_kit.chain({"arguments": {"name": "a"}})
    for _ in range(3):
        await chain_kit.run(chain)
    await chain_kit.kit.advance(3600)
    assert (await chain_kit.app.store.read(lambda tx: count_prunable(tx, chain_kit.app.store.retention, 1_000_000)))[
        "chain_runs"
    ] == 2
    await chain_kit.app.store.prune(1_000_000, 100)
    assert [run.run for run in (await chain_kit.chains.runs(chain)).items] == [3]
    assert ran(await chain_kit.chains.get(chain)) == [("a", "FORWARD", "SUCCESS")]
    assert await chain_kit.findings() == []


async def test_step_is_not_retried_by_hand(chain_kit: ChainKit) -> None:
    chain = await chain_kit.chain(job("a", "fail"))
    await chain_kit.run(chain)
    step = (await chain_kit.chains.run_of(chain, 1)).queue_return[0]
    assert step.execution_id is not None
    with pytest.raises(Conflict, match="belongs to a chain"):
        await chain_kit.app.retry(step.execution_id)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"queue_library": "os"}, "queue_library"),
        ({"jobs": [{"operation_library": "os"}]}, "jobs[0].operation_library"),
        ({"jobs": [{"forward_operation": "os.system"}]}, "jobs[0].forward_operation"),
        ({"jobs": [{"expired_time": 0}]}, "jobs[0].expired_time"),
        ({"jobs": [{"expired_time": -1}]}, "jobs[0].expired_time"),
        ({"jobs": [{"expired_tim": 1}]}, "jobs[0].expired_tim"),
        ({"jobs": [{"arguments": object()}]}, "jobs[0].arguments"),
        ({"jobs": [{"arguments": float("nan")}]}, "jobs[0].arguments"),
        ({"jobs": [{"arguments": "x" * 600_000}]}, "jobs[0].arguments"),
        ({"retries": -1}, "retries"),
        ({"on_unknown": "ignore"}, "on_unknown"),
    ],
)
async def test_rejects_invalid_chain(chain_kit: ChainKit, fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as error:
        await chain_kit.chains.create(**fields)
    assert error.value.field == field
    assert (await chain_kit.chains.list()).items == []


async def test_explain_names_the_missing_worker(database_url: str) -> None:
    """Only instances that allow the library have its task."""
    async with App(database_url, chain_libraries=LIBRARY) as app, App(database_url) as other, other.worker():
        chain = await app.chains.create(queue_library=LIBRARY, jobs=[job("a")])
        (resting,) = (await app.chains.explain(chain)).reasons
        assert resting["code"] == "chain_not_run"
        await app.chains.run(chain)
        explained = await app.chains.explain(chain)
        assert [reason["code"] for reason in explained.reasons] == ["no_worker"]


async def test_lost_operation_is_compensated_if_asked(chain_kit: ChainKit) -> None:
    """The worker is frozen in the middle; another instance takes over when its lease has ended."""
    chain = await chain_kit.chain(job("a", "hang", expired_time=600), on_unknown="compensate")
    await chain_kit.chains.run(chain)
    await chain_kit.kit.start_ready()
    await chain_kit.until_begun("hang")
    await chain_kit.kit.clock.advance(60)
    await chain_kit.app.store.write(lambda tx: recover(tx, chain_kit.app.store.lanes, 10))
    turned = await chain_kit.chains.get(chain)
    assert (turned.operation_direction, turned.jobs[0].state) == ("BACKWARD", "FAILED")
    assert turned.jobs[0].job_return["forward"]["error"]["type"] == "lost"  # type: ignore[index]
    assert "hung" not in turned.context


async def test_lost_operation_runs_again_however_late(chain_kit: ChainKit) -> None:
    """By default an operation may take 30 seconds, which is no longer than a lease."""
    chain = await chain_kit.chain(job("a", "hang"), job("b"))
    await chain_kit.chains.run(chain)
    await chain_kit.kit.start_ready()
    await chain_kit.until_begun("hang")
    await chain_kit.kit.clock.advance(60)
    (lost,) = await chain_kit.app.store.write(lambda tx: recover(tx, chain_kit.app.store.lanes, 10))
    (step,) = await chain_kit.app.jobs(queue="chains")
    assert (lost.reason, step.state, step.retry_count) == ("retried", "ready", 0)
    going = await chain_kit.chains.get(chain)
    assert (going.state, going.operation_direction, going.jobs[0].state) == ("RUNNING", "FORWARD", "NOTYET")


async def test_two_instances_run_a_chain_once(database_url: str) -> None:
    async with App(database_url, chain_libraries=LIBRARY) as one, App(database_url) as other:
        chain = await one.chains.create(queue_library=LIBRARY, jobs=[job("a")])
        asked = [app.chains.run(chain.queue_id) for app in (one, other)]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        assert sorted(type(each).__name__ for each in answers) == ["Chain", "ChainWrongState"]
        assert len(await one.jobs(queue="chains")) == 1


async def test_operators_move_a_step_through_its_chain(chain_kit: ChainKit) -> None:
    chain = await chain_kit.chain(job("a"))
    await chain_kit.chains.run(chain)
    (step,) = await chain_kit.app.jobs(queue="chains")
    shown = await chain_kit.app.engine.job(step.id)
    assert (shown.surface, shown.path) == ("chains", f"/api/chains/{chain.queue_id}")
    with pytest.raises(MovedElsewhere):
        await chain_kit.app.engine.cancel(step.id)


async def test_interleaved_chains_undo_their_own_steps(chain_kit: ChainKit) -> None:
    good = await chain_kit.chain(job("a"), job("b"))
    bad = await chain_kit.chain(job("a"), job("b", "fail"))
    for chain in (good, bad):
        await chain_kit.chains.run(chain)
    await chain_kit.kit.run_all()
    assert (await chain_kit.chains.get(good)).context == {"done": ["a", "b"]}
    assert (await chain_kit.chains.get(bad)).context == {"done": ["a"], "half": True, "undone": ["b", "a"]}


async def test_restore_in_its_own_process_goes_on(sqlite_url: str, tmp_path: Path) -> None:
    """`hanbeon restore` opens no App, and ends the steps that were running."""
    copy = tmp_path / "copy.db"
    async with TestKit(App(chain_libraries=LIBRARY), sqlite_url) as kit:
        chain_kit = ChainKit(kit)
        chain = await chain_kit.chain(job("a", "hang", expired_time=600), on_unknown="compensate")
        await chain_kit.chains.run(chain)
        await kit.start_ready()
        await chain_kit.until_begun("hang")
        await back_up(sqlite_url, copy)
    done = await asyncio.to_thread(hanbeon, "restore", str(copy), "--database", sqlite_url)
    assert (done.returncode, done.stderr) == (0, "")
    async with App(sqlite_url) as app:
        turned = await app.chains.get(chain.queue_id)
        assert (turned.operation_direction, turned.jobs[0].state) == ("BACKWARD", "FAILED")


async def test_queue_of_chains_is_reserved(chain_kit: ChainKit) -> None:
    app = chain_kit.app
    task = app.task(_nothing)
    with pytest.raises(InvalidInput, match="belongs to chains; add the job to a chain, or use another queue") as error:
        await app.enqueue(task, queue="chains")
    assert error.value.field == "queue"
    with pytest.raises(InvalidInput, match="belongs to chains"):
        app.task(name="other", queue="chains")(_nothing)
    assert await app.jobs() == []


async def _nothing() -> None: ...
