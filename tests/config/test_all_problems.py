"""All problems of a file are reported together: every field of a table, and none that only follows from another."""

from pathlib import Path

import pytest

from tests.config.files import refused


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (
            "command = ['a', '{arg.a}', '{arg.b}']\ntimeuot = 1\nretries = -1\nbackoff = 'no'\nenv = {A = 1, B = 2}",
            "backoff command[1] command[2] env.A env.B retries timeuot",
        ),
        ("command = 'make'\ncwd = 1\nstdin = 1\nmemory = 'much'\nqueue = 3", "command cwd memory queue stdin"),
        ("comand = ['a', '{b}']\nretries = 1.5", " command[1] retries"),
        ("command = ['a', '{args.a}']\nparams = {a = 'txt', b = 'x'}", "params.a params.b"),
        ("http = {url = 'x', method = 'GOT', redirects = 99}\nretry = 3", "http.method http.redirects http.url retry"),
        ("http = {}\npriority = 'high'", "http.url priority"),
        ("http = 3\ntimeout = -1", "http timeout"),
        (
            "python = 'config_nothing:a'\nexecutor = 'process'\ntimeout = 'x'\nretries = -1",
            "python retries timeout",
        ),
        ("python = 'config_tasks:plain'\nexecutor = 'async'\njitter = 2", "executor jitter"),
        ("command = ['a']\nhttp = {url = 'x'}\nretries = -1", ""),
    ],
)
def test_all_problems_of_a_task_are_reported(folder: Path, text: str, places: str) -> None:
    problems = refused(folder, f"[tasks.x]\n{text}")
    found = [problem.partition(":")[0].removeprefix("tasks.x").removeprefix(".") for problem in problems]
    assert sorted(found) == places.split(" ")
    assert all("(line " in problem for problem in problems)


def test_all_problems_of_a_queue_are_reported(folder: Path) -> None:
    problems = refused(
        folder, "[queues.mail]\npaused = true\nmax_concurrent = -1\n[queues.mail.roles]\nFE = 1.5\nBE = -1"
    )
    assert [problem.partition(":")[0] for problem in problems] == [
        "queues.mail.paused",
        "queues.mail.max_concurrent",
        "queues.mail.roles.FE",
        "queues.mail.roles.BE",
    ]
    assert [problem[-9:] for problem in problems] == [f" (line {line})" for line in (2, 3, 5, 6)]


def test_follow_up_problems_are_not_reported(folder: Path) -> None:
    """A problem is reported only for the field that causes it, not for those that depend on it."""
    text = "[tasks.x]\ncommand = ['a', '{args.a}']\nparams = {a = 'txt'}\n"
    text += "[schedules.s]\ntask = 'x'\nrun_at = 'x'\nstarts_at = '2040-01-01T00:00'\n"
    assert [problem.partition(":")[0] for problem in refused(folder, text)] == [
        "tasks.x.params.a",
        "schedules.s.run_at",
    ]
