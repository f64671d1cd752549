"""What a command gets: its command line, its environment and its stdin, filled in for one attempt."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from hanbeon.domain.job import Claimed
from hanbeon.tasks.command import Command
from hanbeon.tasks.template import ARGS, JOB, as_text
from hanbeon.tasks.template_vars import template_vars

# The kernel takes 128 KiB for one variable. What is longer is on stdin all the same.
_LONGEST = 96 * 1024
_NO_NAME = re.compile(r"[^A-Za-z0-9]")
SAID_DESCRIPTOR = 3


def command_line(command: Command, job: Claimed, arguments: Mapping[str, Any]) -> list[str]:
    values = {ARGS: arguments, JOB: template_vars(job)}
    return [part.fill(values) for part in command.argv]


def as_json(arguments: Mapping[str, Any]) -> str:
    """All arguments, those that have their defaults included: what the program reads is the same wherever it looks."""
    return msgspec.json.encode(arguments).decode()


def environment(command: Command, job: Claimed, arguments: Mapping[str, Any]) -> dict[str, str]:
    """What the task lets through of the worker's, what it sets, and what there is to know of the job."""
    found = {name: os.environ[name] for name in command.pass_env if name in os.environ}
    found |= command.env
    of_job = {
        f"HANBEON_{'JOB_ID' if name == 'id' else name.upper()}": value for name, value in template_vars(job).items()
    }
    of_job |= {f"HANBEON_ARG_{_NO_NAME.sub('_', name).upper()}": value for name, value in arguments.items()}
    of_job |= {"HANBEON_ARGS": as_json(arguments), "HANBEON_IDEMPOTENCY_KEY": job.id, "HANBEON_FD": SAID_DESCRIPTOR}
    for name, value in of_job.items():
        text = as_text(value)
        if len(text.encode(errors="replace")) <= _LONGEST and "\x00" not in text:
            found[name] = text
    return found
