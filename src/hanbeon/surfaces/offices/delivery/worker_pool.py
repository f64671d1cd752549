"""The pool of the built-in tasks that send messages: every worker has it, with slots of its own and the relay."""

from __future__ import annotations

from hanbeon.clock import Clock
from hanbeon.engine.pool import TaskPool
from hanbeon.settings import Settings
from hanbeon.store.store import Store
from hanbeon.surfaces.offices.delivery.relay import Relay
from hanbeon.surfaces.offices.delivery.rules import TASK, ListenerKind, NotificationSpec, WebhookSpec
from hanbeon.tasks.task import Task, TaskOptions

_GATHER_SECONDS = 0.01
_TASKS: dict[str, Task[..., object]] = {
    name: Task(name, spec, TaskOptions())
    for name, spec in (
        (TASK[ListenerKind.WEBHOOK], WebhookSpec()),
        (TASK[ListenerKind.NOTIFICATION], NotificationSpec()),
    )
}


def outgoing(store: Store, settings: Settings, clock: Clock) -> TaskPool:
    return TaskPool(
        name="deliveries",
        tasks=_TASKS,
        slots=settings.outgoing_concurrency,
        hints=("outgoing",),
        relay=Relay(store, settings, clock),
        gather_seconds=_GATHER_SECONDS,
    )
