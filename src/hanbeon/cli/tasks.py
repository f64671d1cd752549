"""`hanbeon tasks`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hanbeon.cli.options import AppName, Json

if TYPE_CHECKING:
    from hanbeon.tasks.task import Task


def tasks(app: AppName = None, json: Json = False) -> None:
    """List the tasks of an App or of hanbeon.toml with their executor, queue and options."""
    from hanbeon.cli.app_loader import load_app
    from hanbeon.cli.output import brief, print_json, print_table

    found = sorted(load_app(app).tasks, key=lambda task: task.name)
    if json:
        print_json({"tasks": [_shape(task) for task in found]})
        return
    print_table(
        ("task", "executor", "queue", "role", "priority", "retries", "retry delay", "timeout", "on lost", "takes"),
        [
            (
                task.name,
                task.executor,
                task.options.queue,
                task.options.role,
                str(task.options.priority),
                str(task.options.retries),
                brief(task.options.retry_delay),
                brief(task.options.timeout),
                task.options.on_lost.value,
                str(task.signature),
            )
            for task in found
        ],
        right=("priority", "retries", "retry delay", "timeout"),
    )


def _shape(task: Task[..., Any]) -> dict[str, Any]:
    import msgspec

    shape = {"name": task.name, **msgspec.structs.asdict(task.options), "takes": str(task.signature)}
    shape |= {option: [kind.__name__ for kind in shape[option]] for option in ("retry_on", "no_retry_on")}
    return {**shape, "executor": task.executor}
