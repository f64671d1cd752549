"""Refusals of schedules and workflows in Korean: every phrase of the modules that refuse has an example here.

A phrase that is new or changed has none, and its example is refused until the page knows its form.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from hanbeon import App, messages, zones
from hanbeon.domain import templates
from hanbeon.domain.masks import MASK
from hanbeon.domain.templates import TemplateError
from hanbeon.domain.timing import checks, cron, fields, recurrence
from hanbeon.domain.timing.fire_times import Timing
from hanbeon.errors import InvalidInput
from hanbeon.messages import Messenger
from hanbeon.outbound import messages as apprise_border
from hanbeon.outbound import origin, secrets, targets
from hanbeon.outbound.secrets import Secrets, SecretSource
from hanbeon.settings import Settings
from hanbeon.surfaces import moment, service
from hanbeon.surfaces.schedules import definitions
from hanbeon.surfaces.validation import given_fields, validate
from hanbeon.surfaces.workflows import checks as workflow_checks
from hanbeon.surfaces.workflows import plan, schemas, times, variables
from hanbeon.surfaces.workflows.definition import Definition, Recurrence
from hanbeon.surfaces.workflows.literals import Frequency
from tests.dashboard.korean import korean, refused

# The modules whose phrases refuse schedules and workflows; of some, only these functions.
_MODULES: dict[ModuleType, set[str] | None] = {
    **dict.fromkeys((cron, fields, checks, recurrence, moment, zones, workflow_checks, times, plan, templates, origin)),
    definitions: {"_jitter"},
    variables: {"check_given"},
    messages: {"check_target"},
    apprise_border: {"check_url"},
    targets: {"check_scheme", "check_parameters"},
    secrets: {"check_name"},
    service: {"_known_task"},
}
# A noun for errors of another module, and what only a value can be refused for that JSON does not have.
_NOT_REFUSALS = ("the workflow", "must be text, ", "must have text, numbers, lists or mappings as values")
_PROSE = re.compile(r"[a-z]{2,}[,;]? [a-z(]|^[a-z]+ $")
_ENGLISH = re.compile(r"\b(?:must|got|the|an?|for|use|write|did|is|of|and|or|it|with|that|be)\b")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_ZONE = ZoneInfo("Asia/Seoul")
_NOW, _HOUR = 1_800_000_000_000_000, 3_600_000_000
_MAIL = {"type": "message", "name": "tell", "target": "mailto://u:p@example.org", "body": "x"}
_CALL = {"type": "http", "name": "call", "url": "https://example.org/hook"}
_CRONS = (
    *("", "* * * *", "0 0 9 * * MON 2030", "x" * 501, "0 9 * * 월", " | ".join(["0 9 * * *"] * 9), "0 9 30 2 *"),
    *("@every 5m", "@reboot", "@often"),
    *("0,, * * * *", "0 9 ?,1 * *", "*/0.5 * * * * *", "*/x * * * *", "*/0 * * * *", "0 9 L/2 * *", "*/90 * * * *"),
    *("0 9 1#2 * *", "0 9 * * FRIL", "0 L * * *", "0 9 * * MON-FRI#2", "0 9 * * FRI#6", "0 17-9 * * *"),
    *("60 * * * *", "0 9 * * MOM", "0 9 * XYZW *", "0 x * * *", "0 9- * * *", "0 25 * * *", "0 9 32 * *", "0 9 * 13 *"),
    *("61 * * * * *", "0 9 * * 8"),
)


def _phrases(module: ModuleType, functions: set[str] | None) -> Iterator[str]:
    """The texts of a module in English, as patterns with anything in place of their values."""
    tree = ast.parse(inspect.getsource(module))
    roots: list[ast.AST] = [tree]
    if functions is not None:
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        roots = [each for each in ast.walk(tree) if isinstance(each, kinds) and each.name in functions]
        assert {each.name for each in roots if isinstance(each, kinds)} == functions
    skipped = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    # The feature that an extra is for: no value that a client sends leads there.
    extras = [each for each in ast.walk(tree) if isinstance(each, ast.Call) and ast.unparse(each.func) == "extra"]
    skipped |= {id(argument) for each in extras for argument in each.args}
    for root in roots:
        for node in ast.walk(root):
            if id(node) in skipped:
                continue
            if isinstance(node, ast.JoinedStr):
                skipped |= {id(part) for part in ast.walk(node)}
                parts = [each.value if isinstance(each, ast.Constant) else None for each in node.values]
            else:
                parts = [node.value] if isinstance(node, ast.Constant) else []
            words = "".join(each for each in parts if isinstance(each, str))
            if _PROSE.search(words) and not words.startswith(_NOT_REFUSALS):
                yield "".join(".*" if each is None else re.escape(str(each)) for each in parts)


def _messenger() -> Messenger:
    return Messenger(Settings(), Secrets({"chat": SecretSource(env="CHAT")}))


def _workflow(*steps: Any, before: Definition | None = None, **given: Any) -> Definition:
    whole = {"name": "w", "steps": list(steps or [_MAIL]), "schedule_config": {"mode": "immediate"}, **given}
    valid = given_fields(validate(schemas.NewWorkflow, whole))
    definition = plan.definition_of(valid, _messenger(), _ZONE, before)
    plan.check_not_past(plan.config_of(valid["schedule_config"], _ZONE), _NOW, _ZONE)
    return definition


def _recurring(**fields: Any) -> Callable[[], object]:
    return partial(_workflow, schedule_config={"mode": "recurring", "recurrence": {"time": "09:00", **fields}})


def _timing(**given: Any) -> Callable[[], object]:
    return partial(checks.check_timing, Timing(timezone="Asia/Seoul", **given), _NOW)


def _template(action: Callable[..., object], *args: Any) -> None:
    try:
        action(*args)
    except TemplateError as error:
        raise InvalidInput(str(error), field="steps[0].body") from None


def _url(url: str) -> Callable[[], object]:
    return partial(_workflow, {**_CALL, "url": url})


def _target(target: Any) -> Callable[[], object]:
    return partial(_messenger().check_target, target, "target")


def _refusals() -> Iterator[Callable[[], object]]:
    yield from (partial(cron.parse, text) for text in _CRONS)
    yield from (partial(zones.zone_of, name) for name in ("UTC+9", "nowhere at all", "Asia/Soul"))
    yield from (_timing(cron="0 9 * * *", jitter_us=-1), _timing(cron="0 9 * * *", run_at=_NOW + _HOUR), _timing())
    yield from (_timing(run_at=_NOW), _timing(run_at=_NOW + _HOUR, gap="skip"), _timing(run_at=-(10**17)))
    yield _timing(cron="0 9 * * *", starts_at=_NOW + _HOUR, ends_at=_NOW)
    yield _timing(cron="0 9 29 2 *", ends_at=_NOW + _HOUR)
    yield _timing(cron="0 9 * * *", starts_at=253_402_300_799_000_000 - 9 * _HOUR)
    yield _timing(run_at=_NOW + _HOUR, starts_at=_NOW + 2 * _HOUR)
    yield partial(definitions._jitter, 90_000)
    yield partial(moment.instant_of, "soon", "until", _ZONE)
    yield partial(moment.instant_of, "2027-01-31T09:00:00+09:00:30", "until", _ZONE)
    # Times of workflows.
    yield from (_recurring(frequency="weekly"), _recurring(frequency="weekly", weekdays=["DAY"]))
    yield from (_recurring(frequency="daily", day=1), _recurring(frequency="daily", weekdays=["MON"]))
    yield _recurring(frequency="monthly")
    yield partial(times.cron_of, Recurrence(frequency=Frequency.MONTHLY, time="09:00", day=32))
    yield _recurring(frequency="daily", time="25:00")
    yield from (partial(_workflow, schedule_config=each) for each in ({"mode": "delayed"}, _past(), _superfluous()))
    # Steps.
    yield from (partial(_workflow, _MAIL, _MAIL), partial(_workflow, variables={"run": 1}))
    yield partial(_workflow, {**_MAIL, "body": "{{ steps.tell }}"})
    yield from (partial(_workflow, {**_MAIL, "seconds": 5}), partial(_workflow, {**_MAIL, "body": 5}))
    yield partial(_workflow, {**_MAIL, "body": "x" * (schemas.TEXT_MOST + 1)})
    yield partial(_workflow, {"type": "message", "body": "x"})
    yield partial(_workflow, {"type": "message", "body": "x", "recipients": [{"name": "Ada"}]})
    yield partial(_workflow, {"type": "message", "body": "x", "recipients": [{"target": 5}]})
    yield partial(_workflow, {**_MAIL, "target": f"json://{MASK}"})
    yield from (partial(_workflow, {"type": "http"}), partial(_workflow, {**_CALL, "headers": {"Cookie": MASK}}))
    yield partial(_workflow, {**_CALL, "headers": {"A B": "x"}})
    yield from (partial(_workflow, {"type": "wait"}), partial(_workflow, {"type": "wait", "seconds": 1, "minutes": 1}))
    yield partial(_workflow, {"type": "task"})
    for given in ({"whom": "x"}, {"zzz": "x"}):
        yield partial(variables.check_given, _workflow(variables={"who": "Ada"}), given)
    yield partial(variables.check_given, _workflow(), {"who": "x"})
    # Texts with variables.
    for text in ("{% if %}", "{# note #}", "{{ a | upper }}", "{{ " + "a" * 201 + " }}", "a\n{{ whom }}", "{{ zzz }}"):
        yield partial(_template, templates.check, text, ["who"])
    yield partial(_template, templates.check, "{{ zzz }}", [])
    yield partial(_template, templates.render, "{{ a }}", {})
    yield partial(_template, templates.render, "x" * (templates.RENDERED_MOST + 1), {})
    # Targets and addresses.
    yield from map(_target, (5, "x" * 10_000, "chatt", "zzz", f"json://{MASK}", "json://{{ secrets.none }}"))
    yield from map(_target, ("file:///etc", "json://", "mailto://u:p@example.org?to=nobody", "json://h?verify=file:x"))
    yield _target("mailto://u:p@example.org?template=x")
    yield from map(_url, ("example.org", "https://{{ x }}.org", "https://u:p@example.org", "https://example.org/a b"))
    yield from map(
        _url, ("https://[::g]/", "https://[1::2::3]/", "https://a:b:c/", "https://한글 .org/", "https://a:0/")
    )
    yield from map(_url, ("https://a!/", "https://\u2488com/"))


def _past() -> dict[str, Any]:
    return {"mode": "scheduled", "scheduled_time": "2020-01-01T00:00:00Z"}


def _superfluous() -> dict[str, Any]:
    return {"mode": "immediate", "delay_minutes": 5}


async def _unknown_tasks(url: str) -> list[InvalidInput]:
    found: list[InvalidInput] = []
    async with App(url) as app:
        app.task(name="report")(_noop)
        for name in ("reprot", "zzz"):
            steps = [{"type": "task", "task_id": name}]
            with pytest.raises(InvalidInput) as caught:
                await app.workflows.create(name="w", steps=steps, schedule_config={"mode": "immediate"})
            found.append(caught.value)
    return found


async def _noop() -> None:
    return None


@pytest.fixture
async def refusals(sqlite_url: str) -> list[InvalidInput]:
    return [*(refused(each) for each in _refusals()), *(await _unknown_tasks(sqlite_url))]


async def test_each_phrase_of_a_refusal_has_an_example(refusals: list[InvalidInput]) -> None:
    said = "\n".join(map(str, refusals))
    phrases = {phrase for module, functions in _MODULES.items() for phrase in _phrases(module, functions)}
    assert len(phrases) > 90
    assert [phrase for phrase in sorted(phrases) if not re.search(phrase, said)] == []


async def test_page_has_each_refusal_in_korean(refusals: list[InvalidInput]) -> None:
    shown = dict(zip(map(str, refusals), korean(refusals), strict=True))
    assert [detail for detail, text in shown.items() if text is None] == []
    # Values stay.
    words = {text: _QUOTED.sub("", str(text)) for text in shown.values()}
    assert [text for text, bare in words.items() if _ENGLISH.search(bare) or "undefined" in bare] == []
