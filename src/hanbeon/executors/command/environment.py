"""The input of a command: its command line, environment and stdin, filled in for one attempt."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from hanbeon.domain.job import Claimed
from hanbeon.domain.trace_context import current_trace
from hanbeon.tasks.command import Command
from hanbeon.tasks.template import ARGS, JOB, as_text
from hanbeon.tasks.template_vars import template_vars

# The kernel limits a variable to 128 KiB. Longer values are still on stdin.
_LONGEST = 96 * 1024
_NO_NAME = re.compile(r"[^A-Za-z0-9]")
PROTOCOL_DESCRIPTOR = 3


def command_line(command: Command, job: Claimed, arguments: Mapping[str, Any]) -> list[str]:
    values = {ARGS: arguments, JOB: template_vars(job)}
    return [part.fill(values) for part in command.argv]


def as_json(arguments: Mapping[str, Any]) -> str:
    """All arguments, those that have their defaults included: stdin and environment agree."""
    return msgspec.json.encode(arguments).decode()


def environment(command: Command, job: Claimed, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables passed on from the worker, those the task sets, and the facts of the job."""
    found = {name: os.environ[name] for name in command.pass_env if name in os.environ}
    found |= command.env
    of_job = {
        f"HANBEON_{'JOB_ID' if name == 'id' else name.upper()}": value for name, value in template_vars(job).items()
    }
    of_job |= {f"HANBEON_ARG_{_NO_NAME.sub('_', name).upper()}": value for name, value in arguments.items()}
    of_job |= {"HANBEON_ARGS": as_json(arguments), "HANBEON_IDEMPOTENCY_KEY": job.id, "HANBEON_FD": PROTOCOL_DESCRIPTOR}
    if (trace := current_trace()) is not None:
        # Names that other tools look for.
        of_job |= {name.upper(): value for name, value in trace.headers.items()}
    for name, value in of_job.items():
        text = as_text(value)
        if len(text.encode(errors="replace")) <= _LONGEST and "\x00" not in text:
            found[name] = text
    return found
