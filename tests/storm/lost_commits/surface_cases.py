"""Cases of the surfaces, of tokens and of requests with a key. A repeat has the ids of the first request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from hanbeon.domain.access import Scope
from hanbeon.domain.executions import TaskSettings
from hanbeon.domain.job import Claimed
from hanbeon.domain.lifecycle import State
from hanbeon.domain.outcome import Outcome, Raised, Returned
from hanbeon.domain.trace_context import of_span, working_for
from hanbeon.errors import ChainNotFound, ChainWrongState, HanbeonError, OfficeNotFound, ScheduleNotFound
from hanbeon.service import tokens
from hanbeon.store.fast.bulk import WORTH_IT
from hanbeon.store.operations import idempotency
from hanbeon.store.operations.complete import CompletionReport, recover
from hanbeon.store.operations.executions import execution
from hanbeon.store.operations.idempotency import IdempotentRequest
from hanbeon.store.operations.tasks import follow, register_tasks
from hanbeon.store.tx import Tx
from hanbeon.surfaces.chains import rows as chain_rows
from hanbeon.surfaces.chains import walker
from hanbeon.surfaces.chains.rows import NewChain, NewChainJob
from hanbeon.surfaces.chains.steps import task_of
from hanbeon.surfaces.chains.vocabulary import ChainEventType, OnBackwardFailure, OnUnknown
from hanbeon.surfaces.offices import listener_rows as listeners
from hanbeon.surfaces.offices.delivery.relay import Relay
from hanbeon.surfaces.schedules.declarations import declared_schedule
from hanbeon.surfaces.schedules.declarer import declare_schedule
from hanbeon.surfaces.schedules.vocabulary import FireOutcome
from hanbeon.tasks.task import settings_of
from tests.storm.lost_commits.scene import LEASE, Scene

_HOOK = {"url": "https://example.org/hook", "secret": "whsec_" + "A" * 32}
_DAY = 86_400.0


async def offices(scene: Scene) -> None:
    service, store = scene.app.offices, scene.store
    ids, jobs, tests = scene.repeatable_ids(), scene.repeatable_ids(), scene.repeatable_ids()
    with scene.losing():
        await scene.surely(lambda: service.create(new_id=ids, name=scene.named("office"), webhooks=[_HOOK]))
        office = ids(0)
        await scene.surely(lambda: service.create_jobs(office, new_id=jobs, jobs=[{"key": "a"}, {"depends_on": ["a"]}]))
        await scene.surely(lambda: service.change_config(office, maxConcurrentJobs=3))
        await scene.surely(lambda: service.change(office, sessions={"default": "quick"}))
        await scene.surely(lambda: service.process(office))
        (hook,) = (await service.get(office)).webhooks
        await scene.surely(lambda: service.test_webhook(office, hook.id, new_id=tests))
        await scene.surely(Relay(store, scene.app.settings, scene.clock).run_once)
        await scene.surely(lambda: store.write(partial(_fail, listener_id=hook.id)))
        await scene.surely(lambda: service.enable_webhook(office, hook.id))
        await scene.surely(lambda: store.write(lambda tx: listeners.note_success(tx, hook.id)))
    found = await service.jobs(office)
    assert [job.id for job in found.items] == [jobs(0), jobs(1)]
    assert {(await store.job(job.id)).task for job in found.items} == {"quick"}
    messages = (await service.deliveries(office, hook.id)).items
    delivered = Counter((each.event_id, each.job_id) for each in messages if each.event_id is not None)
    assert set(delivered.values()) == {1}, "each event is delivered once"
    assert [each.id for each in messages if each.event_id is None] == [tests(0)]


async def _fail(tx: Tx, listener_id: str) -> bool:
    return await listeners.note_failure(tx, listener_id, "gone", patience_us=0, at_once=True, last_try_since=None)


async def office_deletion(scene: Scene) -> None:
    """With its jobs and webhooks, and later its queues."""
    service = scene.app.offices
    office = (await service.create(name=scene.named("office"), webhooks=[_HOOK])).id
    await service.create_jobs(office, jobs=[{}])
    with scene.losing():
        await scene.surely(lambda: service.change(office, webhooks=[]))
        await scene.surely(lambda: service.delete(office, cancel=True), OfficeNotFound)
    assert office not in {each.id for each in (await service.list()).items}


async def left_queues(scene: Scene) -> None:
    service = scene.app.offices
    office = (await service.create(name=scene.named("office"), webhooks=[_HOOK])).id
    await service.delete(office, cancel=True)
    await scene.clock.advance(32 * _DAY)
    await _fold(scene)
    with scene.losing():
        await scene.surely(lambda: scene.store.prune(int(_DAY) * 1_000_000, 1_000))
    assert not [each.name for each in await scene.app.queues() if office in each.name]


async def schedules(scene: Scene) -> None:
    service, ids = scene.app.schedules, scene.repeatable_ids()
    name, renamed = scene.named("nightly"), scene.named("renamed")
    declared, other = (
        declared_schedule(scene.named("declared"), {"task": "quick", "cron": cron}).resolved({}, scene.app.settings)
        for cron in ("0 9 * * *", "0 10 * * *")
    )
    with scene.losing():
        await scene.surely(lambda: service.create("quick", new_id=ids, cron="0 9 * * *", name=name))
        await scene.surely(lambda: service.change(ids(0), cron="0 10 * * *", name=renamed))
        for each in (declared, other):
            await scene.surely(partial(scene.store.write, partial(_declare, declared=each, new_id=scene.new_id())))
        await scene.surely(lambda: service.delete(renamed), ScheduleNotFound)
    names = [each.name for each in (await service.list(limit=1_000)).items]
    assert (names.count(name), names.count(renamed), names.count(declared.name)) == (0, 0, 1)
    await service.delete(declared.name)


async def _declare(tx: Tx, declared: Any, new_id: str) -> None:
    await declare_schedule(tx, declared, new_id, "test")


async def fires(scene: Scene) -> None:
    service = scene.app.schedules
    made = await service.create("quick", cron="*/5 * * * *", overlap="queue_one")
    await scene.clock.advance(305)
    worker = scene.app.worker()
    with scene.losing():
        await scene.surely(worker.polls["fire"].run_once)
        await scene.surely(worker.polls["fire"].run_once)
    assert [each.outcome for each in (await service.fires(made.id)).items] == ["created"]
    await service.delete(made.id)


async def many_fires(scene: Scene) -> None:
    """As many as are copied, where the database has COPY."""
    service = scene.app.schedules
    made = [await service.create("quick", cron="*/5 * * * *", overlap="allow") for _ in range(WORTH_IT)]
    await scene.clock.advance(305)
    worker = scene.app.worker()
    with scene.losing():
        await scene.surely(worker.polls["fire"].run_once)
        await scene.surely(worker.polls["fire"].run_once)
    for each in made:
        assert [fire.outcome for fire in (await service.fires(each.id)).items] == ["created"]
        await service.delete(each.id)


async def waiting_fires(scene: Scene) -> None:
    service = scene.app.schedules
    made = await service.create("quick", cron="*/5 * * * *", overlap="queue_one")
    worker = scene.app.worker()
    await scene.clock.advance(305)
    await worker.polls["fire"].run_once()
    await scene.clock.advance(300)
    await worker.polls["fire"].run_once()
    await scene.app.cancel_where(task="quick")
    with scene.losing():
        await scene.surely(worker.polls["fire"].run_once)
    outcomes = [each.outcome for each in (await service.fires(made.id)).items]
    assert outcomes.count(FireOutcome.CREATED) == 2
    await service.delete(made.id)


async def manual_runs(scene: Scene) -> None:
    service, ids = scene.app.schedules, scene.repeatable_ids()
    with scene.losing():
        made = await scene.surely(lambda: service.run("quick", new_id=ids))
    assert made is not None
    assert (made.execution_id, (await scene.store.job(ids(0))).state) == (ids(0), State.READY)
    assert len((await service.executions(task="quick", status=["PENDING"])).items) == 1


async def registered_tasks(scene: Scene) -> None:
    execution_id = (await scene.app.schedules.run("quick")).execution_id
    before: TaskSettings = settings_of(scene.app.tasks.get("quick").options)
    after = {"quick": settings_of(scene.app.tasks.get("flaky").options)}
    seq = (await scene.store.read(lambda tx: execution(tx, execution_id))).job.seq
    with scene.losing():
        await scene.surely(lambda: scene.store.write(lambda tx: register_tasks(tx, after, "test")))
        await scene.surely(lambda: scene.store.write(lambda tx: follow(tx, seq)))
    assert (await scene.store.job(execution_id)).policy == after["quick"].policy
    await scene.store.write(lambda tx: register_tasks(tx, {"quick": before}, "test"))


async def api_tokens(scene: Scene) -> None:
    """A token whose creation was not answered is found by its text, which the caller still has."""
    user = scene.named("ada")
    with scene.losing():
        made = await scene.surely(lambda: tokens.create_token(scene.store, user, "read"))
        assert made is not None
        await scene.surely(lambda: tokens.note_use(scene.store, made.record.id))
        await scene.surely(lambda: tokens.revoke_token(scene.store, made.record.id))
    found = [each for each in await tokens.list_tokens(scene.store) if each.user_name == user]
    assert [(each.id, each.revoked_at is not None) for each in found] == [(made.record.id, True)]


async def browser_logins(scene: Scene) -> None:
    """A login whose creation was not answered has a secret that nobody has seen: useless, and it ends by itself."""
    store, user = scene.store, scene.named("ada")
    with scene.losing():
        made = await scene.surely(lambda: tokens.create_login(store, user, Scope.READ, token=None, until=None))
        assert made is not None
        assert list((await tokens.find_logins(store, [tokens.hash_of(made.text)])).values()) == [made.record]
        await scene.surely(lambda: tokens.end_login(store, made.text))
    assert await tokens.find_logins(store, [tokens.hash_of(made.text)]) == {}


async def keyed_requests(scene: Scene) -> None:
    """The rows of requests with an Idempotency-Key; tests/server shows the requests themselves."""
    store = scene.store

    def request(key: str) -> IdempotentRequest:
        return IdempotentRequest("ada", scene.named(key), "digest", scene.new_id(), "server", True)

    done, refused, unknown = request("done"), request("refused"), request("unknown")
    with scene.losing():
        for each in (done, refused, unknown):
            seed = await scene.surely(partial(store.write, partial(_begin, request=each)))
            assert seed == each.seed
        await scene.surely(lambda: store.write(lambda tx: idempotency.store_response(tx, done, 201, {}, "{}")))
        await scene.surely(lambda: store.write(lambda tx: idempotency.forget_request(tx, refused)))
        await scene.surely(lambda: store.write(lambda tx: idempotency.release_request(tx, unknown)))
    again = [request(name) for name in ("refused", "unknown")]
    seeds = [await store.write(partial(_begin, request=each)) for each in again]
    assert seeds == [again[0].seed, unknown.seed]


async def _begin(tx: Tx, request: IdempotentRequest) -> Any:
    return await idempotency.begin_request(tx, request, idempotency.KEPT_US, 60_000_000)


async def _fold(scene: Scene) -> None:
    await scene.store.number_events()
    while await scene.store.fold():
        pass


async def chains(scene: Scene) -> None:
    """A chain whose second step is aborted, and whose undo is blocked, resumed and skipped."""
    store, lanes = scene.store, scene.store.lanes
    ids, run = scene.repeatable_ids(), scene.new_id()
    new = _new_chain(ids(0))
    jobs = [_chain_job(ids(number)) for number in (1, 2)]

    async def lose(operation: Callable[[Tx], Awaitable[Any]], done: type[HanbeonError] | None = None) -> None:
        with scene.losing():
            await scene.surely(lambda: store.write(operation), done)

    async def end_step(outcome: Outcome) -> None:
        (held,) = await scene.claim(task_of("lib"))
        report = CompletionReport(held.seq, held.fence, outcome, instance=held.instance)
        with scene.losing():
            await scene.surely(lambda: store.complete([report]))

    await lose(lambda tx: chain_rows.add_chain(tx, new, jobs[:1]))
    made = (await store.read(lambda tx: chain_rows.chains(tx, 0, 1_000)))[0][-1].chain
    await lose(lambda tx: chain_rows.add_jobs(tx, made.id, jobs[1:]))
    await lose(lambda tx: walker.begin_run(tx, lanes, made.id, run, "t"))
    await end_step(Returned('{"return":1,"context":{"a":1}}'))
    await lose(lambda tx: walker.abort(tx, lanes, made.id), ChainWrongState)
    await end_step(Raised("no"))
    await lose(lambda tx: walker.resume(tx, lanes, made.id), ChainWrongState)
    await end_step(Raised("no"))
    await lose(lambda tx: walker.skip(tx, lanes, made.id), ChainWrongState)
    await end_step(Returned('{"return":2,"context":{"a":2}}'))
    found = await store.read(lambda tx: chain_rows.whole_chain(tx, made.id))
    assert [job.state for job in found.jobs] == ["SUCCESS, CANCELED", "FAILED, FAILED"]
    assert (found.chain.state, found.chain.context, found.chain.run) == ("READY", '{"a":2}', 1)
    await lose(lambda tx: chain_rows.delete_chain(tx, made.id), ChainNotFound)


async def lost_undo(scene: Scene) -> None:
    """A backward operation that is lost three times in a row, which one event reports, and is skipped then."""
    store, lanes = scene.store, scene.store.lanes
    await store.write(lambda tx: chain_rows.add_chain(tx, _new_chain(scene.new_id()), [_chain_job(scene.new_id())]))
    made = (await store.read(lambda tx: chain_rows.chains(tx, 0, 1_000)))[0][-1].chain
    await store.write(lambda tx: walker.begin_run(tx, lanes, made.id, scene.new_id(), "t"))
    (held,) = await scene.claim(task_of("lib"))
    await store.complete([CompletionReport(held.seq, held.fence, Raised("no"), instance=held.instance)])
    worker = scene.app.worker()
    for wait in (0, 1, 2):
        await scene.clock.advance(wait)
        await worker.promote.run_once()
        assert await scene.claim(task_of("lib"))
        await scene.clock.advance(LEASE + 1)
        with scene.losing():
            await scene.surely(lambda: store.write(lambda tx: recover(tx, store.lanes, 10)))
    with scene.losing():
        await scene.surely(lambda: store.write(lambda tx: walker.skip(tx, lanes, made.id)), ChainWrongState)
    lost = [each for each in await scene.events() if each.type == ChainEventType.STEP_LOST]
    assert [each.details["losses"] for each in lost if each.details["queue_id"] == made.id] == [3]
    found = await store.read(lambda tx: chain_rows.whole_chain(tx, made.id))
    assert (found.chain.state, [job.state for job in found.jobs]) == ("READY", ["FAILED, FAILED"])


async def traced_chain(scene: Scene) -> None:
    """The jobs of a chain have the cause of its run."""
    store, lanes = scene.store, scene.store.lanes
    context = of_span(scene.number, 1, 1)
    with scene.tracing():
        jobs = [_chain_job(scene.new_id()) for _ in range(2)]
        await store.write(lambda tx: chain_rows.add_chain(tx, _new_chain(scene.new_id()), jobs))
        made = (await store.read(lambda tx: chain_rows.chains(tx, 0, 1_000)))[0][-1].chain
        with working_for(context):
            await store.write(lambda tx: walker.begin_run(tx, lanes, made.id, scene.new_id(), "t"))
        (first,) = await scene.claim(task_of("lib"))
        with scene.losing():
            await scene.surely(lambda: store.complete([_success(first)]))
        (second,) = await scene.claim(task_of("lib"))
        await store.complete([_success(second)])  # nothing of this chain is left for the next scene to claim
    assert context is not None
    assert (first.trace, second.trace) == (context.text, context.text)


def _success(held: Claimed) -> CompletionReport:
    outcome = Returned('{"return":1,"context":{}}')
    return CompletionReport(held.seq, held.fence, outcome, instance=held.instance)


def _new_chain(uid: str) -> NewChain:
    return NewChain(
        uid=uid,
        queue_library="lib",
        retries=0,
        on_unknown=OnUnknown.RETRY,
        on_backward_failure=OnBackwardFailure.STOP,
        created_by="t",
    )


def _chain_job(uid: str) -> NewChainJob:
    operations = {"forward_operation": "do", "backward_operation": "undo"}
    return NewChainJob(uid=uid, arguments="1", operation_library="lib", expired_us=3_600_000_000, **operations)


CASES = [
    *(offices, office_deletion, left_queues, schedules, fires, many_fires, waiting_fires, manual_runs),
    registered_tasks,
    *(api_tokens, browser_logins, keyed_requests, chains, lost_undo, traced_chain),
]
