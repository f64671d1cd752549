"""Short words for tests of chains."""

from __future__ import annotations

import asyncio
from typing import Any

from hanbeon import App, LogLine
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.surfaces.chains.schemas import Chain
from hanbeon.surfaces.chains.service import Chains
from hanbeon.surfaces.verify import verify
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

    async def findings(self) -> list[str]:
        """The codes of what an audit of the database finds."""
        return [finding.code.value for finding in (await verify(self.app.store)).findings]

    async def until_begun(self, operation: str) -> None:
        """Wait until a process runs the operation, which has written that into its log."""
        async with asyncio.timeout(60):
            while not any(operation in text for text in await self._logs()):  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.02)

    async def _logs(self) -> list[str]:
        await self.kit.worker.write_logs()
        pages = [await self.app.log(attempt.job.id) for attempt in self.kit.worker.attempts]
        return [entry.text for page in pages for entry in page.entries if isinstance(entry, LogLine)]

    async def script(self, text: str) -> None:
        """Change the tables behind the store's back."""
        store = self.app.store
        prefix = "hanbeon." if isinstance(store.database, PostgresDatabase) else "hanbeon_"
        async with store.transaction() as tx:
            await tx.execute(text.replace("hanbeon.", prefix))


def job(name: str, forward: str = "do", backward: str = "undo", **fields: Any) -> dict[str, Any]:
    return {"forward_operation": forward, "backward_operation": backward, "arguments": {"name": name}, **fields}


def ran(chain: Chain) -> list[tuple[str, str, str]]:
    """The operations of the last run, in order: the name, direction and state of each."""
    assert isinstance(chain.queue_return, list)
    names = {each.job_id: each.arguments["name"] for each in chain.jobs}
    return [(names[each.job_id], each.direction.value, each.state) for each in chain.queue_return]
