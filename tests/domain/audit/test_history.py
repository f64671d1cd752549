"""The audit of event numbers, of creations and of a pruned history."""

from typing import NamedTuple

from hanbeon.domain.audit import moves
from hanbeon.domain.audit.case import Case, JobFacts, audit_missing, compare, pack_job, unpack_jobs
from hanbeon.domain.audit.findings import Code, Finding, FindingCode
from hanbeon.domain.audit.history import AuditedBatch, Bounds, History
from hanbeon.domain.audit.moves import MOVE, REASON_NUMBERS, STATE_NUMBERS, Replay, Trace, id_bytes
from hanbeon.domain.events import Event
from hanbeon.domain.lifecycle import LIFECYCLE, Reason, State, is_legal

MINUTE = 60 * 1_000_000
JOB = "00000000-0000-0000-0000-00000000000a"


class Followed(NamedTuple):
    """All findings of a history and of the replay of its moves, and the traces of its jobs."""

    findings: list[Finding]
    traces: dict[bytes, Trace]

    @property
    def trace(self) -> Trace:
        return self.traces[id_bytes(JOB)]


def event_of(reason: Reason, state: State | None = None, attempt: int | None = None, at: int = 0) -> Event:
    state = state or LIFECYCLE[reason].target
    return Event(type=reason, at=at, queue="q", job_id=JOB, state=state, attempt=attempt)


def history(*batches: tuple[int | None, int, list[Event]], first_id: int | None = None, last_id: int) -> Followed:
    """Followed to the end; a batch is its first id, when it was written, and its events."""
    numbered = [number for number, _, _ in batches if number is not None]
    bounds = Bounds(
        now=10**15,
        oldest_at=min((at for _, at, _ in batches), default=None),
        first_id=first_id or min(numbered, default=None),
        last_id=last_id,
    )
    records: list[bytes] = []
    followed = History(bounds, records.append)
    for seq, (number, at, events) in enumerate(batches):
        followed.follow(AuditedBatch(seq=seq, at=at, count=len(events), first_id=number, events=events))
    followed.finish()
    replay = Replay(whole=bounds.whole)
    replayed = list(replay.follow(MOVE.unpack(record) for record in records))
    return Followed([*followed.findings, *replayed], replay.traces)


def codes(followed: Followed) -> list[FindingCode]:
    return [finding.code for finding in followed.findings]


def noise(count: int) -> list[Event]:
    return [Event(type="noise", at=0, queue="q")] * count


def test_its_own_table_of_moves_is_that_of_the_lifecycle() -> None:
    """It is written apart on purpose: a mistake in one of them must not excuse itself."""
    before: list[State | None] = [None, *State]
    legal = {
        (REASON_NUMBERS[reason], -1 if source is None else STATE_NUMBERS[source], STATE_NUMBERS[target])
        for reason in Reason
        for source in before
        for target in State
        if is_legal(reason, source, target)
    }
    assert legal == moves.LEGAL


def test_dense_numbers_are_sound_and_a_hole_is_named() -> None:
    assert codes(history((1, 0, noise(2)), (3, 0, noise(1)), (None, 0, noise(3)), last_id=3)) == []
    (finding,) = history((1, 0, noise(2)), (5, 0, noise(1)), last_id=5).findings
    assert finding.code is Code.EVENT_GAP
    assert "3 to 4" in finding.message


def test_the_numbers_end_at_the_counter() -> None:
    assert codes(history((1, 0, noise(2)), last_id=3)) == [Code.EVENT_GAP]
    assert codes(history((1, 0, noise(2)), last_id=1)) == [Code.DOUBLED_EVENT]
    assert codes(history(last_id=7)) == []


def test_only_the_edge_of_a_pruned_history_may_have_gaps() -> None:
    assert codes(history((5, 100, noise(1)), (7, 200, noise(1)), last_id=7)) == []
    late = 100 + MINUTE + 1
    assert codes(history((5, 100, noise(1)), (6, late, noise(1)), (8, late, noise(1)), last_id=8)) == [Code.EVENT_GAP]
    assert codes(history((1, 100, noise(1)), (3, 100, noise(1)), last_id=3)) == [Code.EVENT_GAP]


def test_pruned_creation_starts_a_trace_at_its_first_event() -> None:
    claimed, ended = event_of(Reason.CLAIMED, attempt=4), event_of(Reason.SUCCEEDED, attempt=4)
    followed = history((9, 0, [claimed, ended]), last_id=10)
    assert codes(followed) == []
    assert followed.trace.state is State.SUCCEEDED
    assert codes(history((1, 0, [claimed, ended]), last_id=2)) == [Code.ILLEGAL_TRANSITION]
    # From there on every move counts.
    assert codes(history((9, 0, [claimed, claimed]), last_id=10)) == [Code.ILLEGAL_TRANSITION, Code.DOUBLED_CLAIM]


def test_moves_that_keep_the_state_keep_it() -> None:
    created = event_of(Reason.ENQUEUED)
    assert codes(history((1, 0, [created, event_of(Reason.REPRIORITISED, State.READY)]), last_id=2)) == []
    moved = event_of(Reason.REPRIORITISED, State.RUNNING)
    assert codes(history((1, 0, [created, moved]), last_id=2)) == [Code.ILLEGAL_TRANSITION]


def test_a_job_is_created_once_unless_its_first_life_was_pruned() -> None:
    life = [event_of(Reason.ENQUEUED), event_of(Reason.CANCELLED), event_of(Reason.ENQUEUED)]
    assert codes(history((1, 0, life), last_id=3)) == [Code.DOUBLED_JOB]
    assert codes(history((5, 0, life), last_id=7)) == []
    assert codes(history((5, 0, life[:1] * 2), last_id=6)) == [Code.DOUBLED_JOB]


def test_a_job_without_a_row_is_lost_unless_it_had_finished() -> None:
    ready = history((1, 0, [event_of(Reason.ENQUEUED)]), last_id=1)
    assert [finding.code for finding in audit_missing(id_bytes(JOB), ready.trace)] == [Code.LOST_JOB]
    ended = history((1, 0, [event_of(Reason.ENQUEUED), event_of(Reason.CANCELLED)]), last_id=2)
    assert list(audit_missing(id_bytes(JOB), ended.trace)) == []


def test_job_without_events_is_lost_unless_pruned() -> None:
    job = JobFacts(
        seq=1,
        id=JOB,
        queue="q",
        lane=1,
        state=State.READY,
        unmet=0,
        fence=0,
        created_at=50,
        run_at=50,
        started_at=None,
        locked_until=None,
    )
    (record,) = unpack_jobs(pack_job(Case(job=job), 1))
    for oldest, expected in ((100, []), (50, []), (49, [Code.LOST_JOB])):
        pruned = Bounds(now=60, oldest_at=oldest, first_id=9, last_id=9)
        assert [finding.code for finding in compare(record, "q", None, pruned)] == expected
    all_gone = Bounds(now=60, oldest_at=None, first_id=None, last_id=9)
    assert list(compare(record, "q", None, all_gone)) == []
