"""One attempt to deliver an event to a webhook, signed according to Standard Webhooks."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
from typing import Any, NamedTuple

from hanbeon.clock import MICROS, Clock, micros
from hanbeon.domain.job import Claimed
from hanbeon.domain.outcome import Outcome, PutOff, Raised, Returned
from hanbeon.domain.retry import FailureType
from hanbeon.errors import DatabaseUnavailable, PermanentError, TaskError
from hanbeon.executors.http.conversation import retry_after_us, status_line
from hanbeon.logs import get_logger
from hanbeon.outbound.client import HttpRequest, OutboundClient
from hanbeon.outbound.network import reason_outside_tasks
from hanbeon.outbound.origin import split_url
from hanbeon.settings import Settings
from hanbeon.store.store import Store
from hanbeon.surfaces.offices.delivery.rules import NOBODY, is_test
from hanbeon.surfaces.offices.listener_rows import ListenerRecord, listener_by_id, note_failure, note_success
from hanbeon.surfaces.offices.webhook_secret import signing_key

_log = get_logger("hanbeon.outgoing")
_GONE = 410
_READ_MOST = 65_536
_NOTED_FOR_US = MICROS


class Failure(NamedTuple):
    """Why an attempt failed. `final`: another attempt would fail too."""

    message: str
    final: bool = False
    retry_after_us: int = 0


async def deliver(
    client: OutboundClient, store: Store, settings: Settings, clock: Clock, job: Claimed, args: dict[str, Any]
) -> Outcome:
    """Send it, and record the outcome with the webhook before the engine does."""
    hook = await store.read(lambda tx: listener_by_id(tx, args["listener"]))
    if hook is None:
        return NOBODY
    failure = await _send(client, settings, clock, hook, job.id, args["body"].encode())
    if is_test(job.queue):
        # A test message does not change the webhook's state; only events do.
        return Returned() if failure is None else Raised(failure.message, FailureType.TEMPORARY)
    if failure is None:
        # It was delivered, even if that cannot be recorded: sending it again would be worse.
        with contextlib.suppress(DatabaseUnavailable):
            if not _is_well(hook, clock.now_us()):
                await store.write(lambda tx: note_success(tx, hook.id))
        return Returned()
    return await failed(store, settings, hook, job, failure)


def _is_well(hook: ListenerRecord, now_us: int) -> bool:
    """Return true if this success need not be recorded: of many in a second, one is enough."""
    return not hook.failures and abs(now_us - (hook.last_success_at or 0)) < _NOTED_FOR_US


async def failed(store: Store, settings: Settings, hook: ListenerRecord, job: Claimed, failure: Failure) -> Outcome:
    """Return the consequence of a failed attempt: a retry, or the webhook is disabled and its messages wait."""
    created_at = (await store.job(job.id)).created_at
    last_try = not job.policy.allows(FailureType.TEMPORARY, job.retry_count, permanent=False)
    disabled = await store.write(
        lambda tx: note_failure(
            tx,
            hook.id,
            failure.message,
            patience_us=micros(settings.webhook_patience),
            at_once=failure.final,
            last_try_since=created_at if last_try else None,
        )
    )
    if disabled:
        _log.warning("webhook_disabled", webhook=hook.id, office=hook.office_id, error=failure.message)
        return PutOff(0, failure.message)
    return Raised(failure.message, FailureType.TEMPORARY, retry_after_us=failure.retry_after_us)


async def _send(
    client: OutboundClient, settings: Settings, clock: Clock, hook: ListenerRecord, message_id: str, body: bytes
) -> Failure | None:
    """Send it; returns None if it was accepted."""
    origin, target = split_url(hook.url, "url")
    request = HttpRequest(
        "POST", origin, target or "/", _headers(hook.secret or "", message_id, clock.now_us(), body), body
    )
    seconds, taken = settings.webhook_timeout, False
    try:
        async with (
            asyncio.timeout(seconds),
            client.send(request, connect_seconds=seconds, allow_private=settings.outbound_private) as answer,
        ):
            if 200 <= answer.status < 300:
                taken = True
                await answer.read(_READ_MOST)  # Read so that the connection can be reused; the content is ignored.
                return None
            # Redirects too: the address is changed in the office.
            message = f"{origin} answered {status_line(answer.status)}"
            return Failure(message, answer.status == _GONE, retry_after_us(answer, clock.now_us()))
    except TimeoutError:
        return None if taken else Failure(f"{origin} did not answer within {seconds:g} s")
    except PermanentError as error:
        return Failure(reason_outside_tasks(error), final=True)
    except TaskError as error:
        return None if taken else Failure(str(error))


def _headers(secret: str, message_id: str, now_us: int, body: bytes) -> dict[str, str]:
    from standardwebhooks import Webhook

    at = dt.datetime.fromtimestamp(now_us // MICROS, dt.UTC)
    return {
        "User-Agent": "hanbeon",
        "Content-Type": "application/json",
        "Accept-Encoding": "identity",
        "webhook-id": message_id,
        "webhook-timestamp": str(now_us // MICROS),
        "webhook-signature": Webhook(signing_key(secret)).sign(message_id, at, body.decode()),
    }
