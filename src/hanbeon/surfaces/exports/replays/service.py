"""`app.replays`: uploaded recordings, each of one user."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterable, AsyncIterator
from pathlib import Path
from typing import Unpack

from hanbeon.cleanup import to_the_end
from hanbeon.clock import MICROS
from hanbeon.errors import HanbeonError, Kind
from hanbeon.ids import new_id
from hanbeon.store.tx import Tx
from hanbeon.surfaces.exports.errors import ReplayTooLarge
from hanbeon.surfaces.exports.paths import made, replay_root
from hanbeon.surfaces.exports.replays import keywords, schemas
from hanbeon.surfaces.exports.replays import rows as replays
from hanbeon.surfaces.exports.replays.rows import NewReplay, ReplayRecord, replay_number
from hanbeon.surfaces.exports.replays.unwanted_files import (
    UnwantedFile,
    add_unwanted,
    delete_now,
    delete_unwanted,
    forget_unwanted,
)
from hanbeon.surfaces.exports.replays.upload import Fate, Upload
from hanbeon.surfaces.numbers import NUMBERED_PAGE_SIZE
from hanbeon.surfaces.service import LOCAL, NewId, Service, random_id
from hanbeon.surfaces.validation import given_fields, validate

_UPLOAD_US = 24 * 3_600 * MICROS
"""How long an upload may take before its file is taken for abandoned."""
_STEP_BYTES = 1 << 24
"""Reserved at a time for a file of unknown size."""
_NAME_MOST = 200
_READ_BYTES = 1 << 18
_REFUSALS = (Kind.INVALID, Kind.NOT_FOUND, Kind.CONFLICT)

AnyReplay = schemas.Replay | int | str
"""A replay, or its number."""


class Replays(Service):
    """Replays of one App. The App must be open. `by` is the user whose they are."""

    @contextlib.asynccontextmanager
    async def receive(
        self, parts: AsyncIterable[bytes], *, name: str, by: str = LOCAL, size: int = 0
    ) -> AsyncIterator[Upload]:
        """Receive a file. It is deleted at the end, unless it has become a replay. `size`: what is expected, if known;
        it may be a little larger.

        Its row is written before the file, so that a process that dies in between leaves none behind, and reserves the
        space that the file takes: files that arrive together exceed the quota as little as one after the other.
        """
        settings, root = self._app.settings, made(replay_root(self._app.settings))
        quota, most = settings.replay_quota_bytes, settings.max_replay_bytes
        step = 0 if size else _STEP_BYTES
        if size > most:
            raise ReplayTooLarge(most)
        file = f"{new_id()}.jsonl"
        unwanted = UnwantedFile(str(root), file, delay_us=_UPLOAD_US)

        async def begin(tx: Tx) -> tuple[int, int]:
            (number,) = await add_unwanted(tx, [unwanted])
            return number, await replays.reserve_space(tx, number, by, size, min(size + step, most), quota)

        number, granted = await self._write(begin)

        async def reserve(needed: int) -> int:
            if needed > most:
                raise ReplayTooLarge(most)
            wanted = min(needed + step, most)
            return await self._write(lambda tx: replays.reserve_space(tx, number, by, needed, wanted, quota))

        upload = Upload(root, file, _stored_name(name), number)
        try:
            await upload.write(parts, granted, reserve)
            yield upload
        finally:
            if upload.fate is Fate.UNWANTED:
                delete_now(root, file)
                with contextlib.suppress(HanbeonError):
                    await to_the_end(self._write(lambda tx: forget_unwanted(tx, [number])))

    async def create(self, upload: Upload, *, by: str = LOCAL, new_id: NewId = random_id) -> schemas.Replay:
        """Make a received file a replay. A repeated request gets the first one."""
        assert upload.facts is not None, "the upload is complete"
        new = NewReplay(
            uid=new_id(0),
            owner=by,
            name=upload.name,
            title=upload.facts.title,
            root=str(upload.root),
            file=upload.file,
            bytes=upload.bytes,
            checksum=upload.checksum,
            duration_ms=upload.facts.duration_ms,
            unwanted=upload.number,
        )
        upload.fate = Fate.UNKNOWN
        try:
            found = await self._write(lambda tx: replays.add_replay(tx, new, self._app.settings.replay_quota_bytes))
        except HanbeonError as error:
            if error.kind in _REFUSALS:
                upload.fate = Fate.UNWANTED
            raise
        upload.fate = Fate.OWNED if found.file == upload.file else Fate.UNWANTED
        return self._view(found)

    async def upload(self, path: str | Path, *, by: str = LOCAL, new_id: NewId = random_id) -> schemas.Replay:
        """Upload a file of this machine."""
        source = Path(path)
        size = (await asyncio.to_thread(source.stat)).st_size
        async with self.receive(_parts(source), name=source.name, by=by, size=size) as upload:
            return await self.create(upload, by=by, new_id=new_id)

    async def list(self, *, by: str = LOCAL, **query: Unpack[keywords.ReplayQueryFields]) -> schemas.ReplayPage:
        """A page of the user's replays, newest first."""
        filter = given_fields(validate(schemas.ReplayQuery, query))
        page, size = filter.get("page", 0), filter.get("size", NUMBERED_PAGE_SIZE)
        found, total = await self._read(lambda tx: replays.replays_of(tx, by, size, page * size))
        return schemas.ReplayPage(items=[self._view(each) for each in found], page=page, size=size, total=total)

    async def get(self, replay: AnyReplay, *, by: str = LOCAL) -> schemas.Replay:
        """The replay, if it is this user's."""
        number = replay_number(replay)
        return self._view(await self._read(lambda tx: replays.replay_of(tx, by, number)))

    async def delete(self, replay: AnyReplay, *, by: str = LOCAL) -> None:
        """Delete a replay of which no export is unfinished, with its file. Its exports stay."""
        number = replay_number(replay)
        await self._write(lambda tx: replays.delete_replay(tx, by, number))
        with contextlib.suppress(HanbeonError):  # The row says what is to be deleted; retention does it if this fails.
            await self._write(delete_unwanted)

    def _view(self, record: ReplayRecord) -> schemas.Replay:
        return schemas.Replay(
            replay_id=record.id,
            name=record.name,
            title=record.title,
            bytes=record.bytes,
            checksum=record.checksum,
            duration_ms=record.duration_ms,
            created_at=self._iso(record.created_at) or "",
        )


def _stored_name(name: str) -> str:
    """The name of an uploaded file, without folders, as it is shown; no file gets it."""
    last = name.replace("\\", "/").rpartition("/")[2]
    return "".join(each for each in last if each.isprintable())[:_NAME_MOST] or "replay.jsonl"


async def _parts(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while data := file.read(_READ_BYTES):
            yield data
