"""One attempt on the wire: a request, the redirects that it is sent along, and what the last answer means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from hanbeon.clock import Clock
from hanbeon.domain.log import LogStream
from hanbeon.domain.outcome import Outcome
from hanbeon.domain.retry import FailureType
from hanbeon.errors import PermanentError
from hanbeon.executors.executor import Call
from hanbeon.executors.http.answer import status_line, understand
from hanbeon.executors.http.request import REDIRECTS, prepare, redirected
from hanbeon.outbound.client import OutboundClient
from hanbeon.settings import Settings
from hanbeon.tasks.context import log_lines
from hanbeon.tasks.http_call import HttpCall


async def converse(
    client: OutboundClient, call: Call, settings: Settings, clock: Clock, environ: Mapping[str, str]
) -> Outcome:
    """How the attempt ended. Every address on the way is checked as the first one is."""
    told = cast(HttpCall, call.task.spec)
    request, own, secrets = prepare(told, call.backend.job, call.arguments, environ)
    allow_private = told.allow_private or settings.outbound_allow_private
    left = told.redirects

    def log(text: str) -> None:
        call.backend.log(LogStream.ENGINE, log_lines(text))

    while True:
        async with client.send(request, connect_seconds=told.connect_timeout, allow_private=allow_private) as answer:
            if not (told.redirects and answer.status in REDIRECTS and answer.status not in told.status_codes):
                return await understand(
                    told, answer, call.max_result_bytes, secrets=secrets, now_us=clock.now_us(), log=log
                )
            if not left:
                raise PermanentError(
                    f"{told.line} was sent on more than {told.redirects} times; is that a circle?",
                    failure_type=FailureType.INVALID,
                )
            request = redirected(request, answer.status, answer.header("location"), own)
            log(f"{told.line} answered {status_line(answer.status)}; sent on to {request.origin}")
            left -= 1
