"""Rules that hold for every App, by what bodies saw, the flight recorder and plain rows; each yields what breaks it.

They use none of the product's own rules, which may be what is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from hanbeon.testing.simulation.database import SimulatedDatabase
from hanbeon.testing.simulation.plan import Plan
from hanbeon.testing.simulation.world import Body, Freeze, Node, World

_SLACK = 0.6
"""Seconds after a freeze in which stopped work may still end."""
_LONG_CALL = 4.0
_UNFINISHED = ("pending", "ready", "running")
_LEGAL = {
    *(("pending", after) for after in ("ready", "cancelled", "failed")),
    *(("ready", after) for after in ("running", "pending", "cancelled", "failed")),
    *(("running", after) for after in ("succeeded", "pending", "ready", "failed", "cancelled")),
    *((before, after) for before in ("failed", "cancelled") for after in ("pending", "ready", "succeeded")),
}


class Move(NamedTuple):
    at: int
    node: str
    seq: int
    old: str
    new: str
    old_fence: int
    fence: int
    lease: int | None


class JobRow(NamedTuple):
    seq: int
    id: str
    queue: str
    task: str
    role: str
    concurrency_key: str | None
    state: str
    fence: int
    created_at: int
    finished_at: int | None
    unique_key: str | None
    idempotency_key: str | None
    work_item: str | None

    @property
    def is_built_in(self) -> bool:
        return self.task.startswith("hanbeon.")


class AttemptRow(NamedTuple):
    seq: int
    attempt: int
    status: str
    failure_type: str | None
    message: str | None


class Evidence:
    """The facts at the end of a run. Rows are read once, when they are asked for."""

    def __init__(self, world: World, plan: Plan, database: SimulatedDatabase) -> None:
        self.world, self.plan, self.database = world, plan, database

    def rows(self, sql: str, *args: Any) -> list[tuple[Any, ...]]:
        """Read from the database as it is, with SQLite's names of tables: `hanbeon_job`."""
        return self.database.rows(sql, *args)

    @property
    def is_pruned(self) -> bool:
        """True if jobs may be gone by the end."""
        return "retention" in self.plan.settings

    @cached_property
    def jobs(self) -> dict[str, JobRow]:
        found = self.rows(f"SELECT {', '.join(JobRow._fields)} FROM hanbeon_jobs")
        return {row[1]: JobRow(*row) for row in found}

    @cached_property
    def by_seq(self) -> dict[int, JobRow]:
        return {job.seq: job for job in self.jobs.values()}

    @cached_property
    def attempts(self) -> list[AttemptRow]:
        return [
            AttemptRow(*row)
            for row in self.rows("SELECT job, attempt, status, failure_type, message FROM hanbeon_attempt")
        ]

    @cached_property
    def moves(self) -> list[Move]:
        found = self.rows(f"SELECT {', '.join(Move._fields)} FROM simulated_moves ORDER BY rowid")
        return [Move(*row) for row in found]

    @cached_property
    def marked_done(self) -> set[int]:
        """The jobs that somebody said are done."""
        return {move.seq for move in self.moves if move.old in ("failed", "cancelled") and move.new == "succeeded"}

    @cached_property
    def bodies(self) -> dict[str, list[Body]]:
        """The bodies of each job, in the order in which they began."""
        found: dict[str, list[Body]] = {}
        for body in self.world.bodies:
            found.setdefault(body.job, []).append(body)
        return found

    def body(self, job: str, fence: int) -> Body | None:
        return next((each for each in self.bodies.get(job, ()) if each.fence == fence), None)

    def freeze(self, node: Node, at: float) -> tuple[float, float] | None:
        """Return the freeze that may excuse a body alive at this time; one that follows at once belongs to it.

        A suspend takes no time of the event loop: leases are over, and the guard wakes up when it would have.
        """
        late = min(self.plan.settings.get("lease", 30.0), self.plan.settings.get("poll", 5.0))
        spans = sorted(
            (each.begin, each.end if each.end > each.begin else each.end + late) for each in self.freezes_of(node)
        )
        for number, (begin, end) in enumerate(spans):
            for later_begin, later_end in spans[number + 1 :]:
                if later_begin <= end + _SLACK:
                    end = max(end, later_end)
            if begin - 0.05 <= at <= end + _SLACK:
                return begin, end
        return None

    def was_renewed(self, at: float) -> bool:
        """Return true if a new incarnation had begun shortly before: work of the one before stops within a lease."""
        lease = self.plan.settings.get("lease", 30.0)
        return any(each <= at <= each + lease + _SLACK for each in self.world.renewals)

    def began_late(self, body: Body) -> bool:
        """Return true if the process stood still just before: the body was about to begin, and did when it went on."""
        return any(each.end <= body.begin <= each.end + _SLACK for each in self.freezes_of(body.node))

    def freezes_of(self, node: Node) -> list[Freeze]:
        return [each for each in self.world.freezes if each.node is node]

    def held_lock(self, node: str, at_us: int | None) -> bool:
        """Return true if the process stood still then and held the write lock: what it writes is of before."""
        at = 0.0 if at_us is None else self.world.seconds_of(at_us)
        return any(
            each.holds_lock and each.node.name == node and each.begin <= at <= each.end for each in self.world.freezes
        )

    def unfinished(self) -> list[str]:
        """Return the jobs that have not ended and wait for nothing that can never come."""
        left = self.rows("SELECT seq, id, state FROM hanbeon_job WHERE state IN (?, ?, ?)", *_UNFINISHED)
        if not left:
            return []
        hopeless = {seq for (seq,) in self.rows("SELECT seq FROM hanbeon_job WHERE state IN ('failed', 'cancelled')")}
        kept = {seq for (seq,) in self.rows("SELECT seq FROM hanbeon_job")}
        edges = self.rows("SELECT dependency, dependent FROM hanbeon_edge")
        while more := {after for before, after in edges if before in hopeless or before not in kept} - hopeless:
            hopeless |= more
        return [f"{job} is {state}" for seq, job, state in left if not (state == "pending" and seq in hopeless)]


Oracle = Callable[[Evidence], Iterator[str]]


def moves_are_legal(evidence: Evidence) -> Iterator[str]:
    """Jobs move as they may, under a fence that only a claim raises, and succeed while the lease lasts."""
    on = {(each.job, each.fence): each.node.name for each in evidence.world.bodies}
    for move in evidence.moves:
        job = evidence.by_seq.get(move.seq)
        name = f"job {move.seq if job is None else job.id}"
        if move.old != move.new and (move.old, move.new) not in _LEGAL:
            yield f"{name} moved {move.old} -> {move.new}"
        is_claim = (move.old, move.new) == ("ready", "running")
        if move.fence != move.old_fence + is_claim:
            yield f"{name} moved {move.old} -> {move.new} with fence {move.old_fence} -> {move.fence}"
        runs_on = None if job is None else on.get((job.id, move.fence))
        if (move.old, move.new) == ("running", "succeeded"):
            if (move.lease is None or move.lease <= move.at) and not evidence.held_lock(move.node, move.lease):
                yield f"{name} succeeded at {move.at} by {move.node} after its lease had ended at {move.lease}"
            if runs_on is not None and runs_on != move.node:
                yield f"{name} attempt {move.fence} ran on {runs_on} and was ended by {move.node}"
        elif move.old == "running" and (move.lease or 0) > move.at and runs_on not in (None, move.node):
            left = ((move.lease or 0) - move.at) / 1e6
            yield f"{name} attempt {move.fence} of {runs_on} was ended by {move.node} {left:.3f} s before its lease"


def bodies_are_apart(evidence: Evidence) -> Iterator[str]:
    """No attempt has two bodies, later ones have higher fences, and only a process that stood still runs beside one.

    Steps of the wall clock end leases early on SQLite, as the guarantees say: then bodies may overlap.
    """
    for job, bodies in evidence.bodies.items():
        fences = [each.fence for each in bodies if not evidence.began_late(each)]
        if fences != sorted(set(fences)):
            yield f"{job} began its attempts as {fences}"
        for older, newer in pairwise(bodies):
            end = evidence.world.now if older.end is None else older.end
            if end <= newer.begin or evidence.world.steps_of_clock or evidence.began_late(newer):
                continue
            if evidence.was_renewed(newer.begin) and end <= newer.begin + evidence.plan.settings.get("lease", 30.0):
                continue
            if older.outcome == "LeaseLost":
                continue  # A function in a thread, which hears of a stop when it uses its context next.
            excuse = evidence.freeze(older.node, newer.begin)
            if excuse is None or end > excuse[1] + _SLACK:
                yield (
                    f"{job} {older.task}: attempt {older.fence} on {older.node} [{older.begin:.3f}, {end:.3f}] "
                    f"{older.outcome} and attempt {newer.fence} on {newer.node} from {newer.begin:.3f} overlap"
                )


def successes_are_earned(evidence: Evidence) -> Iterator[str]:
    """A success has a body that returned, nothing of the job begins after it, and no attempt ends twice."""
    for job in evidence.jobs.values():
        if job.state != "succeeded" or job.is_built_in or job.seq in evidence.marked_done:
            continue
        bodies = evidence.bodies.get(job.id, [])
        mine = [each for each in bodies if each.fence == job.fence]
        if [each.outcome for each in mine] != ["returned"]:
            seen = [(each.fence, each.outcome) for each in bodies]
            yield f"{job.id} {job.task} succeeded as {job.fence}, bodies {seen}"
        elif any(each.begin > (mine[0].end or 0.0) and not evidence.began_late(each) for each in bodies):
            yield f"{job.id} ran again after its success"
    for (seq, attempt), count in Counter((each.seq, each.attempt) for each in evidence.attempts).items():
        if count > 1:
            yield f"attempt {attempt} of job {seq} ended {count} times"


def lost_attempts_began(evidence: Evidence) -> Iterator[str]:
    """Attempts that never began are not lost: one lost by a process that lives and never stood still has a body."""
    claims = {(move.seq, move.fence): move.node for move in evidence.moves if move.new == "running"}
    living = {node.name: node for node in evidence.world.nodes}
    refused = {entry.node for entry in evidence.world.trace if "FAULT" in entry.text}
    for attempt in evidence.attempts:
        job = evidence.by_seq.get(attempt.seq)
        if job is None or attempt.status != "lost" or job.is_built_in or evidence.world.steps_of_clock:
            continue
        node = living.get(claims.get((attempt.seq, attempt.attempt), ""))
        if node is None or node.name in refused or evidence.freezes_of(node):
            continue
        if evidence.body(job.id, attempt.attempt) is None:
            yield f"{job.id} attempt {attempt.attempt} is lost, but never began on {node}, which lives"


def workers_leave(evidence: Evidence) -> Iterator[str]:
    """A worker that is asked to stop does so, whatever the database does."""
    settings, trace = evidence.plan.settings, evidence.world.trace
    nodes = {node.name: node for node in (*evidence.world.nodes, *evidence.world.dead)}
    for entry in trace:
        if entry.text != "leaves":
            continue
        gone = [each.at for each in trace if each.node == entry.node and each.text == "killed" and each.at >= entry.at]
        frozen = sum(each.end - each.begin for each in evidence.freezes_of(nodes[entry.node]))
        limit = settings.get("shutdown_grace", 0.0) + 4 * settings.get("lease", 30.0) + 25 + frozen
        if (gone[0] if gone else evidence.world.now) - entry.at > limit:
            yield f"{entry.node} was asked to stop at {entry.at:.2f} and had not left {limit:.0f} s later"


def connections_are_closed(evidence: Evidence) -> Iterator[str]:
    """At rest a process has the connections of its engine, on SQLite none of a user, and no open transaction."""
    for node in evidence.world.nodes:
        if len(node.connections) > evidence.database.most_at_rest:
            yield f"{node} has {len(node.connections)} open connections at rest"
        if not node.threads and any(each.in_transaction for each in node.connections):
            yield f"{node} has an open transaction at rest"


def calls_end(evidence: Evidence) -> Iterator[str]:
    """At rest no call of a thread lasts."""
    for node in evidence.world.nodes:
        for since in node.threads.values():
            if (lasted := evidence.world.now - since) > _LONG_CALL:
                yield f"{node} has a thread whose call has lasted for {lasted:.1f} s at rest"


ORACLES: tuple[Oracle, ...] = (
    moves_are_legal,
    bodies_are_apart,
    successes_are_earned,
    lost_attempts_began,
    workers_leave,
    connections_are_closed,
    calls_end,
)
