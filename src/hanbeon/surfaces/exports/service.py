"""`app.exports`: renderings of replays, each of one user."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from hanbeon.clock import micros
from hanbeon.domain.event_cursor import Cursor, EventPosition
from hanbeon.domain.explain import waiting_for_worker
from hanbeon.domain.lifecycle import UNFINISHED, State
from hanbeon.events.broadcast import Broadcast
from hanbeon.events.follower import Delivered, Follower
from hanbeon.service.explain import explain_job
from hanbeon.store.operations.dispatches import waiting_in
from hanbeon.store.operations.events import event_bounds
from hanbeon.store.operations.queries import jobs_by_id, now_us
from hanbeon.store.tx import Tx
from hanbeon.surfaces.exports import keywords, schemas
from hanbeon.surfaces.exports import rows as exports
from hanbeon.surfaces.exports.errors import ExportNotFound, ResultGone, ResultNotReady
from hanbeon.surfaces.exports.events import present_progress, serializer
from hanbeon.surfaces.exports.jobs import EXTENSIONS, MEDIA_TYPES, QUEUE, JobType
from hanbeon.surfaces.exports.paths import Missing, export_root, open_below
from hanbeon.surfaces.exports.rendering.render_options import RenderOptions
from hanbeon.surfaces.exports.replays.rows import replay_number, replay_of
from hanbeon.surfaces.exports.rows import ExportRecord, NewExport
from hanbeon.surfaces.exports.serializers import export_view
from hanbeon.surfaces.exports.vocabulary import ExportStatus, states_of, status_of
from hanbeon.surfaces.job_view import explanation_view
from hanbeon.surfaces.numbers import NUMBERED_PAGE_SIZE, number_of
from hanbeon.surfaces.schema import Explanation
from hanbeon.surfaces.service import LOCAL, NewId, Service, may_exist, random_id
from hanbeon.surfaces.stored_file import StoredFile
from hanbeon.surfaces.validation import given_fields, validate

_PRESENT_MOST = 1_000

AnyReplay = Any
"""A replay, or its number."""
AnyExport = schemas.Export | schemas.ExportCreated | int | str
"""An export, or its number."""


class Exports(Service):
    """Exports of one App. The App must be open. `by` is the user whose they are."""

    async def export_mp4(
        self,
        replay: AnyReplay,
        *,
        by: str = LOCAL,
        new_id: NewId = random_id,
        **fields: Unpack[keywords.NewVideoFields],
    ) -> schemas.ExportCreated:
        """Export a replay to a video: `export_mp4(7, width=640, height=360)`."""
        options = given_fields(validate(schemas.NewVideo, fields))
        return await self._create(replay, JobType.MP4, options, by, new_id(0), may_exist(new_id))

    async def export_thumbnail(
        self,
        replay: AnyReplay,
        *,
        by: str = LOCAL,
        new_id: NewId = random_id,
        **fields: Unpack[keywords.NewThumbnailFields],
    ) -> schemas.ExportCreated:
        """Export a picture of a replay's liveliest moment."""
        options = given_fields(validate(schemas.NewThumbnail, fields))
        return await self._create(replay, JobType.THUMBNAIL, options, by, new_id(0), may_exist(new_id))

    async def list(self, *, by: str = LOCAL, **query: Unpack[keywords.ExportQueryFields]) -> schemas.ExportPage:
        """A page of the user's exports, newest first."""
        filter = given_fields(validate(schemas.ExportQuery, query))
        page, size = filter.get("page", 0), filter.get("size", NUMBERED_PAGE_SIZE)
        job_type, status = filter.get("job_type"), filter.get("status")
        types = tuple(JobType) if job_type is None else (job_type,)
        states = states_of(tuple(ExportStatus) if status is None else (status,))
        found, total = await self._read(lambda tx: exports.exports_of(tx, by, types, states, size, page * size))
        return schemas.ExportPage(items=[self._view(each) for each in found], page=page, size=size, total=total)

    async def get(self, export: AnyExport, *, by: str = LOCAL) -> schemas.Export:
        """The export, if it is this user's."""
        number = _id(export)

        async def read(tx: Tx) -> schemas.Export:
            record = await exports.export_of(tx, by, number)
            stream = None
            if record.state is State.READY:
                (job,) = await jobs_by_id(tx, [record.uid])
                stream = await waiting_in(tx, job)
            return export_view(record, self._zone, None if stream is None else waiting_for_worker(stream).text)

        return await self._read(read)

    async def cancel(self, export: AnyExport, *, by: str = LOCAL) -> schemas.CancelAnswer:
        """Cancel an export; `stopping` while its work is being stopped."""
        number, lanes = _id(export), self._store.lanes
        found = self._view(await self._write(lambda tx: exports.cancel_export(tx, lanes, by, number)))
        return schemas.CancelAnswer(job=found, stopping=found.is_unfinished)

    async def explain(self, export: AnyExport, *, by: str = LOCAL) -> Explanation:
        """Explain why an export does not run: which limit, which pause, which missing worker."""
        record = await self._record(export, by)
        return explanation_view(
            await explain_job(self._store, record.uid, self._alive_within_us), self._zone, status_of
        )

    async def result(self, export: AnyExport, *, by: str = LOCAL) -> StoredFile:
        """The open file of an export that has succeeded; close it."""
        record = await self._record(export, by)
        if record.state is not State.SUCCEEDED or record.result_uri is None:
            raise ResultNotReady(record.id, status_of(record.state))
        try:
            file = open_below(export_root(self._app.settings), record.result_uri)
        except Missing:
            raise ResultGone(record.id) from None
        return StoredFile(
            file=file,
            size=os.fstat(file.fileno()).st_size,
            name=f"replay-{record.replay_id}-{record.id}.{EXTENSIONS[record.job_type]}",
            media_type=MEDIA_TYPES[record.job_type],
            digest=record.result_checksum,
        )

    async def download(self, export: AnyExport, path: str | Path, *, by: str = LOCAL) -> Path:
        """Copy the file of an export to a path, at which there must be none."""
        found = await self.result(export, by=by)

        def copy() -> None:
            with found.file as source, Path(path).open("xb") as target:
                shutil.copyfileobj(source, target)

        await asyncio.to_thread(copy)
        return Path(path)

    async def following(
        self, broadcast: Broadcast, *, by: str = LOCAL, after: Cursor | None = None
    ) -> contextlib.AbstractContextManager[Follower]:
        """Subscribe to the events of a user's exports: after this one, or from now on with the present progress."""
        first: tuple[Delivered, ...] = ()
        if after is None:
            position, first = await self._read(lambda tx: self._present(tx, by))
        else:
            position = await self._feed.position(after)
        return broadcast.following(QUEUE, serializer(by, self._zone), position, by, first)

    async def _present(self, tx: Tx, by: str) -> tuple[EventPosition, tuple[Delivered, ...]]:
        """The last event and the progress of unfinished exports, from one view of the database."""
        last, now = (await event_bounds(tx)).last, await now_us(tx)
        found, _ = await exports.exports_of(tx, by, tuple(JobType), tuple(UNFINISHED), _PRESENT_MOST, 0)
        present = tuple(present_progress(each, last, now, self._zone) for each in reversed(found))
        return EventPosition(self._store.incarnation, last), present

    async def _create(
        self, replay: AnyReplay, job_type: JobType, options: Mapping[str, Any], by: str, uid: str, exists: bool
    ) -> schemas.ExportCreated:
        number, settings = replay_number(replay), self._app.settings
        if exists and (made := await self._read(lambda tx: exports.export_by_uid(tx, uid))) is not None:
            return schemas.ExportCreated(job_id=made.id)
        found = await self._read(lambda tx: replay_of(tx, by, number))
        chosen = RenderOptions(**options)
        chosen.part_of(found.duration_ms)
        new = NewExport(
            uid=uid,
            job_type=job_type,
            owner=by,
            replay_id=number,
            root=str(export_root(settings)),
            options={
                "width": chosen.width,
                "height": chosen.height,
                "fps": chosen.fps,
                "startMs": chosen.start_ms,
                "lengthMs": chosen.length_ms,
            },
            timeout_us=micros(settings.export_timeout),
            timezone=settings.timezone,
        )
        lanes = self._store.lanes
        return schemas.ExportCreated(job_id=(await self._write(lambda tx: exports.add_export(tx, lanes, new))).id)

    async def _record(self, export: AnyExport, by: str) -> ExportRecord:
        number = _id(export)
        return await self._read(lambda tx: exports.export_of(tx, by, number))

    def _view(self, record: ExportRecord) -> schemas.Export:
        return export_view(record, self._zone)


def _id(export: Any) -> int:
    number = export.job_id if isinstance(export, schemas.Export | schemas.ExportCreated) else number_of(export)
    if number is None:
        raise ExportNotFound(export)
    return number
