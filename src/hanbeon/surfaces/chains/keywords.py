"""Requests of this surface as keywords, for static types. Generated from `schemas.py` by `make docs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from hanbeon.surfaces.chains.schemas import NewChainJob
from hanbeon.surfaces.chains.vocabulary import ChainState, OnBackwardFailure, OnUnknown


class ChainQueryFields(TypedDict, total=False):
    state: ChainState | str | None
    cursor: str | None
    limit: int


class NewChainFields(TypedDict, total=False):
    """A chain, with its first jobs. A job without a library takes that of the chain."""

    queue_library: str | None
    jobs: Sequence[NewChainJob | Mapping[str, Any]] | None
    retries: int | None
    on_unknown: OnUnknown | str | None
    on_backward_failure: OnBackwardFailure | str | None


class NewChainJobFields(TypedDict, total=False):
    """A job of a chain. An operation is called as `operation(arguments, context)`; `expired_time` is its time limit."""

    forward_operation: str | None
    backward_operation: str | None
    arguments: Any
    operation_library: str | None
    expired_time: float | None


class NewRunFields(TypedDict, total=False):
    """The first context of a run, an empty object by default."""

    context: Mapping[str, Any] | None


class RunQueryFields(TypedDict, total=False):
    cursor: str | None
    limit: int


class WaitQueryFields(TypedDict, total=False):
    """How many seconds to wait for the end of the run."""

    wait: float
