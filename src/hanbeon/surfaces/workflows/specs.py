"""The bodies of the built-in tasks of workflows, as the engine knows them."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from hanbeon.tasks.parameters import Parameters

WORKFLOWS = "workflows"
"""The executor that runs them."""


class RunSpec(msgspec.Struct, frozen=True):
    executor: ClassVar[str] = WORKFLOWS

    def signature(self, task: str) -> Parameters:
        return Parameters(task, {}, ())

    def __str__(self) -> str:
        return "a run of a workflow"


class NoticeSpec(msgspec.Struct, frozen=True):
    executor: ClassVar[str] = WORKFLOWS

    def signature(self, task: str) -> Parameters:
        return Parameters(task, {"run_id": "string", "number": "integer"}, ())

    def __str__(self) -> str:
        return "a message about a failed run of a workflow"
