"""The request of one attempt, and the next one after a redirect."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from importlib.metadata import version
from typing import Any, NamedTuple
from urllib.parse import quote, urljoin

import msgspec

from hanbeon.domain.job import Claimed
from hanbeon.domain.retry import FailureType
from hanbeon.domain.trace_context import current_trace
from hanbeon.errors import InvalidInput, PermanentError
from hanbeon.outbound.client import HttpRequest
from hanbeon.outbound.origin import HTTPS, split_url
from hanbeon.tasks.http_call import BODY, QUERY, HttpCall
from hanbeon.tasks.http_headers import fill_headers
from hanbeon.tasks.template import ARGS, JOB, template_vars

REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KEEPING_ALL = frozenset({307, 308})
_KEEPING_METHOD = ("GET", "HEAD")
_OF_A_BODY = frozenset({"content-type"})
_LOCATION_PLAIN = "/?:@!$&'()*+,;=%[]~#"


class Prepared(NamedTuple):
    """A request, the names of the headers that are the task's own, and the secrets in them."""

    request: HttpRequest
    own: frozenset[str]
    secrets: frozenset[str]


def prepare(call: HttpCall, job: Claimed, arguments: Mapping[str, Any], environ: Mapping[str, str]) -> Prepared:
    """The first request of an attempt."""
    used = set(call.url.arguments)
    further = {name: value for name, value in arguments.items() if name not in used} if call.send == QUERY else {}
    facts = template_vars(job)
    target = call.url.fill({ARGS: arguments, JOB: facts}, further)
    own, secrets = fill_headers(call.headers, environ)
    body = msgspec.json.encode(arguments) if call.send == BODY else None
    headers = {
        "User-Agent": f"hanbeon/{_version()}",
        "Accept": "application/json, */*",
        # An uncompressed body cannot expand to a thousand times its size.
        "Accept-Encoding": "identity",
        **({} if (trace := current_trace()) is None else trace.headers),
        **({} if body is None else {"Content-Type": "application/json"}),
    }
    taken = {name.lower() for name in own}
    headers = {name: value for name, value in headers.items() if name.lower() not in taken} | own
    headers |= {
        "Idempotency-Key": job.id,
        "Hanbeon-Job-Id": job.id,
        "Hanbeon-Attempt": str(facts["attempt"]),
        "Hanbeon-Fence": str(job.fence),
        "Hanbeon-Session-Id": str(facts["session_id"]),
    }
    return Prepared(HttpRequest(call.method, call.url.origin, target, headers, body), frozenset(taken), secrets)


def redirected(request: HttpRequest, status: int, location: str, own: Collection[str]) -> HttpRequest:
    """Return the request for the redirect's target, without the task's own headers (maybe secrets) for another origin.

    A redirect that would lose the body or the encryption is rejected.
    """
    if not location:
        raise _refused(f"it responded {status}, a redirect, without a Location")
    try:
        place = quote(location.encode("latin-1"), safe=_LOCATION_PLAIN)
        url = urljoin(f"{request.origin}{request.target}", place)
        origin, target = split_url(url, "Location")
    except (InvalidInput, ValueError) as error:
        raise _refused(f"it responded {status} with an invalid Location: {error}") from error
    if request.origin.scheme == HTTPS and origin.scheme != HTTPS:
        raise _refused(f"it redirects ({status}) to {origin}, which is not encrypted; use https there")
    method, headers, body = request.method, dict(request.headers), request.body
    if status not in _KEEPING_ALL and method not in _KEEPING_METHOD:
        if status != 303:
            raise _refused(f"it redirects ({status}) to {origin}: the {method} would become a GET; use that URL")
        method, body = "GET", None
        headers = {name: value for name, value in headers.items() if name.lower() not in _OF_A_BODY}
    if origin != request.origin:
        headers = {name: value for name, value in headers.items() if name.lower() not in own}
    path = target if target.startswith("/") else f"/{target}"
    return HttpRequest(method, origin, path, headers, body)


def _refused(message: str) -> PermanentError:
    return PermanentError(message, failure_type=FailureType.INVALID)


@cache
def _version() -> str:
    return version("hanbeon")
