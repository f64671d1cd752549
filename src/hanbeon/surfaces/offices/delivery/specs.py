"""The bodies of the built-in tasks, as the engine knows them. No argument is a secret: those are looked up."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from hanbeon.domain.outcome import Returned
from hanbeon.tasks.parameters import Parameters

OUTGOING = "outgoing"
"""The executor that sends messages."""
NOBODY = Returned('{"skipped":"nobody listens there any more"}')
"""The result of a message whose listener was removed."""


class WebhookSpec(msgspec.Struct, frozen=True):
    executor: ClassVar[str] = OUTGOING

    def signature(self, task: str) -> Parameters:
        return Parameters(task, {"listener": "string", "body": "string"}, ())

    def __str__(self) -> str:
        return "a delivery to a webhook"


class NotificationSpec(msgspec.Struct, frozen=True):
    executor: ClassVar[str] = OUTGOING

    def signature(self, task: str) -> Parameters:
        return Parameters(task, {"listener": "string", "title": "string", "body": "string"}, ())

    def __str__(self) -> str:
        return "a notification"
