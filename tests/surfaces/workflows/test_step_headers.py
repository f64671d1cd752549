"""Headers of an HTTP step: none that belongs to the connection, at saving and at sending."""

from __future__ import annotations

import pytest

from hanbeon.errors import InvalidInput
from tests.outbound.web import Web, reply
from tests.surfaces.workflows.workflow_kit import WorkflowKit

REFUSED = [
    "Host",
    "hOST",
    "Content-Length",
    "Transfer-Encoding",
    "Connection",
    "Keep-Alive",
    "TE",
    "Trailer",
    "Upgrade",
]
REFUSED += ["Expect", "Proxy-Authorization", "Proxy-Connection", "HTTP2-Settings"]


async def test_headers_of_the_connection_are_refused(sqlite_workflows: WorkflowKit) -> None:
    for name in REFUSED:
        with pytest.raises(InvalidInput, match="must be omitted: it belongs to the connection") as refused:
            await sqlite_workflows.make({"type": "http", "url": "https://a.example", "headers": {name: "{{ run.id }}"}})
        assert refused.value.field == f"steps[0].headers.{name}"


async def test_stored_host_header_is_not_sent(workflow_kit: WorkflowKit) -> None:
    async with Web(reply(200)) as web:
        made = await workflow_kit.make({"type": "http", "url": web.url, "headers": {"X-Abc": "inside.example"}})
        await workflow_kit.script("UPDATE hanbeon.workflow SET definition = replace(definition, 'X-Abc', 'Host')")
        await workflow_kit.workflows.activate(made)
        await workflow_kit.kit.run_all()
        (run,) = await workflow_kit.runs(made)
        assert (run.status, web.seen) == ("failed", [])
        assert run.steps[0].error_message == (
            "headers.Host: must be omitted: it belongs to the connection, and Hanbeon sets it"
        )
