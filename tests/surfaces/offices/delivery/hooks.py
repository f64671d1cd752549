"""Helpers for tests of webhooks."""

from __future__ import annotations

import json
from typing import Any

from tests.outbound.web import Seen, Web
from tests.surfaces.offices.office_kit import OfficeKit

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


async def listen(office: OfficeKit, *webs: Web, **hook: Any) -> list[str]:
    """Register these servers as webhooks of the office and return their ids."""
    hooks = [{"url": f"{web.url}/hook", "secret": SECRET} | hook for web in webs]
    return [each.id for each in (await office.offices.change(office.id, webhooks=hooks)).webhooks]


def types(web: Web) -> list[str]:
    return [json.loads(seen.body)["type"] for seen in web.seen]


def ids(seen: list[Seen]) -> list[str]:
    return [each.headers["webhook-id"] for each in seen]


async def statuses(office: OfficeKit, hook: str) -> list[str]:
    """Return the type and status of each delivery of the webhook."""
    return [f"{each.type} {each.status}" for each in (await office.offices.deliveries(office.id, hook)).items]
