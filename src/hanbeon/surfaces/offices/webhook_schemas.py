"""Results about the webhooks of offices and their deliveries."""

from __future__ import annotations

from typing import Self

import msgspec

from hanbeon.domain.masks import masked_address
from hanbeon.surfaces.offices.vocabulary import DeliveryStatus, EventType, MessageType, WebhookState
from hanbeon.surfaces.schema import Page, Result


class Webhook(Result, frozen=True, kw_only=True):
    """A webhook, without its secret, and its address masked for all but admins. While disabled, its messages wait."""

    id: str
    url: str
    events: list[EventType] | None
    state: WebhookState
    disabled_at: str | None
    consecutive_failures: int
    last_error: str | None
    last_failure_at: str | None
    last_success_at: str | None

    def for_readers(self) -> Self:
        return msgspec.structs.replace(self, url=masked_address(self.url))


class Delivery(Result, frozen=True, kw_only=True):
    """A message to a webhook; `id` is its `webhook-id` header, the same at every attempt.

    One that only tests the webhook has neither an event nor a job.
    """

    id: str
    event_id: int | None
    type: MessageType
    job_id: str | None
    status: DeliveryStatus
    attempts: int
    error_message: str | None
    next_attempt_at: str | None
    created_at: str
    delivered_at: str | None


class DeliveryPage(Page[Delivery], frozen=True, kw_only=True):
    """A page of deliveries."""
