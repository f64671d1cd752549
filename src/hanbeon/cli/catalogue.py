"""The commands there are, and the front page that lists them: known without importing any of them, nor typer.

Each lives in the module of its name, as a function or a group of that name. What is said of it here is the first
sentence of its help.
"""

from __future__ import annotations

TITLE = "A durable job scheduler on SQLite or PostgreSQL."

COMMANDS: dict[str, dict[str, str]] = {
    "To begin with": {
        "init": "Write a starter App, or a starter hanbeon.toml, and say what to do next.",
        "demo": "Watch a worker run a graph of jobs: limits, retries, a timeout.",
        "tasks": "List the tasks of an App or of hanbeon.toml: where each runs, its queue and its options.",
    },
    "Jobs": {
        "enqueue": "Make a job of a task and print its id.",
        "jobs": "List jobs, the newest first.",
        "job": "Show everything about a job: its record, its attempts, what it waits for.",
        "explain": "Say why a job is not running, or why it failed: dependencies, time, queue, slots, workers, error.",
        "cancel": "Cancel jobs by id, or all unfinished ones that a filter matches.",
        "retry": "Try failed or cancelled jobs again, with all their retries.",
        "priority": "Move unfinished jobs within their queue, by priority or by urgency.",
    },
    "Schedules": {
        "schedule": "Run tasks by themselves: make schedules, change, pause and preview them, see their fires.",
        "run": "Run a task by hand, now, and print the execution's id.",
        "executions": "List what schedules and people have run, the newest first.",
    },
    "Queues": {
        "queues": "Show every queue: its jobs by state, its limits, and how long jobs wait and run.",
        "pause": "Start nothing more of a queue, on any worker.",
        "resume": "Let a paused queue go on.",
        "limit": "Change how much of a queue runs at once, on all workers together.",
    },
    "Offices": {
        "office": "Make offices and look after them: their jobs, config, statistics and events.",
    },
    "Servers and workers": {
        "serve": "Serve the HTTP API and run the jobs of an App until SIGTERM or Ctrl-C; a second one hurries.",
        "token": "Make, list and revoke the tokens that a server asks for.",
        "worker": "Run the jobs of an App until SIGTERM or Ctrl-C; a second one hands back what still runs.",
        "tick": "Do once what a worker does all the time, within a time budget, and say what was done.",
        "instances": "Show who works, or worked lately, on the database: host, process, load, tasks.",
        "top": "Watch a database: queues, slots, running jobs with their progress and age, throughput.",
        "events": "Print what happened, in the order of commits.",
    },
    "The database": {
        "migrate": "Bring the database's schema up to date.",
        "config": "Show the settings, and whether they work.",
        "prune": "Delete what is old: ended jobs, attempts, logs, events, fires, instances and queues that are gone.",
        "verify": "Audit a database: every move legal, no claim doubled, no event missing.",
    },
}
OPTIONS = {
    "--version": "Show the version and exit.",
    "--install-completion": "Install completion for the current shell.",
    "--show-completion": "Show completion for the current shell, to copy it or customize the installation.",
    "-h, --help": "Show this message and exit.",
}
NAMES = tuple(name for section in COMMANDS.values() for name in section)


def front_page() -> str:
    """What `hanbeon --help` prints."""
    width = max(len(name) for name in NAMES)
    lines = ["Usage: hanbeon [OPTIONS] COMMAND [ARGS]...", "", f"  {TITLE}"]
    for section, commands in COMMANDS.items():
        lines += ["", f"{section}:", *(f"  {name:<{width}}  {what}" for name, what in commands.items())]
    wide = max(len(name) for name in OPTIONS)
    lines += ["", "Options:", *(f"  {name:<{wide}}  {what}" for name, what in OPTIONS.items())]
    return "\n".join([*lines, "", "hanbeon COMMAND --help explains a command."])
