"""Operations of chains, as data for the server, the client and the docs."""

from __future__ import annotations

from hanbeon.domain.access import Need
from hanbeon.surfaces.chains import schemas
from hanbeon.surfaces.chains.errors import ChainNotFound, ChainRunNotFound, ChainWrongState, LibraryNotAllowed
from hanbeon.surfaces.chains.vocabulary import ChainState
from hanbeon.surfaces.operation import Channel, ClientCall, Operation
from hanbeon.surfaces.schema import Explanation

_CHAINS = "/api/chains"
_CHAIN = f"{_CHAINS}/{{queue_id}}"
_RUNS = f"{_CHAIN}/runs"
_ENDED_OR_NOT = {200: schemas.Chain, 202: schemas.Chain}

OPERATIONS = (
    Operation(
        *("POST", _CHAINS, Need.WRITE, "create", "Create a chain, perhaps with its jobs."),
        request=schemas.NewChain,
        body_optional=True,
        responses={201: schemas.Chain},
        creates=True,
        by=True,
        location=f"{_CHAINS}/{{result.queue_id}}",
        links={"queue_id": "$response.body#/queue_id"},
        errors=(LibraryNotAllowed,),
    ),
    Operation(
        *("GET", _CHAINS, Need.READ, "list", "List chains, a page at a time."),
        request=schemas.ChainQuery,
        responses={200: schemas.ChainPage},
    ),
    Operation(
        *("GET", _CHAIN, Need.READ, "get", "Show a chain with its jobs."),
        responses={200: schemas.Chain},
        client=ClientCall(ended=lambda chain: chain.state is not ChainState.RUNNING),
        errors=(ChainNotFound,),
    ),
    Operation(
        *("DELETE", _CHAIN, Need.WRITE, "delete", "Delete a chain that is not running, with its history."),
        responses={204: None},
        errors=(ChainNotFound, ChainWrongState),
    ),
    Operation(
        *("POST", f"{_CHAIN}/jobs", Need.WRITE, "enqueue", "Append a job to a chain that is not running."),
        request=schemas.NewChainJob,
        body_optional=True,
        responses={201: schemas.ChainJob},
        creates=True,
        location=_CHAIN,
        errors=(ChainNotFound, ChainWrongState, LibraryNotAllowed),
    ),
    Operation(
        *("POST", f"{_CHAIN}/run", Need.WRITE, "run", "Run a chain: 202 while it runs, 200 once it has ended."),
        request=schemas.NewRun,
        query=schemas.WaitQuery,
        body_optional=True,
        responses=_ENDED_OR_NOT,
        accepted="is_unfinished",
        creates=True,
        by=True,
        errors=(ChainNotFound, ChainWrongState),
    ),
    Operation(
        *("POST", f"{_CHAIN}/resume", Need.WRITE, "resume", "Run the backward operation again that blocked a chain."),
        query=schemas.WaitQuery,
        responses=_ENDED_OR_NOT,
        accepted="is_unfinished",
        errors=(ChainNotFound, ChainWrongState),
    ),
    Operation(
        *("POST", f"{_CHAIN}/skip", Need.WRITE, "skip", "Leave the job that blocks a chain as failed, and go on."),
        query=schemas.WaitQuery,
        responses=_ENDED_OR_NOT,
        accepted="is_unfinished",
        errors=(ChainNotFound, ChainWrongState),
    ),
    Operation(
        *("POST", f"{_CHAIN}/abort", Need.WRITE, "abort", "Stop the operation under way, and undo what was done."),
        query=schemas.WaitQuery,
        responses=_ENDED_OR_NOT,
        accepted="is_unfinished",
        errors=(ChainNotFound, ChainWrongState),
    ),
    Operation(
        *("GET", _RUNS, Need.READ, "runs", "List the runs of a chain, newest first."),
        request=schemas.RunQuery,
        responses={200: schemas.RunPage},
        errors=(ChainNotFound,),
    ),
    Operation(
        *("GET", f"{_RUNS}/{{n}}", Need.READ, "run_of", "Show one run of a chain."),
        responses={200: schemas.Run},
        errors=(ChainNotFound, ChainRunNotFound),
    ),
    Operation(
        *("GET", f"{_CHAIN}/explain", Need.READ, "explain", "Explain why a chain does not move."),
        responses={200: Explanation},
        errors=(ChainNotFound,),
    ),
)

CHANNELS = (
    Channel(
        websocket="/ws/chains/{queue_id}/events",
        sse=f"{_CHAIN}/events",
        need=Need.READ,
        call="following",
        summary="Stream the events of a chain, resuming after the event `after`.",
        event=schemas.ChainEvent,
        errors=(ChainNotFound,),
    ),
)
