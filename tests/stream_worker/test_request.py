"""Requests of stream tasks, as they travel."""

from __future__ import annotations

import pytest

from hanbeon.stream_worker import Request


def test_request_travels_as_fields_of_text() -> None:
    request = Request(job_id="7", job_type="MP4", options={"fence": 2, "args": {"a": 1}}, more={"replayId": "9"})
    fields = request.to_fields()
    assert fields == {"jobId": "7", "jobType": "MP4", "replayId": "9", "options": '{"fence":2,"args":{"a":1}}'}
    assert Request.from_fields(fields) == request
    assert (request.fence, request.args) == (2, {"a": 1})


@pytest.mark.parametrize("options", ["", "{", "[]", "{}", '{"fence": "x"}', '{"fence": null}', "7"])
def test_request_rejects_unreadable_options(options: str) -> None:
    with pytest.raises(ValueError, match="not a request"):
        Request.from_fields({"jobId": "7", "jobType": "MP4", "options": options})
