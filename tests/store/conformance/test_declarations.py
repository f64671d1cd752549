"""Limits that a file declares: in force when the declaration changes, an operator's until then."""

import asyncio
from functools import partial
from typing import Any

import pytest

from hanbeon.domain.limits import QueueLimits
from hanbeon.errors import InvalidInput
from hanbeon.store.operations import queues as queue_rows
from hanbeon.store.operations.queues import QueueRecord, declare_queues
from tests.store.world import World


async def _queue(world: World, name: str = "mail") -> QueueRecord:
    (found,) = [queue for queue in await world.store.read(queue_rows.queues) if queue.name == name]
    return found


async def _declare(world: World, **limits: Any) -> list[str]:
    return [queue.name for queue in await world.store.write(lambda tx: declare_queues(tx, {"mail": limits}))]


async def test_a_declaration_is_put_in_force_once(world: World) -> None:
    assert await _declare(world, max_concurrent=5, roles={"FE": 1}) == ["mail"]
    queue = await _queue(world)
    assert queue.limits == QueueLimits(max_concurrent=5, roles={"FE": 1})
    assert (queue.declared, queue.differs) == ({"max_concurrent": 5, "roles": {"FE": 1}}, False)
    assert await _declare(world, roles={"FE": 1}, max_concurrent=5) == []


async def test_operator_changes_last_until_the_declaration_changes(world: World) -> None:
    await _declare(world, max_concurrent=5)
    await world.store.change_queue("mail", {"max_concurrent": 2, "max_per_key": 1}, paused=True)
    assert (await _queue(world)).differs
    assert await _declare(world, max_concurrent=5) == []
    assert (await _queue(world)).limits.max_concurrent == 2
    assert await _declare(world, max_concurrent=6) == ["mail"]
    queue = await _queue(world)
    assert queue.limits == QueueLimits(max_concurrent=6, max_per_key=1), "what nobody declares is nobody's but theirs"
    assert (queue.paused, queue.differs) == (True, False)


async def test_limits_no_longer_declared_are_lifted(world: World) -> None:
    await _declare(world, max_concurrent=5, roles={"FE": 1, "BE": 2}, keys={"a": 1})
    assert await _declare(world, roles={"FE": 1}) == ["mail"]
    assert (await _queue(world)).limits == QueueLimits(roles={"FE": 1})
    assert await _declare(world) == ["mail"]
    assert (await _queue(world)).limits == QueueLimits()


async def test_a_queue_that_is_declared_no_longer_keeps_its_limits(world: World) -> None:
    await _declare(world, max_concurrent=5)
    assert await world.store.write(lambda tx: declare_queues(tx, {})) == []
    assert await world.store.write(lambda tx: declare_queues(tx, {"other": {}})) != []
    assert (await _queue(world)).limits.max_concurrent == 5


async def test_a_declaration_that_does_not_fit_changes_nothing(world: World) -> None:
    with pytest.raises(InvalidInput):
        await world.store.write(
            lambda tx: declare_queues(tx, {"good": {"max_concurrent": 1}, "bad": {"max_concurrent": -1}})
        )
    with pytest.raises(InvalidInput):
        await world.store.write(lambda tx: declare_queues(tx, {"good": {"max_concurrent": 1}, "": {}}))
    assert await world.store.read(queue_rows.queues) == []


async def test_an_undeclared_queue_differs_from_nothing(world: World) -> None:
    await world.store.change_queue("mail", {"max_concurrent": 3})
    queue = await _queue(world)
    assert (queue.declared, queue.differs) == (None, False)


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("same", [True, False])
async def test_concurrent_declarations_are_atomic_and_idempotent(world: World, same: bool, there: bool) -> None:
    names = ["a", "b", "c"]
    if there:
        await world.store.write(lambda tx: declare_queues(tx, {name: {"max_concurrent": 99} for name in names}))
    files = [{name: {"max_concurrent": 1 if same else number} for name in names} for number in range(1, 9)]
    # In different orders, so that a fight over the rows would show.
    answers = await asyncio.gather(
        *(
            world.store.write(partial(declare_queues, declared=dict(file if number % 2 else reversed(file.items()))))
            for number, file in enumerate(files)
        )
    )
    queues = {queue.name: queue.limits.max_concurrent for queue in await world.store.read(queue_rows.queues)}
    assert len(set(queues.values())) == 1, "one file as a whole, not a mixture of several"
    if same:
        assert sum(bool(each) for each in answers) == 1
    assert [queue.name for each in answers for queue in each if same] == (names if same else [])
