"""A task that is an HTTP call: what may be said of it, and what its statuses mean."""

from typing import Any

import pytest

from hanbeon import App
from hanbeon.errors import ArgumentsDoNotFit, TaskDefinitionError
from hanbeon.tasks.http_call import TIMEOUT_SECONDS, HttpCall, http_task
from hanbeon.tasks.result_codes import ResultCodes

URL = "https://example.org/hook"


def call(**given: Any) -> HttpCall:
    return HttpCall.of({"url": URL, **given}, None)


def test_as_a_file_has_it() -> None:
    given = {"method": "post", "url": URL, "headers": {"X-A": "1"}, "status_codes": {"409": "success"}}
    task = http_task("ping", given, {"retries": 5, "timeout": "2m", "params": {"n": "integer"}})
    assert task.executor == "http"
    assert (task.options.retries, task.options.timeout) == (5, 120.0)
    assert task.where == f"the HTTP call POST {URL}"
    assert str(task.signature) == "(n: integer)"
    with pytest.raises(ArgumentsDoNotFit):
        task.call(n="x")


def test_as_a_program_has_it() -> None:
    app = App()
    task = app.http("ping", URL + "/{args.n}", method="PUT", retries=1, redirects=0)
    assert app.tasks.get("ping") is task
    with pytest.raises(ArgumentsDoNotFit, match="'n' is missing"):
        task.call()
    assert app.http("ping", URL + "/{args.n}", method="PUT", retries=1, redirects=0).spec == task.spec
    with pytest.raises(TaskDefinitionError, match="registered already, by the HTTP call PUT https"):
        app.http("ping", URL)


def test_a_call_has_a_timeout_unless_somebody_wants_none() -> None:
    assert http_task("a", {"url": URL}, {}).options.timeout == TIMEOUT_SECONDS
    assert http_task("a", {"url": URL}, {"timeout": None}).options.timeout is None


@pytest.mark.parametrize(
    ("method", "send"), [("GET", "query"), ("HEAD", "query"), ("DELETE", "query"), ("POST", "body"), ("PATCH", "body")]
)
def test_arguments_go_where_the_method_has_them(method: str, send: str) -> None:
    assert call(method=method).send == send
    assert call(method=method, send="nothing").send == "nothing"


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        ("https://example.org", {}, "http: must be a table like"),
        ({}, {}, "url: is missing"),
        ({"url": URL, "metod": "GET"}, {}, "metod: an HTTP call has no such option; did you mean 'method'"),
        ({"url": URL, "method": "CONNECT"}, {}, "method: must be one of GET"),
        ({"url": URL, "method": 1}, {}, "method: must be one of"),
        ({"url": URL, "send": "form"}, {}, "send: must be one of body"),
        ({"url": URL, "redirects": -1}, {}, "redirects: must be an integer from 0"),
        ({"url": URL, "redirects": True}, {}, "redirects: must be an integer"),
        ({"url": URL, "connect_timeout": 0}, {}, "connect_timeout: must be seconds"),
        ({"url": URL, "connect_timeout": float("nan")}, {}, "connect_timeout: must be seconds"),
        ({"url": URL, "connect_timeout": "soon"}, {}, "connect_timeout: must be a duration"),
        ({"url": URL, "allow_private": "yes"}, {}, "allow_private: must be true or false, got 'yes'"),
        (
            {"url": URL, "status_codes": {"600": "gone"}},
            {},
            "status_codes: must contain numbers from 100 to 599",
        ),
        ({"url": URL, "headers": {"Host": "x"}}, {}, "headers.Host: is set by Hanbeon"),
        ({"url": URL + "/{args.x}"}, {"params": {"y": "string"}}, r"params: \{args.x\} is used but not declared"),
        ({"url": URL}, {"params": "x"}, "params: must be a table of types"),
        ({"url": URL}, {"executor": "async"}, "executor: an HTTP task has no such option"),
        ({"url": URL}, {"memory": "1GB"}, "memory: an HTTP task has no such option"),
        ({"url": URL}, {"command": ["x"]}, "command: an HTTP task has no such option"),
        ({"url": URL}, {"timeout": 0}, "timeout: must be positive"),
    ],
)
def test_rejects_invalid_calls(given: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(TaskDefinitionError, match=words) as caught:
        http_task("ping", given, options)
    assert "(task 'ping')" in str(caught.value)


def test_a_misspelt_option_finds_its_neighbour_among_all_of_them() -> None:
    with pytest.raises(TaskDefinitionError, match="did you mean 'headers'"):
        App().http("ping", URL, header={})
    with pytest.raises(TaskDefinitionError, match="did you mean 'retries'"):
        App().http("ping", URL, retry=1)


@pytest.mark.parametrize(
    ("statuses", "meaning"),
    [
        ((200, 201, 202, 204, 206, 299), "success"),
        ((408, 425, 429, 500, 502, 503, 504, 599), "temporary"),
        ((401, 403, 407), "permission_error"),
        ((101, 300, 302, 304, 400, 404, 409, 410, 422, 451), "invalid"),
    ],
)
def test_status_meaning(statuses: tuple[int, ...], meaning: str) -> None:
    assert {call().meaning(status) for status in statuses} == {ResultCodes(meaning)}


def test_a_task_may_see_it_otherwise() -> None:
    given = call(status_codes={"409": "success", 404: {"type": "gone", "permanent": True}, 200: "odd"})
    assert given.meaning(409).is_success
    assert given.meaning(404) == ResultCodes("gone", permanent=True)
    assert given.meaning(200) == ResultCodes("odd")
    assert given.meaning(500) == ResultCodes("temporary")


def test_secrets_are_shown_by_their_names() -> None:
    given = call(headers={"Authorization": "Bearer ${TOKEN}"})
    assert "${TOKEN}" in repr(given)
    assert str(given) == f"the HTTP call POST {URL}"
    assert len(call(url="https://example.org/" + "x" * 500).line) < 80
