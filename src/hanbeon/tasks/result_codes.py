"""What an exit code of a command, or the status of an HTTP answer, means for the attempt."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import Any

import msgspec

from hanbeon.domain.job import NAME_LIMIT
from hanbeon.domain.outcome import Raised
from hanbeon.errors import InvalidInput
from hanbeon.tasks.options import check_names

SUCCESS = "success"


class ResultCodes(msgspec.Struct, frozen=True):
    """Success, or a failure of this type; a permanent one is not tried again, whatever retries are left."""

    type: str
    permanent: bool = False

    @property
    def is_success(self) -> bool:
        return self.type == SUCCESS

    def failure(self, message: str, retry_after_us: int = 0) -> Raised:
        return Raised(message, self.type, self.permanent, retry_after_us)


def meanings(told: Any, field: str, low: int, high: int) -> dict[int, ResultCodes]:
    """By number, as somebody wrote it: `{75 = "temporary", 3 = {type = "bad_input", permanent = true}}`."""
    if not isinstance(told, Mapping):
        raise InvalidInput(f"{reprlib.repr(told)} does not fit; use a table of failure types by number", field=field)
    return {_number(number, field, low, high): _meaning(it, f"{field}.{number}") for number, it in told.items()}


def _number(told: Any, field: str, low: int, high: int) -> int:
    if str(told).isdecimal() and low <= int(told) <= high:
        return int(told)
    raise InvalidInput(f"{reprlib.repr(told)} does not fit; use a number from {low} to {high}", field=field)


def _meaning(told: Any, field: str) -> ResultCodes:
    if isinstance(told, Mapping):
        check_names(told, ResultCodes.__struct_fields__, "a failure")
        if not isinstance(told.get("permanent", False), bool):
            raise InvalidInput("use true or false", field=f"{field}.permanent")
        return ResultCodes(_type(told.get("type"), field), told.get("permanent", False))
    return ResultCodes(_type(told, field))


def _type(told: Any, field: str) -> str:
    if not isinstance(told, str) or not 0 < len(told) <= NAME_LIMIT:
        raise InvalidInput(f"{reprlib.repr(told)} is no failure type; use a name like temporary", field=field)
    return told
