"""An HTTP step: one request, its redirects, and what its answer means."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from hanbeon.domain.masks import MASK
from hanbeon.domain.retry import FailureType
from hanbeon.domain.templates import render
from hanbeon.domain.workflows.definition import Step
from hanbeon.errors import InvalidInput, TaskError
from hanbeon.executors.http.answer import status_line
from hanbeon.executors.http.executor import HttpExecutor
from hanbeon.executors.http.request import REDIRECTS, redirected
from hanbeon.outbound.client import HttpRequest
from hanbeon.outbound.origin import split_url
from hanbeon.surfaces.workflows.run_body import OUTPUT_MOST, StepFailed
from hanbeon.surfaces.workflows.variables import fill

_CONNECT_SECONDS = 10.0
_REDIRECTS_MOST = 5
_EXCERPT = 200
_READ_MOST = OUTPUT_MOST // 2


async def call(http: HttpExecutor, step: Step, values: Mapping[str, Any], secrets: Mapping[str, str], key: str) -> Any:
    """Send the request and return the output: `status` and `body`. Anything but a 2xx fails the attempt."""
    request, own = _request(step, values, secrets, key)
    client = await http.client()
    allow_private = http.settings.outbound_allow_private
    try:
        async with asyncio.timeout(step.timeout):
            for _ in range(_REDIRECTS_MOST + 1):
                async with client.send(
                    request, connect_seconds=_CONNECT_SECONDS, allow_private=allow_private
                ) as answer:
                    if answer.status not in REDIRECTS:
                        body, _ = await answer.read(_READ_MOST)
                        return _output(answer.status, body, answer.header("content-type"), secrets)
                    request = redirected(request, answer.status, answer.header("location"), own)
            raise StepFailed("it was redirected too often; is that a loop?", permanent=True)
    except TimeoutError:
        raise StepFailed(f"it did not answer within {step.timeout:g} s", code=FailureType.TIMEOUT) from None
    except TaskError as error:
        raise StepFailed(_masked(str(error), secrets), code=error.failure_type, permanent=error.permanent) from None
    except InvalidInput as error:
        raise StepFailed(_masked(str(error), secrets), code=FailureType.INVALID, permanent=True) from None


def _request(
    step: Step, values: Mapping[str, Any], secrets: Mapping[str, str], key: str
) -> tuple[HttpRequest, frozenset[str]]:
    assert step.url is not None
    assert step.method is not None
    url = render(step.url, {**values, "secrets": secrets}, encode=lambda text: quote(text, safe=""))
    origin, target = split_url(url, "url")
    own = {name: str(fill(value, values, secrets)) for name, value in (step.headers or {}).items()}
    content = fill(step.content, values, secrets)
    is_text = isinstance(content, str)
    body = None if content is None else content.encode() if is_text else msgspec.json.encode(content)
    headers = {
        "User-Agent": "hanbeon",
        "Accept": "application/json, */*",
        "Accept-Encoding": "identity",
        **(
            {"Content-Type": "text/plain; charset=utf-8" if is_text else "application/json"} if body is not None else {}
        ),
    }
    taken = frozenset(name.lower() for name in own)
    headers = {name: value for name, value in headers.items() if name.lower() not in taken} | own
    headers["Idempotency-Key"] = key
    path = target if target.startswith("/") else f"/{target}"
    return HttpRequest(step.method, origin, path, headers, body), taken


def _output(status: int, body: bytes, content_type: str, secrets: Mapping[str, str]) -> dict[str, Any]:
    text = body.decode(errors="replace").replace("\x00", "\ufffd")
    if not 200 <= status < 300:
        message = _masked(f"it answered {status_line(status)}: {text[:_EXCERPT]}".rstrip(": "), secrets)
        code = FailureType.PERMISSION_ERROR if status in (401, 403) else FailureType.ERROR
        raise StepFailed(message, code=code, permanent=400 <= status < 500 and status not in (408, 425, 429))
    value: Any = text
    if "json" in content_type.lower():
        try:
            value = msgspec.json.decode(body)
        except (msgspec.DecodeError, RecursionError, ValueError):
            value = text
    return {"status": status, "body": _without(value, secrets)}


def _without(value: Any, secrets: Mapping[str, str]) -> Any:
    """A server may echo what it was sent."""
    if isinstance(value, str):
        return _masked(value, secrets)
    if isinstance(value, dict):
        return {_masked(str(name), secrets): _without(each, secrets) for name, each in value.items()}
    if isinstance(value, list):
        return [_without(each, secrets) for each in value]
    return value


def _masked(text: str, secrets: Mapping[str, str]) -> str:
    for secret in sorted(secrets.values(), key=len, reverse=True):
        if len(secret) > 2:
            text = text.replace(secret, MASK)
    return text
