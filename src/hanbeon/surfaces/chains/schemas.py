"""Requests and results of chains: the only place where their fields are written."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from hanbeon.domain.job import NAME_LIMIT
from hanbeon.rule import Rule
from hanbeon.surfaces.chains.vocabulary import ChainEventType, ChainState, Direction, OnBackwardFailure, OnUnknown
from hanbeon.surfaces.schema import Cursor, Events, Name, Page, PageSize, PostBody, Request, Result
from hanbeon.surfaces.validation import EXPECTED

JOBS_A_REQUEST = 1_000
RETRIES_MOST = 1_000
WAIT_MOST = 600
EXPIRED_MOST = 366 * 86_400

OperationName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=NAME_LIMIT,
        pattern=r"^[A-Za-z][A-Za-z0-9_]*$",
        examples=["book", "NO_OPERATION"],
        extra={EXPECTED: Rule("operation_name")},
    ),
]
LibraryName = Annotated[Name, Meta(examples=["mypkg.operations", "UNINIT"])]
Seconds = Annotated[
    float,
    Meta(gt=0, le=EXPIRED_MOST, extra={EXPECTED: Rule("positive_seconds_up_to", high=EXPIRED_MOST)}),
]
Retries = Annotated[int, Meta(ge=0, le=RETRIES_MOST)]
WaitSeconds = Annotated[float, Meta(ge=0, le=WAIT_MOST)]


# Requests


class NewChainJob(PostBody, frozen=True, kw_only=True):
    """A job of a chain. An operation is called as `operation(arguments, context)`; `expired_time` is its time limit."""

    forward_operation: OperationName | UnsetType = UNSET
    backward_operation: OperationName | UnsetType = UNSET
    arguments: Any = UNSET
    operation_library: LibraryName | UnsetType = UNSET
    expired_time: Seconds | UnsetType = UNSET


class NewChain(PostBody, frozen=True, kw_only=True):
    """A chain, with its first jobs. A job without a library takes that of the chain."""

    queue_library: LibraryName | UnsetType = UNSET
    jobs: Annotated[list[NewChainJob], Meta(max_length=JOBS_A_REQUEST)] | UnsetType = UNSET
    retries: Retries | UnsetType = UNSET
    on_unknown: OnUnknown | UnsetType = UNSET
    on_backward_failure: OnBackwardFailure | UnsetType = UNSET


class NewRun(PostBody, frozen=True, kw_only=True):
    """The first context of a run, an empty object by default."""

    context: dict[str, Any] | UnsetType = UNSET


class WaitQuery(Request, frozen=True, kw_only=True):
    """How many seconds to wait for the end of the run."""

    wait: WaitSeconds | UnsetType = UNSET


class ChainQuery(Request, frozen=True, kw_only=True):
    state: ChainState | UnsetType | None = UNSET
    cursor: Cursor | UnsetType | None = UNSET
    limit: PageSize | UnsetType = UNSET


class RunQuery(Request, frozen=True, kw_only=True):
    cursor: Cursor | UnsetType | None = UNSET
    limit: PageSize | UnsetType = UNSET


# Results


class ChainJob(Result, frozen=True, kw_only=True):
    """A job of a chain. `state` and `job_return` are of the last run."""

    job_id: int
    forward_operation: str
    backward_operation: str
    arguments: Any
    operation_library: str
    expired_time: int | float
    job_return: Literal["UNINIT"] | dict[str, Any]
    next_job: int | Literal["TAIL", "UNLINK"]
    prev_job: int | Literal["HEAD", "UNLINK"]
    state: str


class Returned(Result, frozen=True, kw_only=True, rename={"returned": "return"}):
    """An operation that has ended, in the order of running."""

    job_id: int
    direction: Direction
    state: str
    returned: Any


class Chain(Result, frozen=True, kw_only=True):
    """A chain. `run` is the number of its last run, 0 before the first."""

    queue_id: int
    job_number: int
    operation_direction: Direction
    queue_library: str
    state: ChainState
    queue_return: Literal["UNINIT"] | list[Returned]
    job_queue: int | Literal["UNINIT"]
    running_job: int | Literal["QUEUE_NOT_RUNNING"]
    last_job: int | Literal["UNINIT"]
    context: dict[str, Any]
    run: int
    jobs: list[ChainJob]
    retries: int
    on_unknown: OnUnknown
    on_backward_failure: OnBackwardFailure
    created_by: str
    created_at: str

    @property
    def is_unfinished(self) -> bool:
        """True while a run is under way, or blocked."""
        return self.state in (ChainState.RUNNING, ChainState.BLOCKED)


class ChainPage(Page[Chain], frozen=True, kw_only=True):
    """Chains in the order of their creation."""


class RunStep(Returned, frozen=True, kw_only=True, rename={"returned": "return"}):
    """An operation of a past run. `execution_id` is the engine's job that ran it; null for NO_OPERATION."""

    execution_id: str | None
    started_at: str | None
    ended_at: str


class Run(Result, frozen=True, kw_only=True):
    """One run of a chain. `ended_at`, `operation_direction` and `duration`, in seconds, are null while it lasts."""

    run: int
    queue_id: int
    operation_direction: Direction | None
    queue_return: list[RunStep]
    started_by: str
    started_at: str
    ended_at: str | None
    duration: float | None


class RunPage(Page[Run], frozen=True, kw_only=True):
    """Runs, newest first."""


class ChainEvent(Result, frozen=True, kw_only=True):
    """An event of a chain."""

    id: int
    type: ChainEventType
    queue_id: int
    run: int
    details: dict[str, Any]
    timestamp: str


class ChainEventPage(Events[ChainEvent], frozen=True, kw_only=True):
    pass
