"""The meaning of a command's exit code, or of an HTTP status, for the attempt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from hanbeon.domain.job import NAME_LIMIT
from hanbeon.domain.outcome import Raised
from hanbeon.errors import InvalidInput
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
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


def meanings(value: Any, field: str, low: int, high: int) -> dict[int, ResultCodes]:
    """Parse a table by number: `{75 = "temporary", 3 = {type = "bad_input", permanent = true}}`."""
    if not isinstance(value, Mapping):
        raise InvalidInput(Rule("must_be", what=Rule("failure_table"), got=quoted(value)), field=field)
    return {_number(number, field, low, high): _meaning(it, f"{field}.{number}") for number, it in value.items()}


def _number(value: Any, field: str, low: int, high: int) -> int:
    if str(value).isdecimal() and low <= int(value) <= high:
        return int(value)
    raise InvalidInput(Rule("only_numbers", low=low, high=high, got=quoted(value)), field=field)


def _meaning(value: Any, field: str) -> ResultCodes:
    if isinstance(value, Mapping):
        check_names(value, ResultCodes.__struct_fields__, "a failure")
        if not isinstance(value.get("permanent", False), bool):
            raise InvalidInput(Rule("must_be", what=Rule("boolean")), field=f"{field}.permanent")
        return ResultCodes(_type(value.get("type"), field), value.get("permanent", False))
    return ResultCodes(_type(value, field))


def _type(value: Any, field: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= NAME_LIMIT:
        raise InvalidInput(Rule("must_be", what=Rule("failure_type"), got=quoted(value)), field=field)
    return value
