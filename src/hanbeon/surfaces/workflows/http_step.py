"""An HTTP step: one request, its redirects, and what its answer means."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from hanbeon.domain.retry import FailureType
from hanbeon.domain.templates import Budget, TemplateError, render
from hanbeon.errors import InvalidInput, SecretUnavailable, TaskError
from hanbeon.executors.http.conversation import status_line
from hanbeon.executors.http.executor import HttpExecutor
from hanbeon.executors.http.request import REDIRECTS, redirected
from hanbeon.outbound.client import HttpRequest
from hanbeon.outbound.network import reason_outside_tasks
from hanbeon.outbound.origin import Origin, split_url
from hanbeon.outbound.secrets import Secrets
from hanbeon.surfaces.workflows.checks import SECRETS
from hanbeon.surfaces.workflows.definition import Step
from hanbeon.surfaces.workflows.run_body import OUTPUT_MOST, StepFailed, unforeseen
from hanbeon.surfaces.workflows.secret_use import check_names, secrets_of
from hanbeon.surfaces.workflows.variables import fill
from hanbeon.tasks.http_headers import check_not_of_connection

_CONNECT_SECONDS = 10.0
_REDIRECTS_MOST = 5
_EXCERPT = 200
_READ_MOST = OUTPUT_MOST // 2


async def call(
    http: HttpExecutor,
    step: Step,
    values: Mapping[str, Any],
    secrets: Secrets,
    key: str,
    *,
    trusted: bool,
    quote_it: bool,
) -> Any:
    """Send the request and return the output: `status` and `body`. Anything but a 2xx fails the attempt.

    `trusted`: an admin has saved the step, which then may use secrets that declare no hosts. `quote_it`: an error shows
    the beginning of the answer.
    """
    try:
        named = _read(step, secrets)
        # In a thread: there may be very many texts.
        request, own = await asyncio.to_thread(_request, step, {**values, SECRETS: named}, key)
        _check_use(named, request.origin, secrets, trusted=trusted)
    except (StepFailed, TemplateError):
        raise
    except InvalidInput as error:
        raise StepFailed(secrets.mask(str(error)), code=FailureType.INVALID, permanent=True) from None
    except Exception as error:
        # For good: nothing was sent, and the next attempt would build the same.
        raise unforeseen(error, permanent=True, mask=secrets.mask) from None
    allow_private = http.settings.outbound_private
    try:
        client = await http.client()
        async with asyncio.timeout(step.timeout):
            for _ in range(_REDIRECTS_MOST + 1):
                async with client.send(
                    request, connect_seconds=_CONNECT_SECONDS, allow_private=allow_private
                ) as answer:
                    if answer.status not in REDIRECTS:
                        body, _ = await answer.read(_READ_MOST)
                        return _output(answer.status, body, answer.header("content-type"), secrets, quote_it=quote_it)
                    before, request = request, redirected(request, answer.status, answer.header("location"), own)
                    if request.origin != before.origin:
                        _check_redirect(_followers(step, request), request.origin, secrets)
            raise StepFailed("it was redirected too often; is that a loop?", permanent=True)
    except TimeoutError:
        raise StepFailed(f"it did not answer within {step.timeout:g} s", code=FailureType.TIMEOUT) from None
    except TaskError as error:
        reason = secrets.mask(reason_outside_tasks(error))
        raise StepFailed(reason, code=error.failure_type, permanent=error.permanent) from None
    except InvalidInput as error:
        raise StepFailed(secrets.mask(str(error)), code=FailureType.INVALID, permanent=True) from None
    except StepFailed:
        raise
    except Exception as error:
        raise unforeseen(error, mask=secrets.mask) from None


def _check_use(named: Iterable[str], origin: Origin, secrets: Secrets, *, trusted: bool) -> None:
    try:
        check_names(sorted(named), origin, secrets, trusted=trusted, field="url")
    except InvalidInput as error:
        raise StepFailed(str(error), code=FailureType.PERMISSION_ERROR, permanent=True) from None


def _check_redirect(named: Iterable[str], origin: Origin, secrets: Secrets) -> None:
    for name in sorted(named):
        try:
            check_names([name], origin, secrets, trusted=False)
        except InvalidInput:
            raise StepFailed(
                f"url must not redirect the secret {name} to {origin}; use that URL, or declare its host",
                code=FailureType.PERMISSION_ERROR,
                permanent=True,
            ) from None


def _followers(step: Step, request: HttpRequest) -> set[str]:
    """The secrets that a redirect to another origin may take along: of the body, and of the URL.

    A Location often repeats the URL in another form: a page that redirects to its parameter is enough.
    """
    fields = ("url",) if request.body is None else ("url", "body")
    return {name for field, names in secrets_of(step).items() if field.startswith(fields) for name in names}


def _request(step: Step, values: Mapping[str, Any], key: str) -> tuple[HttpRequest, frozenset[str]]:
    assert step.url is not None
    assert step.method is not None
    budget = Budget()
    url = render(step.url, values, encode=lambda text: quote(text, safe=""))
    origin, target = split_url(url, "url")
    for name in step.headers or {}:
        try:
            check_not_of_connection(name, f"headers.{name}")
        except InvalidInput as error:  # It was stored before this was checked.
            raise StepFailed(str(error), code=FailureType.INVALID, permanent=True) from None
    own = {name: str(fill(value, values, budget)) for name, value in (step.headers or {}).items()}
    content = fill(step.content, values, budget)
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
    try:
        return {name: secrets.read(name) for names in secrets_of(step).values() for name in names}
    except SecretUnavailable as error:
        raise StepFailed(str(error)) from None


def _output(status: int, body: bytes, content_type: str, secrets: Secrets, *, quote_it: bool) -> dict[str, Any]:
    text = secrets.mask(body.decode(errors="replace").replace("\x00", "\ufffd"))
    if not 200 <= status < 300:
        message = f"it answered {status_line(status)}: {text[:_EXCERPT] if quote_it else ''}".rstrip(": ")
        code = FailureType.PERMISSION_ERROR if status in (401, 403) else FailureType.ERROR
        raise StepFailed(message, code=code, permanent=400 <= status < 500 and status not in (408, 425, 429))
    if "json" in content_type.lower():
        with contextlib.suppress(msgspec.DecodeError, RecursionError, ValueError):
            return {"status": status, "body": msgspec.json.decode(text)}
    return {"status": status, "body": text}
