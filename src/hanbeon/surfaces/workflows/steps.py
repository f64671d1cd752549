"""Handlers of each kind of step. Before one acts outside the database, the record says that it is about to."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from hanbeon.clock import MICROS, iso
from hanbeon.domain.derived_ids import derived_id
from hanbeon.domain.job import NewJob
from hanbeon.domain.json_text import to_json_text
from hanbeon.domain.lifecycle import UNFINISHED, State
from hanbeon.domain.retry import FailureType
from hanbeon.domain.templates import Budget, TemplateError, render
from hanbeon.errors import ExtraMissing, InvalidInput, SecretUnavailable
from hanbeon.extras import check_extra
from hanbeon.messages import Message, MessageFailed, Messenger
from hanbeon.outbound.targets import PROBE
from hanbeon.store.operations.tasks import find_tasks
from hanbeon.surfaces.workflows.checks import SECRETS, TARGET
from hanbeon.surfaces.workflows.definition import Step
from hanbeon.surfaces.workflows.run_body import RunState, RunStep, StepFailed, StepPutOff, unforeseen
from hanbeon.surfaces.workflows.secret_use import secret_outputs
from hanbeon.surfaces.workflows.step_rows import DeliveryRecord, PutOffUntil, StepRecord, step_job_end
from hanbeon.surfaces.workflows.variables import fill
from hanbeon.surfaces.workflows.vocabulary import STEP_QUEUE, DeliveryStatus, StepStatus, StepType

if TYPE_CHECKING:
    from hanbeon.executors.http.executor import HttpExecutor

_FIRST_LOOK_US, _LONGEST_LOOK_US = 1 * MICROS, 60 * MICROS
# Nothing in it separates anything. Some services check the form of a token, which a word in its place lacks.
_PLAIN = re.compile(r"[A-Za-z0-9_~-]*", re.ASCII)
_CANCELLED_CHILD = "the job of this step was cancelled"


class StepHandlers:
    """The handlers of one worker: its connections, its settings and its secrets."""

    def __init__(self, http: HttpExecutor, messenger: Messenger) -> None:
        self._http, self._messenger = http, messenger

    def by_type(self) -> dict[StepType, RunStep]:
        return {
            StepType.MESSAGE: self.message,
            StepType.HTTP: self.http,
            StepType.WAIT: wait,
            StepType.TASK: task,
        }

    async def message(self, state: RunState, step: Step, record: StepRecord) -> Any:
        """Send to each recipient that has not got it. One that was cut off is sent again, and its record says so."""
        recipients = step.recipients if step.recipients is not None else ({},)
        errors: list[tuple[int, MessageFailed]] = []
        before: tuple[DeliveryRecord, ...] = ()
        values = state.values()  # Once, and not for each of many recipients: a hundred steps may have outputs.
        for number, recipient in enumerate(recipients):
            last = state.deliveries.get((record.step_index, number))
            if last is not None and last.status is DeliveryStatus.SENT:
                continue
            # The end of one and the beginning of the next are one write.
            sending = await self._sending(state, record, number, last)
            await state.write(deliveries=(*before, sending))
            try:
                key = f"{state.run.run_id}:{record.step_index}:{number}"
                await self._send(step, recipient, values, key, trusted=state.definition.trusted)
            except MessageFailed as error:
                errors.append((number, error))
                before = (_moved(sending, DeliveryStatus.FAILED, await state.now(), str(error)),)
            else:
                before = (_moved(sending, DeliveryStatus.SENT, await state.now()),)
        if before:
            await state.write(deliveries=before)
        if errors:
            raise _not_sent(errors, len(recipients), several=step.recipients is not None)
        mine = [each for (index, _), each in state.deliveries.items() if index == record.step_index]
        return {"sent": len(mine), "unknown": sum(each.unknown for each in mine)}

    async def _sending(
        self, state: RunState, record: StepRecord, number: int, last: DeliveryRecord | None
    ) -> DeliveryRecord:
        cut_off = last is not None and last.status is DeliveryStatus.SENDING
        return DeliveryRecord(
            run_id=record.run_id,
            step_index=record.step_index,
            n=number,
            status=DeliveryStatus.SENDING,
            attempts=1 if last is None else last.attempts + 1,
            unknown=0 if last is None else last.unknown + cut_off,
            fence=state.fence,
            changed_at=await state.now(),
        )

    async def _send(
        self, step: Step, recipient: Mapping[str, Any], values: Mapping[str, Any], key: str, *, trusted: bool
    ) -> None:
        """Send it. Every error becomes a MessageFailed, so that the other recipients still get theirs."""
        try:
            message = rendered(step, recipient, values)
        except TemplateError as error:
            raise MessageFailed(str(error), permanent=True, failure_type=FailureType.INVALID) from None
        except Exception as error:
            # For good: nothing was sent, and the next attempt would render the same.
            raise MessageFailed(str(unforeseen(error, mask=self._mask)), permanent=True) from None
        try:
            await self._messenger.send(message, timeout=step.timeout, key=key, trusted=trusted)
        except MessageFailed:
            raise
        except SecretUnavailable as error:
            raise MessageFailed(str(error)) from None
        except Exception as error:
            raise MessageFailed(str(unforeseen(error, mask=self._mask))) from None

    def _mask(self, text: str) -> str:
        return self._messenger.secrets.mask(text)

    async def http(self, state: RunState, step: Step, record: StepRecord) -> Any:
        try:
            check_extra("http", "an HTTP step of a workflow", "httpcore2")
        except ExtraMissing as error:
            raise StepFailed(str(error)) from None
        from hanbeon.surfaces.workflows.http_step import call

        key = f"{state.run.run_id}:{record.step_index}"
        definition = state.definition
        return await call(
            self._http,
            step,
            state.values(),
            self._messenger.secrets,
            key,
            trusted=definition.trusted,
            # A server may echo what it was sent, in a form that no mask knows; an error is seen by all.
            quote_it=step.name not in secret_outputs(definition),
        )


def rendered(step: Step, recipient: Mapping[str, Any], values: Mapping[str, Any]) -> Message:
    """The message to one recipient. Its target keeps the names of secrets, which are filled in when it is sent."""
    own = {**values, **{name: value for name, value in recipient.items() if name != TARGET}}
    target = str(recipient.get(TARGET) or step.target)
    probe = None
    if "://" in target:
        template, target = target, _rendered_target(target, own)
        probe = _probe(template, own)
    budget = Budget()
    title, body = (str(fill(text or "", own, budget)) for text in (step.title, step.body))
    return Message(target=target, probe=probe, title=title, body=body)


def _rendered_target(target: str, values: Mapping[str, Any]) -> str:
    """Fill in all but secrets. What is inserted is quoted: it must not become another part of the URL."""
    return render(target, values, encode=lambda text: quote(text, safe="@"), kept=SECRETS)


def _probe(target: str, values: Mapping[str, Any]) -> str:
    """Fill in an address for each address and a different word for every other value that may hold several."""
    numbers = itertools.count()

    def probe(text: str) -> str:
        if _PLAIN.fullmatch(text):
            return text
        word = f"{PROBE}{next(numbers)}"
        return f"{word}@example.org" if "@" in text else word

    return render(target, values, encode=probe, kept=SECRETS)


def _moved(record: DeliveryRecord, status: DeliveryStatus, at: int, error: str | None = None) -> DeliveryRecord:
    return msgspec.structs.replace(record, status=status, changed_at=at, error_message=error)


def _not_sent(errors: list[tuple[int, MessageFailed]], of: int, *, several: bool) -> StepFailed:
    number, first = errors[0]
    message = f"{len(errors)} of {of} messages were not sent; recipient {number}: {first}" if several else str(first)
    code = FailureType.INVALID if all(error.failure_type == FailureType.INVALID for _, error in errors) else None
    return StepFailed(message, code=code or FailureType.ERROR, permanent=all(error.permanent for _, error in errors))


async def wait(state: RunState, step: Step, record: StepRecord) -> Any:
    """Put the run off until the wait is over; it holds no slot meanwhile."""
    now = await state.now()
    until = record.until
    if until is None:
        until = step.until if step.until is not None else record.started_at + round((step.seconds or 0) * MICROS)
    if now < until:
        waiting = msgspec.structs.replace(record, status=StepStatus.WAITING, until=until)
        await state.write(waiting, put_off=PutOffUntil(until))
        raise StepPutOff(until, f"step {step.name!r} waits")
    return {"until": iso(until, state.zone, "milliseconds")}


async def task(state: RunState, step: Step, record: StepRecord) -> Any:
    """Wait for the job of this step, which is created with the record that names it."""
    now = await state.now()
    if record.step_job is None:
        await _start_job(state, step, record, now)
    job_id = state.steps[record.step_index].step_job
    assert job_id is not None
    end = await state.read(lambda tx: step_job_end(tx, job_id))
    if end.state in UNFINISHED:
        # Its end brings the run forward; looking is for the moment in which both change at once.
        waited = now - state.steps[record.step_index].started_at
        look = now + min(_LONGEST_LOOK_US, max(_FIRST_LOOK_US, waited))
        await state.write(
            msgspec.structs.replace(state.steps[record.step_index], status=StepStatus.WAITING),
            put_off=PutOffUntil(look),
        )
        raise StepPutOff(look, f"step {step.name!r} waits for job {job_id}")
    if end.state is State.SUCCEEDED:
        return None if end.result is None else msgspec.json.decode(end.result)
    if end.state is State.CANCELLED or end.state is None:
        message = _CANCELLED_CHILD if end.state is not None else "the job of this step was pruned"
        raise StepFailed(message, code="cancelled", permanent=True)
    # The job had retries of its own.
    raise StepFailed(end.message or "the job failed", code=end.failure_type or FailureType.ERROR, permanent=True)


def _arguments(step: Step, values: Mapping[str, Any]) -> str:
    return to_json_text(fill(step.args or {}, values, Budget()), "an argument", "args")


async def _start_job(state: RunState, step: Step, record: StepRecord, now: int) -> None:
    assert step.task_id is not None
    name = step.task_id
    found = await state.read(lambda tx: find_tasks(tx, [name]))
    if not found:
        raise StepFailed(f"there is no task {name!r} any more; register it, or change the step", code="unknown_task")
    settings = found[0].settings
    policy = settings.policy
    if step.own_retries:
        policy = msgspec.structs.replace(policy, max_retries=step.retries)
    try:
        # In a thread: there may be very many texts.
        args = await asyncio.to_thread(_arguments, step, state.values())
    except InvalidInput as error:
        raise StepFailed(str(error), code=FailureType.INVALID, permanent=True) from None
    job = NewJob(
        id=derived_id(now, "workflow-step", record.run_id, record.step_index, record.attempts, state.fence),
        task=name,
        args=args,
        queue=STEP_QUEUE,
        role=settings.role,
        priority=settings.priority,
        timeout_us=round(step.timeout * MICROS) if step.own_timeout else settings.timeout_us,
        expires_us=settings.expires_us,
        policy=policy,
        work_item=state.run.run_id,
    )
    waiting = msgspec.structs.replace(record, status=StepStatus.WAITING, step_job=job.id)
    try:
        await state.start_job(waiting, job, PutOffUntil(now + _FIRST_LOOK_US))
    except InvalidInput as error:
        raise StepFailed(str(error), code=FailureType.INVALID, permanent=True) from None
