"""Checks every response that a test gets against the OpenAPI document: a mismatch is a defect of either."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

_UNMATCHED = {404: "no_such_path", 405: "wrong_method", 426: "not_a_websocket"}
_NO_CONTENT = (204, 304, 307)


class _Path(NamedTuple):
    template: str
    form: re.Pattern[str]
    methods: Mapping[str, Any]


@cache
def _paths(document: str) -> list[_Path]:
    """Those without parameters come first, as they do in the server."""
    found = []
    for template, methods in json.loads(document)["paths"].items():
        parts = re.split(r"\{\w+\}", template)
        form = re.compile("[^/]+".join(re.escape(part) for part in parts))
        found.append(_Path(template, form, {name.upper(): operation for name, operation in methods.items()}))
    return sorted(found, key=lambda path: path.template.count("{"))


_of_all_surfaces: list[str] = []
"""The document of servers in this process with every surface: equal for all, and dear to make for each test."""


class Description:
    """The OpenAPI document of a server, fetched once; with `shared`, once in this process."""

    def __init__(self, fetch: Callable[[], bytes], *, shared: bool = False) -> None:
        self._fetch = fetch
        self._known = _of_all_surfaces if shared else []

    @property
    def document(self) -> str:
        if not self._known:
            self._known.append(self._fetch().decode())
        return self._known[0]

    def check(self, method: str, path: str, status: int, headers: Mapping[str, str], body: bytes) -> None:
        asked = path.partition("?")[0]
        if method == "HEAD" and status == 405:
            return  # A GET that acts has no HEAD, and a description of GET does not say so.
        method = "GET" if method == "HEAD" else method
        fitting = [each for each in _paths(self.document) if each.form.fullmatch(asked)]
        operation = next((each.methods[method] for each in fitting if method in each.methods), None)
        if operation is None:
            if status in _UNMATCHED:
                assert json.loads(body or b"{}").get("code", _UNMATCHED[status]) == _UNMATCHED[status], body
                return
            raise AssertionError(f"{method} {asked} answered {status}, and the description does not have it")
        answer = operation["responses"].get(str(status))
        assert answer is not None, (
            f"{method} {asked} answered {status}, which its Operation does not say: {body[:300]!r}; "
            "add the error to its `refuses`, or the status to its `shapes`"
        )
        if status not in _NO_CONTENT:
            media = headers.get("content-type", "").partition(";")[0]
            assert media in answer["content"], f"{method} {asked} answered {status} as {media!r}: {answer}"
