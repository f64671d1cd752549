"""An HTTP step: one request, its redirects, and what its answer means."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from hanbeon.domain.retry import FailureType
from hanbeon.domain.templates import render, variables
from hanbeon.domain.workflows.checks import SECRETS, texts_of
from hanbeon.domain.workflows.definition import Step
from hanbeon.errors import InvalidInput, SecretUnavailable, TaskError
from hanbeon.executors.http.answer import status_line
from hanbeon.executors.http.executor import HttpExecutor
from hanbeon.executors.http.request import REDIRECTS, redirected
from hanbeon.outbound.client import HttpRequest
from hanbeon.outbound.network import reason_outside_tasks
from hanbeon.outbound.origin import split_url
from hanbeon.outbound.secrets import Secrets
from hanbeon.surfaces.workflows.run_body import OUTPUT_MOST, StepFailed
from hanbeon.surfaces.workflows.variables import fill

_CONNECT_SECONDS = 10.0
_REDIRECTS_MOST = 5
_EXCERPT = 200
_READ_MOST = OUTPUT_MOST // 2


async def call(http: HttpExecutor, step: Step, values: Mapping[str, Any], secrets: Secrets, key: str) -> Any:
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
        reason = secrets.mask(reason_outside_tasks(error))
        raise StepFailed(reason, code=error.failure_type, permanent=error.permanent) from None
    except InvalidInput as error:
        raise StepFailed(secrets.mask(str(error)), code=FailureType.INVALID, permanent=True) from None


def _request(step: Step, values: Mapping[str, Any], secrets: Secrets, key: str) -> tuple[HttpRequest, frozenset[str]]:
    assert step.url is not None
    assert step.method is not None
    values = {**values, SECRETS: _read(step, secrets)}
    url = render(step.url, values, encode=lambda text: quote(text, safe=""))
    origin, target = split_url(url, "url")
    own = {name: str(fill(value, values)) for name, value in (step.headers or {}).items()}
    content = fill(step.content, values)
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


def _read(step: Step, secrets: Secrets) -> dict[str, str]:
    """The secrets that the step names, and no other."""
    names = {name for _, text, _, _ in texts_of(step) for name in variables(text)}
    try:
        return {name.partition(".")[2]: secrets.read(name.partition(".")[2]) for name in names if _is_secret(name)}
    except SecretUnavailable as error:
        raise StepFailed(str(error)) from None


def _is_secret(name: str) -> bool:
    return name.startswith(f"{SECRETS}.")


def _output(status: int, body: bytes, content_type: str, secrets: Secrets) -> dict[str, Any]:
    # A server may echo what it was sent.
    text = secrets.mask(body.decode(errors="replace").replace("\x00", "\ufffd"))
    if not 200 <= status < 300:
        message = f"it answered {status_line(status)}: {text[:_EXCERPT]}".rstrip(": ")
        code = FailureType.PERMISSION_ERROR if status in (401, 403) else FailureType.ERROR
        raise StepFailed(message, code=code, permanent=400 <= status < 500 and status not in (408, 425, 429))
    if "json" in content_type.lower():
        with contextlib.suppress(msgspec.DecodeError, RecursionError, ValueError):
            return {"status": status, "body": msgspec.json.decode(text)}
    return {"status": status, "body": text}
