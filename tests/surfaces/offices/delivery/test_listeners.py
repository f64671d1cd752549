"""Webhooks and notification targets of an office: invalid ones are rejected by field, and no secret is shown."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from typing import Any

import pytest

from hanbeon import App
from hanbeon.errors import InvalidInput
from hanbeon.testing import TestKit
from tests.surfaces.offices.delivery.hooks import SECRET
from tests.surfaces.offices.office_kit import OfficeKit, add_tasks

URL = "https://example.org/hook"


@pytest.fixture
async def office(sqlite_url: str) -> AsyncIterator[OfficeKit]:
    """An office that may not deliver to private addresses."""
    app = App()
    async with TestKit(app, sqlite_url) as kit:
        office = OfficeKit(kit, add_tasks(app))
        await office.open()
        yield office


@pytest.mark.parametrize(
    ("hook", "field"),
    [
        ({"url": "example.org", "secret": SECRET}, "webhooks[0].url"),
        ({"url": "https://", "secret": SECRET}, "webhooks[0].url"),
        ({"url": "https://user:geheim@example.org", "secret": SECRET}, "webhooks[0].url"),
        ({"url": "https://example.org/서울", "secret": SECRET}, "webhooks[0].url"),
        ({"url": "http://127.0.0.1:8080/", "secret": SECRET}, "webhooks[0].url"),
        ({"url": "http://[::1]/", "secret": SECRET}, "webhooks[0].url"),
        ({"url": "http://10.1.2.3/", "secret": SECRET}, "webhooks[0].url"),
        ({"url": "http://169.254.169.254/latest", "secret": SECRET}, "webhooks[0].url"),
        ({"url": URL}, "webhooks[0].secret"),
        ({"url": URL, "secret": None}, "webhooks[0].secret"),
        ({"url": URL, "secret": ""}, "webhooks[0].secret"),
        ({"url": URL, "secret": "whsec_geheim!"}, "webhooks[0].secret"),
        ({"url": URL, "secret": "whsec_geheim123"}, "webhooks[0].secret"),
        ({"id": "x", "url": URL, "secret": SECRET}, "webhooks[0].id"),
    ],
)
async def test_invalid_webhook_changes_nothing(office: OfficeKit, hook: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        await office.offices.create(name="x", webhooks=[hook])
    with pytest.raises(InvalidInput) as refused_too:
        await office.offices.change(office.id, name="changed", webhooks=[hook])
    for refusal in (refused.value, refused_too.value):
        assert refusal.field == field
        assert "geheim" not in str(refusal)
    (changed,) = (await office.offices.list()).items
    assert (changed.name, changed.webhooks) == ("an office", [])


async def test_the_same_events_twice_are_once_and_none_are_none(office: OfficeKit) -> None:
    hooks = [{"url": URL, "secret": SECRET, "events": events} for events in (["job_failed"] * 2, [], None)]
    changed = await office.offices.change(office.id, webhooks=hooks)
    assert [each.events for each in changed.webhooks] == [["job_failed"], [], None]
    assert len({each.id for each in changed.webhooks}) == 3


def _coded(size: int) -> str:
    return base64.b64encode(b"s" * size).decode()


async def test_secrets_are_base64_with_or_without_their_prefix(office: OfficeKit) -> None:
    for size in (24, 25, 26, 32, 64):
        for secret in (_coded(size), f"whsec_{_coded(size)}", _coded(size).rstrip("=")):
            changed = await office.offices.change(office.id, webhooks=[{"url": URL, "secret": secret}])
            assert secret not in str(changed)


@pytest.mark.parametrize("size", [1, 16, 23, 65, 100])
async def test_prefixed_secrets_have_as_many_bytes_as_the_standard(office: OfficeKit, size: int) -> None:
    secret = f"whsec_{_coded(size)}"
    with pytest.raises(InvalidInput, match=f"24 to 64 .*openssl rand -base64 24.*got {size} bytes") as refused:
        await office.offices.change(office.id, webhooks=[{"url": URL, "secret": secret}])
    assert refused.value.field == "webhooks[0].secret"
    assert secret not in str(refused.value)


@pytest.mark.parametrize(
    "target",
    [
        *("syslog://", "dbus://", "gnome://", "macosx://", "windows://", "file:///etc/passwd", "exec://geheim"),
        *("no address", "mailto:", "mailto://", "slack://geheim", "mailto://user:****@example.org"),
    ],
)
async def test_invalid_target_changes_nothing(office: OfficeKit, target: Any) -> None:
    before = await office.offices.get(office.id)
    with pytest.raises(InvalidInput) as refusal:
        await office.offices.change(office.id, notifications=["mailtos://a:b@example.org", target])
    assert refusal.value.field == "notifications[1]"
    assert "geheim" not in str(refusal.value)
    assert await office.offices.get(office.id) == before


async def test_targets_are_shown_and_matched_without_their_secrets(office: OfficeKit) -> None:
    first, second = "mailtos://ada:geheim@mail.example.org?to=team@example.org", "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdn"
    changed = await office.offices.change(office.id, notifications=[first, second, second])
    shown = changed.notifications
    assert shown == ["mailtos://ada:****@mail.example.org?****", "slack://****", "slack://****"]
    assert "geheim" not in str(changed)
    before = await _ids(office)
    # In another order, and one less.
    await office.offices.change(office.id, notifications=[shown[1], shown[0]])
    after = await _ids(office)
    assert after == {before_id: url for before_id, url in before.items() if before_id in after}
    assert list(after.values()) == [second, first]
    with pytest.raises(InvalidInput, match="masked"):
        await office.offices.change(office.id, notifications=[shown[1], shown[1]])
    assert (await office.offices.change(office.id, notifications=None)).notifications == []


async def _ids(office: OfficeKit) -> dict[str, str]:
    rows = await office.kit.app.store.read(lambda tx: tx.fetch("listeners_of", f'["{office.id}"]'))
    return {row["id"]: row["url"] for row in rows}
