"""docs/configuration.md, generated from the sections and the keys that they accept."""

from __future__ import annotations

from pathlib import Path

from hanbeon.config.file import NAME, SECTIONS, VARIABLE
from hanbeon.config.tasks import KINDS
from hanbeon.domain.limits import QueueLimits
from hanbeon.engine.source import RELOADABLE
from hanbeon.settings import Settings
from hanbeon.surfaces.schedules.declarations import FIELDS
from tools.docs import settings
from tools.docs.markdown import code, table

PATH = "configuration.md"
SOURCE = "src/hanbeon/config, src/hanbeon/settings.py, tools/docs/configuration.py or examples/without_python"
_EXAMPLE = Path("examples/without_python") / NAME

_SECTIONS = {
    "app": "`module:name` of a Python App, whose tasks and settings are added.",
    "settings": '[Settings](#settings) by name. Durations are seconds, or text like `"30s"`, `"1h30m"` or `"30d"`.',
    "tasks": "A table per task: what it runs, and its [options](jobs.md#of-a-task).",
    "queues": "A table per queue: its limits.",
    "secrets": "Names for secrets, each a variable of the environment or a file: "
    '`smtp = { env = "SMTP_PASSWORD" }`, `slack = { file = "/run/secrets/slack" }`, '
    "and where each may go: `hosts`, `use` ([messages](messages.md#secrets)).",
    "schedules": "A table per schedule: its task, and when it runs.",
    "outbound": "`allow_private = true` lets HTTP calls of every task, webhooks and messages reach private addresses; "
    'a task can also allow it for itself. `allow_private = ["10.1.0.0/16", "127.0.0.1/32"]` allows only these. '
    "Link-local addresses and the metadata services of clouds are refused unless such a list names them.",
    "chains": "`libraries`: the modules whose operations [chains](chains.md#operations-and-libraries) may run.",
    "workflows": "Workflows by name, with the fields of the API: [workflows](workflows.md#declarations).",
}
_KINDS = {
    "command": "A program and its arguments, as a list. It is run without a shell.",
    "http": 'An HTTP call: `{ method = "POST", url = "https://…" }`. Options '
    "[of the call](jobs.md#of-an-http-call), such as `headers` and `allow_private`, go into this table; `timeout`, "
    "`retries`, `params` and other options of the task go next to it.",
    "python": "`module:function`, searched next to the file and on Python's path. It may also name a task of an App; "
    "options that the table does not set are taken from there.",
    "stream": 'Stream workers, in any language: `{ name = "thumbs" }`, with `lease` and `window` in the same table: '
    '[streams.md](streams.md). `work = "module:function"` next to it does the jobs in-process where no Redis is '
    "configured.",
}
_LIMITS = {
    "max_concurrent": "The most jobs that run at once, across all workers; 0: no limit.",
    "max_per_key": "The most jobs of each concurrency key; 0: no limit.",
    "roles": "The most jobs of a role: `{ FE = 1, BE = 2 }`.",
    "keys": "The most jobs of one key, instead of `max_per_key`: `{ customer-7 = 3 }`.",
}

_PAGE = """# hanbeon.toml

Tasks, queues, schedules and settings without Python. `hanbeon init hanbeon.toml` writes a starter file;
`hanbeon config check` reports its problems.

<!-- {example_path} -->
```toml
{example}```

```sh
hanbeon worker                                # in a terminal of its own
hanbeon enqueue --wait greet name=Ada
```

## Where it is

The file is the one given by `--config FILE`, else by `{variable}`, else `{name}` in the current folder, if
there is one. With an empty `{variable}`, no file is read. A file that is named must exist. Every command
that uses a database reads it.

With `--app` (or `HANBEON_APP`), the tasks are those of the App and those of the file. A name that both
define is refused, unless it is the same function: then the file's options apply. `--app` overrides the
file's own `app`.

## Sections

{sections}
Anything else is refused, with the nearest valid name. A message begins with the file and the place and ends
with the line; `hanbeon config check` reports all problems together, in the order of the lines:

```text
error: hanbeon.toml: tasks.build.timeuot: a command has no such option; did you mean 'timeout'? … (line 4)
error: hanbeon.toml: line 3, column 7: Invalid value; write text in quotes: name = "text"
```

An invalid file is refused as a whole, with its first problem. `hanbeon config check` also checks that the
programs and folders of its commands exist. The file is only ever read from the disk of the machine that
starts a worker: no job and no request can supply a command, a module or a path of its own.

## Tasks

`[tasks.NAME]` has exactly one of these:

{kinds}
It may also have all [options of a task](jobs.md#of-a-task): `timeout`, `retries`, `queue`, `roles`, …
Durations may be text. A command also takes the options in [executors.md](executors.md). It runs in the
file's folder, and a relative `cwd` is resolved there, wherever the worker was started.

`{{args.NAME}}` in a command is replaced by an argument of the job. The command also gets its arguments as
JSON on stdin, in `HANBEON_ARGS`, and each in `HANBEON_ARG_NAME`.

## Queues

{limits}
**Declared limits apply when the file changes; `hanbeon limit` overrides them until then.** The database
stores the last declaration. A worker that starts or reloads its file sets the limits of those queues whose
table differs from it, and leaves the others alone. So restarting a worker does not undo an operator's
change; `hanbeon queues` shows where that differs from the file.

- A table only sets the limits that it names. A limit that the last declaration named and this one does not
  is removed; a limit that neither names stays as an operator set it.
- Removing a table from the file leaves the queue's limits as they are. Write 0, or use `hanbeon limit`, to
  remove them.
- Give all workers of a database the same file. If two differ, the last one to start or reload wins.
- `hanbeon pause` is not a limit, and stays.

## Schedules

```toml
[schedules.nightly]
task = "backup"
cron = "0 3 * * *"
args = {{ name = "nightly" }}
```

The table's name is the schedule's name. `task`, a task of the file or of the App, is required, and so is
`cron` or `run_at`. Optional keys are {schedule_keys}: [their meaning](schedules.md#fields-of-a-schedule).
Times may be text or TOML datetimes; one without an offset is in the schedule's time zone. A time in the
past is not an error.

As with limits, the file applies when it changes, and an operator's change overrides it until then:
[declared schedules](schedules.md#declared-schedules).

## Settings

Each setting is a key of `[settings]`, an argument of `App`, and an environment variable. The order of
precedence is: an option of the command line, an argument of `App(…)`, the environment (`HANBEON_…`), the
file, the default. Invalid values and unknown arguments are refused. An environment variable with a misspelt
name causes a warning. `hanbeon config show --origin` shows the values in effect and where they come from;
`hanbeon config check` reports problems. Durations are seconds, and may be fractions.

```python
app = App("postgresql:///shop", concurrency=50, lease=60)
```

{settings}
Leases are renewed every third of `lease`, so that two heartbeats may fail before a lease is in danger.

A relative path in `database_url` (`sqlite:///jobs.db`) is resolved in the file's folder, so
that all readers of the file use the same database.

The file may contain a password. Make it readable only for the worker's user (`chmod 600`), or put the URL
into `HANBEON_DATABASE_URL`. No command and no error shows the password.

## Reading it again

```sh
kill -HUP PID
```

A worker reloads its file on SIGHUP. If the file is invalid, the worker logs the error `reload_refused` and
keeps its configuration. Otherwise, between two claims:

- Tasks are added, changed and removed. Running jobs finish with the old definition; jobs that wait or are
  retried run the new one. Jobs of a removed task wait for a worker that has it.
- Changed limits of queues, changed schedules and changed secrets are declared.
- {at_once} take effect. Other settings, and `app`, are logged as `restart_needed`.
- Python modules are not reloaded: a changed function needs a restart, a new module does not.

A worker without a file logs the signal and ignores it. When a terminal is closed, its workers get SIGHUP
too; they stop.

## From Python

```python
from hanbeon import App, SyncApp

app = App.from_file()  # or App.from_file("conf/hanbeon.toml", concurrency=5)
jobs = SyncApp(app)
```

It finds the file as the commands do. If the file names an `app`, it returns that App.
"""


def render() -> str:
    at_once = code(name for name in Settings.model_fields if name in RELOADABLE)
    return _PAGE.format(
        example_path=_EXAMPLE,
        example=(Path(__file__).parents[2] / _EXAMPLE).read_text(),
        name=NAME,
        variable=VARIABLE,
        sections=table(("section", "content"), ((f"`{name}`", _SECTIONS[name]) for name in SECTIONS)),
        kinds=table(("key", "what it runs"), ((f"`{kind}`", _KINDS[kind]) for kind in KINDS)),
        limits=table(("limit", "meaning"), ((f"`{name}`", _LIMITS[name]) for name in QueueLimits.__struct_fields__)),
        schedule_keys=code(key for key in FIELDS if key not in ("task", "cron", "run_at")),
        settings=settings.render(),
        at_once=at_once,
    )
