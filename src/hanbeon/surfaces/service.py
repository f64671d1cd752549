"""Base of the surfaces' services, and the part of the App that they need."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, ParamSpec, Protocol, TypeVar
from zoneinfo import ZoneInfo

from hanbeon.clock import Clock, iso, micros
from hanbeon.domain.actor import current_user
from hanbeon.domain.job import check_size
from hanbeon.domain.json_text import to_json_text
from hanbeon.engine.worker import Worker
from hanbeon.errors import DatabaseUnavailable, UnknownTask
from hanbeon.events.feed import Feed
from hanbeon.events.hub import Hub
from hanbeon.executors.executor import Executor
from hanbeon.ids import new_id
from hanbeon.messages import Messenger
from hanbeon.quotation import quoted, suggested
from hanbeon.rule import Rule
from hanbeon.settings import Settings
from hanbeon.store.operations import tasks
from hanbeon.store.operations.cancel import RetryNote, mark_done
from hanbeon.store.operations.tasks import KnownTask
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx
from hanbeon.surfaces.operation import LOCAL as LOCAL
from hanbeon.surfaces.schema import MarkDone, Retry
from hanbeon.surfaces.stored_json import StoredJson, decoded
from hanbeon.surfaces.surface import Surface
from hanbeon.surfaces.validation import or_default
from hanbeon.tasks.build import packed_args
from hanbeon.tasks.registry import Registry

T = TypeVar("T")
P = ParamSpec("P")
_HINTED_MOST = 1_000
NewId = Callable[[int], str]
"""Returns the id of the nth resource that a request creates; a repeated request gets the same ids."""


def random_id(number: int = 0) -> str:
    return new_id()


class _RememberedIds:
    """Random ids, the same whenever they are asked for."""

    def __init__(self) -> None:
        self._made: dict[int, str] = {}
        self.may_exist = False

    def __call__(self, number: int = 0) -> str:
        return self._made.setdefault(number, random_id())


def may_exist(new_id: NewId) -> bool:
    """True if something may exist under its ids, because they are those of an earlier request or call."""
    return new_id.may_exist if isinstance(new_id, _RememberedIds) else new_id is not random_id


def _finding_out(create: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Return a method that is called once more with the same ids if the answer of the database was lost.

    That finds what the first call made, or makes it. A caller who passes `new_id` repeats the call itself.
    """

    @functools.wraps(create)
    async def call(*args: P.args, **fields: P.kwargs) -> T:
        if "new_id" in fields:
            return await create(*args, **fields)
        fields["new_id"] = ids = _RememberedIds()
        try:
            return await create(*args, **fields)
        except DatabaseUnavailable:
            ids.may_exist = True
            return await create(*args, **fields)

    return call


class SurfaceApp(Protocol):
    """The part of the App that services need."""

    @property
    def clock(self) -> Clock: ...

    @property
    def store(self) -> Store: ...

    @property
    def hub(self) -> Hub: ...

    @property
    def tasks(self) -> Registry: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def messenger(self) -> Messenger: ...

    @property
    def surfaces(self) -> tuple[Surface, ...]: ...

    def surface_worker(
        self, name: str, settings: Settings, queues: Sequence[str]
    ) -> tuple[Worker, Sequence[Executor]]: ...


class Service:
    """Use cases of one surface. `worker`: that of this process, if there is one.

    `stored_json`: how results show JSON that the database holds.

    A method takes the parameters of its operation's path by position and the fields of its request as keywords, and
    validates those with the request's schema; what it rejects is a `HanbeonError`.

    A method that creates something takes its ids from `new_id`, and first looks for what exists under them if it
    `may_exist`. If the answer of the database is lost, it is called once more with the same ids.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, method in list(vars(cls).items()):
            if inspect.iscoroutinefunction(method):
                new_id = inspect.signature(method).parameters.get("new_id")
                if new_id is not None and new_id.kind is inspect.Parameter.KEYWORD_ONLY:
                    setattr(cls, name, _finding_out(method))

    def __init__(self, app: SurfaceApp, worker: Worker | None = None, *, stored_json: StoredJson = decoded) -> None:
        self._app, self.worker = app, worker
        self._stored_json = stored_json

    @property
    def _store(self) -> Store:
        return self._app.store

    @property
    def _zone(self) -> ZoneInfo:
        return self._app.settings.zone

    @property
    def _zone_of_naive(self) -> ZoneInfo | None:
        return self._app.settings.zone_of_naive

    @property
    def _feed(self) -> Feed:
        return Feed(self._app.store, self._app.hub)

    @property
    def _alive_within_us(self) -> int:
        """The oldest heartbeat that a live instance may have."""
        return micros(self._app.settings.lease)

    async def _read(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        return await self._store.read(operation)

    async def _write(self, operation: Callable[[Tx], Awaitable[T]], jobs: int = 0) -> T:
        return await self._store.write(operation, jobs)

    async def _known_task(self, tx: Tx, name: str, field: str) -> KnownTask:
        """Return a task that a worker or this App has registered in the database."""
        found = await tasks.find_tasks(tx, [name])
        if not found:
            names = [each.name for each in await tasks.tasks(tx, None, None, _HINTED_MOST)] + self._app.tasks.names()
            raise UnknownTask(Rule("unknown_task", task=quoted(name), nearest=suggested(name, names)), field=field)
        return found[0]

    def _packed(self, task: str, args: Mapping[str, Any]) -> str:
        """Arguments as JSON, checked against the task if this App has it; otherwise only its worker can check them."""
        return packed_args(self._app.tasks, task, args, self._app.settings.max_payload_bytes)

    def _retry_note(self, task: str, request: Retry) -> RetryNote:
        """Return the note of a retry on behalf of the user of now; arguments are checked."""
        args = or_default(request.args, None)
        packed = None if args is None else self._packed(task, args)
        return RetryNote(current_user(), or_default(request.comment, None), packed)

    def _marking_done(self, job_id: str, request: MarkDone) -> Callable[[Tx], Awaitable[None]]:
        """Return the operation that marks a job as done on behalf of the user of now."""
        result = to_json_text(or_default(request.result, None), "the result", "result")
        check_size("result", result, self._app.settings.max_payload_bytes)
        lanes, user = self._store.lanes, current_user()
        return lambda tx: mark_done(tx, lanes, job_id, request.comment, result=result, user=user)

    def _iso(self, us: int | None) -> str | None:
        return iso(us, self._zone, "milliseconds")


def page(found: Sequence[T], size: int, cursor_of: Callable[[T], Any]) -> tuple[Sequence[T], str | None]:
    """The items of a page of which one more than `size` were read, and the cursor of the next page if there is one.

    For rows that are always small; see `store/operations/pages.py` for others.
    """
    return found[:size], str(cursor_of(found[size - 1])) if len(found) > size else None
