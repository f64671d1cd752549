"""Errors of offices."""

from __future__ import annotations

from hanbeon.error_base import NotFound
from hanbeon.quotation import quoted
from hanbeon.rule import Rule


class OfficeNotFound(NotFound):
    """No office has that id."""

    code = "office_not_found"

    members = (*NotFound.members, "office_id")

    def __init__(self, office_id: str) -> None:
        self.office_id = office_id
        super().__init__(Rule("office_not_found", id=quoted(str(office_id))))


class WebhookNotFound(NotFound):
    """The office has no webhook with that id."""

    code = "webhook_not_found"

    def __init__(self, webhook_id: str) -> None:
        super().__init__(Rule("webhook_not_found", id=quoted(str(webhook_id))))
