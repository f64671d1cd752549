"""Short words for what the tests do with webhooks."""

from __future__ import annotations

import json
from typing import Any

from tests.outbound.web import Seen, Web
from tests.surfaces.offices.office_kit import OfficeKit

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


async def listen(office: OfficeKit, *webs: Web, **hook: Any) -> list[str]:
    """Have the office tell these servers; the ids of the webhooks."""
    hooks = [{"url": f"{web.url}/hook", "secret": SECRET} | hook for web in webs]
    return [each.id for each in (await office.offices.change(office.id, webhooks=hooks)).webhooks]


def types(web: Web) -> list[str]:
    return [json.loads(seen.body)["type"] for seen in web.seen]


def ids(seen: list[Seen]) -> list[str]:
    return [each.headers["webhook-id"] for each in seen]


async def statuses(office: OfficeKit, hook: str) -> list[str]:
    """What became of each event for the webhook."""
    return [f"{each.type} {each.status}" for each in (await office.offices.deliveries(office.id, hook)).items]
