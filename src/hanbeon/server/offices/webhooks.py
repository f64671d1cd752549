"""The webhooks of an office."""

from __future__ import annotations

from hanbeon.domain.access import Need
from hanbeon.errors import JobNotFound, OfficeNotFound, WebhookNotFound
from hanbeon.server.offices import bodies
from hanbeon.server.offices.routes import OFFICE
from hanbeon.server.operation import Operation, Reply
from hanbeon.server.request import ApiRequest
from hanbeon.surfaces.offices import schemas
from hanbeon.surfaces.offices.service import Offices

_ABSENT = (OfficeNotFound, WebhookNotFound)
WEBHOOK = f"{OFFICE}/webhooks/{{webhookId}}"
DELIVERY = f"{WEBHOOK}/deliveries/{{deliveryId}}"


def operations(offices: Offices) -> list[Operation]:
    async def get(ask: ApiRequest) -> Reply:
        return Reply(await offices.webhook(*_webhook(ask)))

    async def enable(ask: ApiRequest) -> Reply:
        return Reply(await offices.enable_webhook(*_webhook(ask)))

    async def deliveries(ask: ApiRequest) -> Reply:
        return Reply(await offices.deliveries(*_webhook(ask), **ask.query))

    async def delivery(ask: ApiRequest) -> Reply:
        return Reply(await offices.delivery(*_webhook(ask), ask.path("deliveryId")))

    async def test(ask: ApiRequest) -> Reply:
        made = await offices.test_webhook(*_webhook(ask), delivery_id=ask.id_of())
        path = DELIVERY.format(id=ask.path("id"), webhookId=ask.path("webhookId"), deliveryId=made.id)
        return Reply(made, 202, {"Location": path})

    return [
        Operation(
            *("GET", WEBHOOK, Need.READ, get, "Show a webhook, and how it does."),
            shapes={200: schemas.Webhook},
            refuses=_ABSENT,
        ),
        Operation(
            *("POST", f"{WEBHOOK}/enable", Need.ADMIN, enable, "Send to it again, what has waited first."),
            shapes={200: schemas.Webhook},
            refuses=_ABSENT,
        ),
        Operation(
            *("POST", f"{WEBHOOK}/test", Need.ADMIN, test, "Try it out: send it a message once, disabled or not."),
            shapes={202: schemas.Delivery},
            refuses=_ABSENT,
            creates=True,
        ),
        Operation(
            *("GET", f"{WEBHOOK}/deliveries", Need.READ, deliveries, "What was, is and will be sent to it."),
            query={"cursor": bodies.Cursor, "limit": bodies.PageSize},
            shapes={200: schemas.DeliveryPage},
            refuses=_ABSENT,
        ),
        Operation(
            *("GET", DELIVERY, Need.READ, delivery, "Show what became of one of them."),
            shapes={200: schemas.Delivery},
            refuses=(*_ABSENT, JobNotFound),
        ),
    ]


def _webhook(ask: ApiRequest) -> tuple[str, str]:
    return ask.path("id"), ask.path("webhookId")
