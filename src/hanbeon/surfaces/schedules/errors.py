"""Errors of schedules."""

from __future__ import annotations

from hanbeon.error_base import Conflict, NotFound
from hanbeon.quotation import quoted
from hanbeon.rule import Rule


class ScheduleNotFound(NotFound):
    """No schedule has that id or name, or it was deleted."""

    code = "schedule_not_found"

    def __init__(self, schedule: object) -> None:
        super().__init__(Rule("schedule_not_found", schedule=quoted(str(schedule))))
        self.schedule = schedule


class ScheduleDeclared(Conflict):
    """The name of a schedule that code or a file declares is theirs."""

    code = "schedule_declared"

    def __init__(self, name: str | None) -> None:
        super().__init__(Rule("schedule_declared", schedule=quoted(name)))


class ScheduleNameTaken(Conflict):
    """Another schedule has that name."""

    code = "schedule_name_taken"

    def __init__(self, name: str) -> None:
        super().__init__(Rule("schedule_name_taken", schedule=quoted(name)))
