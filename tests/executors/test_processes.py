"""Bodies in processes: every way to end, and what they can ask for there."""

import os
import socket
import struct
import subprocess
import sys
from typing import Any, cast

import msgspec
import pytest

from hanbeon.clock import SystemClock
from hanbeon.domain.log import LogStream
from hanbeon.domain.outcome import Outcome, PutOff, Raised, Returned
from hanbeon.engine.logs import Logs
from hanbeon.executors.executor import StopCause
from hanbeon.executors.process import pool
from hanbeon.executors.process.messages import CHANNEL
from tests.executors import bodies
from tests.executors.workbench import Bench, alive, numbers, until
from tests.storm.journal import Journal

ENDINGS: list[tuple[str, Outcome]] = [
    ("exit", Raised("the worker process has ended with exit code 3", "session_error")),
    ("segfault", Raised("the worker process was killed by SIGSEGV", "session_error")),
    ("system exit", Raised("SystemExit: 3")),
    ("value", Raised("ValueError: x")),
    ("task", Raised("x", "git_conflict")),
    ("permanent", Raised("x", "error", permanent=True)),
    ("permission", Raised("PermissionError: [Errno 13] denied", "permission_error")),
    ("put off", PutOff(1_500_000, "later")),
    ("nul and half a pair", Raised("ValueError: \x00 ?")),
    ("unprintable", Raised("Unprintable: its text cannot be shown: RuntimeError")),
    (
        "large",
        Raised("result: over the limit of 1,024 bytes; store it elsewhere and return a reference", "invalid", True),
    ),
]


def result(outcome: Outcome | None) -> Any:
    assert isinstance(outcome, Returned), outcome
    return msgspec.json.decode(outcome.result or "")


async def test_a_body_returns_and_the_next_runs_in_the_same_process(bench: Bench) -> None:
    assert result(await bench.run(bodies.add, a=1, b=2)) == 3
    first, second = result(await bench.run(bodies.whoami)), result(await bench.run(bodies.whoami))
    assert first == second != os.getpid()
    assert bench.executor.processes == [first]


async def test_ends_of_a_process(bench: Bench) -> None:
    for how, expected in ENDINGS:
        assert await bench.run(bodies.end, how=how) == expected, how
        assert result(await bench.run(bodies.add, a=1)) == 1, f"the next job runs after {how}"


async def test_outcome_has_the_traceback(bench: Bench) -> None:
    started = bench.start(bodies.end, how="value")
    await started.within()
    assert started.exception is not None
    assert started.exception.name == "ValueError"
    assert 'raise ValueError("x")' in started.exception.traceback


async def test_a_process_is_alone_in_its_session_and_leads_its_group(bench: Bench) -> None:
    pid = result(await bench.run(bodies.whoami))
    session_supervisor = bench.session_supervisors[0].pid
    assert os.getsid(pid) == os.getpgid(pid) == pid
    assert len({os.getsid(each) for each in (pid, session_supervisor, bench.supervisor.pid, os.getpid())}) == 4


async def test_the_context(bench: Bench) -> None:
    outcome = await bench.run(bodies.facts)
    assert bench.attempt is not None
    job = bench.attempt.job
    assert result(outcome) == [job.id, job.queue, job.fence, job.fence, job.retry_count, job.id, False]


async def test_a_body_that_looks_can_end_by_itself(journal: Journal) -> None:
    bench = Bench(lease=240, stop_grace=60)
    started = bench.start(bodies.cooperative, backend={"lease": 240.0}, journal=str(journal))
    (pid,) = await numbers(journal, 1)
    started.stop(StopCause.SHUTDOWN)
    assert result(await started.within()) == "in peace", "within the grace"
    assert not alive(pid), "one that was stopped gets no other job"
    await bench.executor.close()


async def test_a_body_finds_the_process_as_the_first_one_did(bench: Bench, journal: Journal) -> None:
    assert result(await bench.run(bodies.untidy)) == result(await bench.run(bodies.untidy)) == os.getcwd()
    started = bench.start(bodies.cooperative, journal=str(journal))
    await numbers(journal, 1)
    started.stop(StopCause.SHUTDOWN)
    assert result(await started.within()) == "in peace"
    assert len(bench.executor.processes) == 0


class Notes:
    """A store that takes progress, or does not."""

    def __init__(self, holds: bool) -> None:
        self.holds = holds
        self.noted: list[str] = []

    async def note_begin(self, lease: object, *, begun: bool) -> bool:
        return True

    async def write_progress(self, lease: object, text: str, transaction: object) -> bool:
        self.noted.append(text)
        return self.holds


async def test_progress_goes_through_the_engine(bench: Bench) -> None:
    store = Notes(holds=True)
    assert result(await bench.run(bodies.noting, value={"a": [1]}, backend={"store": store})) == "noted"
    assert store.noted == ['{"a":[1]}']


async def test_a_superseded_body_learns_it(bench: Bench) -> None:
    outcome = await bench.run(bodies.noting, value=1, backend={"store": Notes(holds=False)})
    assert bench.attempt is not None
    assert result(outcome) == f"{bench.attempt.job.id} {bench.attempt.job.fence}"


async def test_progress_over_the_limit_is_refused_there(bench: Bench) -> None:
    outcome = await bench.run(bodies.noting, value="x" * 2_000_000)
    assert isinstance(outcome, Raised)
    assert outcome.failure_type == "invalid"
    assert "bytes, got 2,000,002" in outcome.message


async def test_children_are_kept_by_the_engine(bench: Bench) -> None:
    ids = result(await bench.run(bodies.bearing, children=3))
    assert bench.attempt is not None
    assert [child.id for child in bench.attempt.children] == ids
    assert [child.args for child in bench.attempt.children] == ['{"a":0}', '{"a":1}', '{"a":2}']


async def test_there_is_no_transaction(bench: Bench) -> None:
    outcome = await bench.run(bodies.transacting)
    assert isinstance(outcome, Raised)
    assert "is not available in the process executor; use executor='async' or 'thread'" in outcome.message


async def test_it_has_no_descriptor_but_its_own(bench: Bench) -> None:
    *others, channel = result(await bench.run(bodies.descriptors))
    assert others == [0, 1, 2, 3], "the last one is the folder that was read"
    assert channel >= 200, "where few would close it by mistake"


@pytest.mark.parametrize("what", ["write", "close"])
async def test_the_first_descriptors_are_the_bodys_own(bench: Bench, what: str) -> None:
    assert result(await bench.run(bodies.closing, what=what)) == what
    assert result(await bench.run(bodies.add, a=1)) == 1


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (struct.pack(">I", 3) + b"xyz", "sent an invalid message"),
        (struct.pack(">I", 2**32 - 1), "a message of 4,294,967,295 bytes; the limit is"),
        (struct.pack(">I", 1) + msgspec.msgpack.encode({"type": "Ended"}), "sent an invalid message"),
    ],
)
async def test_a_process_that_says_what_it_should_not_is_killed(bench: Bench, data: bytes, complaint: str) -> None:
    outcome = await bench.run(bodies.hostile, data=data)
    assert isinstance(outcome, Raised)
    assert outcome.failure_type == "session_error"
    assert complaint in outcome.message
    assert bench.work() == []


async def test_memory_is_limited(bench: Bench) -> None:
    assert result(await bench.run(bodies.greedy, megabytes=10)) == 10_000_000
    outcome = await bench.run(bodies.greedy, megabytes=1_000)
    assert isinstance(outcome, Raised)
    assert outcome.failure_type == "session_error"
    assert outcome.message.startswith("MemoryError")
    assert result(await bench.run(bodies.greedy, megabytes=10)) == 10_000_000


async def test_a_limit_is_not_for_others(bench: Bench) -> None:
    await bench.run(bodies.greedy, megabytes=10)
    await bench.run(bodies.whoami)
    assert len(bench.executor.processes) == 2


async def test_a_process_is_replaced_after_so_many_jobs() -> None:
    bench = Bench(jobs_per_process=2)
    try:
        pids = [result(await bench.run(bodies.whoami)) for _ in range(5)]
    finally:
        await bench.executor.close()
    assert pids[0] == pids[1] != pids[2] == pids[3] != pids[4]


async def test_short_jobs_share_the_processes_that_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ("_STALL_SECONDS", "_STARTING_SECONDS"):  # On a busy machine even these jobs take as long.
        monkeypatch.setattr(pool, limit, 600.0)
    bench = Bench(processes=2)
    try:
        started = [bench.start(bodies.whoami) for _ in range(60)]
        assert len({result(await each.within()) for each in started}) <= 2
        assert len(bench.executor.processes) == 2
    finally:
        await bench.executor.close()


async def test_a_job_that_waits_for_a_process_can_be_stopped(journal: Journal) -> None:
    bench = Bench(processes=1)
    try:
        first = bench.start(bodies.whoami_at_last, gate=str(journal))
        second, third = bench.start(bodies.whoami_at_last, gate=str(journal)), bench.start(bodies.whoami)
        second.stop(StopCause.CANCELLED)
        assert await second.within(1) is None
        assert len(bench.executor.processes) <= 1, "for that nothing was started"
        journal.path.touch()
        assert isinstance(await first.within(), Returned)
        assert isinstance(await third.within(), Returned)
    finally:
        await bench.executor.close()


async def test_one_that_is_replaced_leaves_no_job_waiting() -> None:
    bench = Bench(processes=1, jobs_per_process=1)
    try:
        started = [bench.start(bodies.whoami) for _ in range(4)]
        assert len({result(await each.within()) for each in started}) == 4
    finally:
        await bench.executor.close()


async def test_a_limit_of_memory_has_its_own_processes_to_wait_for(journal: Journal) -> None:
    bench = Bench(processes=1)
    try:
        others = [bench.start(bodies.whoami_at_last, gate=str(journal)) for _ in range(3)]
        assert result(await bench.run(bodies.greedy, megabytes=10)) == 10_000_000
        journal.path.touch()
        assert all([isinstance(await each.within(), Returned) for each in others])
    finally:
        await bench.executor.close()


async def test_no_job_waits_for_a_long_one(bench: Bench, journal: Journal) -> None:
    """However few processes are kept."""
    others = [bench.start(bodies.cooperative, journal=str(journal)) for _ in range(4)]
    assert len(set(await numbers(journal, 4))) == 4
    for other in others:
        other.stop(StopCause.CANCELLED)
        assert result(await other.within()) == "in peace"


async def test_idle_processes_are_kept_up_to_a_number(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hanbeon.executors.process.pool._LINGER_SECONDS", 0.1)
    bench = Bench(processes=2)
    try:
        started = [bench.start(bodies.whoami_at_last, gate=str(journal)) for _ in range(4)]
        await until("all run", lambda: len(bench.executor.processes) == 4)
        journal.path.touch()
        pids = {result(await each.within()) for each in started}
        await until("two are left", lambda: len(bench.executor.processes) == 2)
        assert result(await bench.run(bodies.whoami)) in pids
        bench.executor._tick()
        assert len(bench.executor.processes) == 2, "these stay"
    finally:
        await bench.executor.close()


async def test_the_time_counts_from_the_start_of_the_body(bench: Bench) -> None:
    began_at = SystemClock().monotonic()
    for _ in ("in a new process", "in a warm one"):
        started = bench.start(bodies.add, a=1, backend={"timeout": 100.0})
        assert bench.attempt is not None
        assert bench.attempt.deadline is not None
        assert bench.attempt.deadline >= began_at + 160, "there is time to begin"
        await started.within()
        assert began_at + 100 < bench.attempt.deadline <= SystemClock().monotonic() + 100


class Heard:
    """Stands for the logs of a worker and for one of them."""

    def __init__(self) -> None:
        self.said: list[bytes] = []

    def of(self, attempt: object) -> "Heard":
        return self

    def take(self, stream: LogStream, data: bytes) -> None:
        assert stream is LogStream.TASK
        self.said.append(data)


async def test_a_log_goes_through_the_engine_in_order(bench: Bench) -> None:
    received = Heard()
    started = bench.start(bodies.flooding, lines=5_000)
    assert bench.attempt is not None
    bench.attempt.claim.logs = cast(Logs, received)
    assert isinstance(await started.within(), Returned)
    assert b"".join(received.said) == b"".join(b"line %d\n" % number for number in range(1, 5_001))


async def test_messages_after_a_breach_are_ignored(bench: Bench) -> None:
    """A word after the end would be a breach, and cost the process; it is used again instead."""
    assert len({result(await bench.run(bodies.gossiping)) for _ in range(5)}) == 1


async def test_a_job_too_long_for_a_message_is_invalid() -> None:
    bench = Bench(max_payload_bytes=1024)
    try:
        outcome = await bench.run(bodies.whoami_at_last, gate="x" * 1_100_000)
        assert isinstance(outcome, Raised)
        assert outcome.failure_type == "invalid", "the same arguments are too long the next time"
        assert outcome.message.startswith("the job cannot be sent to a worker process: a message of 1,1")
        assert await bench.run(bodies.add, a=1) == Returned("1")
    finally:
        await bench.executor.close()


def test_worker_process_closes_its_channel() -> None:
    ours, theirs = socket.socketpair()
    place = theirs.fileno()
    program = f"import os; os.dup2({place}, {CHANNEL}); from hanbeon.executors.process.child import main; main()"
    command = [sys.executable, "-W", "always::ResourceWarning", "-c", program]
    with subprocess.Popen(command, pass_fds=[place], stderr=subprocess.PIPE) as child:
        theirs.close()
        ours.close()  # The engine's end.
        _, said = child.communicate(timeout=60)
    assert (child.returncode, said.decode()) == (0, "")
