"""The rule of a refusal, from the request to the exceptions of the clients."""

import pytest

from hanbeon.client import AsyncClient, Invalid
from hanbeon.rule import Rule
from tests.server.client import Client

_RULE = Rule("must_be", what=Rule("integer_from_to", low=1, high=1000), got="'x'")


async def test_problem_has_its_rule(sqlite_server: Client) -> None:
    refused = await sqlite_server.get("/api/engine/jobs?limit=x")
    assert refused.status == 422
    assert refused.json["rule"] == _RULE.serialize()
    assert refused.json["detail"] == f"{refused.json['field']}: {_RULE}"


async def test_exception_of_the_client_has_the_rule(sqlite_server: Client) -> None:
    async with AsyncClient(sqlite_server.url) as client:
        with pytest.raises(Invalid) as caught:
            _ = [job async for job in client.engine.jobs(limit="x")]  # type: ignore[arg-type]
    assert caught.value.rule == _RULE
    assert "rule" not in caught.value.more
