"""Codes of dead letters, found again from the reason and the message."""

import pytest

from hanbeon.domain.dead_letters import UNKNOWN_JOB
from hanbeon.engine.stream.deadletters import DeadLetter
from hanbeon.engine.stream.messages import UnreadableError, read_message
from hanbeon.stream_worker.request import Request

_DONE = {"jobId": "7", "status": "SUCCEEDED"}


def _letter(kind: str, fields: dict[str, str], reason: str) -> DeadLetter:
    return DeadLetter(id="a:1-1", stream=f"a.{kind}", entry="1-1", reason=reason, payload=fields, at=0)


@pytest.mark.parametrize(
    ("kind", "fields", "field"),
    [
        ("results", {}, "jobId"),
        ("results", {**_DONE, "status": "DONE"}, "status"),
        ("results", {**_DONE, "fence": "x"}, "fence"),
        ("results", {**_DONE, "result": "{"}, "result"),
        ("progress", {"jobId": "7", "progress": "101"}, "progress"),
    ],
)
def test_unreadable_letter_names_its_field(kind: str, fields: dict[str, str], field: str) -> None:
    with pytest.raises(UnreadableError) as error:
        read_message(kind, fields)
    assert _letter(kind, fields, str(error.value)).cause == ("unreadable", field)
    assert _letter(kind, fields, "by hand").cause == ("other", None)


def test_unreadable_request_has_a_code() -> None:
    with pytest.raises(ValueError, match="not a request") as error:
        Request.from_fields({"jobId": "7"})
    assert _letter("requests", {"jobId": "7"}, str(error.value)).cause == ("unreadable", None)


@pytest.mark.parametrize(
    ("reason", "code"), [(UNKNOWN_JOB, "unknown_job"), ("INVALID_OUTPUT_PATH", "invalid_output_path"), ("", "other")]
)
def test_readable_letter_has_the_code_of_its_reason(reason: str, code: str) -> None:
    assert _letter("results", _DONE, reason).cause == (code, None)
