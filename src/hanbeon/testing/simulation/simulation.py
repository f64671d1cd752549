"""One run of a plan: start the processes, make the calls, strike, heal, wait for the end of all jobs, and examine."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import traceback
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from hanbeon import ids
from hanbeon.app import App
from hanbeon.chance import chance
from hanbeon.domain.audit.findings import Code
from hanbeon.engine.worker import Worker
from hanbeon.errors import DatabaseUnavailable
from hanbeon.messages import Messenger
from hanbeon.surfaces.verify import verify
from hanbeon.testing.simulation.database import SimulatedDatabase
from hanbeon.testing.simulation.disk import Disk
from hanbeon.testing.simulation.event_loop import SimulatedLoop
from hanbeon.testing.simulation.operator import Operator
from hanbeon.testing.simulation.oracles import ORACLES, Evidence, Oracle
from hanbeon.testing.simulation.plan import CLIENT, Fault, FaultKind, Moment, Operation, Plan
from hanbeon.testing.simulation.world import Entry, Node, SimulatedClock, World, current_node

T = TypeVar("T")
_MOST_OF_A_RULE = 3
_LONGEST_FINDING = 1_500
_ANSWER_SECONDS = 300.0
_REST_SECONDS = 5.0
_QUIET_SECONDS = 0.013
_SAID_AFTER_A_RESTORE = "database_restored"
_OF_THE_MACHINE = (FaultKind.POWER, FaultKind.FILL)
_BY_THE_CLOCK = (
    *(Code.OVERLAPPING_CLAIMS, Code.LIMIT_EXCEEDED, Code.BROKEN_DEPENDENCY, Code.STARTED_WHILE_PAUSED),
    *("wrong_fire", "overlapping_executions"),
)
"""Found where nothing is wrong but the clock, which was set while jobs ran (docs/verify.md)."""


class Scenario:
    """An App under test: what is done with it, and what must hold at the end. Override what you need."""

    oracles: Sequence[Oracle] = ()
    """Rules of this scenario, besides those of every App."""

    def __init__(self, app: App) -> None:
        """Its tasks are used, and its settings but for those of the plan."""
        self.app = app

    def set_up(self, simulation: Simulation, app: App) -> None:
        """Change the App of a process before it is opened, for example by a file."""

    async def prepare(self, simulation: Simulation) -> None:
        """Prepare the database, before there are workers and faults."""

    async def carry_out(self, simulation: Simulation, operation: Operation) -> None:
        """Make a call of the plan. DatabaseUnavailable may be raised, any other error is a finding."""
        raise NotImplementedError

    def backed_up(self, simulation: Simulation) -> None:
        """Note what the client knows, just before a backup from which the database may be restored."""

    def restored(self, simulation: Simulation) -> None:
        """Forget what the client has learnt since that backup: it may be undone."""

    async def calm(self, simulation: Simulation) -> None:
        """Undo what keeps jobs from ending, such as a pause, once the faults are over."""

    async def encourage(self, simulation: Simulation) -> None:
        """Do what an operator would while jobs are left, every few seconds."""

    async def finish(self, simulation: Simulation) -> None:
        """Make the last calls, when all jobs have ended, before the rules are consulted."""


class Result(msgspec.Struct, frozen=True):
    """The outcome of one plan."""

    seed: int
    findings: tuple[str, ...]
    digest: str = ""
    """A digest of the run, equal for equal plans and code; otherwise the simulation is not deterministic."""
    virtual_seconds: float = 0.0
    steps: int = 0
    statements: int = 0
    commits: int = 0
    bodies: int = 0
    jobs: int = 0
    processor_seconds: float = 0.0
    trace: tuple[Entry, ...] = ()

    @property
    def kinds(self) -> frozenset[str]:
        """The findings without what differs from run to run, for comparing them."""
        return frozenset(each.partition(":")[0] for each in self.findings)


class WorkerPlace:
    """The place of one worker, which a new process takes when the last one has ended."""

    def __init__(self, simulation: Simulation, number: int) -> None:
        self._simulation, self.number, self._generation = simulation, number, 0
        self.node: Node | None = None
        self.worker: Worker | None = None
        self._asked = asyncio.Event()

    def start(self) -> None:
        self._generation += 1
        self.node = self._simulation.world.new_node(f"w{self.number}.{self._generation}", self.number)
        self._asked = asyncio.Event()
        self.life = self._simulation.spawn(self.node, self._live(self.node, self._asked))

    def leave(self) -> None:
        """Stop the worker as a signal does."""
        self._asked.set()

    def ended(self, pause: float) -> None:
        self.node = self.worker = None
        self._simulation.world.later(None, pause, self.start)

    async def _live(self, node: Node, asked: asyncio.Event) -> None:
        while True:
            await self._simulation.may_start()
            app = self._simulation.new_app()
            try:
                await app.open()
                self.worker = app.worker(name=node.name)
                await self.worker.start()
                break
            except DatabaseUnavailable as error:
                self._simulation.world.note(node, f"cannot start: {error}")
                with contextlib.suppress(DatabaseUnavailable):
                    await app.close()
                await asyncio.sleep(0.5)
        restored = self._simulation.spawn(node, app.store.restored.wait())
        await asyncio.wait([restored, self._simulation.spawn(node, asked.wait())], return_when=asyncio.FIRST_COMPLETED)
        self._simulation.world.note(node, "leaves")
        await self.worker.stop()
        await app.close()
        self._simulation.world.kill(node)  # The process has ended.


class Simulation:
    """A run of a plan, in a process that is of no other use afterwards."""

    def __init__(
        self,
        scenario: Scenario,
        plan: Plan,
        world: World,
        database: SimulatedDatabase,
        folder: Path,
        oracles: Sequence[Oracle] = ORACLES,
    ) -> None:
        """`folder`: for the files of this run, and deleted with it."""
        self.scenario, self.plan, self.world, self.database, self.folder = scenario, plan, world, database, folder
        SimulatedLoop(world)
        if any(fault.kind in _OF_THE_MACHINE for fault in plan.faults):
            world.disk = Disk(world)
        self.evidence = Evidence(world, plan, database)
        self.findings: list[str] = []
        self.app: App
        """The client's, open."""
        self.places = [WorkerPlace(self, number) for number in range(plan.workers)]
        self.client = self.world.new_node("client", CLIENT)
        self._client_is_up, self._clients = asyncio.Event(), 1
        self._operator = Operator(self)
        self.is_healed = False
        self.jobs = 0
        self._oracles = (*oracles, *scenario.oracles)
        self._errors = _LoggedErrors(self)

    def run(self) -> Result:
        ids.replace(self.world.new_id)
        chance.seed(f"product-{self.plan.seed}")
        loop = self.world.loop
        loop.set_exception_handler(self._unhandled)
        asyncio.set_event_loop(loop)
        logger = logging.getLogger("hanbeon")
        logger.setLevel(logging.INFO)
        logger.propagate = False
        logger.addHandler(self._errors)
        try:
            loop.run_until_complete(self._run())
        except BaseException as error:
            self.find("simulation", "".join(traceback.format_exception(error)))
        return self.result()

    def result(self) -> Result:
        world = self.world
        return Result(
            seed=self.plan.seed,
            findings=tuple(self.findings),
            digest=world.digest.hexdigest(),
            virtual_seconds=world.now,
            steps=world.stepped,
            statements=world.statements,
            commits=world.commits,
            bodies=len(world.bodies),
            jobs=self.jobs,
            trace=tuple(world.trace),
        )

    def find(self, rule: str, what: str) -> None:
        """Report a finding."""
        text = what if len(what) <= _LONGEST_FINDING else f"…{what[-_LONGEST_FINDING:]}"
        self.findings.append(f"{rule}: {text}")
        self.world.note(current_node.get(), f"FINDING {rule}: {text[:300]}")

    # Processes

    def new_app(self) -> App:
        """Return an App of a process of this world, not open."""
        app = self.scenario.app.twin()
        changes = {"database_url": self.database.url, "listen_url": None, "redis_url": None} | self.plan.settings
        app.settings = app.settings.model_copy(update=changes)
        app.messenger = Messenger(app.settings, app.secrets)
        app.clock = SimulatedClock(self.world)
        app.host = self.database.host
        self.scenario.set_up(self, app)
        return app

    def spawn(self, node: Node, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run the coroutine in a process."""
        task = self.world.loop.create_task(work, context=node.context.copy())
        node.kept.append(task)
        task.add_done_callback(self._ended)
        return task

    async def on_client(self, work: Coroutine[Any, Any, T]) -> T:
        await self._client_is_up.wait()
        return await self.spawn(self.client, work)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.find("crash", "".join(traceback.format_exception(error)))

    def _unhandled(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        text = "" if error is None else "".join(traceback.format_exception(error))
        self.find("unhandled", f"{context.get('message')} {text}")

    def _killed(self, node: Node, fault: Fault | None) -> None:
        pause = 0.5 if fault is None else fault.down
        if node is self.client:
            self._client_is_up.clear()
            self.world.later(None, pause, self._start_client)
            return
        place = self.places[node.place]
        if place.node is node:
            place.ended(min(pause, 0.1) if self.is_healed else pause)

    def _start_client(self) -> None:
        """Open the client's App again, on a machine that has been started again."""
        self._clients += 1
        self.client = self.world.new_node(f"client.{self._clients}", CLIENT)
        self.app = self.new_app()
        _ = self.spawn(self.client, self._open())

    # The course

    async def _run(self) -> None:
        plan, world = self.plan, self.world
        world.killed = self._killed
        self.app = self.new_app()
        _ = self.spawn(self.client, self._open())
        await self.on_client(self.scenario.prepare(self))
        for place in self.places:
            place.start()
        for fault in plan.faults:
            if fault.kind is FaultKind.RESTORE:
                world.loop.at(max(world.now, fault.at - fault.seconds), None, self._operator.back_up)
            world.loop.at(max(world.now, fault.at), None, lambda fault=fault: self._apply(fault))  # type: ignore[misc]
        calls = []
        for operation in plan.operations:
            await asyncio.sleep(max(0.0, operation.at - world.now))
            await self._client_is_up.wait()
            calls.append(self.spawn(self.client, self._carry_out(operation)))
        await asyncio.sleep(max(0.0, plan.until - world.now))
        self._heal()
        await self._operator.is_done()
        await self.answered(calls)
        await self.on_client(self.scenario.calm(self))
        await self._drain()
        await self.on_client(self._audit())
        await self._quiet()
        for oracle in self._oracles:
            self._consult(oracle)

    async def answered(self, calls: Sequence[asyncio.Task[Any]]) -> None:
        """Wait for calls of the client that it has survived; it is a finding if they take for ever."""
        lost = {task for node in self.world.dead for task in node.kept}
        calls = [call for call in calls if call not in lost]
        if calls and (late := (await asyncio.wait(calls, timeout=_ANSWER_SECONDS))[1]):
            self.find("liveness", f"{len(late)} calls of the client are not answered")

    async def may_start(self) -> None:
        """Wait until nobody restores the database."""
        while self._operator.restores:  # noqa: ASYNC110 - no event says so if its process dies, and the time is virtual
            await asyncio.sleep(_QUIET_SECONDS)

    async def _open(self) -> None:
        while True:
            await self.may_start()
            try:
                await self.app.open()
                break
            except DatabaseUnavailable as error:
                self.world.note(self.client, f"cannot start: {error}")
                await asyncio.sleep(0.5)
        self._client_is_up.set()

    async def _carry_out(self, operation: Operation) -> None:
        self.world.note(self.client, f"calls {operation.kind}")
        try:
            await self.scenario.carry_out(self, operation)
        except DatabaseUnavailable as error:
            self.world.note(self.client, f"{operation.kind}: {error}")

    def _apply(self, fault: Fault) -> None:
        if self.is_healed:
            return
        place = None if fault.node == CLIENT else self.places[fault.node]
        node = self.client if place is None else place.node
        if node is None or node.is_dead or (place is None and fault.kind in (FaultKind.KILL, FaultKind.LEAVE)):
            return
        if fault.moment is not Moment.NOW:
            node.arm(fault)
            return
        self.world.note(node, f"FAULT {fault}")
        match fault.kind:
            case FaultKind.LEAVE if place is not None:
                place.leave()
            case FaultKind.RELOAD:
                if place is not None and place.worker is not None:
                    node.context.run(place.worker.reload_soon)
            case FaultKind.RESTORE:
                self._operator.restore(fault)
            case FaultKind.RENEW:
                self._operator.renew()
            case _:
                self.world.strike(node, fault)

    def _heal(self) -> None:
        self.is_healed = True
        self.world.note(None, "all faults end")
        self.world.heal()

    async def _drain(self) -> None:
        world = self.world
        # Jobs that were created before the clock was set back are due as much later.
        ends_at = world.now + self.plan.patience + world.set_back
        while world.now < ends_at:
            await asyncio.sleep(3.0)
            await self.on_client(self.scenario.encourage(self))
            if not self.evidence.unfinished():
                await asyncio.sleep(_REST_SECONDS)
                return
        for job in self.evidence.unfinished()[:_MOST_OF_A_RULE]:
            self.find("liveness", f"{job} {self.plan.patience:.0f} s after the last fault")

    async def _quiet(self) -> None:
        """Wait for a moment at which no process is in the middle of a call, such as a poll, if there is one."""
        ends_at = self.world.now + _REST_SECONDS
        while self.world.now < ends_at and any(  # noqa: ASYNC110 - no event says so, and the time is virtual
            node.threads or any(each.in_transaction for each in node.connections) for node in self.world.nodes
        ):
            await asyncio.sleep(_QUIET_SECONDS)

    async def _audit(self) -> None:
        await self.scenario.finish(self)
        report = await verify(self.app.store)
        self.jobs = report.jobs
        for finding in report.findings:
            if self.world.steps_of_clock and finding.code in _BY_THE_CLOCK:
                continue
            self.find(f"verify {finding.code}", f"{finding.message} {finding.job_id or ''} {finding.rows[:2]}")

    def _consult(self, oracle: Oracle) -> None:
        name = oracle.__name__.replace("_", " ")
        try:
            for number, what in enumerate(oracle(self.evidence)):
                if number == _MOST_OF_A_RULE:
                    break
                self.find(name, what)
        except Exception as error:
            self.find("simulation", f"{name}: {''.join(traceback.format_exception(error))}")


class _LoggedErrors(logging.Handler):
    """Notes what the product logs; an error is a finding."""

    def __init__(self, simulation: Simulation) -> None:
        super().__init__(logging.INFO)
        self._simulation = simulation

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        self._simulation.world.note(current_node.get(), f"log {text[:300]}")
        if record.levelno >= logging.ERROR and not text.startswith(_SAID_AFTER_A_RESTORE):
            if record.exc_info:
                text = f"{text} {logging.Formatter().formatException(record.exc_info)}"
            self._simulation.find("logged", text)
