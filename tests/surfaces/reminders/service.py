"""`app.reminders`: texts that a task sends later."""

from __future__ import annotations

from typing import Any

import msgspec

from hanbeon.clock import micros
from hanbeon.domain.job import JobRecord, NewJob
from hanbeon.domain.lifecycle import PHASES
from hanbeon.store.operations.queries import Contents, JobFilter, jobs_by_id, queue_page
from hanbeon.surfaces.service import NewId, Service, random_id
from hanbeon.surfaces.validation import given_fields, validate
from tests.surfaces.reminders import schemas
from tests.surfaces.reminders.errors import ReminderNotFound
from tests.surfaces.reminders.vocabulary import STATUS

QUEUE = "reminders"
TASK = "remind"


class Reminders(Service):
    """A reminder is a job of the task `remind` in the queue `reminders`."""

    async def create(self, *, new_id: NewId = random_id, **fields: Any) -> schemas.Reminder:
        """Create a reminder."""
        new = given_fields(validate(schemas.NewReminder, fields))
        args = msgspec.json.encode({"text": new["text"]}).decode()
        # A type checker knows the settings of surfaces in the registry.
        settings: Any = self._app.settings
        delay = micros(new.get("delay", settings.reminder_delay))
        # `meta` marks a job that a surface made: those have an index by queue.
        job = NewJob(id=new_id(0), task=TASK, args=args, queue=QUEUE, delay_us=delay, meta="{}")
        await self._store.enqueue([job])
        return await self.get(job.id)

    async def get(self, reminder_id: str) -> schemas.Reminder:
        """One reminder."""
        for job in await self._read(lambda tx: jobs_by_id(tx, [reminder_id])):
            if job.queue == QUEUE:
                return self._reminder(job)
        raise ReminderNotFound(reminder_id)

    async def list(self, **query: Any) -> schemas.ReminderPage:
        """Reminders in the order of their creation."""
        given = given_fields(validate(schemas.ReminderQuery, query))
        size, after = given.get("limit", 100), int(given.get("cursor", 0))
        found = await self._read(lambda tx: queue_page(tx, JobFilter(queue=QUEUE), after, size, Contents.ALL))
        items = [self._reminder(each) for each in found.items]
        return schemas.ReminderPage(items=items, next_cursor=found.cursor(lambda job: job.seq))

    def _reminder(self, job: JobRecord) -> schemas.Reminder:
        return schemas.Reminder(
            id=job.id,
            text=msgspec.json.decode(job.args)["text"],
            status=STATUS[PHASES[job.state]],
            due_at=self._iso(job.run_at) or "",
        )
