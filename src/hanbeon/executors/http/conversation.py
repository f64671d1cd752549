"""One attempt on the wire: a request, its redirects, and the outcome of the last response."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import email.utils
import re
from collections.abc import Callable, Collection, Mapping
from http import HTTPStatus
from typing import Any, cast

import msgspec

from hanbeon.clock import MICROS, Clock
from hanbeon.domain.json_text import check_depth
from hanbeon.domain.log import LogStream
from hanbeon.domain.outcome import Outcome, Raised, Returned
from hanbeon.domain.retry import MAX_DELAY_US, FailureType
from hanbeon.errors import InvalidInput, PermanentError, TaskError
from hanbeon.executors.executor import Call, result_of
from hanbeon.executors.http.request import REDIRECTS, prepare, redirected
from hanbeon.outbound.addresses import EVERYTHING
from hanbeon.outbound.client import HttpResponse, OutboundClient
from hanbeon.settings import Settings
from hanbeon.tasks.context import log_lines
from hanbeon.tasks.http_call import HttpCall

# Read of a body that is not stored: it shows what went wrong, and frees the connection for the next request.
_PEEK_BYTES, _PEEK_SECONDS = 65_536, 2.0
_EXCERPT, _LOGGED = 200, 8_192
# Those of today's web. Not every codec that Python has: some of them take minutes for a megabyte.
_CHARSETS = frozenset(
    [
        "utf-8",
        "us-ascii",
        "iso-8859-1",
        "windows-1252",
        "utf-16",
        "euc-kr",
        "cp949",
        "ks_c_5601-1987",
        "shift_jis",
        "euc-jp",
        "gbk",
        "gb18030",
        "big5",
    ]
)
_CHARSET = re.compile(r"charset=\"?([\w-]+)", re.IGNORECASE)
_JSON = re.compile(r"\s*application/(\S+\+)?json\s*(;|$)", re.IGNORECASE)


async def interpret(
    call: HttpCall,
    answer: HttpResponse,
    max_bytes: int,
    *,
    secrets: Collection[str],
    now_us: int,
    log: Callable[[str], None],
) -> Outcome:
    """Return success with the body as the result, or a failure with an excerpt of it, and more in the log."""
    meaning = call.meaning(answer.status)
    if not meaning.is_success:
        message = f"{call.line} answered {status_line(answer.status)}"
        if text := await _error_text(answer, secrets):
            log(f"{message}:\n{text[:_LOGGED]}")
            message = f"{message}: {_excerpt(text)}"
        return meaning.failure(message, retry_after_us(answer, now_us))
    if not call.keep_answer:
        await _peek(answer)
        return Returned()
    if answer.header("content-encoding") not in ("", "identity"):
        return _unkept("the response is compressed, which was not requested")
    body, is_all = await answer.read(max_bytes)
    if not is_all:
        return _unkept(f"the response is over the limit of {max_bytes:,} bytes (HANBEON_MAX_PAYLOAD_BYTES)")
    return result_of(call.line, _value(body, answer.header("content-type")), max_bytes)


def status_line(status: int) -> str:
    with contextlib.suppress(ValueError):
        return f"{status} {HTTPStatus(status).phrase}"
    return str(status)


def retry_after_us(answer: HttpResponse, now_us: int) -> int:
    """Return the delay that the server requests: seconds, or a date relative to the server's own clock."""
    text = answer.header("retry-after").strip()
    if text.isascii() and text.isdecimal():
        return min(int(text[:12]) * MICROS, MAX_DELAY_US)
    at, now = _instant_us(text), _instant_us(answer.header("date"))
    return 0 if at is None else max(0, at - (now_us if now is None else now))


def _instant_us(text: str) -> int | None:
    try:
        moment = email.utils.parsedate_to_datetime(text)
        # Without a zone it is that of the format: GMT.
        return round((moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).timestamp() * MICROS)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _unkept(why: str) -> Raised:
    """A permanent failure: the work is done, and a retry would do it again."""
    message = f"{why}; set keep_answer = false if the response is not needed"
    return Raised(message, FailureType.INVALID, permanent=True)


def _value(body: bytes, content_type: str) -> Any:
    """Decode JSON if the content type says so or is missing; otherwise text, even if it looks like JSON.

    JSON that is nested too deeply to be stored as such stays text.
    """
    if not body:
        return None
    if not content_type.strip() or _JSON.match(content_type):
        with contextlib.suppress(msgspec.DecodeError, ValueError, RecursionError, InvalidInput):
            check_depth(body)
            return msgspec.json.decode(body)
    return _text(body, content_type)


def _text(body: bytes, content_type: str) -> str:
    found = _CHARSET.search(content_type)
    charset = found.group(1).lower() if found else "utf-8"
    return body.decode(charset if charset in _CHARSETS else "utf-8", errors="replace")


async def _error_text(answer: HttpResponse, secrets: Collection[str]) -> str:
    """The beginning of the body, without the task's secrets, which some servers repeat."""
    body = await _peek(answer)
    if answer.header("content-encoding") not in ("", "identity"):
        return ""
    text = _text(body, answer.header("content-type")).strip()
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


def _excerpt(text: str) -> str:
    """Return a short, printable excerpt."""
    text = " ".join("".join(each if each.isprintable() else " " for each in text[: 4 * _EXCERPT]).split())
    return text if len(text) <= _EXCERPT else text[:_EXCERPT] + "…"


async def _peek(answer: HttpResponse) -> bytes:
    """Read the beginning of a body that decides nothing: if it does not come, the status still stands."""
    body = b""
    with contextlib.suppress(TimeoutError, TaskError):
        async with asyncio.timeout(_PEEK_SECONDS):
            body, _ = await answer.read(_PEEK_BYTES)
    return body


async def converse(
    client: OutboundClient, call: Call, settings: Settings, clock: Clock, environ: Mapping[str, str]
) -> Outcome:
    """Run the call and return its outcome. Every address on the way is checked like the first."""
    spec = cast(HttpCall, call.task.spec)
    request, own, secrets = prepare(spec, call.backend.job, call.arguments, environ)
    allow_private = settings.outbound_private
    if spec.allow_private and allow_private is not True:
        allow_private = f"{EVERYTHING} {allow_private}" if allow_private else True
    left = spec.redirects

    def log(text: str) -> None:
        call.backend.log(LogStream.ENGINE, log_lines(text))

    while True:
        async with client.send(request, connect_seconds=spec.connect_timeout, allow_private=allow_private) as answer:
            if not (spec.redirects and answer.status in REDIRECTS and answer.status not in spec.status_codes):
                return await interpret(
                    spec, answer, call.max_result_bytes, secrets=secrets, now_us=clock.now_us(), log=log
                )
            if not left:
                raise PermanentError(
                    f"{spec.line} was redirected more than {spec.redirects} times; is that a loop?",
                    failure_type=FailureType.INVALID,
                )
            request = redirected(request, answer.status, answer.header("location"), own)
            log(f"{spec.line} answered {status_line(answer.status)}; redirected to {request.origin}")
            left -= 1
