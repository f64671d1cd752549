"""Headers of an HTTP call: checked when they are written, and secrets are read only when the job runs."""

from typing import Any

import pytest

from hanbeon.errors import InvalidInput, TaskError
from hanbeon.tasks.http_headers import fill_headers, headers


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"Host": "evil.org"}, "set by Hanbeon"),
        ({"content-length": "3"}, "set by Hanbeon"),
        ({"Transfer-Encoding": "chunked"}, "set by Hanbeon"),
        ({"Connection": "close"}, "set by Hanbeon"),
        ({"Proxy-Authorization": "x"}, "set by Hanbeon"),
        ({"Accept-Encoding": "gzip"}, "set by Hanbeon"),
        ({"Idempotency-Key": "x"}, "set by Hanbeon"),
        ({"Hanbeon-Fence": "9"}, "set by Hanbeon"),
        ({"X Y": "1"}, "must contain valid header names"),
        ({"": "1"}, "must contain valid header names"),
        ({"X:Y": "1"}, "must contain valid header names"),
        ({"X-Y": "a\r\nHost: evil.org"}, "line breaks"),
        ({"X-Y": "a\nb"}, "line breaks"),
        ({"X-Y": "\x00"}, "line breaks"),
        ({"X-Y": "한"}, "must be ASCII"),
        ({"X-Y": "1", "x-y": "2"}, "given more than once"),
        ({"X-Y": "{args.token}"}, "must not contain arguments"),
        ({"X-Y": "${NOT A NAME}"}, "must name a variable"),
        ({"X-Y": 1}, r"headers\.X-Y: must be a string"),
        ("X-Y: 1", "table of strings"),
    ],
)
def test_rejects_invalid_headers(given: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        headers(given, "headers")


def test_secrets_come_from_the_environment() -> None:
    given = headers({"Authorization": "Bearer ${TOKEN}", "X-Two": "${A}-${A}$${A}", "X-Plain": '{"a": 1}'}, "headers")
    assert given["Authorization"] == "Bearer ${TOKEN}"
    filled, secrets = fill_headers(given, {"TOKEN": "t0k3n", "A": "b"})
    assert filled == {"Authorization": "Bearer t0k3n", "X-Two": "b-b${A}", "X-Plain": '{"a": 1}'}
    assert secrets == {"t0k3n", "b"}


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({}, "TOKEN is not set in the environment of this worker"),
        ({"TOKEN": "hush\r\nX: 1"}, "TOKEN contains a line break"),
        ({"TOKEN": "hush\n"}, "TOKEN contains a line break"),
    ],
)
def test_a_secret_that_cannot_be_sent_is_named_and_not_shown(environ: dict[str, str], words: str) -> None:
    with pytest.raises(TaskError, match=words) as caught:
        fill_headers({"Authorization": "Bearer ${TOKEN}"}, environ)
    assert "hush" not in str(caught.value)
