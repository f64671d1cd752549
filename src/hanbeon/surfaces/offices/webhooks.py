"""The webhooks of an office: how they do, what is on its way to them, trying one out, enabling one given up."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
import uuid_utils

from hanbeon.domain.delivery import ListenerKind, queue_of_tests
from hanbeon.domain.job import JobRecord, NewJob
from hanbeon.domain.lifecycle import State
from hanbeon.errors import JobNotFound, NotFound, WebhookNotFound
from hanbeon.store.operations import offices, queries
from hanbeon.store.operations.cancel import CancelFilter
from hanbeon.store.operations.listeners import (
    ListenerRecord,
    add_queue_of_tests,
    enable_listener,
    listeners_of,
    put_listeners,
)
from hanbeon.store.operations.queries import JobFilter
from hanbeon.store.tx import Tx
from hanbeon.surfaces.offices import listeners, schemas, serializers
from hanbeon.surfaces.offices.base import OfficeService
from hanbeon.surfaces.offices.delivery.messages import DeliveryMeta, test_message
from hanbeon.surfaces.offices.serializers import iso_ms
from hanbeon.surfaces.offices.vocabulary import DELIVERY
from hanbeon.surfaces.validation import items, page_size, place

_READ = {"webhooks": listeners.webhooks, "notifications": listeners.notifications}
_KIND = {"webhooks": ListenerKind.WEBHOOK, "notifications": ListenerKind.NOTIFICATION}
_NUMBERED_AT_ONCE = 1_000
_told = msgspec.json.Decoder(DeliveryMeta)


class OfficeWebhooks(OfficeService):
    """What a transport asks about webhooks. One of another office is not found here."""

    async def enable_webhook(self, office_id: str, webhook_id: str) -> schemas.Webhook:
        """Send to it again, what has waited first; one that is enabled stays so, and its failures are forgotten."""

        async def enable(tx: Tx) -> schemas.Webhook:
            await offices.lock_office(tx, office_id)
            await enable_listener(tx, await _webhook(tx, office_id, webhook_id))
            return serializers.webhook_view(await _webhook(tx, office_id, webhook_id), self._zone)

        return await self._store.write(enable)

    async def webhook(self, office_id: str, webhook_id: str) -> schemas.Webhook:
        async def look(tx: Tx) -> schemas.Webhook:
            return serializers.webhook_view(await _webhook(tx, office_id, webhook_id), self._zone)

        return await self._store.read(look)

    async def deliveries(
        self, office_id: str, webhook_id: str, *, cursor: str | None = None, limit: int = 100
    ) -> schemas.DeliveryPage:
        """What was, is and will be sent to it, the oldest first; go on with the page's `next_cursor`."""
        after, size = place(cursor), page_size(limit)

        async def page(tx: Tx) -> schemas.DeliveryPage:
            queues = _queues(await _webhook(tx, office_id, webhook_id))
            pages = [await queries.queue_page(tx, JobFilter(queue=queue), after, size + 1) for queue in queues]
            found = sorted((job for each in pages for job in each), key=lambda job: job.seq)
            return schemas.DeliveryPage(
                items=[self._delivery(each) for each in found[:size]],
                next_cursor=str(found[size - 1].seq) if len(found) > size else None,
            )

        return await self._store.read(page)

    async def delivery(self, office_id: str, webhook_id: str, delivery_id: str) -> schemas.Delivery:
        """One of them."""

        async def look(tx: Tx) -> schemas.Delivery:
            queues = _queues(await _webhook(tx, office_id, webhook_id))
            for job in await queries.jobs_by_id(tx, [delivery_id]):
                if job.queue in queues:
                    return self._delivery(job)
            raise JobNotFound(delivery_id)

        return await self._store.read(look)

    async def test_webhook(
        self, office_id: str, webhook_id: str, *, delivery_id: str | None = None
    ) -> schemas.Delivery:
        """Send it a message that nothing has happened for, also while it is disabled: once, at once, and signed.

        It is a job of the engine like every delivery. What becomes of it changes nothing of the webhook's state.
        """
        message_id = delivery_id or str(uuid_utils.uuid7())

        async def prepare(tx: Tx) -> NewJob | None:
            hook = await _webhook(tx, office_id, webhook_id)
            if await queries.jobs_by_id(tx, [message_id]):
                return None  # The same request came before.
            return test_message(hook, message_id, await queries.now_us(tx), self._app.settings)

        message = await self._store.read(prepare)
        if message is not None:
            await self._store.enqueue([message], lambda tx: add_queue_of_tests(tx, webhook_id))
        return await self.delivery(office_id, webhook_id, message_id)

    def _delivery(self, job: JobRecord) -> schemas.Delivery:
        told = _told.decode(job.meta or "{}")
        waits = job.state is State.PENDING or job.state is State.READY
        return schemas.Delivery(
            id=job.id,
            event_id=told.event or None,
            type=told.type,
            job_id=told.job or None,
            status=DELIVERY[job.state],
            attempts=job.fence,
            error_message=job.error_message,
            next_attempt_at=iso_ms(job.run_at, self._zone) if waits else None,
            created_at=iso_ms(job.created_at, self._zone) or "",
            delivered_at=iso_ms(job.finished_at, self._zone) if job.state is State.SUCCEEDED else None,
        )

    # For whoever changes an office

    async def _prepare_listeners(self, given: dict[str, Any]) -> None:
        """What comes before the transaction: whether all targets can be read, and numbers for what has happened.

        A webhook that is added hears of what comes after it, and of nothing that only waits for its number.
        """
        if not _READ.keys() & given.keys():
            return
        if targets := items(given.get("notifications") or [], "notifications", listeners.MOST):
            from hanbeon.outbound.messages import check_readable

            await asyncio.to_thread(check_readable, targets, self._app.settings.message_schemes)
        while await self._store.number_events(_NUMBERED_AT_ONCE) == _NUMBERED_AT_ONCE:
            pass

    async def _put_listeners(self, tx: Tx, office_id: str, given: dict[str, Any]) -> list[ListenerRecord]:
        """Write whom a locked office tells, as far as the client speaks of it; those who are told no more."""
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
        """What waits for those who are told no more. If this is not reached, their messages find nobody, and end."""
        for each in gone:
            try:
                await self._store.cancel_where(CancelFilter(queue=each.queue))
            except NotFound:
                continue


def _queues(hook: ListenerRecord) -> tuple[str, str]:
    """Where what goes to it stands: events, and what tries it out."""
    return hook.queue, queue_of_tests(hook.id)


async def _webhook(tx: Tx, office_id: str, webhook_id: str) -> ListenerRecord:
    await offices.office_by_id(tx, office_id)
    for each in (await listeners_of(tx, [office_id])).get(office_id, ()):
        if each.id == webhook_id and each.kind is ListenerKind.WEBHOOK:
            return each
    raise WebhookNotFound(webhook_id)
