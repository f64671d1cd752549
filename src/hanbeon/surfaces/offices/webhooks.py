"""Use cases of an office's webhooks: their state, their deliveries, test messages, and enabling a disabled one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

import msgspec

from hanbeon.domain.job import JobRecord, NewJob
from hanbeon.domain.lifecycle import State
from hanbeon.domain.masks import MASK
from hanbeon.errors import JobNotFound, NotFound
from hanbeon.messages import Messenger
from hanbeon.store.batch_cancel import cancel_where
from hanbeon.store.operations import queries
from hanbeon.store.operations.cancel import CancelFilter
from hanbeon.store.operations.pages import merged
from hanbeon.store.operations.queries import JobFilter
from hanbeon.store.tx import Tx
from hanbeon.surfaces.offices import keywords, listeners, schemas, serializers
from hanbeon.surfaces.offices import rows as offices
from hanbeon.surfaces.offices.base import OfficeService
from hanbeon.surfaces.offices.delivery.messages import DeliveryMeta, test_message
from hanbeon.surfaces.offices.delivery.rules import ListenerKind, queue_of_tests
from hanbeon.surfaces.offices.errors import WebhookNotFound
from hanbeon.surfaces.offices.listener_rows import (
    ListenerRecord,
    add_queue_of_tests,
    enable_listener,
    listeners_of,
    put_listeners,
)
from hanbeon.surfaces.offices.serializers import iso_ms
from hanbeon.surfaces.offices.vocabulary import DELIVERY
from hanbeon.surfaces.service import NewId, random_id
from hanbeon.surfaces.validation import or_default, validate

_READ: Mapping[str, Callable[..., list[ListenerRecord]]] = {
    "webhooks": listeners.webhooks,
    "notifications": listeners.notifications,
}
_KIND = {"webhooks": ListenerKind.WEBHOOK, "notifications": ListenerKind.NOTIFICATION}
_NUMBERED_AT_ONCE = 1_000
_meta = msgspec.json.Decoder(DeliveryMeta)


class OfficeWebhooks(OfficeService):
    """Webhooks of offices. A webhook of another office is not found."""

    async def enable_webhook(self, office_id: str, webhook_id: str) -> schemas.Webhook:
        """Resume deliveries, the oldest waiting one first, and reset the count of failures."""

        async def enable(tx: Tx) -> schemas.Webhook:
            await offices.lock_office(tx, office_id)
            await enable_listener(tx, await _webhook(tx, office_id, webhook_id))
            return serializers.webhook_view(await _webhook(tx, office_id, webhook_id), self._zone)

        return await self._write(enable)

    async def webhook(self, office_id: str, webhook_id: str) -> schemas.Webhook:
        """Return a webhook and its state."""

        async def read(tx: Tx) -> schemas.Webhook:
            return serializers.webhook_view(await _webhook(tx, office_id, webhook_id), self._zone)

        return await self._read(read)

    async def deliveries(
        self, office_id: str, webhook_id: str, **fields: Unpack[keywords.DeliveryQueryFields]
    ) -> schemas.DeliveryPage:
        """List the messages to a webhook, sent and waiting, the oldest first."""
        query = validate(schemas.DeliveryQuery, fields)
        after = int(or_default(query.cursor, "0"))

        async def read(tx: Tx) -> schemas.DeliveryPage:
            queues = _queues(await _webhook(tx, office_id, webhook_id))
            pages = [await queries.queue_page(tx, JobFilter(queue=queue), after, query.limit) for queue in queues]
            found = merged(pages, _place, query.limit)
            items = [self._delivery(each) for each in found.items]
            return schemas.DeliveryPage(items=items, next_cursor=found.cursor(_place))

        return await self._read(read)

    async def delivery(self, office_id: str, webhook_id: str, delivery_id: str) -> schemas.Delivery:
        """Return one message to a webhook."""

        async def read(tx: Tx) -> schemas.Delivery:
            queues = _queues(await _webhook(tx, office_id, webhook_id))
            for job in await queries.jobs_by_id(tx, [delivery_id]):
                if job.queue in queues:
                    return self._delivery(job)
            raise JobNotFound(delivery_id)

        return await self._read(read)

    async def test_webhook(self, office_id: str, webhook_id: str, *, new_id: NewId = random_id) -> schemas.Delivery:
        """Send a test message: immediately, once, signed, also to a disabled webhook.

        It is a job of the engine like every delivery. Its outcome does not change the state of the webhook.
        """
        message_id = new_id(0)

        async def prepare(tx: Tx) -> NewJob | None:
            hook = await _webhook(tx, office_id, webhook_id)
            if await queries.jobs_by_id(tx, [message_id]):
                return None  # The request is a repeated one.
            return test_message(hook, message_id, await queries.now_us(tx), self._app.settings)

        async def keep(tx: Tx) -> None:
            # Until the commit, the deletion of the webhook or of its office waits, and then cancels the message.
            await offices.keep_office(tx, office_id)
            await _webhook(tx, office_id, webhook_id)
            await add_queue_of_tests(tx, webhook_id)

        message = await self._read(prepare)
        if message is not None:
            await self._store.enqueue([message], keep)
        return await self.delivery(office_id, webhook_id, message_id)

    def _delivery(self, job: JobRecord) -> schemas.Delivery:
        meta = _meta.decode(job.meta or "{}")
        waits = job.state is State.PENDING or job.state is State.READY
        return schemas.Delivery(
            id=job.id,
            event_id=meta.event or None,
            type=meta.type,
            job_id=meta.job or None,
            status=DELIVERY[job.state],
            attempts=job.fence,
            error_message=job.error_message,
            next_attempt_at=iso_ms(job.run_at, self._zone) if waits else None,
            created_at=iso_ms(job.created_at, self._zone) or "",
            delivered_at=iso_ms(job.finished_at, self._zone) if job.state is State.SUCCEEDED else None,
        )

    async def _prepare_listeners(self, given: Mapping[str, Any]) -> None:
        """Prepare a change of listeners before its transaction: check the targets, number the events so far.

        A new webhook gets the events after it, and none of those that were only waiting for their number.
        """
        if not _READ.keys() & given.keys():
            return
        if targets := given.get("notifications"):
            await asyncio.to_thread(_check_targets, targets, self._app.messenger)
        while await self._store.number_events(_NUMBERED_AT_ONCE) == _NUMBERED_AT_ONCE:
            pass

    async def _put_listeners(self, tx: Tx, office_id: str, given: Mapping[str, Any]) -> list[ListenerRecord]:
        """Write the listeners of a locked office, as far as they are given, and return those that were removed."""
        if not _READ.keys() & given.keys():
            return []
        before = (await listeners_of(tx, [office_id])).get(office_id, [])
        after = [each for each in before if all(_KIND[field] is not each.kind for field in _READ if field in given)]
        for field, read_them in _READ.items():
            if given.get(field) is not None:
                after += read_them(given[field], office_id, before, self._app.settings)
        await put_listeners(tx, before, after)
        return [each for each in before if each.id not in {it.id for it in after}]

    async def _cancel_deliveries(self, gone: Sequence[ListenerRecord]) -> None:
        """Cancel what waits for removed listeners. If this is never reached, the messages end without being sent."""
        for queue in (queue for each in gone for queue in _queues(each)):
            with contextlib.suppress(NotFound):  # Most webhooks are never tested.
                await cancel_where(self._store, CancelFilter(queue=queue))


def _check_targets(targets: Sequence[Any], messenger: Messenger) -> None:
    """Reject new targets that cannot be parsed, or send a secret elsewhere than it may go: only admins save offices.

    A masked one stands for one that is known.
    """
    for number, target in enumerate(targets):
        if isinstance(target, str) and "://" in target and MASK not in target and target.isprintable():
            messenger.check_target(target, f"notifications[{number}]")
            messenger.check_secrets(target, field=f"notifications[{number}]")


def _place(job: JobRecord) -> int:
    return job.seq


def _queues(hook: ListenerRecord) -> tuple[str, str]:
    """The queues of a webhook: events, and test messages."""
    return hook.queue, queue_of_tests(hook.id)


async def _webhook(tx: Tx, office_id: str, webhook_id: str) -> ListenerRecord:
    await offices.office_by_id(tx, office_id)
    for each in (await listeners_of(tx, [office_id])).get(office_id, ()):
        if each.id == webhook_id and each.kind is ListenerKind.WEBHOOK:
            return each
    raise WebhookNotFound(webhook_id)
