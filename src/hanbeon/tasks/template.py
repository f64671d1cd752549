"""Text with placeholders for a job's arguments and facts: `{args.target}`, `{job.id}`. No shell ever reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hanbeon.domain.job import Claimed, session_id
from hanbeon.errors import InvalidInput
from hanbeon.quotation import nearest, quoted
from hanbeon.rule import Rule

ARGS, JOB = "args", "job"
JOB_FACTS = ("id", "task", "queue", "role", "attempt", "fence", "retry_count", "session_id", "comment")
# {{a.b}} stands for the text {a.b}. All other braces are themselves, as in awk's '{print $1}', JSON or '{{.Names}}'.
_PART = re.compile(r"\{(\{\w+(?:\.[\w-]+)*\})\}|\{(\w+(?:\.[\w-]+)*)\}")


class Placeholder(NamedTuple):
    """Where a value goes: which of `args` and `job`, and its name there."""

    root: str
    name: str


class Template:
    """A text that is checked once and filled in for every job."""

    def __init__(self, text: str, field: str) -> None:
        if not isinstance(text, str):
            raise InvalidInput(Rule("must_be", what=Rule("text"), got=quoted(text)), field=field)
        if "\x00" in text:
            raise InvalidInput(Rule("no_nul_text"), field=field)
        self.text = text
        self._parts: list[str | Placeholder] = []
        last = 0
        for match in _PART.finditer(text):
            self._parts.append(text[last : match.start()])
            literal, name = match.groups()
            self._parts.append(literal if name is None else _place(name, field))
            last = match.end()
        self._parts.append(text[last:])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Template) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def arguments(self) -> list[str]:
        """The arguments that it uses, in its order."""
        return [part.name for part in self._parts if isinstance(part, Placeholder) and part.root == ARGS]

    @property
    def is_constant(self) -> bool:
        return not any(isinstance(part, Placeholder) for part in self._parts)

    def fill(self, values: Mapping[str, Mapping[str, Any]], quote: Callable[[str], str] = str) -> str:
        """The text for one job; `quote` is applied to what is filled in."""
        return "".join(
            part if isinstance(part, str) else quote(as_text(values[part.root][part.name])) for part in self._parts
        )


def as_text(value: Any) -> str:
    """A value as a program expects it on its command line: text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _place(name: str, field: str) -> Placeholder:
    root, dot, rest = name.partition(".")
    if root == ARGS and dot and "." not in rest:
        return Placeholder(ARGS, rest)
    if root == JOB and rest in JOB_FACTS:
        return Placeholder(JOB, rest)
    known = [f"{JOB}.{fact}" for fact in JOB_FACTS]
    near = next(iter(nearest(name, known)), None) if dot else f"{{{ARGS}.{name}}}"
    raise InvalidInput(Rule("unknown_placeholder", name=name, nearest=near), field=field)


def template_vars(job: Claimed) -> dict[str, Any]:
    """Return the values of `{job.…}`, and of `HANBEON_…` for a command."""
    return {
        "id": job.id,
        "task": job.task,
        "queue": job.queue,
        "role": job.role,
        "attempt": job.fence,
        "fence": job.fence,
        "retry_count": job.retry_count,
        "session_id": session_id(job.id, job.fence),
        "comment": job.comment or "",
    }
