"""docs/configuration.md, from the sections and what each of them accepts."""

from __future__ import annotations

from pathlib import Path

from hanbeon.config.file import NAME, SECTIONS, VARIABLE
from hanbeon.config.tasks import KINDS
from hanbeon.domain.limits import QueueLimits
from hanbeon.engine.reload import RELOADABLE
from hanbeon.settings import Settings
from hanbeon.surfaces.schedules.declarations import FIELDS
from tools.docs.markdown import code, table

PATH = "configuration.md"
SOURCE = "src/hanbeon/config, tools/docs/configuration.py or examples/without_python"
_EXAMPLE = Path("examples/without_python") / NAME

_SECTIONS = {
    "app": "`module:name` of an App of Python's, whose tasks and settings are taken along.",
    "settings": "[Settings](settings.md) by their names. Durations are seconds, or text like "
    '`"30s"`, `"1h30m"` or `"30d"`.',
    "tasks": "A table for each task: what it runs, and its [options](options.md#of-a-task).",
    "queues": "A table for each queue: its limits.",
    "schedules": "A table for each schedule: which task runs by itself, and when.",
    "outbound": "`allow_private = true` lets HTTP calls of every task reach private addresses; a task may say so "
    "for itself.",
    "chains": "`libraries`: the modules that chains may import. Nothing uses it yet.",
}
_KINDS = {
    "command": "A program and its arguments, as a list. No shell reads it.",
    "http": 'An HTTP call: `{ method = "POST", url = "https://…" }`. All that is said '
    "[of the call](options.md#of-an-http-call) stands in this table, such as `headers` and `allow_private`; `timeout`, "
    "`retries`, `params` and the like stand beside it.",
    "python": "`module:function`, looked for beside the file and in Python's path. A task of some App may be "
    "named, too: what the table does not say is as it is there.",
}
_LIMITS = {
    "max_concurrent": "How many of its jobs run at once, on all workers together; 0: no limit.",
    "max_per_key": "How many of each concurrency key; 0: no limit.",
    "roles": "How many of a role: `{ FE = 1, BE = 2 }`.",
    "keys": "How many of one key, instead of `max_per_key`: `{ customer-7 = 3 }`.",
}

_PAGE = """# hanbeon.toml

Tasks, queues, schedules and settings for those who write no Python. `hanbeon init hanbeon.toml` writes one to begin
with, `hanbeon config check` says what is wrong with it.

<!-- {example_path} -->
```toml
{example}```

```sh
hanbeon worker                                # in a terminal of its own
hanbeon enqueue --wait greet name=Ada
```

## Where it is

`--config FILE`, else what `{variable}` names, else `{name}` in the current folder, if there is one. With an empty
`{variable}` none is read. A file that is named must be there. Every command that works on a database goes by it.

With `--app` (or `HANBEON_APP`) the tasks are those of the App and those of the file; a name that both have is
refused, unless it is the same function: then the file's options are in force. `--app` wins over the file's own `app`.

## Sections

{sections}
Anything else is refused with the nearest name. A message begins with the file and the place and
ends with the line; `hanbeon config check` tells all of them at once, in the order of the lines:

```text
error: hanbeon.toml: tasks.build.timeuot: a command has no such option; did you mean 'timeout'? … (line 4)
error: hanbeon.toml: line 3, column 7: Invalid value; write text in quotes: name = "text"
```

A file that does not fit is refused as a whole, with its first problem. `hanbeon config check` also says whether the
programs and folders of its commands are there. The file is read from the disk of whoever starts
a worker, and from nowhere else: no job and no request can bring a command, a module or a path of its own.

## Tasks

`[tasks.NAME]` has exactly one of these:

{kinds}
Besides, all [options of a task](options.md#of-a-task): `timeout`, `retries`, `queue`, `roles`, … Durations may be
text. A command also takes what is said of commands in [executors.md](executors.md); it runs in the file's folder, and a
relative `cwd` is one of that, wherever the worker was started.

`{{args.NAME}}` in a command is filled in with an argument of the job. It finds its arguments also as JSON on stdin, in
`HANBEON_ARGS`, and each in `HANBEON_ARG_NAME`.

## Queues

{limits}
**Declared limits win when the file changes; `hanbeon limit` wins until then.** The database remembers what was
declared last. A worker that starts or reads its file again sets the limits of those queues whose table differs from
that, and leaves the others alone. So restarting a worker does not undo what an operator changed; `hanbeon queues`
shows where that differs from the file.

- What a table does not name is not limited by it: what the last declaration named and this one does not is lifted,
  what neither names stays as somebody set it.
- Taking a table out of the file leaves the queue's limits as they are. Write 0, or use `hanbeon limit`, to lift them.
- Give all workers of a database the same file. Of two that differ, the one that starts or reads its file last has the
  word.
- `hanbeon pause` is no limit, and stays.

## Schedules

```toml
[schedules.nightly]
task = "backup"
cron = "0 3 * * *"
args = {{ name = "nightly" }}
```

The table's name is the schedule's. `task` names a task of the file or of the App, and must be there, as must `cron` or
`run_at`; besides it may say {schedule_keys}: [what they mean](schedules.md#fields-of-a-schedule). Moments may be
text or TOML's own; one without an offset is read in the schedule's zone. One that is past is no error.

Like limits, a schedule is the file's when the file changes, and an operator's until then:
[declared schedules](schedules.md#declared-schedules).

## Settings

An option of the command line wins over an argument of `App(…)`, that over the environment (`HANBEON_…`), that over
the file, and that over the default. `hanbeon config show --origin` says what is in force and whence. A relative path
in `database_url` (`sqlite:///jobs.db`) is one of the file's folder, so that all who read the file mean the same
database.

The file may hold a password. Let only the worker's user read it (`chmod 600`), or keep the address in
`HANBEON_DATABASE_URL`. No command and no error shows it.

## Reading it again

```sh
kill -HUP PID
```

A worker reads its file again on SIGHUP. If it does not fit, that is logged as an error, `reload_refused`, and all
stays as it was. Otherwise, between two claims:

- Tasks are added, changed and removed. What runs goes on with what it began with; a job that waits, or is tried
  again, runs what its task is then. Jobs of a task that is gone wait for a worker that has it.
- Changed limits of queues and changed schedules are declared.
- {at_once} change. Other settings, and `app`, are logged as `restart_needed`.
- Python's modules are not loaded again: a changed function needs a restart, a new module does not.

A worker without a file logs that and goes on. When a terminal is closed, the workers on it get the same signal; they
stop.

## From Python

```python
from hanbeon import App, SyncApp

app = App.from_file()  # or App.from_file("conf/hanbeon.toml", concurrency=5)
jobs = SyncApp(app)
```

It finds the file as the commands do. Where the file names an `app`, it is that App.
"""


def render() -> str:
    at_once = code(name for name in Settings.model_fields if name in RELOADABLE)
    return _PAGE.format(
        example_path=_EXAMPLE,
        example=(Path(__file__).parents[2] / _EXAMPLE).read_text(),
        name=NAME,
        variable=VARIABLE,
        sections=table(("section", "what it holds"), ((f"`{name}`", _SECTIONS[name]) for name in SECTIONS)),
        kinds=table(("key", "what it runs"), ((f"`{kind}`", _KINDS[kind]) for kind in KINDS)),
        limits=table(("limit", "meaning"), ((f"`{name}`", _LIMITS[name]) for name in QueueLimits.__struct_fields__)),
        schedule_keys=code(key for key in FIELDS if key not in ("task", "cron", "run_at")),
        at_once=at_once,
    )
