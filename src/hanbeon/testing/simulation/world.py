"""The world of one seed: its time, its choices, its processes, and what happened in it."""

from __future__ import annotations

import contextlib
import contextvars
import hashlib
import random
import uuid
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from hanbeon.testing.simulation.plan import Fault, FaultKind, Moment, Refusal

if TYPE_CHECKING:
    import asyncio

    from hanbeon.outbound.client import HttpRequest
    from hanbeon.testing.simulation.disk import Disk
    from hanbeon.testing.simulation.event_loop import SimulatedLoop

START_US = 1_700_000_000 * 1_000_000
_MONOTONIC_START = 1_000.0

current_node: contextvars.ContextVar[Node | None] = contextvars.ContextVar("hanbeon_simulated_node", default=None)
"""The process that the running code belongs to. Every handle and thread inherits it; None: the simulation itself."""


class Connection(Protocol):
    """A database connection, as the system sees it."""

    @property
    def in_transaction(self) -> bool: ...

    @property
    def is_writing(self) -> bool: ...

    def close_by_system(self) -> None: ...


class Network(Protocol):
    """Connects the running process to the database server."""

    async def connect(self, factory: Callable[[], Any]) -> tuple[Any, Any]: ...


class ArmedFault:
    """A fault that waits for its moment."""

    def __init__(self, fault: Fault) -> None:
        self.fault, self.moment, self.left = fault, fault.moment, fault.skip


class Node:
    """A process. A dead one keeps all its objects, because nothing of them may be finalised: no `finally` runs."""

    def __init__(self, world: World, name: str, place: int) -> None:
        self.world, self.name, self.place = world, name, place
        self.ready: deque[asyncio.Handle] = deque()
        self.steps: deque[Callable[[], None]] = deque()
        """The next steps of its threads."""
        self.context = contextvars.Context()
        """That of everything that begins in the process."""
        self.context.run(current_node.set, self)
        self.is_dead = False
        self.frozen_until = 0.0
        self.connections: list[Connection] = []
        self.kept: list[object] = []
        self.threads: dict[object, float] = {}
        """Threads in the middle of a call, and since when."""
        self.armed: list[ArmedFault] = []
        self.refusal: Refusal | None = None
        self.refused_until = self.slow_until = 0.0

    def __repr__(self) -> str:
        return self.name

    def arm(self, fault: Fault) -> None:
        """Have a fault wait for its moment."""
        self.armed.append(ArmedFault(fault))

    def due(self, *moments: Moment) -> Fault | None:
        """Return a fault that waited for this moment, which is over then."""
        for each in self.armed:
            if each.moment not in moments:
                continue
            if each.left > 0:
                each.left -= 1
                continue
            self.armed.remove(each)
            self.world.note(self, f"FAULT {each.fault}")
            return each.fault
        return None

    def body_ended(self) -> None:
        for each in self.armed:
            if each.moment is Moment.BODY_END:
                if each.left:
                    each.left -= 1
                else:
                    each.moment = Moment.CALL
                return


class Entry(NamedTuple):
    """A line of the trace."""

    at: float
    node: str
    text: str


class Freeze(NamedTuple):
    """A span during which a process stood still; of no length if all machines slept."""

    node: Node
    begin: float
    end: float
    holds_lock: bool = False
    """The process was in the middle of a write transaction: nobody else could write meanwhile."""


class Body:
    """An execution of a task's function, as it saw itself."""

    def __init__(self, node: Node, job: str, task: str, queue: str, role: str, fence: int) -> None:
        self.node, self.job, self.task, self.queue = node, job, task, queue
        self.role, self.fence = role, fence
        self.begin = node.world.now
        self.end: float | None = None
        self.outcome = ""
        """`returned`, `killed`, or the name of what it raised."""


class World:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.choices = random.Random(f"choices-{seed}")
        self._ids = random.Random(f"ids-{seed}")
        self.now = 0.0
        """The event loops' time, from 0."""
        self.slept = 0.0
        """Seconds by which the other clocks are ahead, because the machine slept."""
        self.stepped_us = 0
        self.set_back = 0.0
        """Seconds by which the wall clock was set back, in all."""
        self.nodes: list[Node] = []
        self.dead: list[Node] = []
        self.trace: list[Entry] = []
        self.freezes: list[Freeze] = []
        self.steps_of_clock: list[float] = []
        self.bodies: list[Body] = []
        self.listeners: list[tuple[Node, Callable[[set[str]], None]]] = []
        self.deaf_until = 0.0
        self.is_over = False
        """True if the run has to end now, because it takes too long."""
        self.stepped = self.statements = self.commits = 0
        self.digest = hashlib.blake2b(digest_size=8)
        self.killed: Callable[[Node, Fault | None], None] = lambda node, fault: None
        self.effects: defaultdict[str, list[Any]] = defaultdict(list)
        """Effects of bodies outside the database, which survive every process."""
        self.http: Callable[[str], Any] | None = None
        """Answers HTTP tasks and webhooks, by their URL."""
        self.requests: list[HttpRequest] = []
        """The requests that it has answered, the last one at the end."""
        self.loop: SimulatedLoop
        self.disk: Disk | None = None
        """What fails with the machine; without one, files are as they are."""
        self.outages: list[float] = []
        """When all processes ended: the machine lost power, or the database was restored."""
        self.renewals: list[float] = []
        """When the database began a new incarnation."""
        self.network: Network
        """Between processes and a database server, if there is one."""

    def note(self, node: Node | None, text: str) -> None:
        self.trace.append(Entry(self.now, "" if node is None else node.name, text))

    def draw(self) -> float:
        """Return the next choice, from 0 to 1."""
        return self.choices.random()

    # Clocks

    def now_us(self) -> int:
        return START_US + round((self.now + self.slept) * 1e6) + self.stepped_us

    def seconds_of(self, at_us: int) -> float:
        """Return the loops' time of an instant of the wall clock, if that was not set since."""
        return (at_us - START_US - self.stepped_us) / 1e6 - self.slept

    def monotonic(self) -> float:
        return _MONOTONIC_START + self.now + self.slept

    def new_id(self) -> uuid.UUID:
        value = (self.now_us() // 1000) << 80 | 0x7 << 76 | self._ids.getrandbits(12) << 64
        return uuid.UUID(int=value | 0b10 << 62 | self._ids.getrandbits(62))

    # Processes

    def new_node(self, name: str, place: int) -> Node:
        node = Node(self, name, place)
        self.nodes.append(node)
        return node

    def later(self, node: Node | None, delay: float, step: Callable[[], None]) -> None:
        """Have a thread of the node go on after a while; None: the simulation itself."""
        self.loop.at(self.now + delay, node, step)

    def strike(self, node: Node, fault: Fault) -> None:
        """Let a fault happen that is one of the process as a whole."""
        match fault.kind:
            case FaultKind.KILL:
                self.kill(node, fault)
            case FaultKind.FREEZE:
                self.freeze(node, fault.seconds)
            case FaultKind.REFUSE:
                node.refusal, node.refused_until = fault.refusal, self.now + fault.seconds
            case FaultKind.SLOW:
                node.slow_until = self.now + fault.seconds
            case FaultKind.DEAFEN:
                self.deaf_until = self.now + fault.seconds
            case FaultKind.STEP:
                self.stepped_us += round(fault.seconds * 1e6)
                self.steps_of_clock.append(self.now)
                self.set_back += max(0.0, -fault.seconds)
            case FaultKind.SUSPEND:
                self.slept += abs(fault.seconds)
                self.freezes += [Freeze(each, self.now, self.now) for each in self.nodes]
            case FaultKind.POWER:
                self.cut_power(fault)
            case FaultKind.FILL:
                assert self.disk is not None
                self.disk.full_until = self.now + fault.seconds
            case _:
                raise ValueError(f"{fault.kind} is no fault of a process as a whole")

    def kill(self, node: Node, fault: Fault | None = None) -> None:
        """End the process: the system closes its files, which rolls its transactions back, and runs nothing of it."""
        if node.is_dead:
            return
        node.is_dead = True
        self.note(node, "killed")
        for body in self.bodies:
            if body.node is node and body.end is None:
                body.end, body.outcome = self.now, "killed"
        self.listeners = [each for each in self.listeners if each[0] is not node]
        for connection in node.connections:
            connection.close_by_system()
        self.nodes.remove(node)
        self.dead.append(node)
        self.killed(node, fault)

    def cut_power(self, fault: Fault) -> None:
        """End all processes at once; the disk then has what was synced, and any part of the rest."""
        assert self.disk is not None
        self.disk.is_off = True
        self.kill_all(fault)
        self.disk.settle()

    def kill_all(self, fault: Fault) -> None:
        self.outages.append(self.now)
        for node in list(self.nodes):
            self.kill(node, fault)

    def freeze(self, node: Node, seconds: float) -> None:
        node.frozen_until = max(node.frozen_until, self.now + seconds)
        holds_lock = any(connection.is_writing for connection in node.connections)
        self.freezes.append(Freeze(node, self.now, self.now + seconds, holds_lock))
        self.later(None, seconds, lambda: None)  # Time must not jump over its end.

    def heal(self) -> None:
        """End all faults that last, and forget those that wait."""
        for node in self.nodes:
            node.armed.clear()
            node.refused_until = node.slow_until = 0.0
        self.deaf_until = 0.0
        if self.disk is not None:
            self.disk.full_until = 0.0

    # Bodies

    @contextlib.contextmanager
    def body(self, job: str, task: str, queue: str, role: str, fence: int) -> Iterator[Body]:
        """Enter a body into the journal for as long as it lasts."""
        node = current_node.get()
        assert node is not None
        body = Body(node, job, task, queue, role, fence)
        self.bodies.append(body)
        name = f"{task} {job[-6:]}#{fence}"
        self.note(node, f"body {name} begins")
        try:
            yield body
            body.outcome = "returned"
        except BaseException as error:
            body.outcome = type(error).__name__
            raise
        finally:
            body.end = self.now
            node.body_ended()
            self.note(node, f"body {name} {body.outcome}")


class SimulatedClock:
    """The clocks of a simulated machine."""

    def __init__(self, world: World) -> None:
        self._world = world

    def now_us(self) -> int:
        return self._world.now_us()

    def monotonic(self) -> float:
        return self._world.monotonic()
