"""The commands there are, and the front page that lists them: known without importing any of them, nor typer.

Each lives in the module of its name, as a function or a group of that name. What is said of it here is the first
sentence of its help.
"""

from __future__ import annotations

TITLE = "A durable job scheduler on SQLite or PostgreSQL."

COMMANDS: dict[str, dict[str, str]] = {
    "Jobs": {
        "jobs": "List jobs in the order in which they were made.",
        "job": "Show everything about a job: its record, its attempts, what it waits for.",
    },
    "Queues and workers": {
        "queues": "Show every queue: its jobs by state, its limits, and how long jobs wait and run.",
        "worker": "Run the jobs of an App until SIGTERM or Ctrl-C; a second one hands back what still runs.",
    },
    "The database": {
        "migrate": "Bring the database's schema up to date.",
        "verify": "Audit a database: every move legal, no claim doubled, no event missing.",
        "demo": "Watch a worker run a graph of jobs: limits, retries, a timeout.",
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
