"""Arguments and options shared by several commands."""

from __future__ import annotations

from typing import Annotated

import typer

from hanbeon.cli.completion import queue_names, task_names
from hanbeon.cli.location import AppName as AppName
from hanbeon.domain.lifecycle import State

Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URL",
        help="sqlite:///file or postgresql://…; by default $HANBEON_DATABASE_URL, or the one in hanbeon.toml.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
JsonLines = Annotated[bool, typer.Option("--json", help="Print one JSON document per line and nothing else.")]

TaskName = Annotated[
    str, typer.Argument(metavar="TASK", help="The task's name.", autocompletion=task_names, show_default=False)
]
Arguments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ARGUMENT",
        help="name=text, name:=JSON, one JSON object, or - to read that from stdin.",
        show_default=False,
    ),
]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until it ends, show its progress, and print its result.")]
Log = Annotated[bool, typer.Option("--log", help="With --wait: print its log to stderr.")]
Follow = Annotated[bool, typer.Option("--follow", "-f", help="Keep printing new events until Ctrl-C.")]

Cursor = Annotated[
    str | None,
    typer.Option("--cursor", metavar="TEXT", help="Resume where the previous page ended.", show_default=False),
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", help="The most entries to show.")]

JobId = Annotated[str, typer.Argument(metavar="ID", help="The job's id, or its first characters.", show_default=False)]
JobIds = Annotated[
    list[str], typer.Argument(metavar="ID", help="Ids of jobs, or their first characters.", show_default=False)
]
MaybeJobIds = Annotated[
    list[str] | None, typer.Argument(metavar="ID", help="Ids of jobs, or their first characters.", show_default=False)
]
Queues = Annotated[
    list[str], typer.Argument(metavar="QUEUE", help="Names of queues.", autocompletion=queue_names, show_default=False)
]
Create = Annotated[bool, typer.Option("--create", help="Create the queue if it does not exist.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]

QueueFilter = Annotated[
    str | None,
    typer.Option(
        "--queue", metavar="NAME", help="Only jobs of this queue.", autocompletion=queue_names, show_default=False
    ),
]
TaskFilter = Annotated[
    str | None,
    typer.Option(
        "--task", metavar="NAME", help="Only jobs of this task.", autocompletion=task_names, show_default=False
    ),
]
RoleFilter = Annotated[
    str | None, typer.Option("--role", metavar="NAME", help="Only jobs of this role.", show_default=False)
]
WorkItemFilter = Annotated[
    str | None, typer.Option("--work-item", metavar="TEXT", help="Only jobs of this work item.", show_default=False)
]
StateFilter = Annotated[
    list[State] | None,
    typer.Option("--state", metavar="STATE", help="Only jobs in this state; may be repeated.", show_default=False),
]
