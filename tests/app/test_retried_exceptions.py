"""`retry_on` and `no_retry_on`: which exceptions of a body are retried."""

from pathlib import Path
from typing import Any

import pytest

from hanbeon import App, PermanentError
from hanbeon.config.file import load
from hanbeon.errors import ConfigInvalid, TaskDefinitionError
from hanbeon.testing import TestKit
from tests.executors import bodies


class Busy(ConnectionError):
    """A server has no time."""


MIXED = ExceptionGroup("both", [Busy("a"), KeyError("b")])
ONLY_BUSY = ExceptionGroup("busy", [Busy("a"), ExceptionGroup("inner", [Busy("b")])])


@pytest.mark.parametrize("executor", ["async", "thread"])
@pytest.mark.parametrize(
    ("options", "error", "attempts", "why"),
    [
        ({"retry_on": ConnectionError}, Busy("x"), 3, ""),
        (
            {"retry_on": [ConnectionError]},
            KeyError("x"),
            1,
            "KeyError: 'x' (not retried: retry_on has only ConnectionError)",
        ),
        ({"no_retry_on": (LookupError,)}, KeyError("x"), 1, "KeyError: 'x' (not retried: no_retry_on has LookupError)"),
        ({"no_retry_on": (LookupError,)}, ValueError("x"), 3, ""),
        ({"retry_on": (OSError,), "no_retry_on": (Busy,)}, Busy("x"), 1, "Busy: x (not retried: no_retry_on has Busy)"),
        ({"retry_on": (OSError,), "no_retry_on": (Busy,)}, OSError("x"), 3, ""),
        ({"retry_on": (Busy,)}, MIXED, 1, "(not retried: retry_on has only Busy)"),
        ({"retry_on": (Busy,)}, ONLY_BUSY, 3, ""),
        ({"no_retry_on": (KeyError,)}, MIXED, 1, "(not retried: no_retry_on has KeyError)"),
    ],
)
async def test_classes_decide_what_is_retried(
    kit: TestKit, executor: str, options: dict[str, Any], error: Exception, attempts: int, why: str
) -> None:
    async def waiting() -> None:
        raise error

    def plain() -> None:
        raise error

    body: Any = waiting if executor == "async" else plain
    task = kit.app.task(name="work", retries=2, retry_delay=0, executor=executor, **options)(body)
    job = await kit.app.enqueue(task)
    await kit.run_all()
    record = await job.record()
    assert len(await job.attempts()) == attempts
    assert record.failure is not None
    assert record.failure.message.endswith(why)
    assert ("not retried" in record.failure.message) == bool(why)


async def test_worker_process_judges_by_the_same_classes(app: App) -> None:
    task = app.task(name="once", executor="process", retry_delay=0, no_retry_on=(ValueError,))(bodies.end.function)
    async with app.worker():
        job = await app.enqueue(task.call("value"))
        record = await job.wait(30)
    assert (record.fence, record.error_message) == (1, "ValueError: x (not retried: no_retry_on has ValueError)")


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ({"retry_on": "ValueError"}, r"as in @app\.task\(retry_on="),
        ({"retry_on": ()}, "one or more exception classes"),
        ({"no_retry_on": [int]}, "one or more exception classes"),
        ({"retry_on": [PermissionError]}, "must not have PermissionError, which is never retried"),
        ({"retry_on": [PermanentError]}, "must not have PermanentError, which is never retried"),
    ],
)
async def test_other_values_are_refused(app: App, options: dict[str, Any], remedy: str) -> None:
    async def work() -> None: ...

    with pytest.raises(TaskDefinitionError, match=remedy):
        app.task(**options)(work)
    with pytest.raises(TaskDefinitionError, match="commands and HTTP calls say in exit_codes and status_codes"):
        app.command("list", ["ls"], retry_on=(OSError,))


async def test_file_keeps_classes_of_a_function(tmp_path: Path) -> None:
    file = tmp_path / "hanbeon.toml"
    file.write_text('[tasks.a]\ncommand = ["ls"]\nretry_on = ["OSError"]\n')
    with pytest.raises(ConfigInvalid, match="a file cannot name any"):
        load(file)
    (tmp_path / "classes_of_file.py").write_text(
        "from hanbeon import App\napp = App()\n@app.task(retry_on=OSError)\nasync def work() -> None: ...\n"
    )
    file.write_text('[tasks.a]\npython = "classes_of_file:work"\nretries = 1\n')
    (task,) = load(file).tasks
    assert task.options.retry_on == (OSError,)
