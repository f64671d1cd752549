"""Registered instances."""

from hanbeon.store.operations import instances as instance_rows
from hanbeon.store.operations.instances import NewInstance, instances, register
from tests.store.world import World

NEW = NewInstance(name="worker", host="host", pid=42, version="1.0", tasks=["b", "a"], capacity=10)
ALIVE_US = 30_000_000


async def test_an_instance_shows_itself_and_what_it_does(world: World) -> None:
    number = await world.store.write(lambda tx: register(tx, NEW))
    start = world.clock.now_us()
    await world.clock.advance(10)
    assert await world.store.write(lambda tx: instance_rows.beat(tx, number, 3, ["a", "b", "c"])) == (True, False)
    (seen,) = await world.store.read(lambda tx: instances(tx, ALIVE_US))
    assert (seen.id, seen.name, seen.host, seen.pid, seen.version) == (number, "worker", "host", 42, "1.0")
    assert (seen.tasks, seen.capacity, seen.running) == (["a", "b", "c"], 10, 3)
    assert (seen.started_at, seen.seen_at, seen.stopped_at, seen.alive) == (start, start + 10_000_000, None, True)


async def test_one_that_falls_silent_is_not_alive(world: World) -> None:
    silent, speaking = (
        await world.store.write(lambda tx: register(tx, NEW)),
        await world.store.write(lambda tx: register(tx, NEW)),
    )
    await world.clock.advance(30)
    await world.store.write(lambda tx: instance_rows.beat(tx, speaking, 0, []))
    alive = {instance.id: instance.alive for instance in await world.store.read(lambda tx: instances(tx, ALIVE_US))}
    assert alive == {silent: False, speaking: True}
    assert await world.store.write(lambda tx: instance_rows.beat(tx, silent, 0, [])) == (True, False)
    assert all(instance.alive for instance in await world.store.read(lambda tx: instances(tx, ALIVE_US)))


async def test_one_that_leaves_is_gone_at_once(world: World) -> None:
    number = await world.store.write(lambda tx: register(tx, NEW))
    await world.store.write(lambda tx: instance_rows.beat(tx, number, 5, []))
    await world.store.write(lambda tx: instance_rows.leave(tx, number))
    (seen,) = await world.store.read(lambda tx: instances(tx, ALIVE_US))
    assert (seen.alive, seen.running, seen.stopped_at) == (False, 0, world.clock.now_us())


async def test_a_pruned_instance_hears_that_it_must_register_anew(world: World) -> None:
    assert await world.store.write(lambda tx: instance_rows.beat(tx, 999_999, 0, [])) == (False, False)
    number = await world.store.write(lambda tx: register(tx, NEW))
    assert await world.store.write(lambda tx: register(tx, NEW)) > number
