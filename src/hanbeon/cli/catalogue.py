"""The list of commands and the front page, available without importing any command, or typer.

Each command of the engine is a function or a group of its name, in the module of that name or in the one that `MODULES`
has; those of surfaces are declared by them. Its text here is how its own help begins.
"""

from __future__ import annotations

from hanbeon.surfaces.registry import SURFACES

TITLE = "A durable job scheduler on SQLite or PostgreSQL."

_FIRST: dict[str, dict[str, str]] = {
    "Getting started": {
        "init": "Write a starter App or a starter hanbeon.toml, and print the next steps.",
        "demo": "Watch a worker run a graph of jobs with limits, retries and a timeout.",
        "tasks": "List the tasks of an App or of hanbeon.toml with their executor, queue and options.",
    },
    "Jobs": {
        "enqueue": "Enqueue a job and print its id.",
        "jobs": "List jobs, newest first.",
        "job": "Show a job: its record, its attempts and its dependencies.",
        "explain": "Explain why a job is not running, or why it failed.",
        "cancel": "Cancel jobs by id, or all unfinished jobs that match a filter.",
        "retry": "Retry failed or cancelled jobs, with their full number of retries.",
        "mark-done": "Mark failed or cancelled jobs as done, and say why; their dependents go on.",
        "priority": "Change the priority or urgency of unfinished jobs.",
    },
    "Queues": {
        "queues": "Show every queue: its jobs by state, its limits, and wait and run times.",
        "pause": "Pause queues on every worker.",
        "resume": "Resume paused queues.",
        "limit": "Change the concurrency limits of a queue, which hold across all workers.",
    },
}
_LAST: dict[str, dict[str, str]] = {
    "Servers and workers": {
        "serve": "Serve the HTTP API and run the jobs of an App until SIGTERM or Ctrl-C.",
        "token": "Create, list and revoke API tokens.",
        "deadletter": "List, show, republish and drop messages of stream workers that could not be used.",
        "worker": "Run the jobs of an App until SIGTERM or Ctrl-C.",
        "tick": "Do one round of a worker's work within a time budget, and report what was done.",
        "instances": "Show the instances that work, or lately worked, on the database: host, process, load, tasks.",
        "top": "Watch a database: queues, slots, running jobs with progress and age, throughput.",
        "events": "Print events in commit order.",
    },
    "Database": {
        "migrate": "Bring the database's schema up to date.",
        "config": "Show and check the settings.",
        "doctor": "Check an installation as it is now: settings, database, writes, wake-ups, clock, workers, and work "
        "that waits.",
        "secrets": "Check the secrets that hanbeon.toml declares.",
        "prune": "Delete old data: ended jobs, attempts, logs, events, fires, instances and orphaned queues.",
        "backup": "Copy a SQLite database while it is in use, or print the commands that back up PostgreSQL.",
        "restore": "Restore a SQLite database from a backup, or finish the restore of any database with --after.",
        "verify": "Audit a database: every transition legal, no job claimed twice, no event missing.",
    },
}
MODULES = {
    **dict.fromkeys(("cancel", "retry", "mark-done", "priority"), "job_control"),
    **dict.fromkeys(("pause", "resume", "limit"), "queue_control"),
    **dict.fromkeys(("serve", "tick"), "worker"),
    "demo": "demo.commands",
    "top": "top.commands",
    "explain": "job",
    "restore": "backup",
}
"""The modules, below this package, of the commands that are not in one of their own."""
OF_SURFACES = {command.name: command for surface in SURFACES for command in surface.commands}


def _sections() -> dict[str, dict[str, str]]:
    """Return the commands by section. A section that surfaces alone have stands between those of the engine."""
    titles = dict.fromkeys(
        [*_FIRST, *(each.section for each in OF_SURFACES.values() if each.section not in _LAST), *_LAST]
    )
    sections = {title: {**_FIRST.get(title, {}), **_LAST.get(title, {})} for title in titles}
    for each in OF_SURFACES.values():
        sections[each.section][each.name] = each.help
    return sections


COMMANDS = _sections()
OPTIONS = {
    "--version": "Show the version and exit.",
    "--install-completion": "Install completion for the current shell.",
    "--show-completion": "Show completion for the current shell, to copy it or customize the installation.",
    "-h, --help": "Show this message and exit.",
}
NAMES = tuple(name for section in COMMANDS.values() for name in section)


def front_page() -> str:
    """Return the output of `hanbeon --help`."""
    width = max(len(name) for name in NAMES)
    lines = ["Usage: hanbeon [OPTIONS] COMMAND [ARGS]...", "", f"  {TITLE}"]
    for section, commands in COMMANDS.items():
        lines += ["", f"{section}:", *(f"  {name:<{width}}  {text}" for name, text in commands.items())]
    wide = max(len(name) for name in OPTIONS)
    lines += ["", "Options:", *(f"  {name:<{wide}}  {text}" for name, text in OPTIONS.items())]
    return "\n".join([*lines, "", "hanbeon COMMAND --help explains a command."])
