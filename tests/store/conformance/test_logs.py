"""The log of a job: fenced like all that an attempt writes, read in order, gone with its job."""

from functools import partial

import pytest

from hanbeon.domain.job import Claimed
from hanbeon.domain.log import LogCut, LogLine, LogPosition, LogStream
from hanbeon.domain.log_buffer import LogBuffer, LogOffer
from hanbeon.domain.outcome import HandedBack, Raised, Returned
from hanbeon.domain.retry import RetryPolicy
from hanbeon.errors import JobNotFound
from hanbeon.store.operations import prune
from hanbeon.store.operations.lease import Lease
from hanbeon.store.operations.logs import LogWrite, read_log
from tests.store.world import LEASE, World, lease_of, new_id

RETRYING = RetryPolicy(max_retries=3, base_us=0)
DAY = 86_400.0
DAY_US = 86_400_000_000


def offer(*lines: str, limit: int = 1_048_576) -> LogOffer:
    buffer = LogBuffer(limit)
    buffer.add(LogStream.STDOUT, "".join(f"{line}\n" for line in lines).encode(), 7)
    offered = buffer.offer()
    assert offered is not None
    return offered


async def write(world: World, held: Claimed, *lines: str) -> bool:
    lease = lease_of(held)
    return lease in await world.store.write_logs([LogWrite(lease, offer(*lines))])


async def texts(world: World, job_id: str, attempt: int | None = None) -> list[str]:
    page = await world.store.read(lambda tx: read_log(tx, job_id, attempt, LogPosition(), 1_000))
    return [entry.text for entry in page.entries if isinstance(entry, LogLine)]


async def test_a_log_is_read_while_the_job_runs_and_afterwards(world: World) -> None:
    job_id = await world.make()
    held = await world.claim_this(job_id)
    assert (await world.store.read(lambda tx: read_log(tx, job_id, None, LogPosition(), 10))).entries == ()
    assert await write(world, held, "one", "두\u0001번")
    page = await world.store.read(lambda tx: read_log(tx, job_id, None, LogPosition(), 10))
    assert page.entries == (
        LogLine(attempt=1, line=1, at=7, stream=LogStream.STDOUT, text="one"),
        LogLine(attempt=1, line=2, at=7, stream=LogStream.STDOUT, text="두\u0001번"),
    )
    assert (page.after, page.more) == ("1:2", False)
    await world.settle(held)
    assert await texts(world, job_id) == ["one", "두\u0001번"]


async def test_there_is_no_log_of_no_job(world: World) -> None:
    for job_id in (new_id(), "nonsense"):
        with pytest.raises(JobNotFound):
            await world.store.read(partial(read_log, job_id=job_id, attempt=None, position=LogPosition(), limit=10))


async def test_a_stale_attempt_writes_nothing(world: World) -> None:
    job_id = await world.make(policy=RETRYING)
    stale = await world.claim_this(job_id)
    await world.settle(stale, HandedBack())
    assert not await write(world, stale, "nobody has it")
    live = await world.claim_this(job_id)
    for fence in (stale.fence, live.fence + 1, 0):
        lease = Lease(live.seq, fence)
        assert await world.store.write_logs([LogWrite(lease, offer("stale"))]) == set()
    assert await world.count("log") == 0
    # In one batch with what is refused, what is not is written.
    both = [LogWrite(lease_of(stale), offer("stale")), LogWrite(lease_of(live), offer("live"))]
    assert await world.store.write_logs(both) == {lease_of(live)}
    assert await texts(world, job_id) == ["live"]


async def test_an_expired_lease_writes_nothing_even_before_recovery(world: World) -> None:
    job_id = await world.make()
    held = await world.claim_this(job_id)
    await world.clock.advance(LEASE - 0.000001)
    assert await write(world, held, "in time")
    await world.clock.advance(0.000001)
    assert not await write(world, held, "too late")
    assert await texts(world, job_id) == ["in time"]


@pytest.mark.parametrize("outcome", [Returned(), Raised("x"), HandedBack()])
async def test_nothing_is_written_behind_the_end_of_an_attempt(
    world: World, outcome: Returned | Raised | HandedBack
) -> None:
    held = await world.claim_this(await world.make())
    await world.settle(held, outcome)
    assert not await write(world, held, "late")
    assert await world.count("log") == 0


async def test_attempts_have_their_own_logs(world: World) -> None:
    job_id = await world.make(policy=RETRYING)
    for number in (1, 2):
        held = await world.claim_this(job_id)
        assert await write(world, held, f"attempt {number}")
        await world.settle(held, HandedBack())
    assert await texts(world, job_id) == ["attempt 1", "attempt 2"]
    assert await texts(world, job_id, 2) == ["attempt 2"]
    assert await texts(world, job_id, 3) == []
    page = await world.store.read(lambda tx: read_log(tx, job_id, None, LogPosition(1, 1), 10))
    assert [entry.attempt for entry in page.entries] == [2]


async def test_many_jobs_are_written_at_once(world: World) -> None:
    ids = [await world.make() for _ in range(20)]
    held = {job.id: job for job in await world.claim(20)}
    writes = [LogWrite(lease_of(held[job_id]), offer(f"of {job_id}")) for job_id in ids]
    assert len(await world.store.write_logs(writes)) == 20
    for job_id in ids:
        assert await texts(world, job_id) == [f"of {job_id}"]


async def test_the_window_rolls_and_what_it_leaves_is_deleted(world: World) -> None:
    job_id = await world.make()
    held = await world.claim_this(job_id)
    lease = lease_of(held)
    buffer, limit = LogBuffer(8_192), 8_192
    for number in range(2_000):
        buffer.add(LogStream.STDOUT, b"line %d\n" % (number + 1), number * 1_000)
        if number % 100 == 99:
            offered = buffer.offer()
            assert offered is not None
            # The answer to the first was lost: it is written twice.
            for _ in range(2):
                assert await world.store.write_logs([LogWrite(lease, offered)]) == {lease}
            buffer.taken()
            stored = await world.sql("SELECT body FROM hanbeon.log")
            assert sum(len(row["body"].encode()) for row in stored) <= limit
    page = await world.store.read(lambda tx: read_log(tx, job_id, None, LogPosition(), 1_000))
    lines = [entry for entry in page.entries if isinstance(entry, LogLine)]
    assert all(entry.text == f"line {entry.line}" for entry in lines)
    assert (lines[0].line, lines[-1].line) == (1, 2_000)
    assert [entry.lines for entry in page.entries if isinstance(entry, LogCut)] == [2_000 - len(lines)]


async def test_a_long_log_comes_in_pages(world: World) -> None:
    job_id = await world.make()
    held = await world.claim_this(job_id)
    assert await write(world, held, *(f"{number:>60}" for number in range(1, 5_001)))
    place, seen, pages = LogPosition(), [], 0
    while True:
        page = await world.store.read(partial(read_log, job_id=job_id, attempt=None, position=place, limit=700))
        assert len(page.entries) <= 700
        seen += [entry.line for entry in page.entries]
        place, pages = LogPosition.parse(page.after), pages + 1
        if not page.more:
            break
    assert seen == list(range(1, 5_001))
    assert pages >= 8


async def test_logs_go_with_their_jobs(world: World) -> None:
    old, needed = await world.make(), await world.make()
    for job_id in (old, needed):
        held = await world.claim_this(job_id)
        await write(world, held, "words")
        await world.settle(held)
    await world.make(depends_on=(needed,), delay_us=10**15)
    await world.clock.advance(DAY + 1)
    await world.fold()
    counted = await world.count_prunable(DAY_US)
    assert counted["jobs"] == 1
    while await world.store.prune(DAY_US, 1_000):
        pass
    assert await world.count("log") == 1
    assert await texts(world, needed) == ["words"]


async def test_much_log_is_pruned_in_parts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prune, "_LOG_CHUNKS_A_STEP", 3)
    for _ in range(6):
        held = await world.claim_this(await world.make())
        await write(world, held, "x" * 70_000, "y" * 70_000)
        await world.settle(held)
    rows = await world.count("log")
    await world.clock.advance(DAY + 1)
    await world.fold()
    await world.store.prune(DAY_US, 1_000)
    assert 0 < await world.count("log") < rows
    assert 0 < await world.count("job") < 6
    while await world.store.prune(DAY_US, 1_000):
        pass
    assert (await world.count("log"), await world.count("job")) == (0, 0)
