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
from hanbeon.surfaces.validation import or_default, validate


class EngineDeadLetters(EngineJobs):
    """Lists, puts back and drops messages that could not be used. Without Redis there are none."""

    async def deadletters(self, **fields: Unpack[keywords.DeadLetterQueryFields]) -> schemas.DeadLetterPage:
        """List the dead letters by stream, the newest first."""
        query = validate(schemas.DeadLetterQuery, fields)
        async with self._letters() as letters:
            items, more = await letters.page(query.limit, or_default(query.cursor, None))
        next_cursor = items[-1].id if more else None
        return schemas.DeadLetterPage(items=[self._letter(each) for each in items], next_cursor=next_cursor)

    async def deadletter(self, letter_id: str) -> schemas.DeadLetter:
        """Return a dead letter."""
        async with self._letters() as letters:
            return self._letter(await letters.get(letter_id))

    async def republish_deadletter(self, letter_id: str) -> schemas.DeadLetter:
        """Put a message back into its stream, with its `jobId`; the letter is gone then."""
        async with self._letters() as letters:
            await self._record_move(letters, letter_id)
            return self._letter(await letters.republish(letter_id))

    async def drop_deadletter(self, letter_id: str) -> schemas.DeadLetter:
        """Delete a dead letter for good."""
        async with self._letters() as letters:
            await self._record_move(letters, letter_id)
            return self._letter(await letters.drop(letter_id))

    async def _record_move(self, letters: DeadLetters, letter_id: str) -> None:
        """Record who moves a letter that exists. First, because Redis has no part in the transaction.

        If it cannot be recorded, it is not done; if it then fails, the record has one action too many, not too few.
        """
        await letters.get(letter_id)
        await self._write(statuses)

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
        code, field = letter.cause
        return schemas.DeadLetter(
            id=letter.id,
            stream=letter.stream,
            entry=letter.entry,
            reason=letter.reason,
            code=code,
            field=field,
            payload=letter.payload,
            at=self._serializer.iso(letter.at),
        )
