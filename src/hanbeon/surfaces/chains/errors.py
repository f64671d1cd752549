"""Errors of chains."""

from __future__ import annotations

from collections.abc import Sequence

from hanbeon.error_base import Conflict, InvalidInput, NotFound
from hanbeon.rule import Rule


class ChainNotFound(NotFound):
    """No chain has that number."""

    code = "chain_not_found"

    def __init__(self, queue_id: object) -> None:
        super().__init__(Rule("chain_not_found", chain=repr(str(queue_id)[:40])))


class ChainRunNotFound(NotFound):
    """The chain has no run with that number, or it was pruned."""

    code = "chain_run_not_found"

    def __init__(self, queue_id: object, run: object) -> None:
        super().__init__(Rule("chain_run_not_found", chain=queue_id, run=repr(str(run)[:40])))


class ChainWrongState(Conflict):
    """The chain is in a state that does not allow this."""

    code = "chain_wrong_state"

    def __init__(self, queue_id: int, state: str, verb: str, allowed: Sequence[str]) -> None:
        self.queue_id, self.state = queue_id, state
        super().__init__(Rule("chain_wrong_state", chain=queue_id, state=state, verb=verb, allowed=allowed))


class LibraryNotAllowed(InvalidInput):
    """Chains may not import that module."""

    code = "library_not_allowed"
