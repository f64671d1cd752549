"""Dead letters of stream tasks, for operators."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Unpack

from hanbeon.engine.stream.deadletters import DeadLetter, DeadLetters
from hanbeon.engine.stream.wire import Wire
from hanbeon.store.operations.dispatches import statuses
from hanbeon.surfaces.engine import keywords, schemas
from hanbeon.surfaces.engine.jobs import EngineJobs
from hanbeon.surfaces.service import page
from hanbeon.surfaces.validation import or_default, validate


class EngineDeadLetters(EngineJobs):
    """Lists, puts back and drops messages that could not be used. Without Redis there are none."""

    async def deadletters(self, **fields: Unpack[keywords.DeadLetterQueryFields]) -> schemas.DeadLetterPage:
        """List the dead letters by stream, the newest first."""
        query = validate(schemas.DeadLetterQuery, fields)
        async with self._letters() as letters:
            found = await letters.page(query.limit + 1, or_default(query.cursor, None))
        items, next_cursor = page(found, query.limit, lambda letter: letter.id)
        return schemas.DeadLetterPage(items=[self._letter(each) for each in items], next_cursor=next_cursor)

    async def deadletter(self, letter_id: str) -> schemas.DeadLetter:
        """Return a dead letter."""
        async with self._letters() as letters:
            return self._letter(await letters.get(letter_id))

    async def republish_deadletter(self, letter_id: str) -> schemas.DeadLetter:
        """Put a message back into its stream, with its `jobId`; the letter is gone then."""
        async with self._letters() as letters:
            letter = await letters.republish(letter_id)
        await self._write(statuses)  # For the record of who did it.
        return self._letter(letter)

    async def drop_deadletter(self, letter_id: str) -> schemas.DeadLetter:
        """Delete a dead letter for good."""
        async with self._letters() as letters:
            letter = await letters.drop(letter_id)
        await self._write(statuses)
        return self._letter(letter)

    @contextlib.asynccontextmanager
    async def _letters(self) -> AsyncIterator[DeadLetters]:
        url = self._app.settings.redis_url
        if url is None:
            yield DeadLetters(None, [])
            return
        wire = Wire(url, "operator")
        try:
            yield DeadLetters(wire, [each.name for each in await self._read(statuses)])
        finally:
            await wire.close()

    def _letter(self, letter: DeadLetter) -> schemas.DeadLetter:
        return schemas.DeadLetter(
            id=letter.id,
            stream=letter.stream,
            entry=letter.entry,
            reason=letter.reason,
            payload=letter.payload,
            at=self._serializer.iso(letter.at),
        )
