"""One attempt on the wire: a request, its redirects, and the outcome of the last response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from hanbeon.clock import Clock
from hanbeon.domain.log import LogStream
from hanbeon.domain.outcome import Outcome
from hanbeon.domain.retry import FailureType
from hanbeon.errors import PermanentError
from hanbeon.executors.executor import Call
from hanbeon.executors.http.answer import interpret, status_line
from hanbeon.executors.http.request import REDIRECTS, prepare, redirected
from hanbeon.outbound.addresses import EVERYTHING
from hanbeon.outbound.client import OutboundClient
from hanbeon.settings import Settings
from hanbeon.tasks.context import log_lines
from hanbeon.tasks.http_call import HttpCall


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
