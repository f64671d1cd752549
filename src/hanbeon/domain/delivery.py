"""What is sent out, to whom, how often it is tried, and when somebody who never answers is sent nothing more."""

from __future__ import annotations

import enum

from hanbeon.domain.job import RESERVED, is_id
from hanbeon.domain.retry import Backoff, RetryPolicy

_SECOND = 1_000_000
FAILURES_MOST = 10
"""So many tries in a row may fail before their time counts."""


class ListenerKind(enum.StrEnum):
    """Who is told by an office: a webhook, or a target of notifications."""

    WEBHOOK = "webhook"
    NOTIFICATION = "notification"


TASK = {kind: f"{RESERVED}{kind}" for kind in ListenerKind}
"""The built-in task that sends to each kind."""
# Thirteen tries in four and a half hours: 10 s, 20 s, …, 43 min, then every hour.
_WEBHOOK = RetryPolicy(max_retries=12, backoff=Backoff.EXPONENTIAL, base_us=10 * _SECOND, jitter=0.2)
# Seven tries in half an hour: what tells people must not come a day late.
_NOTIFICATION = RetryPolicy(max_retries=6, backoff=Backoff.EXPONENTIAL, base_us=30 * _SECOND, jitter=0.2)
POLICY = {ListenerKind.WEBHOOK: _WEBHOOK, ListenerKind.NOTIFICATION: _NOTIFICATION}
TEST_POLICY = RetryPolicy(max_retries=0)
"""Of a message that only tries a webhook out: whoever asked for it looks at what became of it, and asks again."""
AT_ONCE = {"max_concurrent": 4}
"""How many may be on their way to one listener: one that is slow or dead keeps no more than that busy."""


def queue_of_listener(kind: ListenerKind, listener_id: str) -> str:
    return f"{kind}:{listener_id}"


_TESTS = "webhook-test:"


def queue_of_tests(webhook_id: str) -> str:
    """Beside the webhook's own queue, which is paused while it is disabled, and where others may be waiting."""
    return f"{_TESTS}{webhook_id}"


def is_test(queue: str) -> bool:
    """Whether what stands in this queue only tries a webhook out."""
    return queue.startswith(_TESTS) and is_id(queue.removeprefix(_TESTS))


def kind_of_queue(queue: str) -> ListenerKind | None:
    """Which kind of listener this is the queue of, if it is one."""
    kind, colon, listener_id = queue.partition(":")
    return ListenerKind(kind) if colon and kind in list(ListenerKind) and is_id(listener_id) else None


def is_to_be_disabled(failures: int, failing_for_us: int, patience_us: int) -> bool:
    """Whether a webhook that has failed so often and for so long is given up, until somebody enables it again.

    Both, because a burst of events may fail ten times in a second, and a single event once in a day.
    """
    return failures >= FAILURES_MOST and failing_for_us >= patience_us
