"""A workflow's fields, validated, as the definition that is stored; and the same without secrets, to be shown."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
from msgspec import UNSET

from hanbeon.clock import iso
from hanbeon.domain.actor import is_admin
from hanbeon.domain.json_text import to_json_text
from hanbeon.domain.masks import MASK
from hanbeon.domain.templates import TemplateError
from hanbeon.errors import InvalidInput
from hanbeon.messages import Messenger, shown_target
from hanbeon.outbound.origin import split_url
from hanbeon.rule import Rule
from hanbeon.surfaces.moment import instant_of
from hanbeon.surfaces.validation import given_fields, inside, or_default
from hanbeon.surfaces.workflows import schemas
from hanbeon.surfaces.workflows.checks import TARGET, check_definition, filled
from hanbeon.surfaces.workflows.definition import Definition, Recurrence, ScheduleConfig, Step
from hanbeon.surfaces.workflows.secret_use import check_secret_use
from hanbeon.surfaces.workflows.times import cron_of
from hanbeon.surfaces.workflows.vocabulary import Mode, StepType
from hanbeon.tasks.http_headers import check_not_of_connection

_SHARED = frozenset(("type", "name", "retries", "retry_delay", "timeout", "on_error"))
_FIELDS = {
    StepType.MESSAGE: frozenset((TARGET, "title", "body", "recipients")),
    StepType.HTTP: frozenset(("method", "url", "headers", "body")),
    StepType.WAIT: frozenset(("seconds", "minutes", "until")),
    StepType.TASK: frozenset(("task_id", "args")),
}
_OF_MODE = {Mode.DELAYED: "delay_minutes", Mode.SCHEDULED: "scheduled_time", Mode.RECURRING: "recurrence"}
_URL = "://"
_PROBE, _ADDRESS = "probe", "probe@example.org"
_SECRET_HEADERS = ("authorization", "cookie", "token", "key", "secret", "password")


def definition_of(
    fields: Mapping[str, Any], messenger: Messenger, zone: ZoneInfo, before: Definition | None
) -> Definition:
    """Make the definition from validated fields, on top of the one before; raises with the step and field."""
    known = {} if before is None else {name: getattr(before, name) for name in Definition.__struct_fields__}
    if "steps" in fields:
        known["steps"] = _steps(fields["steps"], messenger, zone, before)
    if "notifications" in fields:
        stored = () if before is None else before.notifications
        known["notifications"] = tuple(
            _target(text, f"notifications[{number}]", messenger, stored)
            for number, text in enumerate(fields["notifications"])
        )
    for name in ("name", "variables"):
        if name in fields:
            known[name] = fields[name]
    if before is None or fields.keys() & {"steps", "notifications"}:
        # Whatever else changes, it does not change what secrets are sent for, or where.
        known["trusted"] = is_admin()
    definition = Definition(**known)
    check_definition(definition, messenger.secrets.names)
    check_secret_use(definition, messenger)
    return definition


def _steps(
    given: Sequence[schemas.NewStep], messenger: Messenger, zone: ZoneInfo, before: Definition | None
) -> tuple[Step, ...]:
    stored = () if before is None else tuple(_targets(before))
    headers = {} if before is None else {(step.name, _place(step.url)): step.headers or {} for step in before.steps}
    steps = []
    for index, step in enumerate(given):
        with inside(f"steps[{index}]"):
            steps.append(_step(step, index, messenger, zone, stored, headers))
    return tuple(steps)


def _step(
    step: schemas.NewStep,
    index: int,
    messenger: Messenger,
    zone: ZoneInfo,
    stored: Sequence[str],
    headers: Mapping[tuple[str, str], Mapping[str, str]],
) -> Step:
    """`headers`: those of the steps before, by name and place."""
    given = given_fields(step)
    for name in given:
        if name not in _SHARED and name not in _FIELDS[step.type]:
            known = ", ".join(sorted(_FIELDS[step.type]))
            raise InvalidInput(Rule("not_of_this_step", type=step.type, known=known), field=name)
    name = given.get("name", f"step{index + 1}")
    values: dict[str, Any] = {key: given[key] for key in _SHARED & given.keys()} | {"type": step.type, "name": name}
    values |= {"own_retries": "retries" in given, "own_timeout": "timeout" in given}
    if step.type is StepType.MESSAGE:
        values |= _message(given, messenger, stored)
    elif step.type is StepType.HTTP:
        # A secret that is not shown must not be sent to another host than before.
        values |= _http(given, headers.get((name, _place(given.get("url"))), {}))
    else:
        values |= _wait(given, zone) if step.type is StepType.WAIT else _task(given)
    return Step(**values)


def _message(given: Mapping[str, Any], messenger: Messenger, stored: Sequence[str]) -> dict[str, Any]:
    body = given.get("body")
    if not isinstance(body, str):
        raise InvalidInput(Rule("message_body"), field="body")
    if len(body) > schemas.TEXT_MOST:
        raise InvalidInput(Rule("too_long", most=schemas.TEXT_MOST, got=len(body)), field="body")
    recipients = given.get("recipients")
    target = given.get(TARGET)
    if target is not None:
        target = _target(target, TARGET, messenger, stored)
    if recipients is not None:
        recipients = tuple(
            _recipient(each, number, target, messenger, stored) for number, each in enumerate(recipients)
        )
    elif target is None:
        raise InvalidInput(Rule("target_required"), field=TARGET)
    return {TARGET: target, "title": given.get("title"), "body": body, "recipients": recipients}


def _recipient(
    given: Mapping[str, Any], number: int, shared: str | None, messenger: Messenger, stored: Sequence[str]
) -> dict[str, Any]:
    place = f"recipients[{number}].{TARGET}"
    target = given.get(TARGET)
    if target is None and shared is None:
        raise InvalidInput(Rule("no_target_of_step"), field=place)
    if target is None:
        return {name: value for name, value in given.items() if name != TARGET}
    if not isinstance(target, str):
        raise InvalidInput(Rule("must_be", what=Rule("target_or_secret")), field=place)
    return {**given, TARGET: _target(target, place, messenger, stored)}


def _target(text: str, field: str, messenger: Messenger, stored: Sequence[str]) -> str:
    """Check a target. One that comes back masked, as it was shown, stays as it is."""
    if MASK in text:
        for each in stored:
            if shown_target(each) == text:
                return each
        raise InvalidInput(Rule("masked_part_changed", mask=MASK), field=field)
    # Whatever a run will insert, the rest must be a target: a word stands for it, or an address.
    try:
        probe, address = filled(text, _PROBE), filled(text, _ADDRESS)
    except TemplateError as error:
        raise InvalidInput(error.rule, field=field) from None
    try:
        messenger.check_target(probe, field)
    except InvalidInput:
        if probe == text:
            raise
        messenger.check_target(address, field)
    return text


def _http(given: Mapping[str, Any], before: Mapping[str, str]) -> dict[str, Any]:
    url = given.get("url")
    if url is None:
        raise InvalidInput(Rule("http_url_required"), field="url")
    # The host is fixed: a value that is inserted there could send the request anywhere.
    place = _place(url)
    if "{{" in place:
        raise InvalidInput(Rule("host_not_fixed"), field="url")
    split_url(f"{place}/" if "{{" in url else url, "url")
    headers = dict(given.get("headers") or {})
    for name, value in headers.items():
        check_not_of_connection(name, f"headers.{name[:40]}")
        if value == MASK:
            if name not in before:
                raise InvalidInput(
                    Rule("masked_header", mask=MASK),
                    field=f"headers.{name}",
                )
            headers[name] = before[name]
        if not name.isascii() or any(character in "\r\n: " for character in name) or "\n" in value or "\r" in value:
            raise InvalidInput(Rule("not_a_header_line"), field=f"headers.{name[:40]}")
    content = given.get("body")
    method = given.get("method", "POST" if content is not None else "GET")
    return {"url": url, "method": method, "headers": headers or None, "content": content}


def _place(url: str | None) -> str:
    """Scheme and host of a URL, with its port."""
    scheme, _, rest = (url or "").partition(_URL)
    return f"{scheme}{_URL}{rest.partition('/')[0].partition('?')[0]}".lower()


def _wait(given: Mapping[str, Any], zone: ZoneInfo) -> dict[str, Any]:
    chosen = [name for name in ("seconds", "minutes", "until") if name in given]
    if len(chosen) != 1:
        raise InvalidInput(Rule("one_wait", got=", ".join(chosen) or "none"), field="wait")
    if "until" in given:
        return {"until": instant_of(given["until"], "until", zone)}
    return {"seconds": given["seconds"] if "seconds" in given else given["minutes"] * 60}


def _task(given: Mapping[str, Any]) -> dict[str, Any]:
    if "task_id" not in given:
        raise InvalidInput(Rule("task_id_required"), field="task_id")
    return {"task_id": given["task_id"], "args": given.get("args") or {}}


# Times


def config_of(given: schemas.NewScheduleConfig, zone: ZoneInfo) -> ScheduleConfig:
    """Make the schedule from a validated request: exactly the fields of its mode."""
    with inside("schedule_config"):
        own = _OF_MODE.get(given.mode)
        for name in _OF_MODE.values():
            if name != own and getattr(given, name) is not UNSET:
                raise InvalidInput(Rule("not_for_mode", mode=given.mode), field=name)
        if own is not None and getattr(given, own) is UNSET:
            raise InvalidInput(Rule("required_for_mode", mode=given.mode), field=own)
        if given.mode is Mode.SCHEDULED:
            assert isinstance(given.scheduled_time, str)
            return ScheduleConfig(
                mode=given.mode, scheduled_at=instant_of(given.scheduled_time, "scheduled_time", zone)
            )
        if given.mode is Mode.DELAYED:
            assert isinstance(given.delay_minutes, int | float)
            return ScheduleConfig(mode=given.mode, delay_minutes=given.delay_minutes)
        if given.mode is Mode.RECURRING:
            assert isinstance(given.recurrence, schemas.NewRecurrence)
            return ScheduleConfig(mode=given.mode, recurrence=_recurrence(given.recurrence))
        return ScheduleConfig(mode=given.mode)


def _recurrence(given: schemas.NewRecurrence) -> Recurrence:
    recurrence = Recurrence(
        cron=or_default(given.cron, None),
        frequency=or_default(given.frequency, None),
        time=or_default(given.time, ""),
        weekdays=() if given.weekdays is UNSET else tuple(day.strip().upper()[:3] for day in given.weekdays),
        day=or_default(given.day, None),
    )
    with inside("recurrence"):
        for name in ("frequency", "time", "weekdays", "day"):
            is_given = getattr(given, name) is not UNSET
            if is_given and recurrence.cron is not None:
                raise InvalidInput(Rule("not_beside_cron"), field=name)
            if not is_given and recurrence.cron is None and name in ("frequency", "time"):
                raise InvalidInput(Rule("recurrence_required"), field=name)
        if given.weekdays is not UNSET:
            cron_of(msgspec.structs.replace(recurrence, weekdays=tuple(given.weekdays)))
        cron_of(recurrence)
    return recurrence


def check_not_past(config: ScheduleConfig, now: int, zone: ZoneInfo) -> None:
    if config.scheduled_at is not None and config.scheduled_at <= now:
        raise InvalidInput(
            Rule("scheduled_in_past", got=iso(config.scheduled_at, zone, "seconds")),
            field="schedule_config.scheduled_time",
        )


def config_view(config: ScheduleConfig, zone: dt.tzinfo) -> dict[str, Any]:
    """The schedule as it was given, its moment in the workflow's zone."""
    view: dict[str, Any] = {"mode": config.mode}
    if config.delay_minutes is not None:
        whole = float(config.delay_minutes).is_integer()
        view["delay_minutes"] = int(config.delay_minutes) if whole else config.delay_minutes
    if config.scheduled_at is not None:
        view["scheduled_time"] = iso(config.scheduled_at, zone, "milliseconds")
    if config.recurrence is not None:
        found = config.recurrence
        view["recurrence"] = (
            {"frequency": found.frequency, "time": found.time} if found.cron is None else {"cron": found.cron}
        )
        if found.weekdays:
            view["recurrence"]["weekdays"] = list(found.weekdays)
        if found.day is not None:
            view["recurrence"]["day"] = found.day
    return view


# Without secrets


def steps_view(definition: Definition, zone: dt.tzinfo) -> list[dict[str, Any]]:
    """The steps as they were given, without secrets, and with the defaults."""
    return [_step_view(step, zone) for step in definition.steps]


def _step_view(step: Step, zone: dt.tzinfo) -> dict[str, Any]:
    view: dict[str, Any] = {
        name: getattr(step, name) for name in ("type", "name", "retries", "retry_delay", "timeout", "on_error")
    }
    if step.type is StepType.MESSAGE:
        if step.target is not None:
            view[TARGET] = shown_target(step.target)
        if step.title is not None:
            view["title"] = step.title
        view["body"] = step.body
        if step.recipients is not None:
            view["recipients"] = [
                {name: shown_target(value) if name == TARGET else value for name, value in each.items()}
                for each in step.recipients
            ]
    elif step.type is StepType.HTTP:
        view |= {"method": step.method, "url": step.url}
        if step.headers:
            view["headers"] = {name: _shown_header(name, value) for name, value in step.headers.items()}
        if step.content is not None:
            view["body"] = step.content
    elif step.type is StepType.WAIT:
        view |= {"seconds": step.seconds} if step.until is None else {"until": iso(step.until, zone, "milliseconds")}
    else:
        view |= {"task_id": step.task_id, "args": step.args or {}}
    return view


def _shown_header(name: str, value: str) -> str:
    is_secret = any(word in name.lower() for word in _SECRET_HEADERS)
    return MASK if is_secret and "{{" not in value else value


def shown_text(definition: Definition, config: ScheduleConfig, zone: dt.tzinfo) -> str:
    """The whole workflow without secrets, as a run keeps it to be shown."""
    view = {
        "name": definition.name,
        "steps": steps_view(definition, zone),
        "variables": definition.variables,
        "schedule_config": config_view(config, zone),
        "notifications": [shown_target(target) for target in definition.notifications],
    }
    return to_json_text(view, "the workflow", "steps")


def _targets(definition: Definition) -> list[str]:
    found = [step.target for step in definition.steps if step.target is not None]
    found += [each[TARGET] for step in definition.steps for each in step.recipients or () if TARGET in each]
    return found
