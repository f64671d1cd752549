"""Commands without an engine: what they are given, what they say, and what their end means."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from hanbeon.domain.job import session_id
from hanbeon.domain.log import LogStream
from hanbeon.domain.outcome import Outcome, PutOff, Raised, Returned
from hanbeon.tasks.command import command_task
from hanbeon.tasks.task import Task
from tests.executors.workbench import CommandBench

REPORT = """
import json, os, sys
report = {"argv": sys.argv[1:], "stdin": sys.stdin.read(), "env": dict(os.environ), "cwd": os.getcwd()}
os.write(3, json.dumps({"result": report}).encode())
"""


def shell(script: str, **options: Any) -> Task[..., Any]:
    return command_task("work", ["sh", "-c", script], options)


def python(program: str, *arguments: str, **options: Any) -> Task[..., Any]:
    return command_task("work", [sys.executable, "-c", program, *arguments], options)


async def seen(commands: CommandBench, task: Task[..., Any], **arguments: Any) -> dict[str, Any]:
    outcome = await commands.run(task, result_bytes=100_000, **arguments)
    assert isinstance(outcome, Returned), outcome
    return dict(json.loads(outcome.result or ""))


async def test_a_command_gets_its_arguments_in_three_ways(commands: CommandBench, tmp_path: Path) -> None:
    line = ("--target={args.target}", "{job.id}", "{args.n}", "{print $1} {{args.n}} {}")
    report = await seen(commands, python(REPORT, *line, cwd=str(tmp_path)), target="a b; rm -rf $HOME", n=3)
    job = commands.backend.job
    assert report["argv"] == ["--target=a b; rm -rf $HOME", job.id, "3", "{print $1} {args.n} {}"]
    assert json.loads(report["stdin"]) == {"target": "a b; rm -rf $HOME", "n": 3}
    assert report["cwd"] == str(tmp_path)
    of_hanbeon = {name: value for name, value in report["env"].items() if name.startswith("HANBEON_")}
    assert json.loads(of_hanbeon.pop("HANBEON_ARGS")) == {"target": "a b; rm -rf $HOME", "n": 3}
    assert of_hanbeon.pop("HANBEON_SESSION")
    assert of_hanbeon == {
        "HANBEON_JOB_ID": job.id,
        "HANBEON_TASK": "work",
        "HANBEON_QUEUE": "default",
        "HANBEON_ROLE": "",
        "HANBEON_ATTEMPT": "1",
        "HANBEON_FENCE": "1",
        "HANBEON_RETRY_COUNT": "0",
        "HANBEON_COMMENT": "",
        "HANBEON_SESSION_ID": session_id(job.id, 1),
        "HANBEON_IDEMPOTENCY_KEY": job.id,
        "HANBEON_FD": "3",
        "HANBEON_ARG_TARGET": "a b; rm -rf $HOME",
        "HANBEON_ARG_N": "3",
    }


async def test_only_what_is_allowed_passes_from_the_environment(
    commands: CommandBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANBEON_DATABASE_URL", "postgresql://secret@db/jobs")
    monkeypatch.setenv("TOKEN", "secret")
    monkeypatch.setenv("CHOSEN", "passed")
    report = await seen(commands, python(REPORT))
    assert "secret" not in json.dumps(report["env"])
    assert report["env"]["PATH"] == os.environ["PATH"]
    report = await seen(commands, python(REPORT, pass_env=["CHOSEN", "NOT_THERE"], env={"FIXED": "1", "CHOSEN": "set"}))
    names = {name for name in report["env"] if not name.startswith(("HANBEON_", "LC_CTYPE"))}
    assert names == {"CHOSEN", "FIXED"}
    assert report["env"]["CHOSEN"] == "set"


async def test_arguments_too_long_for_the_environment_are_on_stdin(commands: CommandBench) -> None:
    program = "import os, sys; print(len(sys.stdin.read()), *(name for name in os.environ if 'ARG' in name))"
    assert await commands.run(python(program), long="x" * 900_000, short="y") == Returned()
    length, *names = commands.printed().split()
    assert int(length) > 900_000
    assert names == [b"HANBEON_ARG_SHORT"]


async def test_defaults_are_wherever_a_program_looks(commands: CommandBench) -> None:
    params = {"n": {"type": "integer", "default": 4}, "s": "string"}
    task = python(REPORT, "{args.n}", params=params)
    task_arguments = task.signature.unpack(task.call(s="x").args)
    report = await seen(commands, task, **task_arguments)
    assert report["argv"] == ["4"]
    for text in (report["stdin"], report["env"]["HANBEON_ARGS"]):
        assert json.loads(text) == {"n": 4, "s": "x"}


async def test_stdin_is_empty_if_the_task_wants_it_so(commands: CommandBench) -> None:
    assert await commands.run(shell("cat", stdin=False), a=1) == Returned()
    assert commands.printed() == b""


async def test_both_streams_are_heard(commands: CommandBench) -> None:
    assert await commands.run(shell("echo out; echo err >&2; printf 'no newline'")) == Returned()
    assert commands.printed() == b"out\nno newline"
    assert commands.printed(LogStream.STDERR) == b"err\n"


RAISED = [
    ("exit 1", Raised("exit code 1")),
    ("echo 'cannot open it' >&2; exit 1", Raised("exit code 1: cannot open it")),
    ("exit 64", Raised("exit code 64", "invalid")),
    ("exit 75", Raised("exit code 75", "temporary")),
    ("exit 77", Raised("exit code 77", "permission_error")),
    ("exit 3", Raised("exit code 3", "bad_input", permanent=True)),
    ("exit 4", Returned()),
    ("kill -SEGV $$", Raised("the command was killed by SIGSEGV", "session_error")),
]


@pytest.mark.parametrize(("script", "outcome"), RAISED)
async def test_exit_code_meaning(commands: CommandBench, script: str, outcome: Outcome) -> None:
    codes = {3: {"type": "bad_input", "permanent": True}, "4": "success"}
    assert await commands.run(shell(script, exit_codes=codes)) == outcome


SAID = [
    ('{"result": {"a": 1}}', Returned('{"a":1}')),
    ('{"result": 1}\\n\\n{"result": 2}', Returned("2")),
    ('{"failed": "no luck"}', Raised("no luck")),
    ('{"failed": {"message": "no", "type": "mine", "permanent": true}}', Raised("no", "mine", permanent=True)),
    ('{"retry_in": 1.5}', PutOff(1_500_000)),
    ('{"retry_in": {"seconds": 2, "message": "busy"}}', PutOff(2_000_000, "busy")),
]


@pytest.mark.parametrize("protocol", ["descriptor", "stdout"])
@pytest.mark.parametrize(("lines", "outcome"), SAID)
async def test_protocol_messages_of_a_command(
    commands: CommandBench, protocol: str, lines: str, outcome: Outcome
) -> None:
    where, prefix = (">&3", "") if protocol == "descriptor" else ("", "::hanbeon ")
    lines = "\\n".join(prefix + line if line else "" for line in lines.split("\\n"))
    task = shell(f"echo before; printf '{lines}\\n' {where}; echo after", protocol=protocol)
    assert await commands.run(task) == outcome
    assert commands.printed().split() == [b"before", b"after"]


async def test_stdout_is_not_parsed_unless_the_task_enables_it(commands: CommandBench) -> None:
    assert await commands.run(shell("""echo '::hanbeon {"result": "forged"}'""")) == Returned()
    assert b"forged" in commands.printed()


async def test_a_failure_that_is_said_stands_whatever_the_exit_code(commands: CommandBench) -> None:
    for code in (0, 77):
        script = """echo '{"failed": {"message": "busy", "type": "mine"}}' >&3; exit """
        assert await commands.run(shell(f"{script}{code}")) == Raised("busy", "mine")


async def test_progress_is_the_latest(commands: CommandBench) -> None:
    script = 'for n in 1 2 3 4 5 6 7 8 9; do echo "{\\"progress\\": $n}"; done >&3'
    assert await commands.run(shell(script)) == Returned()
    assert commands.backend.progress[-1] == 9
    assert len(commands.backend.progress) <= 3


@pytest.mark.parametrize(
    "line", ["nonsense", "[]", "{}", '{"result": 1, "progress": 2}', '{"resul": 1}', '{"retry_in": -1}', "\\200\\377"]
)
async def test_invalid_protocol_message_fails_the_job(commands: CommandBench, line: str) -> None:
    outcome = await commands.run(shell(f"printf '{line}\\n' >&3"))
    assert isinstance(outcome, Raised)
    assert outcome.failure_type == "invalid"
    assert "invalid protocol message" in outcome.message
    assert await commands.run(shell(f"printf '{line}\\n' >&3; exit 75")) == Raised("exit code 75", "temporary")


async def test_a_line_without_an_end_costs_no_memory(commands: CommandBench) -> None:
    outcome = await commands.run(shell("""{ printf '{"result": "'; head -c 30000000 /dev/zero | tr '\\0' x; } >&3"""))
    assert isinstance(outcome, Raised)
    assert "longer than a result may be" in outcome.message


@pytest.mark.parametrize(
    ("result", "script", "outcome"),
    [
        ("text", "echo hello", Returned('"hello"')),
        ("text", "printf 'a\\n\\r\\n'", Returned('"a\\n"')),
        ("text", "printf ' a'", Returned('" a"')),
        ("text", "true", Returned('""')),
        ("json", "echo '{\"a\": [1]}'", Returned('{"a":[1]}')),
        ("json", "true", Raised),
        ("json", "echo hello", Raised),
        ("text", "head -c 2000 /dev/zero", Raised),
        ("json", "head -c 50000000 /dev/zero", Raised),
    ],
)
async def test_stdout_as_the_result(commands: CommandBench, result: str, script: str, outcome: Any) -> None:
    found = await commands.run(shell(script, result=result))
    assert isinstance(found, Raised) if outcome is Raised else found == outcome
    if isinstance(found, Raised):
        assert found.failure_type == "invalid"


async def test_a_program_that_is_not_there(commands: CommandBench) -> None:
    outcome = await commands.run(command_task("work", ["no-such-program", "x"], {}))
    assert outcome == Raised(
        "the command cannot be started: [Errno 2] No such file or directory: 'no-such-program'"
        "; check the program and PATH of the task on this worker",
        "session_error",
    )


async def test_a_folder_that_is_not_there(commands: CommandBench, tmp_path: Path) -> None:
    folder = tmp_path / "missing"
    outcome = await commands.run(shell("true", cwd=str(folder)))
    assert outcome == Raised(f"there is no folder {folder}; create it, or change cwd of the task", "session_error")


async def test_a_file_that_cannot_be_run(commands: CommandBench, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("text")
    outcome = await commands.run(command_task("work", ["./plain"], {"cwd": str(tmp_path)}))
    assert isinstance(outcome, Raised)
    assert "Permission denied" in outcome.message


async def test_arguments_too_long_for_a_command_line_fail_the_job(commands: CommandBench) -> None:
    outcome = await commands.run(command_task("work", ["true", "{args.long}"], {}), long="x" * 200_000)
    assert isinstance(outcome, Raised)
    assert "Argument list too long" in outcome.message


async def test_binary_output_is_heard_as_it_is(commands: CommandBench) -> None:
    assert await commands.run(shell("head -c 300000 /dev/urandom")) == Returned()
    assert len(commands.printed()) == 300_000


async def test_memory_is_limited(commands: CommandBench) -> None:
    outcome = await commands.run(python("x = bytearray(500_000_000)", memory="100MB"))
    assert isinstance(outcome, Raised)
    assert outcome.message == "exit code 1: MemoryError"


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("print('[' * 5_000)", "its stdout must be JSON because of result = 'json': result: must be nested at most"),
        ("print('[' * 101 + ']' * 101)", "its stdout must be JSON because of result = 'json': result: must be nested"),
        ("print('1e400')", "its stdout must be JSON because of result = 'json': Number out of range"),
        ("print('\"\\\\ud800\"')", "its stdout must be JSON because of result = 'json'"),
        ("import os; os.write(3, b'{\"result\":' + b'[' * 5_000)", "invalid protocol message: "),
        ("import os; os.write(3, b'{\"result\":' + b'[' * 101 + b']' * 101 + b'}')", "result: must be nested at most"),
        ("import os; os.write(3, b'{\"progress\":' + b'[' * 5_000 + b'\\n')", "invalid protocol message: "),
        ('import os; os.write(3, b\'{"result": "\\xff"}\')', "invalid protocol message: "),
    ],
)
async def test_output_that_is_not_storable_is_invalid(commands: CommandBench, program: str, message: str) -> None:
    outcome = await commands.run(python(program, result="json"), result_bytes=20_000)
    assert isinstance(outcome, Raised)
    assert (outcome.failure_type, outcome.message[: len(message)]) == ("invalid", message)


@pytest.mark.parametrize("value", ["x" * 200_000, "\x7f" * 900_000], ids=["for the kernel", "for the supervisor"])
async def test_arguments_that_are_too_long_fail_alone(commands: CommandBench, tmp_path: Path, value: str) -> None:
    gate = tmp_path / "gate"
    other = commands.start(shell(f"while [ ! -e {gate} ]; do sleep 0.02; done"))
    outcome = await commands.run(command_task("work", ["echo", "{args.value}"], {}), value=value)
    assert isinstance(outcome, Raised)
    assert outcome.failure_type == "invalid", "the same arguments are too long the next time"
    assert "pass less, or read the arguments from stdin" in outcome.message
    gate.touch()
    assert await other.within() == Returned()
