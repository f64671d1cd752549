"""Plans of a simulation as data: what is done, and what goes wrong meanwhile. They can be kept, repeated, shortened."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

import msgspec

CLIENT = -1
"""The place of the node that carries the operations out. It is never killed; only the whole machine takes it along."""


class FaultKind(StrEnum):
    KILL = "kill"
    """`kill -9`: nothing of the process runs any more, and the system closes its files."""
    FREEZE = "freeze"
    """The process stands still, perhaps for longer than its leases."""
    LOSE = "lose"
    """The answer to a statement or a COMMIT is lost, before or after it took effect."""
    REFUSE = "refuse"
    """The database refuses this process for a while."""
    SLOW = "slow"
    """Calls of the database take up to 0.3 s for a while."""
    DEAFEN = "deafen"
    """No wake-up reaches anybody for a while."""
    LEAVE = "leave"
    """The worker is stopped as by SIGTERM."""
    STEP = "step"
    """The wall clock is set, by seconds that may be negative."""
    SUSPEND = "suspend"
    """The machine sleeps: all clocks but the event loop's have advanced when it wakes up."""
    POWER = "power"
    """The machine loses power: all processes end, with the client's, and writes that were not synced may be lost."""
    FILL = "fill"
    """The disk is full for a while: no file grows."""
    RESTORE = "restore"
    """All processes are ended, and the database is restored from a backup that was taken some seconds before."""
    RENEW = "renew"
    """The database begins a new incarnation while processes have it open, as after a restore by other means."""
    RELOAD = "reload"
    """The worker reloads its App's file as by SIGHUP."""


TAKES_ALL = (FaultKind.POWER, FaultKind.RESTORE, FaultKind.RENEW)
"""Faults that end the client's process, too."""


class Moment(StrEnum):
    NOW = "now"
    STATEMENT = "statement"
    """Before the next statement that reads or writes."""
    BEFORE_COMMIT = "before_commit"
    AFTER_COMMIT = "after_commit"
    CALL = "call"
    """Before the next call reaches the connection's thread: what is sent may be done much later."""
    BODY_END = "body_end"
    """Before the first call after the end of a body."""
    RECORD = "record"
    """Before the call that records the end of a body."""
    SYNC = "sync"
    """In the middle of a commit or checkpoint: it is written and not synced. For `power` alone."""


class Refusal(StrEnum):
    BUSY = "busy"
    FULL = "full"
    READONLY = "readonly"
    IO = "io"


class Fault(msgspec.Struct, frozen=True, omit_defaults=True):
    at: float
    """Seconds from the start. If the moment is another than now, from then on it is waited for."""
    kind: FaultKind
    node: int = 0
    """The place of a worker, from 0, or CLIENT."""
    moment: Moment = Moment.NOW
    skip: int = 0
    """How many such moments pass before."""
    seconds: float = 0.0
    refusal: Refusal = Refusal.IO
    down: float = 1.0
    """After a kill: seconds until another process takes the place."""

    def __str__(self) -> str:
        which = f" {self.refusal}" if self.kind is FaultKind.REFUSE else ""
        return f"{self.kind} {self.moment} at {self.at:.2f}{which} for {self.seconds:.2f} s"


class Operation(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call that the client makes. The scenario knows its kind."""

    at: float
    kind: str
    args: dict[str, Any] = {}


class Plan(msgspec.Struct, frozen=True, omit_defaults=True):
    seed: int
    """Decides the order of everything that the plan leaves open."""
    operations: tuple[Operation, ...] = ()
    faults: tuple[Fault, ...] = ()
    settings: dict[str, Any] = {}
    workers: int = 2
    until: float = 15.0
    """When the faults end, in seconds from the start."""
    patience: float = 600.0
    """How long jobs may take to end after that."""


def to_json(plan: Plan) -> str:
    """Return the plan as JSON, with a line for each operation and fault."""
    fields = msgspec.to_builtins(plan)
    lines = [
        f'"{name}": {_lines(value) if isinstance(value, tuple | list) else _text(value)}'
        for name, value in fields.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}"


def _lines(values: Iterable[Any]) -> str:
    return "[\n  " + ",\n  ".join(map(_text, values)) + "\n]"


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def from_json(text: str | bytes) -> Plan:
    return msgspec.json.decode(text, type=Plan)
