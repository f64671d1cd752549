"""The program around the commands: help, version, errors, exit codes."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from hanbeon.cli.catalogue import COMMANDS, NAMES, front_page
from hanbeon.cli.exits import EXIT_CODES, MEANINGS
from hanbeon.cli.program import command_named, program
from hanbeon.errors import Kind
from tests.cli.hanbeon import environment, hanbeon_inside, hanbeon_script

_HEAVY = (
    "apsw",
    "asyncpg",
    "asyncio",
    "starlette",
    "msgspec",
    "pydantic",
    "rich",
    "structlog",
    "typer",
    "uvicorn",
    "uvloop",
)
_HELP = f"""
import sys
from hanbeon.cli import main
sys.argv = ["hanbeon", "--help"]
try:
    main()
except SystemExit:
    pass
print("loaded:", *[name for name in {_HEAVY!r} if name in sys.modules])
"""


def test_help_lists_the_commands_without_loading_what_they_need() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _HELP], check=True, capture_output=True, text=True, env=environment(), timeout=300
    )
    assert all(command in done.stdout for command in NAMES)
    assert done.stdout.splitlines()[-1].strip() == "loaded:"


@pytest.mark.parametrize(
    ("command", "option"), [('"jobs"', "--work-item"), ('"schedule", "create"', "--misfire"), ('"run"', "--wait")]
)
def test_help_of_a_command_loads_only_that_command(command: str, option: str) -> None:
    script = _HELP.replace('"--help"]', f'{command}, "--help"]').replace("('apsw'", "('hanbeon.cli.queues', 'apsw'")
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, env=environment(), timeout=300
    )
    assert option in done.stdout
    assert set(done.stdout.splitlines()[-1].split()) <= {"loaded:", "typer"}


def test_command_is_built_once_in_a_process() -> None:
    """Typer takes its time to build it, and what is recorded of a change asks for it again."""
    assert get_command(program).commands["office"] is command_named("office")  # type: ignore[attr-defined]


def test_both_ways_to_ask_for_help_say_the_same() -> None:
    assert hanbeon_script("--help").stdout == hanbeon_script("-h").stdout == front_page() + "\n"
    both = hanbeon_script("--version", "--help")  # Not the shortcut: typer handles it.
    assert both.returncode == 0
    nothing = hanbeon_script()
    assert (nothing.returncode, nothing.stderr.strip()) == (2, front_page())


@pytest.mark.parametrize("name", NAMES)
def test_front_page_agrees_with_the_help_of_each_command(name: str) -> None:
    group: Any = get_command(program)
    meaning = " ".join(group.commands[name].help.split())
    assert meaning.startswith(next(section[name] for section in COMMANDS.values() if name in section))


def test_the_version_is_that_of_the_package() -> None:
    done = hanbeon_script("--version")
    assert (done.returncode, done.stdout) == (0, f"hanbeon {version('hanbeon')}\n")


def test_python_m_hanbeon_is_the_same_program() -> None:
    command = [sys.executable, "-m", "hanbeon", "--version"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    assert done.stdout == f"hanbeon {version('hanbeon')}\n"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("migrate", "--database", "mysql://shop"), 2, "must be sqlite:///jobs.db or postgresql://"),
        (("migrate", "--database", "sqlite:///nowhere/jobs.db"), 5, "create it first"),
        (("migrate", "--database", "postgresql://127.0.0.1:1/shop"), 5, "check that it is running"),
        (("verify", "--database", "sqlite:///nothing.db"), 3, "there is no file nothing.db"),
        (("worker", "--app", "quickstart"), 2, "must be module:name"),
        (("worker", "--app", "no_such_module:app"), 2, "there is no module 'no_such_module'"),
    ],
)
def test_an_error_is_one_line_that_names_the_remedy(
    tmp_path: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    done = hanbeon_inside(*arguments, cwd=tmp_path)
    assert done.returncode == code
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert words in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_invalid_setting_is_refused_by_its_name(tmp_path: Path) -> None:
    done = hanbeon_script("migrate", cwd=tmp_path, HANBEON_LEASE="soon")
    assert done.returncode == 2
    assert "HANBEON_LEASE" in done.stderr


@pytest.mark.parametrize("arguments", [("worker",), ("migrate", "--databse", "x"), ("wroker",)])
def test_a_wrong_command_line_is_invalid_input(arguments: tuple[str, ...]) -> None:
    assert hanbeon_script(*arguments).returncode == EXIT_CODES[Kind.INVALID]


_INTERRUPTED = """
import asyncio, signal
from hanbeon.cli import event_loop, main, program

def interrupt():
    signal.raise_signal(signal.SIGINT)

async def stay():
    try:
        await asyncio.Event().wait()
    finally:
        interrupt()

async def work():
    staying = asyncio.create_task(stay())
    await asyncio.sleep(0)
    interrupt()
    try:
        await asyncio.Event().wait()
    finally:
        staying.cancel()
        await asyncio.sleep(1)

async def leave():
    staying = asyncio.create_task(stay())
    await asyncio.sleep(0)
    interrupt()
    await asyncio.Event().wait()

class Loop(asyncio.SelectorEventLoop):  # As uvloop is if the signal comes while it stops.
    async def shutdown_asyncgens(self):
        interrupt()

    def close(self):
        super().close()
        raise RuntimeError("Cannot close a running event loop")

async def close():
    interrupt()
    await asyncio.Event().wait()

if NAME == "close":
    event_loop._loop_factory = lambda: Loop
if NAME == "finish":
    program.unwritten, finish = interrupt, close
program.program = lambda *args, **options: event_loop.run(globals()[NAME]())
main()
"""


@pytest.mark.parametrize("name", ["work", "leave", "close", "finish"])
def test_second_interrupt_prints_no_traceback(name: str) -> None:
    """Neither one that comes while the command ends, nor while its event loop or the program does."""
    script = f"NAME = {name!r}\n{_INTERRUPTED}"
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True, env=environment(), timeout=300
    )
    assert (done.returncode, done.stderr) == (130, "")


def test_every_kind_of_error_has_one_documented_exit_code() -> None:
    assert EXIT_CODES.keys() == set(Kind)
    assert len(set(EXIT_CODES.values())) == len(Kind)
    assert set(EXIT_CODES.values()) <= MEANINGS.keys()


def test_the_shell_completes_commands_options_and_states() -> None:
    def completed(words: str) -> list[str]:
        done = hanbeon_script(
            _HANBEON_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(len(words.split(" ")) - 1)
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.split()

    assert completed("hanbeon inst") == ["instances"]
    assert "--work-item" in completed("hanbeon jobs --")
    assert completed("hanbeon jobs --state f") == ["failed"]
    assert completed("hanbeon config ") == ["show", "check"]
    assert completed("hanbeon schedule create x --overlap q") == ["queue_one"]
    assert completed("hanbeon executions --status F") == ["FAILED"]


def test_every_command_with_output_has_json() -> None:
    group: Any = get_command(program)
    without = {name for name in NAMES if not _options(group.commands[name]) & {"--json"}}
    assert without == {"init", "demo", "serve", "worker", "export-worker", "migrate"}


def _options(command: Any) -> set[str]:
    inner = getattr(command, "commands", {}).values()
    return {name for each in inner or [command] for option in each.params for name in option.opts}
