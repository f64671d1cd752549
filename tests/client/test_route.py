"""Requests of the client: bodies that JSON cannot carry are refused before anything is sent."""

from typing import Any

import msgspec
import pytest

from hanbeon.client.calls import Fill, request_of
from hanbeon.errors import InvalidInput


@pytest.mark.parametrize(
    "value", [float("nan"), [float("inf"), None], "\ud800", object()], ids=lambda value: type(value).__name__
)
def test_rejects_bodies_that_json_lacks(value: Any) -> None:
    with pytest.raises(InvalidInput, match="body: the request cannot be encoded as JSON"):
        request_of("POST", "/api/x", Fill(body={"args": {"value": value}}))


def test_bodies_are_json_without_unset_fields() -> None:
    sent = request_of("POST", "/api/x", Fill(body={"a": None, "b": msgspec.UNSET, "c": [1.5]}))
    assert sent.body == b'{"a":null,"c":[1.5]}'
