"""Commands as written: invalid ones are rejected when the task is registered or the job is created."""

from typing import Any

import msgspec
import pytest

from hanbeon import App
from hanbeon.errors import ArgumentsDoNotFit, TaskDefinitionError
from hanbeon.tasks.command import EXIT_CODES, Command, command_task
from hanbeon.tasks.result_codes import ResultCodes


@pytest.mark.parametrize(
    ("argv", "options", "message"),
    [
        ([], {}, "must not be empty"),
        ([""], {}, "must not be empty"),
        ("make all", {}, "must be a list of strings"),
        (["make", 1], {}, "must be a list of strings"),
        (["{args.program}"], {}, "no job may choose the program"),
        (["make", "{target}"], {}, "command[1]: unknown placeholder {target}; did you mean {args.target}"),
        (["make"], {"retires": 2}, "did you mean 'retries'"),
        (["make"], {"pass_environment": []}, "a command has no such option"),
        (["make"], {"executor": "thread"}, "a command has no such option"),
        (["make"], {"timeout": "soon"}, "timeout: must be a duration"),
        (["make"], {"timeout": -1}, "timeout"),
        (["make"], {"cwd": 3}, "cwd: must be the path of a folder"),
        (["make"], {"env": {"A": 1}}, "env.A: must be a string"),
        (["make"], {"env": {"A=B": "x"}}, "env.A=B"),
        (["make"], {"pass_env": "PATH"}, "pass_env: "),
        (["make"], {"stdin": "yes"}, "stdin: must be true or false"),
        (["make"], {"exit_codes": {256: "temporary"}}, "must contain numbers from 0 to 255"),
        (["make"], {"exit_codes": {"x": "temporary"}}, "must contain numbers from 0 to 255"),
        (["make"], {"exit_codes": {3: ""}}, "exit_codes.3: must be a failure type"),
        (["make"], {"exit_codes": {3: {"typ": "x"}}}, "did you mean 'type'"),
        (["make"], {"protocol": "stderr"}, "must be one of descriptor, stdout"),
        (["make"], {"result": "xml"}, "must be one of said, text, json"),
        (["make"], {"params": ["a"]}, "must be a table of types"),
        (["make"], {"params": {"a": "str"}}, "did you mean 'string'"),
        (
            ["make"],
            {"params": {"a": {"type": "integer", "default": "x"}}},
            "params.a: must have a default of its own type",
        ),
        (["make"], {"params": {"a": {"pattern": "x"}}}, "params.a.pattern: must have type string, got any; set type"),
        (["make"], {"params": {"a": {"type": "string", "pattern": "["}}}, "params.a.pattern: must be a regular"),
        (["make"], {"params": {"a": {"type": "string", "pattern": 3}}}, "params.a.pattern: must be a regular"),
        (["make"], {"params": {"a": {"type": "string", "pattern": ["x"]}}}, "params.a.pattern: must be a regular"),
        (["make"], {"params": {"a": {"type": "string", "pattern": "(?=a)"}}}, "got '(?=a)': invalid perl operator"),
        (
            ["make"],
            {"params": {"a": {"type": "object", "choices": [{}]}}},
            "params.a.choices: must have type string or",
        ),
        (
            ["make"],
            {"params": {"a": {"type": "string", "choices": "ab"}}},
            "params.a.choices: must be a list of values",
        ),
        (["make"], {"params": {"a": {"type": "string", "choices": []}}}, "params.a.choices: must be a list of values"),
        (["make"], {"params": {"a": {"type": "integer", "choices": [1, "2"]}}}, "must contain values of its own type"),
        (["make"], {"params": {"a": {"type": "integer", "choices": [True]}}}, "must contain values of its own type"),
        (
            ["make"],
            {"params": {"a": {"type": "string", "choices": ["x"], "default": "y"}}},
            "params.a: must have a default that it takes itself: must be one of x, got 'y'",
        ),
        (["make", "{args.taget}"], {"params": {"target": "string"}}, "used but not declared; did you mean 'target'"),
        (["make"], {"roles": "FE"}, "roles: "),
        (["make"], {"memory": "1kB"}, "memory: "),
    ],
)
def test_rejects_invalid_commands(argv: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(TaskDefinitionError) as refused:
        command_task("build", argv, options)
    assert message in str(refused.value)
    assert "'build'" in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "argument 'target' is missing"),
        ({"target": None}, "argument 'target': Expected `str`, got `null`"),
        ({"target": "a\x00b"}, "text with a NUL"),
        ({"target": "a", "jobs": "four"}, "argument 'jobs': Expected `int`"),
        ({"target": "a", "job": 4}, "it has no parameter 'job'; did you mean 'jobs'"),
    ],
)
def test_arguments_are_checked_when_the_job_is_made(arguments: dict[str, Any], message: str) -> None:
    params = {"target": "string", "jobs": {"type": "integer", "default": 4}}
    task = command_task("build", ["make", "-j", "{args.jobs}", "{args.target}"], {"params": params})
    with pytest.raises(ArgumentsDoNotFit) as refused:
        task.call(**arguments)
    assert message in str(refused.value)
    assert "it takes (target: string, jobs: integer = 4)" in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "a"}, None),
        ({"name": "night-2", "mode": "release", "level": 3}, None),
        ({"name": "../x"}, "argument 'name': must match '[a-z0-9-]+' as a whole, got '../x'"),
        ({"name": "a\n"}, "must match"),
        ({"name": "a\n../x"}, "must match"),
        ({"name": ""}, "must match"),
        ({"name": "a" * 100_000 + "/"}, "must match '[a-z0-9-]+' as a whole, got 'aaaaaaaaaaaa"),
        ({"name": "a", "mode": "Release"}, "argument 'mode': must be one of debug, release, got 'Release'"),
        ({"name": "a", "level": 2}, "argument 'level': must be one of 1, 3, got 2"),
        ({"name": "a", "level": True}, "argument 'level': Expected `int`"),
    ],
)
def test_patterns_and_choices_limit_arguments(arguments: dict[str, Any], message: str | None) -> None:
    params = {
        "name": {"type": "string", "pattern": "[a-z0-9-]+"},
        "mode": {"type": "string", "choices": ["debug", "release"], "default": "debug"},
        "level": {"type": "integer", "choices": [1, 3], "default": 1},
    }
    task = command_task("pack", ["tar", "-czf", "{args.name}.tar.gz"], {"params": params})
    if message is None:
        task.call(**arguments)
        return
    with pytest.raises(ArgumentsDoNotFit) as refused:
        task.call(**arguments)
    assert message in str(refused.value)
    stored = msgspec.json.encode(arguments).decode()
    with pytest.raises(ArgumentsDoNotFit):  # Also where it runs: the job may be older than the rule.
        task.signature.unpack(stored)


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|a)*b", "a*a*a*a*a*a*b"])
def test_pattern_takes_no_longer_than_its_value(pattern: str) -> None:
    """An expression that tries one way after the other would not end here, and nothing could stop it."""
    task = command_task("pack", ["tar", "{args.name}"], {"params": {"name": {"type": "string", "pattern": pattern}}})
    with pytest.raises(ArgumentsDoNotFit):
        task.call(name="a" * 5_000)
    task.call(name="a" * 5_000 + "b")


def test_defaults_are_filled_in_where_it_runs() -> None:
    params = {"target": "string", "jobs": {"type": "integer", "default": 4}}
    task = command_task("build", ["make"], {"params": params})
    request = task.call(target="a")
    assert request.args == '{"target":"a"}', "the default is the task's, also when it changes"
    assert task.signature.unpack(request.args) == {"target": "a", "jobs": 4}


def test_without_params_any_may_be_given_and_placeholders_must() -> None:
    task = command_task("build", ["make", "{args.target}"], {})
    assert task.signature.unpack(task.call(target="a", more=[1]).args) == {"target": "a", "more": [1]}
    assert str(task.signature) == "(target, …)"
    with pytest.raises(ArgumentsDoNotFit, match="'target' is missing"):
        task.call(more=1)
    with pytest.raises(ArgumentsDoNotFit, match="must be passed by name"):
        task.call("a")


def test_the_exit_codes_of_a_task_stand_before_the_usual_ones() -> None:
    command = command_task("build", ["make"], {"exit_codes": {"75": "mine", 1: "success"}}).spec
    assert isinstance(command, Command)
    assert command.meaning(75) == ResultCodes("mine")
    assert command.meaning(1).is_success
    assert command.meaning(77) == EXIT_CODES[77]
    assert command.meaning(200) == ResultCodes("error")


def test_a_name_belongs_to_one_task() -> None:
    app = App()
    app.command("build", ["make", "{args.a}"], retries=1)
    app.command("build", ["make", "{args.a}"], retries=2)
    assert app.tasks.get("build").options.retries == 2
    with pytest.raises(TaskDefinitionError, match=r"registered already, by the command make \S*args.a"):
        app.command("build", ["cmake"])
    with pytest.raises(TypeError, match="is run by a worker"):
        app.tasks.get("build").function()


def test_a_role_that_a_task_does_not_serve_is_refused(app: App) -> None:
    build = app.command("build", ["make"], roles=["FE", "BE"])
    with pytest.raises(Exception, match="role: must be one of FE, BE for task 'build', got 'QA'"):
        build.call().set(role="QA").to_new_job(app.settings.zone)
    assert build.call().set(role="FE").to_new_job(app.settings.zone).role == "FE"
    assert build.call().to_new_job(app.settings.zone).role == ""
