"""Work of surfaces that is no job: what each worker declares when it starts, and polls for with no leader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from hanbeon.settings import Settings
from hanbeon.store.tx import Tx


class Poller(Protocol):
    """One loop of a worker, named `name`. The settings are replaced when a reloaded file changes them."""

    name: str
    hints: Sequence[str]
    """The store's hints that announce work for it."""
    settings: Settings
    waiting: bool
    """True while any event may bring work."""

    @property
    def declared(self) -> Sequence[str]:
        """The names of what this worker declares, which others see with the instance."""

    @property
    def done(self) -> Mapping[str, int]:
        """The work so far, by outcome."""

    async def declare(self, by: str, alive_within_us: int) -> None:
        """Put in force what changed among the declarations, for the worker of this name."""

    async def look(self, tx: Tx) -> bool:
        """Return True if a step must not wait for its planned poll. Writes nothing, and may be repeated.

        So it need not poll often: another loop looks together with its own poll, and an idle instance queries the
        database less than once a second.
        """

    async def run_once(self) -> float:
        """Do a step; return the time until the next one."""
