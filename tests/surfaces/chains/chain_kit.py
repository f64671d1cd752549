"""Short words for tests of chains."""

from __future__ import annotations

from typing import Any

from hanbeon import App
from hanbeon.surfaces.chains.schemas import Chain
from hanbeon.surfaces.chains.service import Chains
from hanbeon.testing import TestKit

LIBRARY = "tests.surfaces.chains.operations_library"


class ChainKit:
    """A test kit whose App may run the operations of `operations_library`."""

    def __init__(self, kit: TestKit) -> None:
        self.kit = kit

    @property
    def app(self) -> App:
        return self.kit.app

    @property
    def chains(self) -> Chains:
        return self.kit.app.chains

    async def chain(self, *jobs: dict[str, Any], **fields: Any) -> Chain:
        return await self.chains.create(queue_library=LIBRARY, jobs=list(jobs), **fields)

    async def run(self, chain: Chain, **fields: Any) -> Chain:
        """Run a chain to its end."""
        await self.chains.run(chain, **fields)
        return await self.finish(chain)

    async def finish(self, chain: Chain) -> Chain:
        await self.kit.run_all()
        return await self.chains.get(chain)


def job(name: str, forward: str = "do", backward: str = "undo", **fields: Any) -> dict[str, Any]:
    return {"forward_operation": forward, "backward_operation": backward, "arguments": {"name": name}, **fields}


def ran(chain: Chain) -> list[tuple[str, str, str]]:
    """The operations of the last run, in order: the name, direction and state of each."""
    assert isinstance(chain.queue_return, list)
    names = {each.job_id: each.arguments["name"] for each in chain.jobs}
    return [(names[each.job_id], each.direction.value, each.state) for each in chain.queue_return]
