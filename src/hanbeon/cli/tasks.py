"""`hanbeon tasks`"""

from __future__ import annotations

from hanbeon.cli.options import AppName, Json


def tasks(app: AppName = None, json: Json = False) -> None:
    """List the tasks of an App or of hanbeon.toml with their executor, queue and options."""
    from hanbeon.cli.app_loader import load_app
    from hanbeon.cli.formats import brief
    from hanbeon.cli.json_output import task_shape
    from hanbeon.cli.output import print_json, print_table

    found = sorted(load_app(app).tasks, key=lambda task: task.name)
    if json:
        print_json({"tasks": [task_shape(task) for task in found]})
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
