"""Delivery to webhooks and notification targets: queues, tasks, retry policies, and when a dead webhook is disabled."""

from __future__ import annotations

import enum
from typing import ClassVar

import msgspec

from hanbeon.domain.job import RESERVED
from hanbeon.domain.outcome import Returned
from hanbeon.domain.reserved_queues import ReservedPrefix, reserve
from hanbeon.domain.retry import Backoff, RetryPolicy
from hanbeon.tasks.parameters import Parameters

_SECOND = 1_000_000
FAILURES_MOST = 10
"""Consecutive failures after which the time that a webhook has been failing counts."""


class ListenerKind(enum.StrEnum):
    """The kinds of listener of an office: a webhook, or a target of notifications."""

    WEBHOOK = "webhook"
    NOTIFICATION = "notification"


TASK = {kind: f"{RESERVED}{kind}" for kind in ListenerKind}
"""The built-in task that sends to each kind."""
# Thirteen tries in four and a half hours: 10 s, 20 s, …, 43 min, then every hour.
_WEBHOOK = RetryPolicy(max_retries=12, backoff=Backoff.EXPONENTIAL, base_us=10 * _SECOND, jitter=0.2)
# Seven tries in half an hour: a message for people must not arrive a day late.
_NOTIFICATION = RetryPolicy(max_retries=6, backoff=Backoff.EXPONENTIAL, base_us=30 * _SECOND, jitter=0.2)
POLICY = {ListenerKind.WEBHOOK: _WEBHOOK, ListenerKind.NOTIFICATION: _NOTIFICATION}
TEST_POLICY = RetryPolicy(max_retries=0)
"""For a test message to a webhook: the user sees the result and sends another if needed."""
AT_ONCE = {"max_concurrent": 4}
"""Concurrent deliveries per listener: a slow or dead one occupies no more slots than that."""


_REMEDY = "use another queue"
_QUEUES = {
    kind: reserve(ReservedPrefix(kind.value, f"a {kind} of an office", _REMEDY, counted=True)) for kind in ListenerKind
}
_TESTS = reserve(ReservedPrefix("webhook-test", "a webhook of an office", _REMEDY))


def queue_of_listener(kind: ListenerKind, listener_id: str) -> str:
    return _QUEUES[kind].queue(listener_id)


def queue_of_tests(webhook_id: str) -> str:
    """Return the queue of test messages. The webhook's own queue may have a backlog, and is paused while disabled."""
    return _TESTS.queue(webhook_id)


def is_test(queue: str) -> bool:
    """True for a queue of test messages to a webhook."""
    return _TESTS.owner_id(queue) is not None


def kind_of_queue(queue: str) -> ListenerKind | None:
    """Return the kind of listener that owns this queue, or None."""
    return next((kind for kind, reserved in _QUEUES.items() if reserved.owner_id(queue) is not None), None)


def is_to_be_disabled(failures: int, failing_for_us: int, patience_us: int) -> bool:
    """True if a webhook that has failed this often and for this long is disabled until a user enables it again.

    Both must hold: a burst of events may fail ten times in a second, and a single event once in a day.
    """
    return failures >= FAILURES_MOST and failing_for_us >= patience_us


OUTGOING = "outgoing"
"""The executor that sends messages."""
NOBODY = Returned('{"skipped":"nobody listens there any more"}')
"""The result of a message whose listener was removed."""


class WebhookSpec(msgspec.Struct, frozen=True):
    executor: ClassVar[str] = OUTGOING

    def signature(self, task: str) -> Parameters:
        return Parameters(task, {"listener": "string", "body": "string"}, ())

    def __str__(self) -> str:
        return "a delivery to a webhook"


class NotificationSpec(msgspec.Struct, frozen=True):
    executor: ClassVar[str] = OUTGOING

    def signature(self, task: str) -> Parameters:
        return Parameters(task, {"listener": "string", "title": "string", "body": "string"}, ())

    def __str__(self) -> str:
        return "a notification"
